#![no_main]
libfuzzer_sys::fuzz_target!(init: dpp_nystrom_fuzz::begin(), |data: &[u8]| dpp_nystrom_fuzz::run("archive", data));
