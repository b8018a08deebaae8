//! Compiles the program in C, with every warning an error.

fn main() {
    println!("cargo:rerun-if-changed=../c");
    println!("cargo:rerun-if-changed=../capi/include");
    let mut program = cc::Build::new();
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("riscv32imafc")) {
        program.flag("-mabi=ilp32f");
    }
    program
        .file("../c/learner.c")
        .include("../c")
        .include("../capi/include")
        .flag("-std=c99")
        .flag("-ffreestanding")
        .extra_warnings(true)
        .flag("-Wconversion")
        .flag("-Wshadow")
        .warnings_into_errors(true)
        .compile("learner");
}
