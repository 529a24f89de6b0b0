//! `ok policy`: explains decisions, checks policies before they serve, and brings them into force.

mod apply;
pub mod check;
pub mod checked;
pub mod compared;
mod diff;
mod explain;
mod explained;
pub mod export;
mod git;
pub mod given;
pub mod human;
pub mod lock;
pub mod machine;
mod rollout;
mod tree;

use std::path::Path;

use super::command::{Commands, group, own};
use super::exit::Failure;
use crate::policy::Folder;

pub const COMMANDS: Commands = &[&group(
    "policy",
    "Check policies, bring them into force, and ask the gate why\n\n\
     Works on the state file, or on a server: its address from --server or OK_SERVER, the API token from OK_TOKEN.",
    &[
        &own::<explain::Explain>("explain"),
        &explain::WHO_CAN,
        &own::<check::Check>("check").alias("test"),
        &own::<diff::Diff>("diff"),
        &own::<apply::Apply>("apply"),
        &own::<apply::Propose>("propose"),
        &own::<apply::Rollback>("rollback"),
        &own::<export::Export>("export"),
        &own::<export::List>("list"),
        &own::<export::Drift>("drift"),
        &own::<export::Source>("source"),
        &super::break_glass::OPEN,
    ],
)
.with_server()];

/// Reads a folder of policies.
pub fn folder(dir: &Path) -> Result<Folder, Failure> {
    Folder::of_policies(dir).map_err(|error| Failure::new(error.to_string()))
}
