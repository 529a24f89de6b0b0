//! Asking the gate why, and checking policies before they serve.

mod check;
mod diff;
mod in_force;
mod propose;
mod source;

use std::str::FromStr as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::{Entry, Permit, Query, Reader, ResourceKind, Spec, Target, post};
use crate::policy::{PolicyMeta, Ruling};
use crate::store::actors::Status;
use crate::types::actor::KillScope;
use crate::types::caller::{Caller, Who};
use crate::types::id::ActorId;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::time::Time;

pub const ALL: &[Entry] = &[
    Entry::query::<check::Check>(),
    Entry::query::<diff::Diff>(),
    Entry::query::<Explain>(),
    Entry::query::<in_force::Show>(),
    Entry::query::<in_force::Export>(),
    Entry::query::<in_force::Applied>(),
    Entry::change::<propose::Propose>(),
    Entry::change::<source::SetSource>(),
];

/// What is to be explained.
#[derive(Deserialize, JsonSchema)]
pub struct Question {
    /// Who would do it; the caller unless given.
    pub actor: Option<ActorId>,
    /// The operation, such as `token.issue`.
    pub op: String,
    /// What it would be about: an actor's or token's id, `event:<number>`, or a kill switch; the company unless given.
    pub target: Option<String>,
    /// The input that it would be given, instead of `target`.
    pub input: Option<Value>,
}

/// The gate's answer, and why.
#[derive(Serialize, JsonSchema)]
pub struct Explained {
    /// `allow`, `needs_approval` or `deny`.
    pub decision: &'static str,
    pub operation: String,
    pub actor: ActorId,
    pub target: String,
    /// The sentence's reason: of the first policy in the way.
    pub reason: String,
    /// The policies that determined the answer.
    pub because: Vec<Because>,
    /// The kinds of approval that would turn the answer, all of them.
    pub approvals: Vec<String>,
    /// The engaged kill switches that touch the actor.
    pub kill: Vec<KillScope>,
    pub policy: PolicyVersion,
    pub at: Time,
}

#[derive(Serialize, JsonSchema)]
pub struct PolicyVersion {
    pub version: i64,
    pub hash: String,
}

/// One policy that determined the answer.
#[derive(Serialize, JsonSchema)]
pub struct Because {
    pub id: String,
    /// `permit` or `forbid`.
    pub effect: &'static str,
    pub reason: Option<String>,
    pub title: Option<String>,
    pub file: String,
    pub line: usize,
    pub text: String,
}

impl Because {
    fn of(policy: &PolicyMeta) -> Because {
        Because {
            id: policy.id.clone(),
            effect: match policy.effect {
                crate::policy::Effect::Permit => "permit",
                crate::policy::Effect::Forbid => "forbid",
            },
            reason: policy.reason.clone(),
            title: policy.title.clone(),
            file: policy.file.clone(),
            line: policy.line,
            text: policy.text.clone(),
        }
    }
}

/// Explain a decision.
pub enum Explain {}

impl Query for Explain {
    const SPEC: Spec = Spec {
        name: "policy.explain",
        doc: "Explain what the gate would answer, and why. Nothing is done.",
        scope: Reach::Full,
        route: post("/policy/explain"),
        about: &[ResourceKind::Actor],
        events: &[],
    };
    type Input = Question;
    type Output = Explained;

    /// The actor about whom is asked.
    fn target(input: &Question, read: &Reader<'_>) -> Result<Target, Stop> {
        let actor = input.actor.clone().unwrap_or_else(|| read.caller().actor());
        if actor.is_team() {
            return Err(Refusal::field("actor", "teams do not act; name a person or an agent").into());
        }
        read.actor(&actor)?;
        Ok(Target::Actor(actor))
    }

