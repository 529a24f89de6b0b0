//! `ok policy`: asking the gate why, and checking policies before they serve.

pub mod check;
mod compared;
mod diff;
mod explain;
mod human;
mod machine;
mod tree;

use clap::Subcommand;

use super::Context;
use super::exit::{Exit, Failure};

/// Check policies, and ask the gate why
#[derive(Subcommand)]
pub enum Policy {
    Explain(explain::Explain),
    WhoCan(explain::WhoCan),
    Check(check::Check),
    Diff(diff::Diff),
}

impl Policy {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Policy::Explain(explain) => explain.run(context).await,
            Policy::WhoCan(who_can) => who_can.run(context).await,
            // `main` has run it already; it needs neither a state file nor an actor.
            Policy::Check(check) => check.run(context.format),
            Policy::Diff(diff) => diff.run(context).await,
        }
    }
}
