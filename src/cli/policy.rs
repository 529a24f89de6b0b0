//! `ok policy`: asking the gate why, checking policies before they serve, and bringing them into force.

mod ancestry;
mod apply;
pub mod break_glass;
pub mod check;
pub mod compared;
mod diff;
mod explain;
mod export;
mod given;
pub mod human;
pub mod lock;
pub mod machine;
mod rollout;
mod tree;

use std::path::Path;

use clap::Subcommand;

use super::Context;
use super::exit::{Exit, Failure};
use crate::config;
use crate::policy::Folder;
pub use diff::budgets;

/// Check policies, bring them into force, and ask the gate why
///
/// Works on the state file, or on a server: its address from --server or OK_SERVER, the API token from OK_TOKEN.
#[derive(clap::Args)]
pub struct Policy {
    /// The server to work on: https, or http to a loopback address [env: OK_SERVER]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Explain(explain::Explain),
    WhoCan(explain::WhoCan),
    Check(check::Check),
    Diff(diff::Diff),
    Apply(apply::Apply),
    Propose(apply::Propose),
    Rollback(apply::Rollback),
    Export(export::Export),
    List(export::List),
    Drift(export::Drift),
    Source(export::Source),
    BreakGlass(break_glass::BreakGlass),
}

/// A folder of policies.
pub fn folder(dir: &Path) -> Result<Folder, Failure> {
    Folder::of_policies(dir).map_err(|error| Failure::new(error.to_string()))
}

impl Policy {
    /// The server that was named, unless a state file was.
    pub fn server(&self, names_a_file: bool) -> Result<Option<String>, Failure> {
        match &self.server {
            Some(_) if names_a_file => Err(Failure::Usage("give either --server or a state file".into())),
            Some(address) => Ok(Some(address.clone())),
            None if names_a_file => Ok(None),
            None => Ok(config::SERVER.value()),
        }
    }

    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Explain(explain) => explain.run(context).await,
            Command::WhoCan(who_can) => who_can.run(context).await,
            Command::Check(check) => check.run(context).await,
            Command::Diff(diff) => diff.run(context).await,
            Command::Apply(apply) => apply.run(context).await,
            Command::Propose(propose) => propose.run(context).await,
            Command::Rollback(rollback) => rollback.run(context).await,
            Command::Export(export) => export.run(context).await,
            Command::List(list) => list.run(context).await,
            Command::Drift(drift) => drift.run(context).await,
            Command::Source(source) => source.run(context).await,
            Command::BreakGlass(break_glass) => break_glass.run(context).await,
        }
    }
}
