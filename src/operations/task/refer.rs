//! What a task is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownRef, WholeTask, whole};
use super::{TASK, find, open};
use crate::gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use crate::store::tasks::Task;
use crate::store::tasks::events::TaskRefAdded;
use crate::types::id::Id;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::visible::is_blank;

/// The most things that a task is about.
const MOST: usize = 100;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewRef {
    /// The task.
    #[arg(value_name = "TASK")]
    pub id: String,
    /// The collection of the record, or `url`; 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub collection: String,
    /// The record, which the caller may see, or the address; 1 to 2048 characters. Whether a record that is kept in another
    /// system is there is not asked.
    pub thing: String,
    /// Why it matters; at most 500 characters.
    #[schemars(length(max = 500))]
    #[serde(default)]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// The version of the task that the change was made from; another one by now is a conflict.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Say what a task is about.
pub enum Update {}

impl Change for Update {
    const SPEC: Spec = Spec {
        name: "task.update",
        doc: "Link something to a task. Linking it again updates its note.",
        scope: Reach::Full,
        route: post("/tasks/{id}/refs").made_from("version"),
        about: &[&TASK],
        events: &[TaskRefAdded::KIND],
    };
    const SAYS: &'static str = "adds «{collection}» «{thing}» to {id}";
    type Input = NewRef;
    type Output = WholeTask;

    fn target(input: &NewRef, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: NewRef, draft: &mut Draft<'_>) -> Result<WholeTask, Stop> {
        let task = open(&input.id, input.version, draft.read())?;
        let long = |text: &str, most: usize| is_blank(text) || text.chars().count() > most;
        let mut problems = Vec::new();
        problems.extend(long(&input.collection, 100).then(|| "collection: must have 1 to 100 characters".to_owned()));
        problems.extend(long(&input.thing, 2048).then(|| "thing: must have 1 to 2048 characters".to_owned()));
        let is_address = ["https://", "http://"].iter().any(|scheme| input.thing.starts_with(scheme));
        let is_odd = input.collection == "url" && !is_address;
        problems.extend(is_odd.then(|| "thing: must be an address that begins with https:// or http://".to_owned()));
        problems
            .extend((input.note.chars().count() > 500).then(|| "note: must have at most 500 characters".to_owned()));
        if problems.is_empty() && !is_there(&input, draft.read())? {
            let NewRef { collection, thing, .. } = &input;
            problems.push(format!("thing: there is no record `{thing}` of `{collection}` that you may see"));
        }
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let NewRef { collection, thing, note, .. } = input;
        let refs = draft.read().task_refs(&task.id)?;
        let known = refs.iter().any(|one| one.place == collection && one.thing == thing);
        if !known && refs.len() >= MOST {
            return Err(Refusal::conflict(format!("{} is about {MOST} things already", task.id)).into());
        }
        let (id, owner, creator) = (Id::stored(&task.id), task.owner.clone(), task.creator.clone());
        let (place, named) = (collection.clone(), thing.clone());
        draft.record(TaskRefAdded { id, owner, creator, place, thing: named, note: note.clone() })?;
        let (by, at) = (permit.actor(), permit.now());
        let mut shown = whole(Task { version: task.version + 1, updated_at: at, ..task }, draft.read())?;
        shown.refs.retain(|one| one.collection != collection || one.id != thing);
        shown.refs.push(ShownRef { collection, id: thing, note, by, at });
        Ok(shown)
    }
}

/// Whether a reference leads to something, as far as the caller may know.
fn is_there(input: &NewRef, read: &Reader<'_>) -> Result<bool, Stop> {
    if input.collection == "url" {
        return Ok(true);
    }
    let Some(of) = read.collection(&input.collection) else { return Ok(false) };
    if of.spec.source.is_some() {
        return Ok(read.sees(&read.collection_target(of.name())));
    }
    let record = read.record(&of, &input.thing)?;
    Ok(record.is_some_and(|record| read.sees(&read.record_target(&of, &record))))
}
