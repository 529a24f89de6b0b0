//! `ok changes`: proposals on their way into force.

use clap::Subcommand;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::policy::{budgets, compared};
use super::{Context, client, show};
use crate::types::impact::Budgets;

/// Review, test and promote changes
#[derive(Subcommand)]
pub enum Changes {
    /// List changes, newest first
    List {
        /// Only in this state: proposed, in_review, approved, canary, promoted, rolled_back, rejected, superseded, withdrawn
        #[arg(long = "in", value_name = "STATE")]
        in_state: Option<String>,
        /// Only the acting actor's own
        #[arg(long)]
        mine: bool,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Show a change, and what it would change
    Show {
        #[arg(value_name = "CHANGE")]
        id: String,
    },
    /// Approve somebody else's change, or ask for something else
    Review {
        #[arg(value_name = "CHANGE")]
        id: String,
        #[command(flatten)]
        verdict: Verdict,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        note: String,
    },
    /// Put a change to its tests
    Evals {
        #[arg(value_name = "CHANGE")]
        id: String,
    },
    /// Try a change on a share of the traffic; no answer is changed by it
    Canary {
        #[arg(value_name = "CHANGE")]
        id: String,
        /// The share of decisions that it is asked about too
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
        percent: u8,
        /// How many decisions it must have seen before it can come into force [default: 100]
        #[arg(long, value_name = "N")]
        min_decisions: Option<u64>,
        /// It ends by itself when more decisions come out otherwise [default: newly_allowed=0]
        #[arg(long, value_name = "NAME=NUMBER,...", value_parser = budgets)]
        abort_if: Option<Budgets>,
    },
    /// Bring a change into force
    Promote {
        #[arg(value_name = "CHANGE")]
        id: String,
    },
    /// Reject a change, or take back one's own
    Reject {
        #[arg(value_name = "CHANGE")]
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct Verdict {
    /// It is good as it is
    #[arg(long)]
    approve: bool,
    /// Something has to change; --note says what
    #[arg(long)]
    request_changes: bool,
}

impl Changes {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (operation, input) = match self {
            Changes::List { in_state, mine, limit } => {
                let rows =
                    client::list(context, "change.list", json!({ "state": in_state, "mine": mine }), limit).await?;
                let columns = ["id", "target", "state", "author", "reason", "base_version", "created_at"];
                return context.show(&rows.clone().into(), || show::list("no changes", &columns, &rows));
            }
            Changes::Show { id } => {
                let answer = client::call(context, "change.read", json!({ "id": id })).await?;
                return context.show(&answer, || {
                    shown(answer.get("change").unwrap_or(&Value::Null))?;
                    show::text(&compared::text(&answer))
                });
            }
            Changes::Review { id, verdict, note } => {
                let verdict = if verdict.approve { "approve" } else { "request_changes" };
                ("change.review", json!({ "id": id, "verdict": verdict, "note": note }))
            }
            Changes::Evals { id } => ("change.evals", json!({ "id": id })),
            Changes::Canary { id, percent, min_decisions, abort_if } => {
                let input =
                    json!({ "id": id, "percent": percent, "min_decisions": min_decisions, "abort_if": abort_if });
                ("change.canary", input)
            }
            Changes::Promote { id } => ("change.promote", json!({ "id": id })),
            Changes::Reject { id, reason } => ("change.reject", json!({ "id": id, "reason": reason })),
        };
        let change = client::call(context, operation, input).await?;
        context.show(&change, || shown(&change))?;
        let failed = operation == "change.evals" && change.pointer("/evals/passed") != Some(&Value::Bool(true));
        Ok(if failed { Exit::Untested } else { Exit::Done })
    }
}

fn shown(change: &Value) -> Result<(), Failure> {
    show::fields(&["id", "target", "state", "author", "reason", "base_version", "version", "hash"], change)?;
    let rows = |pointer: &str| change.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    show::table(&["by", "verdict", "note", "at"], &rows("/reviews"))?;
    show::table(&["case", "status", "problems"], &rows("/evals/last"))?;
    show::table(&["operation", "actor", "target", "before", "after"], &rows("/canary/samples"))
}
