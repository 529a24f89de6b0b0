//! The other systems of the settings, which keep collections: from the file that `OK_SYSTEMS_CONFIG` names.

use super::Context;
use super::exit::Failure;
use crate::adapters::Systems;
use crate::config;

pub fn read(context: &Context) -> Result<Systems, Failure> {
    let Some(path) = &context.systems else { return Ok(Systems::default()) };
    let wrong = |why| Failure::Usage(format!("{}: {why}", config::SYSTEMS_CONFIG.variable));
    Systems::read(path, &config::secret).map_err(wrong)
}
