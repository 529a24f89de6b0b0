//! Prints an explanation, and formats the parts that its tree shares.

use serde::Serialize;

use super::super::column::columns;
use super::super::exit::Failure;
use super::super::show;
use crate::nouns::policy::explained::{
    EvaluationExplained, Explained, ExplainedLink, NeededApproval, NeededKind, RateLimit, ShownBreakGlass, ShownChange,
    Standing,
};
use crate::nouns::policy::narrowed::{Narrowed, NarrowedBy, Share, WithheldFields};
use crate::nouns::policy::shown::{PolicySource, ShownPolicy};
use crate::types::actor::KillScope;
use crate::types::impact::Decision;
use crate::types::time::Time;

/// The answer to one question; with fewer parts for the company's own types.
pub(super) struct ShownAnswer {
    pub decision: Decision,
    pub operation: String,
    pub actor: String,
    pub target: String,
    pub on_behalf_of: Vec<ExplainedLink>,
    pub reason: String,
    pub because: Vec<ShownPolicy>,
    pub near_misses: Vec<ShownPolicy>,
    pub not_given: Vec<String>,
    pub narrowed: Option<Narrowed>,
    pub approvals: Vec<NeededApproval>,
    pub break_glass: Option<ShownBreakGlass>,
    pub kill: Vec<KillScope>,
    pub limits: Vec<RateLimit>,
    pub what_would_change: Vec<Vec<ShownChange>>,
    pub policy: i64,
    pub at: Time,
}

impl From<Explained> for ShownAnswer {
    fn from(told: Explained) -> ShownAnswer {
        ShownAnswer {
            decision: told.decision,
            operation: told.operation,
            actor: told.actor.to_string(),
            target: told.target,
            on_behalf_of: told.on_behalf_of,
            reason: told.reason,
            because: told.because,
            near_misses: told.near_misses,
            not_given: told.not_given,
            narrowed: told.narrowed,
            approvals: told.approvals,
            break_glass: told.break_glass,
            kill: told.kill,
            limits: told.limits,
            what_would_change: told.what_would_change,
            policy: told.policy.version,
            at: told.at,
        }
    }
}

impl From<EvaluationExplained> for ShownAnswer {
    fn from(told: EvaluationExplained) -> ShownAnswer {
        let needed = |NeededKind { kind, threshold }| NeededApproval {
            kind,
            threshold,
            who_may_decide: Vec::new(),
            held: Vec::new(),
            request: None,
        };
        ShownAnswer {
            decision: told.decision,
            operation: told.operation,
            actor: told.actor,
            target: told.target,
            on_behalf_of: Vec::new(),
            reason: told.reason,
            because: told.because,
            near_misses: told.near_misses,
            not_given: Vec::new(),
            narrowed: None,
            approvals: told.approvals.into_iter().map(needed).collect(),
            break_glass: None,
            kill: Vec::new(),
            limits: Vec::new(),
            what_would_change: Vec::new(),
            policy: told.policy.version,
            at: told.at,
        }
    }
}

/// The first lines of an answer.
#[derive(Serialize)]
struct Lines<'a> {
    decision: Decision,
    operation: &'a str,
    actor: &'a str,
    target: &'a str,
    reason: &'a str,
    because: Vec<String>,
    near_misses: Vec<String>,
    kill: &'a [KillScope],
    limits: Vec<String>,
    policy: i64,
    at: Option<Time>,
}

pub(super) fn print(told: &ShownAnswer, is_past: bool) -> Result<(), Failure> {
    let lines = Lines {
        decision: told.decision,
        operation: &told.operation,
        actor: &told.actor,
        target: &told.target,
        reason: &told.reason,
        because: told.because.iter().map(named).collect(),
        near_misses: told.near_misses.iter().map(missed).collect(),
        kill: &told.kill,
        limits: limits(&told.limits),
        policy: told.policy,
        at: is_past.then_some(told.at),
    };
    let fields = columns!(
        Lines<'_>; decision, operation, actor, target, reason, because, near_misses, kill, limits, policy, at
    );
    show::one(fields, &lines)?;
    let not_given: Vec<String> = told.not_given.iter().map(|name| format!("`{name}`")).collect();
    if !not_given.is_empty() {
        let names = not_given.join(" and ");
        show::text(&format!("\nPolicies read {names} from the input: with `--input`, the answer may differ."))?;
    }
    if let Some(rows) = &told.narrowed {
        narrowed(rows)?;
    }
    if !told.on_behalf_of.is_empty() {
        show::text("\nOn behalf of:")?;
        show::rows(columns!(ExplainedLink; from, delegation, decision, reason), &told.on_behalf_of)?;
    }
    if let Some(needed) = told.approvals.first() {
        show::text(&format!("\nIt needs approval{}:", open_request(needed)))?;
        show::rows(columns!(NeededApproval; kind, threshold, held, who_may_decide), &told.approvals)?;
    }
    if let Some(said) = told.break_glass.as_ref().map(break_glass) {
        show::text(&format!("\nWith break-glass: {said}"))?;
    }
    let lines: Vec<String> = told.what_would_change.iter().map(|set| format!("  {}", sentence(set))).collect();
    if !lines.is_empty() {
        show::text(&format!("\nIt would be allowed if:\n{}", lines.join("\n  or\n")))?;
    }
    Ok(())
}

