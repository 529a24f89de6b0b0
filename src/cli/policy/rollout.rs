//! From a proposal to policies in force, as the command line walks it: propose, test, promote, and wait where people or
//! the repository's rules come first. Each step is an operation of its own, and the gate decides each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::call::Refused;
use super::super::client::Session;
use super::super::exit::{Exit, Failure};
use super::super::{Context, show};
use crate::types::refusal::Code;

const PAUSE: Duration = Duration::from_secs(1);

/// What is to come into force.
pub struct Rollout {
    /// The input of `policy.propose`.
    pub proposal: Value,
    /// How long to wait for people.
    pub wait: Duration,
}

/// How far it came.
pub enum Outcome {
    /// In force: what `policy.applied` tells.
    Applied(Value),
    /// Exactly this was in force before.
    Same(Value),
    /// People come first.
    Waits { change: String, why: String },
}

impl Rollout {
    pub async fn walk(&self, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let change = match session.call(context, "policy.propose", self.proposal.clone()).await? {
            Ok(change) => change,
            Err(refused) if refused.code == Code::Conflict.name() => {
                let applied = session.call(context, "policy.applied", json!({})).await??;
                let same = applied.get("version") == self.proposal.get("base_version")
                    || self.proposal.get("base_version").is_none_or(Value::is_null);
                return if same { Ok(Outcome::Same(applied)) } else { Err(refused.into()) };
            }
            Err(refused) => return Err(refused.into()),
        };
        let id = show::cell(change.get("id"));
        if change.get("state").and_then(Value::as_str) == Some("promoted") {
            return applied(session, context).await;
        }
        show::note(&format!("proposed as {id}"));
        let why = match self.promote(session, context, &id).await? {
            Ok(()) => return applied(session, context).await,
            Err(refused) => why(&refused)?,
        };
        self.wait(session, context, id, why).await
    }

    async fn promote(
        &self,
        session: &mut Session,
        context: &Context,
        id: &str,
    ) -> Result<Result<(), Refused>, Failure> {
        let input = json!({ "id": id });
        if let Err(refused) = session.call(context, "change.evals", input.clone()).await? {
            return Ok(Err(refused));
        }
        Ok(session.call(context, "change.promote", input).await?.map(drop))
    }

    /// Looks now and then whether it has come into force.
    async fn wait(
        &self,
        session: &mut Session,
        context: &Context,
        change: String,
        why: String,
    ) -> Result<Outcome, Failure> {
        let until = Instant::now() + self.wait;
        if !self.wait.is_zero() {
            show::note(&format!("{why}; waiting for {} s", self.wait.as_secs()));
        }
        while Instant::now() < until {
            tokio::time::sleep(PAUSE.min(until.saturating_duration_since(Instant::now()))).await;
            let applied = session.call(context, "policy.applied", json!({})).await??;
            if applied.get("change").and_then(Value::as_str) == Some(&change) {
                return Ok(Outcome::Applied(applied));
            }
        }
        Ok(Outcome::Waits { change, why })
    }
}

async fn applied(session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
    Ok(Outcome::Applied(session.call(context, "policy.applied", json!({})).await??))
}

/// What people have to do first; anything else ends the command.
fn why(refused: &Refused) -> Result<String, Failure> {
    let is = |code: Code| refused.code == code.name();
    if is(Code::NeedsApproval) {
        let approval = refused.approval.clone().unwrap_or_default();
        return Ok(format!("{}; approval {approval}", refused.message));
    }
    if is(Code::TokenScope) || is(Code::Denied) {
        return Ok("it waits for somebody who may test and promote it".to_owned());
    }
    if is(Code::EvalsFailing) || is(Code::EvalsNotRun) {
        return Err(Failure::Told(Exit::Untested, refused.message.clone()));
    }
    Err(refused.clone().into())
}
