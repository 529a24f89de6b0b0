//! `ok policy`: asking the gate why, and checking policies before they serve.

pub mod check;
mod compared;
mod diff;
mod human;
mod machine;

use clap::Subcommand;
use serde_json::{Value, json};

use super::client::Session;
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::operations;
use crate::types::id::ActorId;
use crate::types::refusal::Code;

/// Check policies, and ask the gate why
#[derive(Subcommand)]
pub enum Policy {
    /// Explain what the gate would answer; nothing is done
    ///
    /// Without an operation, every operation is asked about.
    ///
    /// Example: `ok policy explain token.issue bob --actor ana`
    Explain {
        /// The operation, such as token.issue [default: all]
        op: Option<String>,
        /// What it would be about: an actor's or token's id, a kill switch [default: the company]
        target: Option<String>,
        /// Who would do it [default: the acting actor]
        #[arg(long, value_name = "ID")]
        actor: Option<ActorId>,
    },
    Check(check::Check),
    Diff(diff::Diff),
}

impl Policy {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Policy::Explain { op: Some(op), target, actor } => {
                let input = json!({ "op": op, "target": target, "actor": actor });
                let answer = client::call(context, "policy.explain", input).await?;
                context.show(&answer, || told(&answer))
            }
            // `main` has run it already; it needs neither a state file nor an actor.
            Policy::Check(check) => check.run(context.format),
            Policy::Diff(diff) => diff.run(context).await,
            Policy::Explain { op: None, actor, .. } => {
                let mut session = Session::open(context).await?;
                let rows = every(&mut session, context, actor).await;
                session.close().await;
                let rows = rows?;
                context.show(&rows.clone().into(), || show::table(&["operation", "decision", "reason"], &rows))
            }
        }
    }
}

/// The answer for each operation; one that needs a target has none.
async fn every(session: &mut Session, context: &Context, actor: Option<ActorId>) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for spec in operations::ALL.iter().map(|entry| entry.spec).filter(|spec| !spec.route.local) {
        let input = json!({ "op": spec.name, "actor": actor });
        rows.push(match session.call(context, "policy.explain", input).await? {
            Ok(answer) => answer,
            Err(refused) if refused.code == Code::Invalid.name() => {
                json!({ "operation": spec.name, "decision": null, "reason": "it depends on the target; name one" })
            }
            Err(refused) => return Err(refused.into()),
        });
    }
    Ok(rows)
}

fn told(answer: &Value) -> Result<(), Failure> {
    let mut said = answer.clone();
    client::set(&mut said, "because", because(answer));
    client::set(&mut said, "policy", answer.pointer("/policy/version").cloned());
    let fields = ["decision", "operation", "actor", "target", "reason", "because", "approvals", "kill", "policy"];
    show::fields(&fields, &said)
}

/// `tokens-for-others-by-admins (forbid, base/tokens.cedar:33)`
fn because(answer: &Value) -> Vec<String> {
    let policies = answer.get("because").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let one = |policy: &Value| {
        let said = |field| show::cell(policy.get(field));
        format!("{} ({}, {}:{})", said("id"), said("effect"), said("file"), said("line"))
    };
    policies.iter().map(one).collect()
}
