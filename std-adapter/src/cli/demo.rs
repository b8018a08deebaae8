//! x
use super::arguments::Demo;
use dpp_nystrom::Error;
pub(crate) fn run(_: &Demo) -> Result<(), Error> {
    Ok(())
}
