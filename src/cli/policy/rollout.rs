//! From a proposal to policies in force, as the command line walks it: propose, test, promote, and wait where people or
//! the repository's rules come first. Each step is an operation of its own, and the gate decides each.

use std::time::{Duration, Instant};

use super::super::call::Refused;
use super::super::client::Session;
use super::super::exit::{Exit, Failure};
use super::super::operation::{change, query};
use super::super::{Context, show};
use crate::operations::change::evals::Evals;
use crate::operations::change::promote::Promote;
use crate::operations::change::{OneChange, ShownChange};
use crate::operations::policy::in_force::{Applied, LastApplied, WhichApplied};
use crate::operations::policy::propose::{NewPolicies, Propose};
use crate::types::change::ChangeState;
use crate::types::refusal::Code;

const PAUSE: Duration = Duration::from_secs(1);

/// What is to come into force.
pub struct Rollout {
    /// The input of `policy.propose`.
    pub proposal: NewPolicies,
    /// How long to wait for people.
    pub wait: Duration,
}

/// How far it came.
pub enum Outcome {
    /// In force: what `policy.applied` tells.
    Applied(LastApplied),
    /// Exactly this was in force before.
    Same(LastApplied),
    /// In force, and those who brought it there may not read what is in force now.
    Unread(String),
    /// People come first.
    Waits { change: String, why: String, approval: Option<String> },
}

/// What is proposed already stays as it was proposed.
pub fn tell_its_reason(change: &ShownChange, given: &str) {
    if !given.is_empty() && change.reason != given {
        show::note(&format!(
            "{} proposes the same already, with the reason «{}»: the one given now is not kept",
            change.id, change.reason
        ));
    }
}

impl Rollout {
    pub async fn walk(&self, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let change = match change::<Propose>().within(session, context, &self.proposal).await? {
            Ok(change) => change.read()?,
            Err(refused) if refused.code == Code::Conflict.name() => {
                let applied = last_applied(session, context).await?;
                let same = self.proposal.base_version.is_none_or(|base| base == applied.last.version);
                return if same { Ok(Outcome::Same(applied)) } else { Err(refused.into()) };
            }
            Err(refused) => return Err(refused.into()),
        };
        if change.state == ChangeState::Promoted {
            return arrived(session, context, change.id).await;
        }
        tell_its_reason(&change, &self.proposal.reason);
        let id = change.id;
        show::note(&format!("proposed as {id}"));
        let why = match self.promote(session, context, OneChange { id: id.clone() }).await? {
            Ok(()) => return arrived(session, context, id).await,
            Err(refused) => (why(&refused)?, refused.approval),
        };
        self.wait(session, context, id, why).await
    }

    async fn promote(
        &self,
        session: &mut Session,
        context: &Context,
        of: OneChange,
    ) -> Result<Result<(), Refused>, Failure> {
        if let Err(refused) = change::<Evals>().within(session, context, &of).await? {
            return Ok(Err(refused));
        }
        Ok(change::<Promote>().within(session, context, &of).await?.map(drop))
    }

    /// Looks now and then whether it has come into force. In between, whoever it waits for uses the state file.
    async fn wait(
        &self,
        session: &mut Session,
        context: &Context,
        change: String,
        (why, approval): (String, Option<String>),
    ) -> Result<Outcome, Failure> {
        let until = Instant::now() + self.wait;
        if !self.wait.is_zero() {
            show::note(&format!("{why}; waiting for {} s", self.wait.as_secs()));
        }
        while Instant::now() < until {
            session.pause(context, PAUSE.min(until.saturating_duration_since(Instant::now()))).await?;
            let applied = last_applied(session, context).await?;
            if applied.last.change.as_ref() == Some(&change) {
                return Ok(Outcome::Applied(applied));
            }
        }
        Ok(Outcome::Waits { change, why, approval })
    }
}

/// How a change came into force: the policies that are read with are the new ones.
async fn arrived(session: &mut Session, context: &Context, change: String) -> Result<Outcome, Failure> {
    match query::<Applied>().within(session, context, &WhichApplied::default()).await? {
        Ok(applied) => Ok(Outcome::Applied(applied.read()?)),
        Err(refused) if refused.code == Code::Denied.name() => Ok(Outcome::Unread(change)),
        Err(refused) => Err(refused.into()),
    }
}

/// What is in force.
pub async fn last_applied(session: &mut Session, context: &Context) -> Result<LastApplied, Failure> {
    query::<Applied>().within(session, context, &WhichApplied::default()).await??.read()
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
        return Err(Failure::Exits(Exit::Untested, refused.message.clone()));
    }
    Err(refused.clone().into())
}
