//! A task as shown to people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{ShownRun, shown as shown_run};
use gate::Reader;
use store::tasks::{Task, TaskRef};
use types::id::ActorId;
use types::refusal::{Fault, Stop};
use types::task::{Deadlines, Priority, TaskStatus};
use types::time::Time;

/// Something to do.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownTask {
    pub id: String,
    /// As whoever created it wrote it.
    pub title: String,
    pub status: TaskStatus,
    /// Who is to do it.
    pub owner: Option<ActorId>,
    pub created_by: ActorId,
    pub priority: Priority,
    pub due_at: Option<Time>,
    /// Deadlines in working hours, and the times at which they pass.
    pub sla: Option<Deadlines>,
    /// It missed a deadline, and has not been reassigned since.
    pub stalled: bool,
    /// The parent task.
    pub parent: Option<String>,
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
    pub closed_at: Option<Time>,
    /// When it was archived.
    pub archived_at: Option<Time>,
}

/// A task with all that belongs to it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct WholeTask {
    #[serde(flatten)]
    pub task: ShownTask,
    /// The expected result; none where nothing was said, or where it is erased.
    pub goal: Option<String>,
    /// The note to its owner.
    pub note: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// What it is about; `hidden` stands for what the reader may not see, or what is not there any more.
    pub refs: Vec<ShownRef>,
    /// The runs in which agents work on it, as far as the caller may see them, newest first; at most 100.
    #[schemars(length(max = 100))]
    pub runs: Vec<ShownRun>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownRef {
    /// A collection, or `url`.
    pub collection: String,
    #[schemars(extend("x-names" = "record"))]
    pub id: String,
    pub note: String,
    pub by: ActorId,
    pub at: Time,
}

pub(super) fn shown(task: Task, read: &Reader<'_>) -> ShownTask {
    let Task {
        id,
        title,
        creator,
        owner,
        status,
        priority,
        due_at,
        parent,
        deadlines,
        stalled,
        version,
        created_at,
        updated_at,
        closed_at,
        archived_at,
    } = task;
    let title = read.title(title);
    ShownTask {
        id,
        title,
        status,
        owner,
        created_by: creator,
        priority,
        due_at,
        sla: deadlines,
        stalled,
        parent,
        version,
        created_at,
        updated_at,
        closed_at,
        archived_at,
    }
}

pub(super) fn whole(task: Task, read: &Reader<'_>) -> Result<WholeTask, Stop> {
    let text = |part: &str, field: &str| -> Result<Option<String>, Stop> {
        let kept = read.kept(&task.id, part)?;
        Ok(kept.and_then(|kept| Some(kept.get(field)?.as_str()?.to_owned())))
    };
    let (goal, note, result) = (text("goal", "goal")?, text("note", "note")?, text("result", "result")?);
    let refs = refs_of(&task.id, read)?;
    let runs = read.runs_of_task(&task.id)?.into_iter().filter(|run| read.may("run.read", &read.run_target(run)));
    let runs = runs.map(|run| shown_run(run, read)).collect::<Result<_, _>>()?;
    Ok(WholeTask { goal, note, result, refs, runs, task: shown(task, read) })
}

/// Returns a task's references. What a reader may not see of them is removed before they are answered.
fn refs_of(task: &str, read: &Reader<'_>) -> Result<Vec<ShownRef>, Fault> {
    let shown = |TaskRef { place, thing, note, by, at }| ShownRef { collection: place, id: thing, note, by, at };
    Ok(read.task_refs(task)?.into_iter().map(shown).collect())
}