    fn run(permit: Permit<Self>, input: Question, read: &Reader<'_>) -> Result<Explained, Stop> {
        let actor = input.actor.clone().unwrap_or_else(|| permit.actor());
        // Whoever has left is not admitted: no policy is asked about them.
        if read.actor(&actor)?.actor.status != Status::Active {
            return Err(Refusal::conflict(format!("{actor} has left, and may do nothing")).into());
        }
        let open = super::ALL.iter().any(|entry| entry.spec.name == input.op && entry.spec.route.open);
        let who = if open { Who::Visitor } else { Who::Holder(actor.clone()) };
        let caller = Caller { who, channel: read.caller().channel };
        let target = resolve(&input, &caller, read)?;
        let ruling = read.ruling(&caller, &input.op, &target);
        let (decision, approvals) = match &ruling {
            Ruling::Allow { .. } => ("allow", Vec::new()),
            Ruling::NeedsApproval { kinds, .. } => ("needs_approval", kinds.clone()),
            Ruling::Deny { .. } => ("deny", Vec::new()),
        };
        let (version, hash) = read.policy_stamp();
        Ok(Explained {
            decision,
            operation: input.op,
            target: target.id(),
            reason: ruling.reason().to_owned(),
            because: ruling.because().iter().map(|policy| Because::of(policy)).collect(),
            approvals,
            kill: touching(&actor, read),
            policy: PolicyVersion { version, hash: hash.to_owned() },
            at: read.now(),
            actor,
        })
    }
}

fn touching(actor: &ActorId, read: &Reader<'_>) -> Vec<KillScope> {
    let teams = read.card(actor).map(|card| card.teams()).unwrap_or_default();
    let touches = |scope: &&KillScope| match scope {
        KillScope::Global => true,
        KillScope::Actor(id) => id == actor,
        KillScope::Team(team) => teams.contains(team),
        KillScope::Tool(_) => false,
    };
    read.kills().map(|kill| &kill.scope).filter(touches).cloned().collect()
}

/// Finds what the question is about: from the input as the operation itself would, or from the given id.
fn resolve(input: &Question, caller: &Caller, read: &Reader<'_>) -> Result<Target, Stop> {
    let unknown = || Refusal::field("op", format!("there is no operation `{}`", input.op));
    let entry = super::ALL.iter().find(|entry| entry.spec.name == input.op).ok_or_else(unknown)?;
    let target = match (&input.input, &input.target) {
        (Some(value), None) => {
            let call = entry.prepare(value.clone()).map_err(|bad| Refusal::field("input", bad))?;
            call.target(&read.acting_as(caller))?
        }
        (None, Some(id)) => named(id, entry, read)?,
        (None, None) if entry.spec.about.contains(&ResourceKind::Company) => Target::Company,
        (None, None) => named(caller.actor().as_str(), entry, read)?,
        (Some(_), Some(_)) => return Err(Refusal::field("target", "give either target or input").into()),
    };
    // Nothing is told about what the asker may not see.
    if read.sees(&target) { Ok(target) } else { Err(Refusal::not_found().into()) }
}

fn named(id: &str, entry: &Entry, read: &Reader<'_>) -> Result<Target, Stop> {
    let about = |kind| entry.spec.about.contains(&kind);
    if about(ResourceKind::Company) && id == "company" {
        return Ok(Target::Company);
    }
    if about(ResourceKind::KillSwitch)
        && let Ok(scope) = KillScope::from_str(id)
    {
        return Ok(Target::KillSwitch { scope, engage: true });
    }
    if about(ResourceKind::Token)
        && let Some(token) = read.token(id)?
    {
        return Ok(Target::Token { id: token.id, holder: token.holder });
    }
    if let Ok(actor) = ActorId::from_str(id)
        && about(if actor.is_team() { ResourceKind::Team } else { ResourceKind::Actor })
    {
        read.actor(&actor)?;
        return Ok(Target::Actor(actor));
    }
    let kinds: Vec<&str> = entry.spec.about.iter().map(|kind| kind.name()).collect();
    Err(Refusal::field("target", format!("{} is about {}, and `{id}` is none", entry.spec.name, kinds.join(" or ")))
        .into())
}
