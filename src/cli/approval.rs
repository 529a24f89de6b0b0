//! `ok approve` and `ok approval`: calls that wait for people.

use clap::Subcommand;
use serde_json::{Value, json};

use super::command::{Commands, Run, own, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, show};

pub const COMMANDS: Commands = &[&own::<Approve>("approve"), &owns::<Approval>("approval")];

/// Approve or reject a call that waits
///
/// The approval that completes it carries the call out at once.
///
/// Example: `ok approve apr_01M7… --note "as agreed on Monday"`
#[derive(clap::Args)]
pub struct Approve {
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

impl Run for Approve {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let decision = if self.reject { "reject" } else { "approve" };
        let input = json!({ "id": self.id, "decision": decision, "note": self.note });
        let answer = client::call(context, "approval.decide", input).await?;
        context.show(&answer, || {
            // What was decided about first: an id alone tells nobody whether it was the one that they meant.
            show::text(&show::cell(answer.get("summary")))?;
            arguments(&answer)?;
            show::text(&format!("{} {}", self.id, show::cell(answer.get("status"))))?;
            let notes = [answer.get("stale"), answer.get("result")].into_iter().flatten();
            notes.into_iter().try_for_each(|note| show::text(&show::visible(&show::cell(Some(note)))))
        })
    }
}

/// Show calls that wait for people
#[derive(Subcommand)]
pub enum Approval {
    /// List approvals, newest first
    List {
        /// Only in this state: pending, approved, used, stale, rejected, expired
        #[arg(long, value_name = "STATE")]
        status: Option<String>,
        /// Only those that the acting actor may decide
        #[arg(long)]
        mine: bool,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Show one approval
    Show {
        #[arg(value_name = "APPROVAL")]
        id: String,
    },
    /// Take your own request back
    Withdraw {
        #[arg(value_name = "APPROVAL")]
        id: String,
    },
    /// Explain why it is needed, who may decide, and what happens then
    Explain {
        #[arg(value_name = "APPROVAL")]
        id: String,
    },
}

impl Run for Approval {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Approval::List { status, mine, limit } => {
                let input = json!({ "status": status, "mine": mine });
                let rows = client::list(context, "approval.list", input, limit).await?;
                let columns = ["id", "status", "summary", "waits_for", "expires_at"];
                let shown: Vec<Value> = rows.iter().map(with_waiting).collect();
                context.show(&rows.clone().into(), || show::list("no approvals", &columns, &shown))
            }
            Approval::Show { id } => {
                let answer = client::call(context, "approval.read", json!({ "id": id })).await?;
                let fields =
                    ["id", "status", "summary", "action", "resource", "actor", "on_behalf_of", "under", "reason"];
                context.show(&answer, || {
                    show::fields(&fields, &answer)?;
                    show::fields(&["stale", "waits_for", "expires_at", "ended_at"], &with_waiting(&answer))?;
                    arguments(&answer)?;
                    needed(answer.get("approvers"))?;
                    let decisions = answer.get("decisions").and_then(Value::as_array).cloned().unwrap_or_default();
                    show::table(&["by", "kind", "decision", "note", "at"], &decisions)
                })
            }
            Approval::Withdraw { id } => {
                let answer = client::call(context, "approval.withdraw", json!({ "id": id })).await?;
                context.show(&answer, || show::text(&format!("{id} {}", show::cell(answer.get("status")))))
            }
            Approval::Explain { id } => {
                let answer = client::call(context, "approval.explain", json!({ "id": id })).await?;
                context.show(&answer, || {
                    show::fields(&["id", "status", "summary", "decision", "reason"], &answer)?;
                    arguments(&answer)?;
                    let rows = |name: &str| answer.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
                    show::table(&["policy", "reason", "file", "line"], &rows("because"))?;
                    changed(answer.get("diff"))?;
                    needed(answer.get("who_may_decide"))?;
                    show::table(&["approval", "decision", "actor", "summary", "at"], &rows("similar"))?;
                    let happens = answer.get("what_happens").cloned().unwrap_or_default();
                    show::fields(&["on_approve", "on_reject", "on_expiry"], &happens)
                })
            }
        }
    }
}

/// Whom it still waits for: of each kind that is not given yet, who may give it and has not decided.
fn with_waiting(approval: &Value) -> Value {
    let mut shown = approval.clone();
    if approval.get("status").and_then(Value::as_str) != Some("pending") {
        return shown;
    }
    let list = |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let open = list(approval, "approvers").into_iter().filter_map(|kind| {
        let (held, threshold) = (list(&kind, "held"), kind.get("threshold").and_then(Value::as_u64).unwrap_or(1));
        let any_of = list(&kind, "any_of").into_iter().filter(|one| !held.contains(one));
        let names: Vec<String> = any_of.map(|one| show::cell(Some(&one))).collect();
        let missing = threshold.saturating_sub(held.len() as u64);
        let kind = show::cell(kind.get("kind"));
        let many = if missing > 1 { format!("{missing} of ") } else { String::new() };
        (missing > 0).then(|| format!("{kind}: {many}{}", names.join(" or ")))
    });
    let open: Vec<String> = open.collect();
    if let Some(fields) = shown.as_object_mut() {
        fields.insert("waits_for".into(), open.join("; ").into());
    }
    shown
}

/// What the call was given, a line each.
fn arguments(approval: &Value) -> Result<(), Failure> {
    let args = approval.get("args").and_then(Value::as_object).cloned().unwrap_or_default();
    let given = args.iter().filter(|(_, value)| !value.is_null());
    let withheld = approval.get("withheld").and_then(Value::as_array).cloned().unwrap_or_default();
    let withheld = withheld.iter().map(|name| json!({ "argument": name, "value": "(withheld)" }));
    let rows: Vec<Value> =
        given.map(|(name, value)| json!({ "argument": name, "value": value })).chain(withheld).collect();
    show::table(&["argument", "value"], &rows)
}

/// What is otherwise than when it was asked for.
fn changed(diff: Option<&Value>) -> Result<(), Failure> {
    let fields = diff.and_then(Value::as_object).cloned().unwrap_or_default();
    let row = |(name, change): (&String, &Value)| json!({ "changed": name, "was": change.get("was"), "is": change.get("is") });
    show::table(&["changed", "was", "is"], &fields.iter().map(row).collect::<Vec<_>>())
}

fn needed(kinds: Option<&Value>) -> Result<(), Failure> {
    let rows = kinds.and_then(Value::as_array).cloned().unwrap_or_default();
    show::table(&["kind", "threshold", "held", "any_of"], &rows)
}
