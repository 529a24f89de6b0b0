//! `ok policy`: asking the gate why.

use clap::Subcommand;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::id::ActorId;

/// Ask the gate why
#[derive(Subcommand)]
pub enum Policy {
    /// Explain what the gate would answer; nothing is done
    ///
    /// Example: `ok policy explain token.issue bob --actor ana`
    Explain {
        /// The operation, such as token.issue
        op: String,
        /// What it would be about: an actor's or token's id, a kill switch [default: the company]
        target: Option<String>,
        /// Who would do it [default: the acting actor]
        #[arg(long, value_name = "ID")]
        actor: Option<ActorId>,
    },
}

impl Policy {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Policy::Explain { op, target, actor } = self;
        let answer =
            client::call(context, "policy.explain", json!({ "op": op, "target": target, "actor": actor })).await?;
        context.show(&answer, || told(&answer))
    }
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
