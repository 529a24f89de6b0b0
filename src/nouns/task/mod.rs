//! Tasks for people and agents. Agents work on theirs in runs.

mod archive;
mod assign;
mod complete;
mod create;
mod list;
mod refer;
mod resource;
mod run;
mod shown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::actors::Status;
use store::tasks::Task;
use store::tasks::events::TaskStalled;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::task::TaskStatus;
use types::time::Time;

pub(super) use archive::{archived, kept_since};
pub use assign::{Assign, Assignment};
pub use complete::{Complete, Completion, Outcome};
pub use create::{Create, NewTask};
pub use list::{List, Show, Which};
pub use refer::{NewRef, Update};
pub use resource::TASK;
pub(super) use resource::with_leads;
pub use run::{Run, Work};
pub use shown::{ShownRef, ShownTask, WholeTask};

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::query::<list::Show>(),
    Entry::change::<create::Create>(),
    Entry::change::<assign::Assign>(),
    Entry::change::<run::Run>(),
    Entry::change::<complete::Complete>(),
    Entry::change::<refer::Update>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneTask {
    /// The task.
    #[arg(value_name = "TASK")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Task, Stop> {
    Ok(read.task(id)?.ok_or_else(Refusal::not_found)?)
}

/// Returns a task that is not closed.
fn open(id: &str, read: &Reader<'_>) -> Result<Task, Stop> {
    let task = find(id, read)?;
    if task.status.is_closed() {
        return Err(Refusal::conflict(format!("{id} is {}", task.status)).into());
    }
    Ok(task)
}

/// Checks an assignee: an active person or agent. One whom the caller may not see counts as missing.
fn owner(field: &str, id: &ActorId, read: &Reader<'_>) -> Result<(), Stop> {
    if id.is_team() {
        return Err(Refusal::field(field, "teams do not act; name a person or an agent").into());
    }
    if !read.knows(id) {
        return Err(Refusal::field(field, format!("there is no actor {id}")).into());
    }
    let active = read.card(id).is_some_and(|card| card.actor.status == Status::Active);
    if active { Ok(()) } else { Err(Refusal::field(field, format!("{id} has left")).into()) }
}

/// Builds the event for a missed deadline.
pub(super) fn stalled(task: Task, now: Time) -> TaskStalled {
    let deadlines = task.deadlines;
    let over = |by: Option<Time>| by.is_some_and(|by| by <= now);
    let reason = match task.status {
        TaskStatus::Open if over(deadlines.and_then(|deadlines| deadlines.respond_by)) => "nobody took it in time",
        _ if over(task.due_at) => "it was due",
        _ => "it was not closed in time",
    };
    TaskStalled { id: Id::stored(&task.id), owner: task.owner, creator: task.creator, reason: reason.to_owned() }
}
