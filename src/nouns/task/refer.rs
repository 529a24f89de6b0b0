//! Sets a task's references.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownRef, WholeTask, whole};
use super::{TASK, find, open};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::tasks::Task;
use store::tasks::events::TaskRefAdded;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::visible::is_blank;

/// The maximum number of references of a task.
const MOST: usize = 100;

/// Something that a task is about.
#[derive(Clone, Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Reference {
    /// The collection of the record, or `url`; 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub collection: String,
    /// The record, which the caller may see, or the address; 1 to 2048 characters. A record kept in another system is not checked.
    #[schemars(length(min = 1, max = 2048), extend("x-names" = "record"))]
    pub thing: String,
    /// Why it matters; at most 500 characters.
    #[schemars(length(max = 500))]
    #[serde(default)]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewRef {
    /// The task.
    #[arg(value_name = "TASK")]
    pub id: String,
    #[serde(flatten)]
    #[command(flatten)]
    pub to: Reference,
    /// The version of the task that the change was made from; it must be the current one.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Update a task's references.
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
    // Not every reader of the event may see the link's target.
    const SAYS: &'static str = "adds a link to {id}";
    type Input = NewRef;
    type Output = WholeTask;

    fn target(input: &NewRef, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: NewRef, draft: &mut Draft<'_>) -> Result<WholeTask, Stop> {
        let task = open(&input.id, draft.read())?;
        let problems = input.to.problems("", draft.read())?;
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let to = input.to;
        let refs = draft.read().task_refs(&task.id)?;
        let known = refs.iter().any(|one| one.place == to.collection && one.thing == to.thing);
        if !known && refs.len() >= MOST {
            return Err(Refusal::conflict(format!("{} already has {MOST} links", task.id)).into());
        }
        refer(&task, to.clone(), draft)?;
        let at = permit.now();
        let mut shown = whole(Task { version: task.version + 1, updated_at: at, ..task }, draft.read())?;
        shown.refs.retain(|one| one.collection != to.collection || one.id != to.thing);
        shown.refs.push(to.shown(permit.actor(), at));
        Ok(shown)
    }
}

impl Reference {
    /// Returns what is wrong with them; `place` prefixes the field names.
    fn problems(&self, place: &str, read: &Reader<'_>) -> Result<Vec<String>, Stop> {
        let long = |text: &str, most: usize| is_blank(text) || text.chars().count() > most;
        let is_address = ["https://", "http://"].iter().any(|scheme| self.thing.starts_with(scheme));
        let checked = [
            (long(&self.collection, 100), "collection: must have 1 to 100 characters"),
            (long(&self.thing, 2048), "thing: must have 1 to 2048 characters"),
            (self.collection == "url" && !is_address, "thing: must be an address that begins with https:// or http://"),
            (self.note.chars().count() > 500, "note: must have at most 500 characters"),
            (self.collection.contains(char::is_control), "collection: must not contain control characters"),
            (self.thing.contains(char::is_control), "thing: must not contain control characters"),
            (self.note.contains(char::is_control), "note: must be one line, without control characters"),
        ];
        let wrong = checked.into_iter().filter(|(is_wrong, _)| *is_wrong);
        let mut problems: Vec<String> = wrong.map(|(_, problem)| format!("{place}{problem}")).collect();
        if problems.is_empty() && !read.leads_to(&self.collection, &self.thing)? {
            // The message is also read by others, who may not see what was meant.
            problems.push(format!("{place}thing: there is no such record that you may see"));
        }
        Ok(problems)
    }
}

/// Returns what is wrong with the references of a new task.
pub(super) fn wrong_in(refs: &[Reference], read: &Reader<'_>) -> Result<Vec<String>, Stop> {
    if refs.len() > MOST {
        return Ok(vec![format!("refs: must be at most {MOST}")]);
    }
    let each = refs.iter().enumerate().map(|(at, one)| one.problems(&format!("refs[{at}]."), read));
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Deduplicates references, keeping the last note.
pub(super) fn distinct(refs: Vec<Reference>) -> Vec<Reference> {
    let each: BTreeMap<(String, String), Reference> =
        refs.into_iter().map(|one| ((one.collection.clone(), one.thing.clone()), one)).collect();
    each.into_values().collect()
}

/// Records a reference of a task.
pub(super) fn refer(task: &Task, to: Reference, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let (id, owner, creator) = (Id::stored(&task.id), task.owner.clone(), task.creator.clone());
    let Reference { collection: place, thing, note } = to;
    Ok(draft.record(TaskRefAdded { id, owner, creator, place, thing, note })?)
}

impl Reference {
    pub(super) fn shown(self, by: ActorId, at: Time) -> ShownRef {
        ShownRef { collection: self.collection, id: self.thing, note: self.note, by, at }
    }
}