/// Formats rate limits like `changes-by-people: 5999 of 6000 in 60 s left`.
pub(super) fn limits(limits: &[RateLimit]) -> Vec<String> {
    let left = |RateLimit { id, most, seconds, left }: &RateLimit| {
        let over = if *left == 0 { ": answered 429" } else { "" };
        format!("{}: {left} of {most} in {seconds} s left{over}", show::said(id))
    };
    limits.iter().map(left).collect()
}

/// Prints which records a query answers with, by which policies, and which fields are left out.
fn narrowed(rows: &Narrowed) -> Result<(), Failure> {
    let whole = match (rows.records, &rows.condition) {
        (Share::Each, _) => "those that are each decided separately".to_owned(),
        (Share::Some, Some(condition)) => format!("those with {}", show::said(condition)),
        (share, _) => show::said(&share),
    };
    show::text(&format!("\nRecords: {whole}"))?;
    show::rows(columns!(NarrowedBy; policy.id, policy.effect, records, condition), &rows.by)?;
    if !rows.withheld.is_empty() {
        show::text("\nFields that are left out:")?;
        show::rows(columns!(WithheldFields; label, fields, reason), &rows.withheld)?;
    }
    Ok(())
}

fn open_request(needed: &NeededApproval) -> String {
    needed.request.as_ref().map(|id| format!(", and {id} asks for it")).unwrap_or_default()
}

/// Formats break-glass like `allow, by bgl_01M7… (until 2026-11-20T09:10:00Z)`.
pub(super) fn break_glass(break_glass: &ShownBreakGlass) -> String {
    let ShownBreakGlass { state, id, expires_at, decision, reason } = break_glass;
    let decision = decision.name();
    if *state == Standing::Possible {
        return format!("{decision}, by a grant that they could open (ok policy break-glass)");
    }
    let why = reason.as_ref().map(|why| format!(": {}", show::said(why))).unwrap_or_default();
    format!("{decision}, by {} (until {}){why}", show::said(id), show::said(expires_at))
}

/// Formats changes like `the role of mia is lead, and mia leads team:ops`.
pub(super) fn sentence(set: &[ShownChange]) -> String {
    set.iter().map(|change| show::said(&change.text)).collect::<Vec<_>>().join(", and ")
}

/// Formats a policy like `tokens-for-others-by-admins (forbid, base/tokens.cedar:33)`.
fn named(policy: &ShownPolicy) -> String {
    format!("{} ({})", show::said(&policy.id), place(policy))
}

/// Formats a near miss like `tokens-for-oneself (1 part fails, base/tokens.cedar:3)`.
fn missed(policy: &ShownPolicy) -> String {
    let id = show::said(&policy.id);
    match &policy.source {
        Some(source) => format!("{id} ({}, {})", fails(source.failing), line_of(source)),
        None => id,
    }
}

pub(super) fn fails(parts: usize) -> String {
    if parts == 1 { "1 part fails".into() } else { format!("{parts} parts fail") }
}

/// Formats effect and position like `forbid, base/tokens.cedar:33`; only the effect if the asker may not read policies.
pub(super) fn place(policy: &ShownPolicy) -> String {
    let effect = show::said(&policy.effect);
    policy.source.as_ref().map_or_else(|| effect.clone(), |source| format!("{effect}, {}", line_of(source)))
}

fn line_of(source: &PolicySource) -> String {
    format!("{}:{}", show::said(&source.file), source.line)
}
