//! `ok approve` and `ok approval`: requests for approval.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::column::columns;
use super::command::{Commands, group};
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::show;
use crate::nouns::approval::decide::{Decide, Decision};
use crate::nouns::approval::effect::Changed;
use crate::nouns::approval::explain::{Detail, Explain, ExplainedApproval, InTheWay, Similar, WhatHappens};
use crate::nouns::approval::list::{List, Show};
use crate::nouns::approval::shown::{Needed, ShownApproval, ShownDecision};
use crate::nouns::approval::withdraw::Withdraw;
use crate::types::approval::{ApprovalStatus, Verdict};
use crate::types::page::Page;

pub const COMMANDS: Commands = &[
    &change::<Decide>()
        .command("approve")
        .help("Approve or reject a pending call\n\nThe decision that completes the approval performs the call at once.")
        .example("ok approve apr_01M7… --note \"as agreed on Monday\"")
        .given::<Approve>()
        .print(decided)
        .ends(carried_out),
    &group(
        "approval",
        "Show calls that wait for people",
        &[
            &query::<List>().command("list").help("List approvals, newest first").in_pages().print(listed),
            &query::<Show>().command("show").help("Show one approval").print(shown),
            &change::<Withdraw>()
                .command("withdraw")
                .help("Withdraw your own request")
                .print(|approval| show::text(&format!("{} {}", approval.id, approval.status))),
            &query::<Explain>()
                .command("explain")
                .help("Explain why an approval is needed, who may decide, and what happens on each outcome")
                .print(explained),
        ],
    ),
];

#[derive(clap::Args)]
struct Approve {
    /// The approval's id
    #[arg(value_name = "APPROVAL")]
    id: String,
    /// Reject it instead
    #[arg(long)]
    reject: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
}

impl From<Approve> for Decision {
    fn from(Approve { id, reject, note }: Approve) -> Decision {
        let decision = if reject { Verdict::Reject } else { Verdict::Approve };
        Decision { id, decision, note, kind: None }
    }
}

/// Returns the exit code: a stale request was not carried out, whoever approved it.
fn carried_out(approval: &ShownApproval) -> Exit {
    if approval.status == ApprovalStatus::Stale { Exit::Failed } else { Exit::Done }
}

fn decided(approval: &ShownApproval) -> Result<(), Failure> {
    // Print what was decided about first: from an id alone nobody sees whether it was the right one.
    show::text(&show::said(&what(approval)))?;
    arguments(&approval.args, &approval.withheld)?;
    show::text(&format!("{} {}", approval.id, approval.status))?;
    if let Some(waits_for) = Waiting::of(approval).waits_for {
        show::text(&format!("still waits for {waits_for}"))?;
    }
    approval.stale.iter().try_for_each(|why| show::text(&show::said(why)))?;
    if approval.stale.is_some() {
        show::note("The requester may request it again: `ok approval list` shows what is pending.");
    }
    let Some(Value::Object(result)) = &approval.result else {
        return approval.result.iter().try_for_each(|result| show::text(&show::said(result)));
    };
    let result = result.iter().filter(|(_, value)| !value.is_null() && value.as_str() != Some(""));
    let result = result.map(|(name, value)| Resulting { result: name, value: brief(value) });
    show::rows(columns!(Resulting<'_>; result, value), &result.collect::<Vec<_>>())
}

/// Replaces a long list by its length.
fn brief(value: &Value) -> Value {
    match value {
        Value::Array(all) if all.len() > 5 => format!("{} entries", all.len()).into(),
        value => value.clone(),
    }
}

/// A field of the call's result.
#[derive(Serialize)]
struct Resulting<'a> {
    result: &'a str,
    value: Value,
}

fn listed(approvals: &Page<ShownApproval>) -> Result<(), Failure> {
    let rows: Vec<Waiting<'_>> = approvals.rows.iter().map(Waiting::of).collect();
    let columns = columns!(Waiting<'_>; approval.id, approval.status, summary, waits_for, approval.expires_at);
    if rows.is_empty() { show::text("no approvals") } else { show::rows(columns, &rows) }
}

/// An approval and who still has to decide it.
#[derive(Serialize)]
struct Waiting<'a> {
    approval: &'a ShownApproval,
    /// What the call would do, with the title of its target.
    summary: String,
    waits_for: Option<String>,
}

impl Waiting<'_> {
    fn of(approval: &ShownApproval) -> Waiting<'_> {
        let mut open = approval.approvers.iter().filter_map(missing).collect::<Vec<_>>().join("; ");
        if open.is_empty() {
            open = "one more approval, by anybody who may decide it".into();
        }
        let waits_for = (approval.status == ApprovalStatus::Pending).then_some(open);
        let is_open = approval.ended_at.is_none();
        let votes = approval.approvers.iter().any(|kind| !kind.token_revoked.is_empty());
        let revoked = match (approval.token_revoked_at.is_some(), votes) {
            (true, _) if is_open => " (its token was revoked)",
            (false, true) if is_open => " (a decision's token was revoked)",
            _ => "",
        };
        Waiting { approval, summary: format!("{}{revoked}", what(approval)), waits_for }
    }
}

/// Describes what the call would do, with the title of its target.
fn what(approval: &ShownApproval) -> String {
    let title = approval.title.as_ref().map(|title| format!(" («{title}»)")).unwrap_or_default();
    format!("{}{title}", approval.summary)
}

