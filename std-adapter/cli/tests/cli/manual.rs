//! Manual pages and the completions of shells.

use crate::command::Folder;
use std::fs;

/// Every command has a page with all options of its help, the rarely used ones too, and their descriptions.
#[test]
fn each_command_has_a_page_with_all_of_its_options() {
    let folder = Folder::new();
    folder.run("manual --out man1").good();
    let program = folder.text("man1/dpp-nystrom.1");
    let help = folder.run("--help").good().out;
    let list = help.split("Commands:\n").nth(1).and_then(|text| text.split("\n\n").next()).expect("commands");
    let commands: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 12, "{help}");
    assert_eq!(fs::read_dir(folder.path("man1")).unwrap().count(), commands.len() + 1);
    for command in commands {
        assert!(program.contains(&format!("dpp\\-nystrom\\-{command}(1)")), "{command}: {program}");
        let page = folder.text(&format!("man1/dpp-nystrom-{command}.1"));
        assert!(page.contains(".SH \"EXAMPLES AND NOTES\"\n.nf\n"), "{command}: {page}");
        let version = env!("CARGO_PKG_VERSION");
        let title = format!(".TH dpp-nystrom-{command} 1  \"dpp-nystrom {version}\"");
        assert!(page.contains(&title), "{command}: {page}");
        let help = folder.run(&format!("{command} --help")).good().out;
        for option in help.lines().filter_map(|line| line.trim_start().strip_prefix("--")) {
            let option = option.split([' ', '=']).next().unwrap().replace('-', "\\-");
            let entry = page.split(&format!(".TP\n\\fB\\-\\-{option}\\fR")).nth(1);
            let described = entry.and_then(|entry| entry.lines().nth(1));
            let described = described.is_some_and(|line| !line.is_empty() && !line.starts_with('.'));
            assert!(described, "{command} --{option}: {page}");
        }
    }
    // A folder with files is left as it is.
    folder.run("manual --out man1").refused(&["man1"]);
}

#[test]
fn every_shell_completes_commands_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completions {shell}")).good().out;
        for word in ["dpp-nystrom", "select", "predict", "report", "tolerance-on", "matern52"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    folder.run("completions csh").misused(&["csh", "bash"]);
}

/// Bash reads its script and completes a command and an option.
#[test]
#[cfg(target_os = "linux")]
fn bash_takes_its_script() {
    let folder = Folder::new();
    let script = folder.run("completions bash").good().out;
    folder.write("script", script);
    let words = "source ./script; function=$(complete -p dpp-nystrom | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
        COMP_WORDS=(dpp-nystrom fi) COMP_CWORD=1; $function dpp-nystrom fi dpp-nystrom; echo \"${COMPREPLY[@]}\"; \
        COMP_WORDS=(dpp-nystrom fit --tolerance-o) COMP_CWORD=2; $function dpp-nystrom --tolerance-o fit; \
        echo \"${COMPREPLY[@]}\"";
    let run = folder.program("bash".as_ref(), &["-c", words]).output().unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    assert_eq!(out, "fit\n--tolerance-on\n", "{}", String::from_utf8_lossy(&run.stderr));
}
