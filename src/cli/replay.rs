//! `ok replay`: shows everything in the log about one thing, from the beginning. It only reads, and performs no
//! operation.

use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, event};
use crate::nouns::event::{Only, Which};

pub const COMMANDS: Commands = &[&own::<Replay>("replay")];

/// Print what the log holds about a run, task or thread, or what an actor did
#[derive(clap::Args)]
pub struct Replay {
    #[command(flatten)]
    of: Of,
}

#[derive(Clone, clap::Args)]
#[group(required = true, multiple = false)]
struct Of {
    /// Events about this run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Events about this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Events about this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Events caused by this actor
    #[arg(long, value_name = "ID")]
    actor: Option<String>,
}

impl Run for Replay {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if context.server.is_none() && !context.state.exists() {
            return Err(Failure::new(format!("there is no company at {}", context.state.display())));
        }
        let Of { run, task, thread, actor } = self.of.clone();
        let only = Only { run, task, thread, actor, ..Only::default() };
        let which = Which { since: Some(0), limit: None, only };
        let found = event::read(context, which, None).await?;
        if found.rows.is_empty() {
            return Err(Failure::new(format!("the log contains nothing {}", self.of.named())));
        }
        found.show(context)
    }
}

impl Of {
    /// `about run run_…`, `done by ana`
    fn named(&self) -> String {
        let Of { run, task, thread, actor } = self;
        let kinds = [("about run", run), ("about task", task), ("about thread", thread), ("done by", actor)];
        kinds.into_iter().filter_map(|(kind, id)| Some(format!("{kind} {}", id.as_ref()?))).collect()
    }
}
