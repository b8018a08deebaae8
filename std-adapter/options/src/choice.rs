//! Options that take one of several names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dpp_nystrom::kernel::KernelKind;

/// A value that an option may take: its name, a line for the help or nothing, and what it means.
pub type Choice<T> = (&'static str, &'static str, T);

/// Return the kernels by name, with their usual parameters.
pub fn kernels() -> impl Iterator<Item = Choice<KernelKind>> {
    KernelKind::ALL.iter().map(|&kind| (kind.name(), "", kind))
}

/// Parse the name of one of these choices.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    choices: impl Into<Vec<Choice<T>>>,
) -> impl TypedValueParser<Value = T> {
    let choices = choices.into();
    let names = choices.iter().map(|&(name, help, _)| {
        let named = PossibleValue::new(name);
        if help.is_empty() { named } else { named.help(help) }
    });
    PossibleValuesParser::new(names).try_map(move |name| {
        choices.iter().find(|choice| choice.0 == name).map(|choice| choice.2.clone()).ok_or("no such value")
    })
}
