//! `ok policy explain` and `ok policy who-can`: what the gate would answer, and why, as people read it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use super::super::column::columns;
use super::super::command::{Needs, Run};
use super::super::definition::text_of;
use super::super::exit::{Exit, Failure};
use super::super::operation::{Operation, query};
use super::super::{Context, client, show};
use super::tree;
use crate::operations::access::Evaluation;
use crate::operations::policy::explain::{self, Question};
use crate::operations::policy::moment::Moment;
use crate::operations::policy::who_can::{self, Able, Wanted};
use crate::types::id::ActorId;
use crate::types::json;
use crate::types::page::Page;

/// Explain what the gate would answer; nothing is done
///
/// Without an operation, every operation is asked about.
///
/// Example: `ok policy explain token.issue bob --actor ana`
#[derive(clap::Args)]
pub struct Explain {
    /// The operation, such as token.issue [default: all]
    op: Option<String>,
    /// What it would be about: the id of an actor, a token, an approval, a change, a delegation or an event, or a kill switch [default: the company]
    target: Option<String>,
    /// What the operation would be given, as JSON: {"id": "kim", "kind": "person", "role": "admin"}
    #[arg(long, value_name = "JSON")]
    input: Option<Json>,
    /// Who would do it [default: the acting actor]
    #[arg(long, value_name = "ID")]
    actor: Option<ActorId>,
    /// Show each policy part by part, with what it read
    #[arg(long)]
    tree: bool,
    /// The delegation that it would be done under [default: the one that you act under]
    #[arg(long, value_name = "DELEGATION")]
    under: Option<String>,
    /// The run in a step of which it would be done: one of the actor's [default: the run that it is about, where only agents at work can do it]
    #[arg(long, value_name = "RUN", conflicts_with = "at")]
    run: Option<String>,
    /// A file with a question about your own types, as other programs ask it: JSON with subject, action, resource and context
    #[arg(long, value_name = "FILE", conflicts_with_all = ["op", "input", "actor", "under", "run"])]
    evaluation: Option<PathBuf>,
    /// As the company was then: the number of an event, or a time such as 2026-11-20T09:00:00Z
    #[arg(long, value_name = "WHEN")]
    at: Option<Moment>,
}

/// JSON on the command line.
#[derive(Clone)]
struct Json(Value);

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Json, serde_json::Error> {
        json::read(text.as_bytes()).map(Json)
    }
}

impl Run for Explain {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (is_past, is_tree) = (self.at.is_some(), self.tree);
        let evaluation = self.evaluation.as_deref().map(read).transpose()?;
        let (op, target, input) = (self.op, self.target, self.input.map(|input| input.0));
        let Explain { actor, under, run, at, .. } = self;
        let question = Question { op, target, input, actor, under, run, at, evaluation };
        let answer = query::<explain::Explain>().ask(context, &question).await?.value;
        context.show(&answer, || match answer.get("operations").and_then(Value::as_array) {
            Some(rows) => show::table(&["operation", "decision", "reason"], rows),
            None if is_tree => show::painted(&tree::drawn(&answer, is_past, show::is_coloured())),
            None => told(&answer, is_past),
        })
    }
}

/// The longest question that is read.
const MOST: usize = 1 << 20;

fn read(path: &Path) -> Result<Evaluation, Failure> {
    let wrong = |error: serde_json::Error| Failure::new(format!("{}: {error}", path.display()));
    json::read(text_of(path, MOST)?.as_bytes()).map_err(wrong)
}

pub(super) const WHO_CAN: Operation<Wanted, Page<Able>> = query::<who_can::WhoCan>()
    .command("who-can")
    .help("List who may do something, with or without approval\n\nLists only actors whose decisions you may have explained.")
    .example("ok policy who-can actor.offboard bob")
    .anywhere()
    .in_pages()
    .told(able);

/// Somebody who can, by the ids of the policies that say so.
#[derive(Serialize)]
struct Row<'a> {
    able: &'a Able,
    because: Vec<&'a str>,
}

