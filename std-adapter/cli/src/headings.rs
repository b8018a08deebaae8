//! Where the help lists options: under which heading, and whether the short help has them.

use clap::{Arg, Command};

/// Options under their headings, in the order of the help: those that most people use, and the others.
const HEADINGS: [(&str, &[&str], &[&str]); 6] = [
    (
        "Data",
        &["target", "classes", "ignore", "group", "missing"],
        &[
            "time",
            "columns",
            "ids",
            "weight",
            "words",
            "missing_values",
            "strict",
            "keep",
            "dates",
            "allow_loss",
            "scale",
            "rows",
            "test",
            "header",
            "separator",
            "decimal",
            "sheet",
            "libsvm",
            "limits",
        ],
    ),
    (
        "Landmarks",
        &["landmarks", "method", "methods", "seeds", "tolerance", "budget"],
        &["given", "quality", "include", "exclude", "tolerance_on", "max_landmarks", "curve"],
    ),
    ("Kernel and metric", &["kernel", "sigma", "metric"], &["degree", "precision"]),
    ("Regression", &["ridge", "flash"], &["drop_below", "free_landmarks", "full"]),
    ("Output", &["model", "report", "out", "json"], &["chart", "variance", "checkpoint", "checkpoint_every"]),
    (
        "Expert",
        &[],
        &["steps", "chain", "pivot_rows", "refine", "refine_sample", "refine_rows", "approximation"],
    ),
];

/// Options of a command that the short help may have.
const SHORT: usize = 20;

/// List the options of a command under headings; in the short help those that most people use, if there are
/// many.
pub(crate) fn organised(command: Command) -> Command {
    let is_long = command.get_arguments().count() > SHORT;
    let option =
        |argument: &Arg| (!argument.is_positional()).then(|| place(argument.get_id().as_str())).flatten();
    command.mut_args(|argument| match option(&argument) {
        Some((heading, at, is_usual)) => {
            argument.help_heading(heading).display_order(at).hide_short_help(is_long && !is_usual)
        }
        None => argument,
    })
}

/// Return the heading of an option, its place under it, and whether the short help has it.
fn place(id: &str) -> Option<(&'static str, usize, bool)> {
    HEADINGS.iter().find_map(|(heading, usual, others)| {
        let at = usual.iter().chain(*others).position(|own| *own == id)?;
        Some((*heading, at, at < usual.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::{HEADINGS, SHORT, organised, place};
    use crate::Arguments;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// The short help has at most 20 options. Where many are left out, every option has a heading.
    #[test]
    fn every_option_has_a_heading_and_the_short_help_few() {
        let program = Arguments::command();
        let mut seen = BTreeSet::new();
        for name in ["select", "fit", "evaluate"] {
            let command = organised(program.find_subcommand(name).unwrap().clone());
            let options: Vec<_> =
                command.get_arguments().filter(|argument| !argument.is_positional()).collect();
            for option in &options {
                let id = option.get_id().as_str();
                assert!(place(id).is_some() || id == "seed", "{name}: {id}");
                seen.insert(id.to_owned());
            }
            // --threads and --help are added by the parser.
            let short = options.iter().filter(|option| !option.is_hide_short_help_set()).count() + 2;
            assert!(short <= SHORT, "{name}: {short}");
        }
        for id in HEADINGS.iter().flat_map(|(_, usual, others)| usual.iter().chain(*others)) {
            assert!(seen.contains(*id), "{id}");
        }
    }
}
