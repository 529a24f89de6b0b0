//! Recorded questions, asked again on both sides, in the directory as it was.
//!
//! Always true: an answer is remembered only for questions that are alike, and only where neither a policy that applies nor a
//! delegation looks at the time; so remembering changes nothing but the time that it takes.

mod evaluated;
mod remembered;
mod skipped;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use self::evaluated::Evaluated;
use self::remembered::{MOST, Remembered};
use self::skipped::{BY_PART, ERASED, GONE, NOBODY, NOT_KEPT, OLD, UNREADABLE};
use crate::decide::equivalence::{self, Names};
use crate::decide::question::{Asker, Call, sight_for};
use crate::decide::world::World;
use crate::declare::operation::Entry;
use crate::declare::spec::Effect;
use crate::write::record::{self, By};
use log::read::Decided;
use log::record::Decision as Logged;
use policy::diff::{Answer, Decision, Moved, Outcome, Sample, Sides, Tally, compare, moved};
use store::approvals::events::ApprovalRequested;
use store::decisions::events::{AccessDecided, Denied};
use types::caller::{Caller, Who};
use types::id::ActorId;
use types::token::TokenHash;

/// What both sides say about one operation.
struct Plan {
    /// Whether the policies differ.
    unlike: bool,
    /// Whether any of them looks at the time, or at what was done before it.
    timed: bool,
    query: bool,
    /// Whether any of them looks at what the operation is given, and at what of that is never kept.
    input: bool,
    unkept: bool,
    /// Of what is seen to be there or not: the fields that any of them looks at.
    presence: Vec<&'static str>,
}

/// What there is to know before the first question.
pub(crate) struct Book<'a> {
    sides: &'a Sides<'a>,
    plans: BTreeMap<&'static str, Plan>,
    names: Names,
    /// The ids of the policies whose text differs.
    changed: BTreeSet<String>,
    /// How the kinds of approval are given otherwise.
    moved: Arc<Moved>,
}

impl<'a> Book<'a> {
    pub fn new(sides: &'a Sides<'a>, entries: &[Entry]) -> Book<'a> {
        let (before, after) = (sides.before.snapshot, sides.after.snapshot);
        let unlike = sides.operations();
        let plan = |entry: &Entry| {
            let name = entry.spec.name;
            let looks = before.looks(name).and(after.looks(name));
            let timed = ["now", "hist"].into_iter().any(|changing| looks.context.contains(changing));
            let read = || entry.arguments().fields.iter().filter(|field| looks.reads_input(&field.name));
            let unkept = read().any(|field| !field.is_kept());
            let presence = read().filter(|field| field.is_presence()).map(|field| field.name.as_str()).collect();
            let (unlike, query, input) =
                (unlike.contains(name), entry.effect != Effect::Change, looks.context.contains("input"));
            (name, Plan { unlike, timed, query, input, unkept, presence })
        };
        let changed = compare(sides).policies.into_iter().map(|policy| policy.id).collect();
        let names = Names::of(&[before.as_ref(), after.as_ref()]);
        let moved = Arc::new(moved(sides));
        Book { sides, names, plans: entries.iter().map(plan).collect(), changed, moved }
    }
}

/// Some entries in a row, and the directory in which all of them were asked.
pub(crate) struct Batch {
    pub world: World,
    pub entries: Vec<Decided>,
    /// Entries before this one were recorded when questions were not kept yet.
    pub kept_from: i64,
}

/// One thread's work.
pub(crate) struct Worker<'a> {
    book: &'a Book<'a>,
    pub tally: Tally,
    remembered: Remembered,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    gate: GateRecord<'a>,
    event: Counted,
}

/// How many decisions an entry stands for, where there are several.
#[derive(Deserialize)]
struct Counted {
    count: Option<u64>,
}

/// As much of a gate's record as a question needs.
#[derive(Deserialize)]
struct GateRecord<'a> {
    #[serde(borrow)]
    operation: Cow<'a, str>,
    #[serde(borrow)]
    channel: Cow<'a, str>,
    asked: Option<record::RecordedQuestion>,
}

