//! Erases content. The log keeps every entry, and records which contents were erased, by whom and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::company::COMPANY;
use gate::{Change, Draft, Entry, Permit, Reader, Spec, Target, post};
use store::approvals::events::ArgumentsKept;
use store::content::events::ContentKept;
use store::context::events::ContextForgotten;
use store::entities::events::EntityKept;
use store::event::EventKind;
use store::knowledge::vectors;
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::change::<Forget>()];

/// Which events can be erased.
const FORGETTABLE: &str = "The event numbers; only content that no state depends on: refusals, decisions for other programs and their entities, stored arguments and content";

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Forgotten {
    /// The event numbers, at most 100. Only refusals, data stored for other programs, and texts of tasks, runs and
    /// requests can be erased, nothing that the company's state depends on.
    #[schemars(length(max = 100))]
    #[arg(required = true, value_name = "SEQ", help = FORGETTABLE)]
    pub events: Vec<i64>,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Count {
    /// How many contents were erased: those named, and the embeddings made from them.
    pub forgotten: u64,
}

/// Erase the content of events.
pub enum Forget {}

impl Change for Forget {
    const SPEC: Spec = Spec {
        name: "context.forget",
        doc: "Erase the content of events; the entries stay, and the log still verifies.",
        scope: Reach::Full,
        route: post("/context/forget").stops(),
        about: &[&COMPANY],
        events: &[ContextForgotten::KIND],
    };
    const SAYS: &'static str = "erases the content of the events {events}";
    type Input = Forgotten;
    type Output = Count;

    fn target(_: &Forgotten, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, mut input: Forgotten, draft: &mut Draft<'_>) -> Result<Count, Stop> {
        super::actor::reason(&input.reason)?;
        input.events.sort_unstable();
        input.events.dedup();
        if input.events.is_empty() || input.events.len() > 100 {
            return Err(Refusal::field("events", "name 1 to 100 event numbers").into());
        }
        let mut problems = Vec::new();
        for seq in &input.events {
            problems.extend(problem(*seq, draft.read())?);
        }
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        with_vectors(&mut input.events, draft.read())?;
        let forgotten = input.events.len() as u64;
        let approvals = approvals(&input.events, draft.read())?;
        let contents = contents(&input.events, draft.read())?;
        let entities = entities(&input.events, draft.read())?;
        draft.record(ContextForgotten { events: input.events, reason: input.reason, approvals, contents, entities })?;
        Ok(Count { forgotten })
    }
}

/// Returns which contents of tasks and runs these events hold.
fn contents(events: &[i64], read: &Reader<'_>) -> Result<Vec<(Id, String)>, Stop> {
    let mut contents = Vec::new();
    for seq in events {
        let kept = read.event(*seq)?.filter(|logged| logged.kind == ContentKept::KIND.name);
        let kept = kept.and_then(|logged| serde_json::from_value::<ContentKept>(logged.event?).ok());
        contents.extend(kept.map(|kept| (kept.id, kept.part)));
    }
    Ok(contents)
}

/// Adds the embeddings to be erased: vectors reveal the texts they were made of, so they go with any text of their entry.
fn with_vectors(events: &mut Vec<i64>, read: &Reader<'_>) -> Result<(), Stop> {
    for (id, part) in contents(events, read)? {
        if !vectors::is_part(&part) {
            let parts = read.kept_parts(id.as_str())?;
            events.extend(parts.into_iter().filter(|(part, _)| vectors::is_part(part)).map(|(_, seq)| seq));
        }
    }
    events.sort_unstable();
    events.dedup();
    Ok(())
}

/// Returns which stored entities these events describe.
fn entities(events: &[i64], read: &Reader<'_>) -> Result<Vec<(Id, i64)>, Stop> {
    let mut entities = Vec::new();
    for seq in events {
        let kept = read.event(*seq)?.filter(|logged| logged.kind == EntityKept::KIND.name);
        let id = kept.and_then(|logged| Some(logged.event?.get("id")?.as_str()?.to_owned()));
        entities.extend(id.map(|id| (Id::stored(&id), *seq)));
    }
    Ok(entities)
}

/// Returns the calls, pending or not, whose arguments these events hold.
fn approvals(events: &[i64], read: &Reader<'_>) -> Result<Vec<Id>, Stop> {
    let mut approvals = Vec::new();
    for seq in events {
        let kept = read.event(*seq)?.filter(|logged| logged.kind == ArgumentsKept::KIND.name);
        let id = kept.and_then(|logged| Some(logged.event?.get("id")?.as_str()?.to_owned()));
        approvals.extend(id.as_deref().map(Id::stored));
    }
    Ok(approvals)
}

fn problem(seq: i64, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let Some(logged) = read.event(seq)? else { return Ok(Some(format!("events: there is no event {seq}"))) };
    let forgettable = EventKind::named(&logged.kind).is_some_and(|kind| kind.content.erasable);
    Ok(match logged.event {
        None => Some(format!("events: the content of {seq} is erased already")),
        Some(_) if !forgettable => Some(format!("events: the company's state depends on {seq} ({})", logged.kind)),
        Some(_) => None,
    })
}
