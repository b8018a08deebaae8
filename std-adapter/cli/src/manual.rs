//! The manual pages and the completions of shells, from the arguments that the program parses.

use crate::error::Error;
use crate::output::print;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use dpp_nystrom_host::atomic_file::write_folder;
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// A folder that does not exist, or is empty
    #[arg(long, value_name = "DIR", default_value = "man1")]
    out: PathBuf,
}

pub(crate) fn completions(arguments: &Completions, mut program: Command) -> Result<(), Error> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    generate(arguments.shell, &mut program, &name, &mut script);
    let script = String::from_utf8_lossy(&script);
    // clap_complete 4.6 spells a hyphen of the name in two ways, and bash then finds no option of a command.
    let script = script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__"));
    Ok(print(&script)?)
}

pub(crate) fn manual(arguments: &Manual, program: Command) -> Result<(), Error> {
    Ok(write_folder(&arguments.out, &pages(program))?)
}

/// Return the page of the program and those of its commands, each with the name of its file.
fn pages(program: Command) -> Vec<(String, Vec<u8>)> {
    let version = program.get_version().unwrap_or_default();
    let source = format!("{} {version}", program.get_name());
    // A page has what the short help leaves out.
    let mut program = program
        .disable_help_subcommand(true)
        .mut_subcommands(|command| command.mut_args(|argument| argument.hide_short_help(false)));
    program.build();
    let commands = program.get_subcommands().cloned();
    let write = |command: Command| {
        let page = page(&command, &source).expect("a vector takes all bytes");
        (Man::new(command).get_filename(), page)
    };
    std::iter::once(program.clone()).chain(commands).map(write).collect()
}

/// Return a manual page. The lines of its examples stay as they are in the help.
fn page(command: &Command, source: &str) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let manual = Man::new(command.clone()).source(source);
    manual.render_title(&mut page)?;
    manual.render_name_section(&mut page)?;
    manual.render_synopsis_section(&mut page)?;
    manual.render_description_section(&mut page)?;
    manual.render_options_section(&mut page)?;
    if command.has_subcommands() {
        manual.render_subcommands_section(&mut page)?;
    }
    if let Some(help) = command.get_after_help() {
        let mut examples = Roff::default();
        examples.control("SH", ["EXAMPLES AND NOTES"]).control("nf", []);
        for line in help.to_string().lines() {
            examples.text([roman(line)]);
        }
        examples.control("fi", []).to_writer(&mut page)?;
    }
    Ok(page)
}