impl<'a> Worker<'a> {
    pub fn new(book: &'a Book<'a>) -> Worker<'a> {
        Worker { book, tally: Tally::of(Arc::clone(&book.moved)), remembered: Remembered::default() }
    }

    pub fn work(&mut self, batch: &Batch) {
        let mut key = Vec::new();
        for entry in &batch.entries {
            if let Err((why, times)) = self.entry(batch, entry, &mut key) {
                self.tally.skip(why, times);
            }
            // That the program may ask is one decision, what it is answered another.
            if entry.kind == AccessDecided::KIND.name
                && entry.payload.is_some()
                && let Err(why) = self.evaluated(entry)
            {
                self.tally.skip(why, 1);
            }
        }
    }

    /// Why it cannot be asked again, if it cannot, and how many decisions it stands for.
    fn entry(&mut self, batch: &Batch, entry: &Decided, key: &mut Vec<u8>) -> Result<(), (&'static str, u64)> {
        let payload = entry.payload.as_ref().ok_or((ERASED, 1))?;
        let payload = serde_json::from_slice::<Payload<'_>>(payload).map_err(|_| (UNREADABLE, 1))?;
        let times = payload.event.count.unwrap_or(1);
        self.ask_again((batch, entry), &payload.gate, times, key).map_err(|why| (why, times))
    }

    fn ask_again(
        &mut self,
        (batch, entry): (&Batch, &Decided),
        gate: &GateRecord<'_>,
        times: u64,
        key: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let Some(asked) = &gate.asked else {
            // One more event of the decision before it, unless the question was not kept: so it is where a part of the call was
            // refused or takes approval, which is decided while it runs.
            let old = entry.seq < batch.kept_from && gate.operation != "company.open";
            let by_part = entry.kind == Denied::KIND.name || entry.kind == ApprovalRequested::KIND.name;
            return match (old, by_part) {
                (true, _) => Err(OLD),
                (false, true) => Err(BY_PART),
                (false, false) => Ok(()),
            };
        };
        let (operation, plan) = self.book.plans.get_key_value(gate.operation.as_ref()).ok_or(GONE)?;
        if batch.world.nouns.kind_of(&asked.target).is_none() {
            return Err(GONE);
        }
        if plan.unkept || (plan.input && !is_kept(asked, plan)) {
            return Err(NOT_KEPT);
        }
        let actor = entry.actor.parse::<ActorId>().map_err(|_| NOBODY)?;
        if asked.by == By::Actor && batch.world.card(&actor).is_none() {
            return Err(NOBODY);
        }
        let channel = gate.channel.parse().map_err(|_| UNREADABLE)?;
        let (under, break_glass) = (asked.under.clone(), asked.break_glass.clone());
        let issuer = asked.issuer.clone();
        let run = asked.run.clone().map(Arc::new);
        let caller = Caller { issuer, under, break_glass, run, ..Caller::new(who(asked, actor), channel) };
        let outcome = self.outcome(batch, entry, &caller, (operation, plan, asked), key);
        let recorded = recorded(entry, &outcome, plan);
        self.tally.count_times(operation, &entry.actor, &outcome, (recorded, times));
        if self.tally.wants(operation, &outcome) {
            self.tally.keep(sample(entry, operation, (entry.actor.clone(), asked.target.id()), &outcome));
        }
        Ok(())
    }

    /// A decision for another program.
    fn evaluated(&mut self, entry: &Decided) -> Result<(), &'static str> {
        let Evaluated { said, recorded, outcome } =
            evaluated::again(self.book.sides, &self.book.changed, entry, &mut self.remembered)?;
        let (subject, resource) = (said.subject.name(), said.resource.name());
        self.tally.count(&said.action, &subject, &outcome, recorded);
        if self.tally.wants(&said.action, &outcome) {
            self.tally.keep(sample(entry, &said.action, (subject, resource), &outcome));
        }
        Ok(())
    }

    fn outcome(
        &mut self,
        batch: &Batch,
        entry: &Decided,
        caller: &Caller,
        (operation, plan, asked): (&'static str, &Plan, &record::RecordedQuestion),
        key: &mut Vec<u8>,
    ) -> Arc<Outcome> {
        let seen = batch.world.nouns.sight(&asked.target).and_then(|sight| self.book.plans.get(sight));
        // A chain of delegations holds until a time, whatever the policies look at.
        if plan.timed || seen.is_some_and(|sight| sight.timed) || caller.under.is_some() {
            return Arc::new(self.both(batch, entry, caller, operation, asked));
        }
        key.clear();
        equivalence::write(key, &batch.world, &self.book.names, caller, (operation, &asked.target, &asked.granted));
        if let Some(input) = asked.input.as_ref().filter(|_| plan.input) {
            key.extend_from_slice(input.to_string().as_bytes());
        }
        if let Some(outcome) = self.remembered.get(key.as_slice()) {
            return Arc::clone(outcome);
        }
        let outcome = Arc::new(self.both(batch, entry, caller, operation, asked));
        if self.remembered.len() >= MOST {
            self.remembered.clear();
        }
        self.remembered.insert(key.as_slice().into(), Arc::clone(&outcome));
        outcome
    }

    fn both(
        &self,
        batch: &Batch,
        entry: &Decided,
        caller: &Caller,
        operation: &str,
        asked: &record::RecordedQuestion,
    ) -> Outcome {
        let target = &asked.target;
        let sight = sight_for(&batch.world, target, caller);
        let unlike = |operation| self.book.plans.get(operation).is_none_or(|plan| plan.unlike);
        let call = Call { operation, target, input: asked.input.as_ref() };
        let question =
            Asker::of(&batch.world, caller, call, entry.at).into_question(operation, sight, asked.granted.clone());
        let Sides { before, after } = self.book.sides;
        if unlike(operation) || sight.is_some_and(unlike) {
            let (old, new) = question.answers(before.snapshot, after.snapshot);
            return Outcome::of(Answer::of(&old), Answer::of(&new), &self.book.changed);
        }
        let same = Answer::of(&question.answer(before.snapshot));
        Outcome { before: same.clone(), after: same, policies: Vec::new() }
    }
}