fn able(page: &Page<Able>) -> Result<(), Failure> {
    let row = |able| Row { able, because: able.because.iter().map(|policy| policy.id.as_str()).collect() };
    let rows: Vec<Row<'_>> = page.rows.iter().map(row).collect();
    show::rows(columns!(Row<'_>; able.actor, able.decision, able.approvals, because), &rows)
}

fn told(answer: &Value, is_past: bool) -> Result<(), Failure> {
    let said = with(answer, "because", named(answer.get("because")));
    let said = with(&said, "near_misses", missed(answer.get("near_misses")));
    let said = with(&said, "policy", answer.pointer("/policy/version").cloned().unwrap_or_default());
    let said = if is_past { said } else { with(&said, "at", Value::Null) };
    let left = Value::from(limits(&said));
    let said = with(&said, "limits", left);
    let fields = [
        "decision",
        "operation",
        "actor",
        "target",
        "reason",
        "because",
        "near_misses",
        "kill",
        "limits",
        "policy",
        "at",
    ];
    show::fields(&fields, &said)?;
    if let Some(rows) = answer.get("narrowed") {
        narrowed(rows)?;
    }
    let links = list(answer.get("on_behalf_of"));
    if !links.is_empty() {
        show::text("\nOn behalf of:")?;
        show::table(&["from", "delegation", "decision", "reason"], links)?;
    }
    if let Some(needed) = list(answer.get("approvals")).first() {
        show::text(&format!("\nIt needs approval{}:", asked(needed)))?;
        show::table(&["kind", "threshold", "held", "who_may_decide"], list(answer.get("approvals")))?;
    }
    if let Some(said) = answer.get("break_glass").map(break_glass) {
        show::text(&format!("\nWith break-glass: {said}"))?;
    }
    let sets: Vec<String> = list(answer.get("what_would_change")).iter().map(sentence).collect();
    if !sets.is_empty() {
        let lines: Vec<String> = sets.iter().map(|set| format!("  {set}")).collect();
        show::text(&format!("\nIt would be allowed if:\n{}", lines.join("\n  or\n")))?;
    }
    Ok(())
}

/// `changes-by-people: 5999 of 6000 in 60 s left`
pub(super) fn limits(answer: &Value) -> Vec<String> {
    let left = |limit: &Value| {
        let [id, left, most, seconds] = ["id", "left", "most", "seconds"].map(|field| said(limit, field));
        let over = if left == "0" { ": answered 429" } else { "" };
        format!("{id}: {left} of {most} in {seconds} s left{over}")
    };
    list(answer.get("limits")).iter().map(left).collect()
}

/// Which records a query answers with, by which policies, and what of them is left out.
fn narrowed(rows: &Value) -> Result<(), Failure> {
    let whole = match (said(rows, "records").as_str(), rows.get("condition")) {
        ("each", _) => "those of which each is allowed by itself".to_owned(),
        ("some", Some(condition)) => format!("those with {}", show::cell(Some(condition))),
        (share, _) => share.to_owned(),
    };
    show::text(&format!("\nRecords: {whole}"))?;
    let by = list(rows.get("by"));
    if !by.is_empty() {
        show::table(&["id", "effect", "records", "condition"], by)?;
    }
    let withheld = list(rows.get("withheld"));
    if !withheld.is_empty() {
        show::text("\nFields that are left out:")?;
        show::table(&["label", "fields", "reason"], withheld)?;
    }
    Ok(())
}

fn asked(needed: &Value) -> String {
    needed.get("request").and_then(Value::as_str).map(|id| format!(", and {id} asks for it")).unwrap_or_default()
}

/// `allow, by bgl_01M7… (until 2026-11-20T09:10:00Z)`
pub(super) fn break_glass(break_glass: &Value) -> String {
    let [decision, id, until] = ["decision", "id", "expires_at"].map(|field| said(break_glass, field));
    if said(break_glass, "state") == "possible" {
        return format!("{decision}, by a grant that they could open (ok policy break-glass)");
    }
    let why = break_glass.get("reason").filter(|why| why.is_string()).map(|why| format!(": {}", show::cell(Some(why))));
    format!("{decision}, by {id} (until {until}){}", why.unwrap_or_default())
}

/// `the role of mia is lead, and mia leads team:ops`
pub(super) fn sentence(set: &Value) -> String {
    list(Some(set)).iter().map(|change| show::cell(change.get("text"))).collect::<Vec<_>>().join(", and ")
}

/// `tokens-for-others-by-admins (forbid, base/tokens.cedar:33)`
fn named(policies: Option<&Value>) -> Vec<String> {
    list(policies).iter().map(|policy| format!("{} ({})", said(policy, "id"), place(policy))).collect()
}

/// `tokens-for-oneself (1 part fails, base/tokens.cedar:3)`
fn missed(policies: Option<&Value>) -> Vec<String> {
    let one = |policy: &Value| match policy.get("failing").and_then(Value::as_u64) {
        Some(failing) => format!("{} ({}, {})", said(policy, "id"), fails(failing), source(policy).unwrap_or_default()),
        None => said(policy, "id"),
    };
    list(policies).iter().map(one).collect()
}

pub(super) fn fails(parts: u64) -> String {
    if parts == 1 { "1 part fails".into() } else { format!("{parts} parts fail") }
}

/// `forbid, base/tokens.cedar:33`; only the effect where the asker may not read policies.
pub(super) fn place(policy: &Value) -> String {
    let effect = said(policy, "effect");
    source(policy).map_or_else(|| effect.clone(), |source| format!("{effect}, {source}"))
}

fn source(policy: &Value) -> Option<String> {
    policy.get("file").map(|file| format!("{}:{}", show::cell(Some(file)), said(policy, "line")))
}

fn with(thing: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut thing = thing.clone();
    client::set(&mut thing, field, value);
    thing
}

pub(super) fn said(thing: &Value, field: &str) -> String {
    show::cell(thing.get(field))
}

pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