/// Names the approvers of a kind who have not decided yet, if it is still missing.
fn missing(kind: &Needed) -> Option<String> {
    let missing = kind.threshold.saturating_sub(kind.held.len() as u32);
    let any_of: Vec<&str> = kind.any_of.iter().filter(|one| !kind.held.contains(one)).map(|one| one.as_str()).collect();
    let many = if missing > 1 { format!("{missing} of ") } else { String::new() };
    // Names that the reader may not see are left out.
    let whom = if any_of.is_empty() { "nobody can decide".to_owned() } else { any_of.join(" or ") };
    (missing > 0).then(|| format!("{}: {many}{whom}", kind.kind))
}

fn shown(approval: &ShownApproval) -> Result<(), Failure> {
    let fields = columns!(
        Waiting<'_>;
        approval.id, approval.status, summary, approval.action, approval.resource, approval.actor,
        approval.on_behalf_of, approval.under, approval.run, approval.token_id, approval.token_revoked_at, approval.reason
    );
    let waiting = Waiting::of(approval);
    show::one(fields, &waiting)?;
    let ends = columns!(Waiting<'_>; approval.stale, waits_for, approval.expires_at, approval.ended_at);
    show::one(ends, &waiting)?;
    arguments(&approval.args, &approval.withheld)?;
    show::rows(columns!(Needed; kind, threshold, held, token_revoked, any_of), &approval.approvers)?;
    show::rows(columns!(ShownDecision; by, kind, decision, note, at, token_revoked_at), &approval.decisions)
}

fn explained(approval: &ExplainedApproval) -> Result<(), Failure> {
    show::one(
        columns!(ExplainedApproval; id, status, summary, on_behalf_of, under, token_revoked_at, decision, reason),
        approval,
    )?;
    arguments(&approval.args, &approval.withheld)?;
    let (lines, facts): (Vec<&Detail>, Vec<&Detail>) = approval.about.iter().partition(|one| one.what == "diff");
    show::rows(columns!(&Detail; what, said), &facts)?;
    lines.iter().try_for_each(|one| show::text(&format!("\n{}", one.said)))?;
    show::rows(columns!(InTheWay; policy, reason, file, line), &approval.because)?;
    let effect = approval.effect.iter().map(|(field, changed)| Effect::of(field, changed));
    show::rows(columns!(Effect<'_>; field, now, then), &effect.collect::<Vec<_>>())?;
    differences(&approval.diff)?;
    if let Some(anew) = &approval.anew {
        show::text(&format!("\nRequested again: {} became stale ({})", anew.approval, show::said(&anew.why)))?;
        differences(&anew.changed)?;
    }
    show::rows(columns!(Needed; kind, threshold, held, token_revoked, any_of), &approval.who_may_decide)?;
    show::rows(columns!(Similar; approval, decision, actor, summary, at), &approval.similar)?;
    show::one(columns!(WhatHappens; on_approve, on_reject, on_expiry), &approval.what_happens)
}

fn differences(changed: &BTreeMap<String, Changed>) -> Result<(), Failure> {
    let differences: Vec<Difference<'_>> =
        changed.iter().map(|(changed, one)| Difference { changed, was: &one.was, is: &one.is }).collect();
    show::rows(columns!(Difference<'_>; changed, was, is), &differences)
}

/// A field that the call would change.
#[derive(Serialize)]
struct Effect<'a> {
    field: &'a str,
    now: Value,
    then: Value,
}

impl Effect<'_> {
    fn of<'a>(field: &'a str, changed: &'a Changed) -> Effect<'a> {
        let now = if changed.withheld { "(withheld)".into() } else { exactly(&changed.was) };
        Effect { field, now, then: exactly(&changed.is) }
    }
}

/// A field that has changed since the request.
#[derive(Serialize)]
struct Difference<'a> {
    changed: &'a str,
    was: &'a Value,
    is: &'a Value,
}

#[derive(Serialize)]
struct Argument<'a> {
    argument: &'a str,
    value: Value,
}

/// Prints the call's arguments, one per line.
fn arguments(args: &Value, withheld: &[String]) -> Result<(), Failure> {
    let given = args.as_object().into_iter().flatten();
    let given = given.map(|(name, value)| Argument { argument: name, value: exactly(value) });
    let stand_in = |name: &str| if args.get(name).is_some() { "(not all of it is shown)" } else { "(withheld)" };
    let withheld = withheld.iter().map(|name| Argument { argument: name, value: stand_in(name).into() });
    let (long, short): (Vec<Argument<'_>>, Vec<Argument<'_>>) = given.chain(withheld).partition(Argument::has_lines);
    show::rows(columns!(Argument<'_>; argument, value), &short)?;
    long.iter().try_for_each(Argument::print)
}

/// Renders a value without omitting anything: `null` and empty values mean that something is removed.
fn exactly(value: &Value) -> Value {
    match value {
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => value.clone(),
        Value::String(text) if !text.is_empty() => value.clone(),
        Value::Bool(_) | Value::Number(_) => value.clone(),
        _ => value.to_string().into(),
    }
}

impl Argument<'_> {
    /// Checks whether a text has several lines. Line breaks can change its meaning: in a definition, the rest of a line after
    /// `#` is a comment.
    fn has_lines(&self) -> bool {
        self.value.as_str().is_some_and(|text| text.trim_end().contains('\n'))
    }

    fn print(&self) -> Result<(), Failure> {
        show::text(&format!("{}:", self.argument))?;
        let lines = self.value.as_str().unwrap_or_default().lines();
        { lines }.try_for_each(|line| show::text(&format!("    {line}")))
    }
}
