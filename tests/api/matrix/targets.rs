//! What each operation is tried on.

use ok::gate::Entry;

use super::Who;

/// What an operation is about, as whoever tries it has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Company,
    Own,
    /// In the team ops, without being the caller's otherwise.
    Ops,
    Another,
    Absent,
}

use Of::{Absent, Another, Company, Ops, Own};

impl Of {
    pub fn name(self) -> &'static str {
        match self {
            Company => "",
            Own => "own",
            Ops => "of ops",
            Another => "another's",
            Absent => "absent",
        }
    }

    pub fn person(self, who: &Who) -> &'static str {
        match self {
            Own if who.id.is_empty() => "ada",
            Own | Company => who.id,
            Ops => "oz",
            Another => "fay",
            Absent => "nobody",
        }
    }

    pub fn agent(self, who: &Who) -> &'static str {
        match self {
            Own | Company => who.agent,
            Ops => "ozbot",
            Another => "farbot",
            Absent => "nobody",
        }
    }

    pub fn team(self, who: &Who) -> Option<&'static str> {
        match self {
            Company => None,
            Own => who.team,
            Ops => Some("team:ops"),
            Another => Some("team:far"),
            Absent => Some("team:none"),
        }
    }
}

/// What each operation can be tried on. One whose address names nothing is about the company, unless it is said here.
pub(super) fn targets(entry: &Entry) -> Option<&'static [Of]> {
    Some(match entry.spec.name {
        "webhook.read" | "webhook.update" | "webhook.delete" | "webhook.rotate" | "webhook.test"
        | "webhook.deliveries" | "webhook.redeliver" => &[Own, Another, Absent],
        "agent.ask" => &[Own, Ops, Another, Absent],
        "task.read" | "task.assign" | "task.update" | "task.complete" | "task.run" | "run.read" | "run.stream"
        | "run.answer" | "run.cancel" | "budget.raise" => &[Own, Another, Absent],
        "collection.read" | "collection.query" | "record.aggregate" | "record.list" | "record.import"
        | "semantics.read" | "semantics.propose" | "view.preview" => &[Own, Absent],
        "record.read" | "record.write" | "record.replace" | "record.change" | "record.delete" | "record.history"
        | "record.refs" | "record.rollback" | "record.flag" | "schema.read" | "schema.apply" | "schema.reject" => {
            &[Own, Another, Absent]
        }
        "view.read" => &[Own, Another, Absent],
        "knowledge.read" | "knowledge.text" | "knowledge.accept" | "knowledge.reject" | "knowledge.retract" => {
            &[Own, Another, Absent]
        }
        "break_glass.open" => &[Own],
        "break_glass.end" | "break_glass.review" => &[Own, Another, Absent],
        "audit.proof" => &[Company, Absent],
        "approval.decide" | "approval.explain" | "approval.read" | "approval.withdraw" => &[Ops, Absent],
        "change.read" | "change.review" | "change.evals" | "change.promote" | "change.canary" | "change.reject" => {
            &[Own, Another, Absent]
        }
        "inbox.read" => &[Own, Another, Absent],
        "context.forget" => &[Own, Another, Absent],
        "delegation.grant" => &[Ops, Another, Absent],
        "delegation.read" | "delegation.revoke" | "delegation.reserve" | "delegation.settle" => &[Own, Another, Absent],
        "actor.add" | "actor.hire" | "kill" => &[Company, Own, Ops, Another, Absent],
        "actor.offboard" => &[Own, Ops, Another, Absent],
        "actor.read" | "actor.trust" | "actor.update" | "policy.explain" | "token.issue" | "token.narrow"
        | "token.read" | "token.revoke" | "token.revoke_all" => &[Own, Ops, Another, Absent],
        _ if !entry.spec.route.path.contains('{') => &[Company],
        _ => return None,
    })
}
