//! `ok approve` and `ok approval`: calls that wait for people.

use clap::Subcommand;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::{Context, client, show};

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

impl Approve {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let decision = if self.reject { "reject" } else { "approve" };
        let input = json!({ "id": self.id, "decision": decision, "note": self.note });
        let answer = client::call(context, "approval.decide", input).await?;
        context.show(&answer, || {
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

impl Approval {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Approval::List { status, mine, limit } => {
                let input = json!({ "status": status, "mine": mine });
                let rows = client::list(context, "approval.list", input, limit).await?;
                let columns = ["id", "status", "action", "resource", "actor", "expires_at"];
                context.show(&rows.clone().into(), || show::table(&columns, &rows))
            }
            Approval::Show { id } => {
                let answer = client::call(context, "approval.read", json!({ "id": id })).await?;
                let fields = ["id", "status", "action", "resource", "actor", "args", "reason", "expires_at"];
                context.show(&answer, || {
                    show::fields(&fields, &answer)?;
                    needed(answer.get("approvers"))
                })
            }
            Approval::Withdraw { id } => {
                let answer = client::call(context, "approval.withdraw", json!({ "id": id })).await?;
                context.show(&answer, || show::text(&format!("{id} {}", show::cell(answer.get("status")))))
            }
            Approval::Explain { id } => {
                let answer = client::call(context, "approval.explain", json!({ "id": id })).await?;
                context.show(&answer, || {
                    show::fields(&["id", "status", "reason"], &answer)?;
                    needed(answer.get("who_may_decide"))?;
                    let happens = answer.get("what_happens").cloned().unwrap_or_default();
                    show::fields(&["on_approve", "on_reject", "on_expiry"], &happens)
                })
            }
        }
    }
}

fn needed(kinds: Option<&Value>) -> Result<(), Failure> {
    let rows = kinds.and_then(Value::as_array).cloned().unwrap_or_default();
    show::table(&["kind", "threshold", "held", "any_of"], &rows)
}
