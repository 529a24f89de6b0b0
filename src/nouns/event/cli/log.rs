//! `ok log`: lists events and, with `--follow`, streams them.

use std::time::Duration;

use super::command::{Commands, Run, own};
use super::event;
use super::exit::{Exit, Failure};
use super::{Context, file};
use crate::log::read;
use crate::nouns::event::{Only, Which};
use crate::types::token::{self, is_value};

pub const COMMANDS: Commands = &[&own::<Log>("log")];

/// The interval for checking whether the log has grown.
const POLL: Duration = Duration::from_millis(500);

/// Print the event log, the newest 200 events by default
///
/// Example: `ok log --type denied,kill_switch --since 100`
#[derive(clap::Args)]
pub struct Log {
    /// Only these types, separated by commas
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPE")]
    types: Vec<String>,
    /// The maximum number of results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Only events after this number
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
    since: Option<i64>,
    /// Only what this actor did
    #[arg(long, value_name = "ID")]
    actor: Option<String>,
    /// Only what was done with this token, or to it
    #[arg(long, value_name = "TOKEN", value_parser = token::id)]
    token: Option<String>,
    /// Only events of this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Only events of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Keep printing new events
    #[arg(long, short)]
    follow: bool,
}

impl Run for Log {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if self.actor.as_deref().is_some_and(is_value) {
            let message = "--actor: takes an actor's id, and this is a token's value, which is not repeated here";
            return Err(Failure::Usage(message.into()));
        }
        let Log { types, limit, since, actor, token, task, run, follow } = self;
        let only = Only { r#type: types, actor, token_id: token, task, run, thread: None };
        let mut which = Which { since, only, limit: None };
        let mut found = event::read(context, which.clone(), limit).await?;
        let mut seen = found.last_seq;
        found.show(context)?;
        if !follow {
            return Ok(Exit::Done);
        }
        loop {
            grown(context, seen).await?;
            which.since = Some(seen);
            found = event::read(context, which.clone(), None).await?;
            seen = found.last_seq;
            found.show_new(context)?;
        }
    }
}

/// Waits until the log has events after `seen`. It only reads the file, so it blocks nobody.
async fn grown(context: &Context, seen: i64) -> Result<(), Failure> {
    let conn = file::open(context)?;
    while read::last_seq(&conn)? <= seen {
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}
