//! Recorded questions, asked again on both sides, in the directory as it was.
//!
//! Always true: an answer is remembered only for the very same question in the very same directory, and only where no policy
//! that applies looks at the time; so remembering changes nothing but the time that it takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::operation::{Effect, Entry};
use super::rule::Asker;
use super::target::{Target, sight};
use super::world::World;
use crate::log::read::Decided;
use crate::log::record::{self, By, GateNote};
use crate::policy::diff::{Answer, Decision, Outcome, Sample, Sides, Tally, compare};
use crate::types::caller::{Caller, Who};
use crate::types::id::ActorId;
use crate::types::token::TokenHash;

/// Answers that one thread remembers.
const REMEMBERED: usize = 1 << 16;

const OLD: &str = "recorded before questions were kept";
const ERASED: &str = "its content was erased";
const GONE: &str = "its operation does not exist any more";
const NOBODY: &str = "who asked is not in the directory";
const UNREADABLE: &str = "its question is not understood";

/// What both sides say about one operation.
struct Plan {
    /// Whether the policies differ.
    unlike: bool,
    /// Whether any of them looks at the time.
    timed: bool,
    query: bool,
}

/// What there is to know before the first question.
pub(super) struct Book<'a> {
    sides: &'a Sides<'a>,
    plans: BTreeMap<&'static str, Plan>,
    /// The ids of the policies whose text differs.
    changed: std::collections::BTreeSet<String>,
}

impl<'a> Book<'a> {
    pub fn new(sides: &'a Sides<'a>, entries: &[Entry]) -> Book<'a> {
        let (before, after) = (sides.before.snapshot, sides.after.snapshot);
        let unlike = sides.operations();
        let plan = |entry: &Entry| {
            let name = entry.spec.name;
            let timed = [before, after].iter().any(|side| side.looks(name).context.contains("now"));
            (name, Plan { unlike: unlike.contains(name), timed, query: entry.effect != Effect::Change })
        };
        let changed = compare(sides).policies.into_iter().map(|policy| policy.id).collect();
        Book { sides, plans: entries.iter().map(plan).collect(), changed }
    }
}

/// Some entries in a row, and the directory in which all of them were asked.
pub(super) struct Batch {
    pub world: World,
    /// Counts the directories.
    pub generation: u64,
    pub entries: Vec<Decided>,
    /// Entries before this one were recorded when questions were not kept yet.
    pub kept_from: i64,
}

/// What an entry comes to.
#[derive(Clone)]
enum Known {
    Replayed {
        operation: &'static str,
        outcome: Arc<Outcome>,
    },
    Skipped(&'static str),
    /// No decision of its own: one more event of the decision before it, or none at all.
    Nothing,
}

/// One thread's work.
pub(super) struct Worker<'a> {
    book: &'a Book<'a>,
    pub tally: Tally,
    generation: u64,
    remembered: Remembered,
}

#[allow(clippy::disallowed_types, reason = "it is only ever looked up, so its order reaches nothing")]
type Remembered = std::collections::HashMap<Box<[u8]>, Known>;

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    gate: &'a RawValue,
}