fn sample(entry: &Decided, operation: &str, (actor, target): (String, String), outcome: &Outcome) -> Sample {
    Sample {
        seq: entry.seq,
        at: entry.at,
        operation: operation.to_owned(),
        actor,
        target,
        before: outcome.before.clone(),
        after: outcome.after.clone(),
        policies: outcome.policies.clone(),
    }
}

/// Whether the question was kept with what these policies look at: before presence was seen, it was not.
fn is_kept(asked: &record::RecordedQuestion, plan: &Plan) -> bool {
    asked.input.as_ref().is_some_and(|input| plan.presence.iter().all(|field| input.get(field).is_some()))
}

fn who(asked: &record::RecordedQuestion, actor: ActorId) -> Who {
    match asked.by {
        By::Visitor => Who::Visitor,
        By::Server => Who::Server,
        By::Actor if asked.scopes.is_empty() => Who::Holder(actor),
        By::Actor => Who::Token { actor, hash: TokenHash([0; 32]), scopes: asked.scopes.clone() },
    }
}

/// What the log says that a decision came to. A query that would need approval was refused.
fn recorded(entry: &Decided, outcome: &Outcome, plan: &Plan) -> Decision {
    match entry.decision {
        Logged::Allow | Logged::System => Decision::Allow,
        Logged::NeedsApproval => Decision::NeedsApproval,
        Logged::Deny => {
            let refused = plan.query && outcome.before.decision == Decision::NeedsApproval;
            if refused { Decision::NeedsApproval } else { Decision::Deny }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_from_before_presence_was_kept_is_not_asked_again() {
        let plan = |presence| Plan { unlike: true, timed: false, query: false, input: true, unkept: false, presence };
        let kept = |input: serde_json::Value, presence| {
            let asked = serde_json::json!({ "by": "actor", "target": "company", "input": input });
            is_kept(&serde_json::from_value(asked).unwrap(), &plan(presence))
        };
        let (old, without, with) = (
            serde_json::json!({ "agent": "bot" }),
            serde_json::json!({ "agent": "bot", "plan": null }),
            serde_json::json!({ "agent": "bot", "plan": {} }),
        );
        assert!(!kept(old.clone(), vec!["plan"]));
        assert!(kept(without, vec!["plan"]) && kept(with, vec!["plan"]) && kept(old, vec![]));
    }
}
