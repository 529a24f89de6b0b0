//! Rolls out a proposal from the command line: propose, test, promote, and wait where people or the repository's rules come
//! first. Each step is an operation of its own, and the gate decides each.

use std::time::{Duration, Instant};

use super::super::call::Refused;
use super::super::client::Session;
use super::super::column::columns;
use super::super::exit::{Exit, Failure};
use super::super::foreseen::decision;
use super::super::operation::{change, query};
use super::super::{Context, show};
use super::compared::warnings;
use crate::gate::Change as _;
use crate::nouns::approval::OneApproval;
use crate::nouns::approval::list::Show;
use crate::nouns::approval::shown::ShownApproval;
use crate::nouns::change::evals::Evals;
use crate::nouns::change::list::{Compared, Comparing, Diff, List, Which};
use crate::nouns::change::promote::Promote;
use crate::nouns::change::{OneChange, ShownChange};
use crate::nouns::policy::in_force::{Applied, AppliedVersion, LastApplied, WhichApplied};
use crate::nouns::policy::propose::{NewPolicies, Propose};
use crate::types::approval::{ApprovalStatus, Verdict};
use crate::types::change::ChangeState;
use crate::types::id::ActorId;
use crate::types::impact::Decision;
use crate::types::page::PageQuery;
use crate::types::refusal::Code;

const PAUSE: Duration = Duration::from_secs(1);

/// A proposal to be brought into force.
pub struct Rollout {
    /// The input of `policy.propose`.
    pub proposal: NewPolicies,
    /// How long to wait for approvals.
    pub wait: Duration,
}

/// The outcome of a rollout.
pub enum Outcome {
    /// In force: the answer of `policy.applied`.
    Applied(LastApplied),
    /// Exactly this was in force already.
    Same(LastApplied),
    /// In force, but the caller may not read what is in force now.
    Unread(String),
    /// Approval by people is needed first.
    Waits { change: String, why: String, approval: Option<String> },
}

/// Notes that an open proposal keeps its reason, and that the same content was rejected before.
pub fn remark(change: &ShownChange, given: &str) {
    change.rejected_before.iter().for_each(|before| show::note(&before.to_string()));
    if !given.is_empty() && change.reason != given {
        show::note(&format!(
            "{} already proposes the same, with the reason «{}»: anything else given now is ignored",
            change.id, change.reason
        ));
    }
}

impl Rollout {
    pub async fn walk(&self, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let change = match change::<Propose>().within(session, context, &self.proposal).await? {
            Ok(change) => change.read()?,
            Err(refused) if refused.code == Code::Conflict.name() => {
                let which = WhichApplied { limit: EARLIER, before: None };
                let applied: LastApplied = query::<Applied>().within(session, context, &which).await??.read()?;
                let is_hash = |hash: &String| self.proposal.base_hash.as_ref().is_none_or(|base| base == hash);
                let stands = |base| applied.same_policies().any(|same| same.version == base && is_hash(&same.hash));
                let same = self.proposal.base_version.is_none_or(stands);
                return if same { Ok(Outcome::Same(applied)) } else { Err(refused.into()) };
            }
            Err(refused) => return Err(refused.into()),
        };
        if change.state == ChangeState::Promoted {
            return arrived(session, context, change.id).await;
        }
        remark(&change, &self.proposal.reason);
        show::note(&format!("proposed as {}", change.id));
        warn(session, context, &change.id).await?;
        let id = change.id.clone();
        let why = match self.promote(session, context, change).await? {
            Ok(()) => return arrived(session, context, id).await,
            Err(refused) => (why(&refused)?, refused.approval),
        };
        self.wait(session, context, id, why).await
    }

    /// Tests and promotes: nobody is asked to promote what fails its tests. A caller who may not run them may still know their
    /// results, if somebody else or the server ran them.
    async fn promote(
        &self,
        session: &mut Session,
        context: &Context,
        proposed: ShownChange,
    ) -> Result<Result<(), Refused>, Failure> {
        let of = OneChange { id: proposed.id.clone() };
        let (tested, refused) = match change::<Evals>().within(session, context, &of).await? {
            Ok(tested) => (tested.read()?, None),
            Err(refused) => (proposed, Some(refused)),
        };
        passed(&tested)?;
        match refused {
            Some(refused) => Ok(Err(refused)),
            None if decision(session, context, Promote::SPEC.name, &of.id).await? == Some(Decision::Deny) => {
                Ok(Err(Refused::new(Code::Denied)))
            }
            None => Ok(change::<Promote>().within(session, context, &of).await?.map(drop)),
        }
    }