impl<'a> Worker<'a> {
    pub fn new(book: &'a Book<'a>) -> Worker<'a> {
        Worker { book, tally: Tally::default(), generation: 0, remembered: Remembered::default() }
    }

    pub fn work(&mut self, batch: &Batch) {
        if batch.generation != self.generation || self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
            self.generation = batch.generation;
        }
        let mut key = Vec::new();
        for entry in &batch.entries {
            self.entry(batch, entry, &mut key);
        }
    }

    fn entry(&mut self, batch: &Batch, entry: &Decided, key: &mut Vec<u8>) {
        let Some(payload) = &entry.payload else { return self.tally.skip(ERASED) };
        let Ok(Payload { gate }) = serde_json::from_slice(payload) else { return self.tally.skip(UNREADABLE) };
        key.clear();
        key.extend_from_slice(entry.actor.as_bytes());
        key.extend_from_slice(gate.get().as_bytes());
        key.push(u8::from(entry.seq < batch.kept_from));
        let known = match self.remembered.get(key.as_slice()) {
            Some(known) => known.clone(),
            None => {
                let (known, lasting) = self.ask(batch, entry, gate.get());
                if lasting {
                    self.remembered.insert(key.as_slice().into(), known.clone());
                }
                known
            }
        };
        match known {
            Known::Nothing => {}
            Known::Skipped(why) => self.tally.skip(why),
            Known::Replayed { operation, outcome } => {
                let recorded = recorded(entry, &outcome, self.book.plans.get(operation));
                self.tally.note(operation, &entry.actor, &outcome, recorded);
                if self.tally.wants(operation, &outcome) {
                    self.sample(entry, operation, &outcome, gate.get());
                }
            }
        }
    }

    /// The answer, and whether it stays the same for as long as the directory does.
    fn ask(&self, batch: &Batch, entry: &Decided, gate: &str) -> (Known, bool) {
        let Ok(note) = serde_json::from_str::<GateNote>(gate) else { return (Known::Skipped(UNREADABLE), true) };
        let plan = self.book.plans.get_key_value(note.operation.as_str());
        let Some(asked) = &note.asked else {
            let old = entry.seq < batch.kept_from && note.operation != "company.open";
            return (if old { Known::Skipped(OLD) } else { Known::Nothing }, true);
        };
        let Some((operation, plan)) = plan else { return (Known::Skipped(GONE), true) };
        let Ok(actor) = entry.actor.parse::<ActorId>() else { return (Known::Skipped(NOBODY), true) };
        if asked.by == By::Actor && batch.world.card(&actor).is_none() {
            return (Known::Skipped(NOBODY), true);
        }
        let Ok(channel) = note.channel.parse() else { return (Known::Skipped(UNREADABLE), true) };
        let caller = Caller { who: who(asked, actor), channel };
        let outcome = self.both(batch, entry, &caller, operation, asked);
        let sights = sight(&asked.target).and_then(|sight| self.book.plans.get(sight));
        let timed = plan.timed || sights.is_some_and(|sight| sight.timed);
        (Known::Replayed { operation, outcome: Arc::new(outcome) }, !timed)
    }

    fn both(&self, batch: &Batch, entry: &Decided, caller: &Caller, operation: &str, asked: &record::Asked) -> Outcome {
        let target = &asked.target;
        let oneself = matches!(target, Target::Actor(id) if *id == caller.actor());
        let sight = sight(target).filter(|_| !oneself);
        let unlike = |operation| self.book.plans.get(operation).is_none_or(|plan| plan.unlike);
        let question =
            Asker::new(&batch.world, caller, target, entry.at).asked(operation, sight, asked.granted.clone());
        let Sides { before, after } = self.book.sides;
        if unlike(operation) || sight.is_some_and(unlike) {
            let (old, new) = question.answers(before.snapshot, after.snapshot);
            return Outcome::of(Answer::of(&old), Answer::of(&new), &self.book.changed);
        }
        let same = Answer::of(&question.answer(before.snapshot));
        Outcome { before: same.clone(), after: same, policies: Vec::new() }
    }

    fn sample(&mut self, entry: &Decided, operation: &str, outcome: &Outcome, gate: &str) {
        let asked = serde_json::from_str::<GateNote>(gate).ok().and_then(|note| note.asked);
        self.tally.keep(Sample {
            seq: entry.seq,
            at: entry.at,
            operation: operation.to_owned(),
            actor: entry.actor.clone(),
            target: asked.map(|asked| asked.target.id()).unwrap_or_default(),
            before: outcome.before.clone(),
            after: outcome.after.clone(),
            policies: outcome.policies.clone(),
        });
    }
}

fn who(asked: &record::Asked, actor: ActorId) -> Who {
    match asked.by {
        By::Visitor => Who::Visitor,
        By::Server => Who::Server,
        By::Actor if asked.scopes.is_empty() => Who::Holder(actor),
        By::Actor => Who::Token { actor, hash: TokenHash([0; 32]), scopes: asked.scopes.clone() },
    }
}

/// What the log says that a decision came to. A query that would need approval was refused.
fn recorded(entry: &Decided, outcome: &Outcome, plan: Option<&Plan>) -> Decision {
    match entry.decision {
        record::Decision::Allow | record::Decision::System => Decision::Allow,
        record::Decision::NeedsApproval => Decision::NeedsApproval,
        record::Decision::Deny => {
            let refused = plan.is_some_and(|plan| plan.query) && outcome.before.decision == Decision::NeedsApproval;
            if refused { Decision::NeedsApproval } else { Decision::Deny }
        }
    }
}