    /// Polls whether the change has come into force, or cannot any more. Between polls the state file is free for those it
    /// waits for.
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
        let (mut is_away, mut was_seen) = (false, false);
        while Instant::now() < until {
            session.pause(context, PAUSE.min(until.saturating_duration_since(Instant::now()))).await?;
            match arrived_meanwhile(session, context, (&change, &mut was_seen), approval.as_ref()).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) if is_away => {
                    show::note("The server answers again; still waiting");
                    is_away = false;
                }
                Ok(None) => {}
                // The server may be restarting: waiting for people outlasts that.
                Err(Failure::NoAnswer(away)) if !is_away => {
                    show::note(&format!("{away}; still waiting"));
                    is_away = true;
                }
                Err(Failure::NoAnswer(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(Outcome::Waits { change, why, approval })
    }
}

/// Checks whether a change has come into force, or cannot any more.
async fn arrived_meanwhile(
    session: &mut Session,
    context: &Context,
    (change, was_seen): (&String, &mut bool),
    approval: Option<&String>,
) -> Result<Option<Outcome>, Failure> {
    let applied = last_applied(session, context).await?;
    if applied.last.change.as_ref() == Some(change) {
        return Ok(Some(Outcome::Applied(applied)));
    }
    match found(session, context, change).await? {
        Ok(now) => {
            *was_seen = true;
            if now.state == ChangeState::Promoted {
                return arrived(session, context, change.clone()).await.map(Some);
            }
            is_open(&now, &applied.last)?;
            passed(&now)?;
        }
        Err(refused) if *was_seen && refused.code == Code::NotFound.name() => {
            let gone = "is not there any more, as after a restored backup: propose the change again";
            return Err(Failure::new(format!("{change} {gone}")));
        }
        // A caller who may not see it waits for the version in force instead.
        Err(_) => {}
    }
    if let Some(approval) = approval {
        is_not_refused(session, context, approval).await?;
    }
    Ok(None)
}

/// Returns the outcome of a promoted change, read under the new policies.
async fn arrived(session: &mut Session, context: &Context, change: String) -> Result<Outcome, Failure> {
    match query::<Applied>().within(session, context, &WhichApplied::default()).await? {
        Ok(applied) => Ok(Outcome::Applied(applied.read()?)),
        Err(refused) if refused.code == Code::Denied.name() => Ok(Outcome::Unread(change)),
        Err(refused) => Err(refused.into()),
    }
}

/// How many earlier versions are requested to find the last one with a commit, or with changed policies.
pub const EARLIER: u32 = 200;

/// Returns what is in force.
pub async fn last_applied(session: &mut Session, context: &Context) -> Result<LastApplied, Failure> {
    query::<Applied>().within(session, context, &WhichApplied::default()).await??.read()
}

/// Formats a version like `version 3 is in force, applied by ana with chg_…`.
pub fn in_force(applied: &AppliedVersion) -> String {
    let with = applied.change.as_ref().map(|change| format!(" with {change}"));
    format!("version {} is in force, applied by {}{}", applied.version, applied.by, with.unwrap_or_default())
}

/// Prints the warnings of a comparison, if the caller may see it.
async fn warn(session: &mut Session, context: &Context, id: &str) -> Result<(), Failure> {
    let compared = query::<Diff>().within(session, context, &texts_alone(id)).await?;
    if let Some(compared) = compared.ok().and_then(|compared| compared.read().ok()) {
        let mut told = String::new();
        warnings(&compared.warnings, &mut told);
        told.lines().for_each(show::note);
    }
    Ok(())
}

/// Returns one's own change as far as one may see it: among the newest ones, otherwise by id.
async fn found(session: &mut Session, context: &Context, id: &str) -> Result<Result<ShownChange, Refused>, Failure> {
    let mine = Which { state: None, target: None, mine: true, page: PageQuery::default() };
    let listed = query::<List>().within(session, context, &mine).await??;
    let one = listed.rows().find(|row| row.said(columns!(ShownChange; id)).as_deref() == Some(id));
    if let Some(one) = one {
        return one.read().map(Ok);
    }
    match query::<Diff>().within(session, context, &texts_alone(id)).await? {
        Ok(compared) => compared.part(columns!(Compared; change)).map(Ok),
        Err(refused) => Ok(Err(refused)),
    }
}

/// Asks for a comparison without answers to generated questions, which take longest.
fn texts_alone(id: &str) -> Comparing {
    Comparing { id: id.to_owned(), semantic: Some(false) }
}

/// Fails if the change failed its tests, since nobody can promote it then.
fn passed(change: &ShownChange) -> Result<(), Failure> {
    change.evals.failing().map_or(Ok(()), |failing| Err(Failure::Exits(Exit::Untested, failing)))
}

/// Checks that the change can still come into force; otherwise tells who ended it, and why.
fn is_open(change: &ShownChange, last: &AppliedVersion) -> Result<(), Failure> {
    let id = &change.id;
    let by = change.rejection.as_ref().map(|said| because(&said.by, &said.reason)).unwrap_or_default();
    let how = match change.state {
        state if state.is_open() => return Ok(()),
        ChangeState::Withdrawn => format!("{id} was taken back{by}"),
        ChangeState::Superseded => format!("{id} was superseded: {}", in_force(last)),
        ChangeState::RolledBack => format!("{id} came into force, and was rolled back: {}", in_force(last)),
        state => format!("{id} was {state}{by}"),
    };
    Err(Failure::new(how))
}

/// Checks that the approval of its promotion is still possible.
async fn is_not_refused(session: &mut Session, context: &Context, id: &str) -> Result<(), Failure> {
    let of = OneApproval { id: id.to_owned() };
    // A caller who may not see the request any more waits for the change only.
    let Ok(shown) = query::<Show>().within(session, context, &of).await? else { return Ok(()) };
    let approval: ShownApproval = shown.read()?;
    let said = approval.decisions.iter().rfind(|decided| decided.decision == Verdict::Reject);
    let by = said.map(|said| because(&said.by, &said.note)).unwrap_or_default();
    match approval.status {
        ApprovalStatus::Pending | ApprovalStatus::Approved | ApprovalStatus::Used => Ok(()),
        ApprovalStatus::Stale => {
            let why = approval.stale.map(|why| format!(": {why}")).unwrap_or_default();
            Err(Failure::new(format!("approval {id} is stale{why}")))
        }
        ApprovalStatus::Rejected => Err(Failure::new(format!("approval {id} was rejected{by}"))),
        ApprovalStatus::Cancelled => Err(Failure::new(format!("approval {id} was cancelled"))),
        ApprovalStatus::Expired => Err(Failure::new(format!("approval {id} has expired"))),
    }
}

/// Formats a reason like ` by ben: not this quarter`.
fn because(by: &ActorId, reason: &str) -> String {
    if reason.is_empty() { format!(" by {by}") } else { format!(" by {by}: {reason}") }
}

/// Returns what people have to do first; any other refusal ends the command.
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
