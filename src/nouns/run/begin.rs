//! Starts a run: for somebody who asks, or as a child of another run.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::reserve::{payer, reserve};
use super::tools::is_tool;
use gate::{Draft, Reader};
use store::actors::Status;
use store::content::events::ContentKept;
use store::delegations::Delegation;
use store::runs::events::{RunStarted, RunWaiting};
use types::actor::ActorKind;
use types::delegation::MOST_CENTS;
use types::field::Label;
use types::id::{ActorId, Id, Kind};
use types::plan::Plan;
use types::refusal::{Refusal, Stop};
use types::run::{DEEPEST, LONGEST_TEXT, RunFacts, RunStatus, StepKind, Wait};
use types::visible::is_blank;

/// A run that has begun.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    pub task: String,
    pub run: String,
    pub status: RunStatus,
}

/// The parameters of a new run.
pub struct Beginning {
    pub agent: ActorId,
    pub task: String,
    pub text: String,
    pub plan: Option<Plan>,
    pub budget_cents: Option<i64>,
}

impl Beginning {
    fn problems(&self, read: &Reader<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        if is_blank(&self.text) || self.text.len() > LONGEST_TEXT {
            problems.push(format!("text: must have 1 to {LONGEST_TEXT} bytes"));
        }
        if self.budget_cents.is_some_and(|cents| !(0..=MOST_CENTS).contains(&cents)) {
            problems.push(format!("budget_cents: must be 0 to {MOST_CENTS}"));
        }
        match read.card(&self.agent).map(|card| &card.actor) {
            Some(actor) if actor.kind != ActorKind::Agent => {
                problems.push(format!("agent: {} is no agent of the company", self.agent));
            }
            Some(actor) if actor.status != Status::Active => problems.push(format!("agent: {} has left", self.agent)),
            Some(_) => {}
            None => problems.push(format!("agent: there is no agent {}", self.agent)),
        }
        problems.extend(self.plan.iter().flat_map(|plan| plan.problems(&|name| is_tool(name, read))));
        problems
    }
}

/// Starts a run. A run requested by another run is its child, for which that one waits.
pub fn begin(asker: ActorId, new: Beginning, draft: &mut Draft<'_>) -> Result<Begun, Stop> {
    let problems = new.problems(draft.read());
    if !problems.is_empty() {
        return Err(Refusal::invalid(problems).into());
    }
    if new.plan.is_none() && draft.read().models_of(&new.agent)?.is_empty() {
        return Err(Refusal::invalid(vec![draft.read().models().nothing()]).into());
    }
    let id = draft.new_id(Kind::Run);
    let above = draft.read().caller().run.clone();
    let above = above.as_deref();
    if let Some(above) = above {
        is_part(above, &asker, &new.agent)?;
    }
    let payer = if above.is_none() { payer(draft.read())? } else { None };
    let budget_cents = budget(&new, above, payer.as_ref(), draft.read())?;
    let Beginning { agent, task, text, plan, .. } = new;
    let askers = whoever_asks(&asker, draft.read());
    let labels = labels(&askers, above, draft.read());
    draft.record(RunStarted {
        id: id.clone(),
        task: Id::stored(&task),
        agent: agent.clone(),
        askers,
        asker,
        parent: above.map(|above| above.run.clone()),
        depth: above.map_or(0, |above| above.depth.saturating_add(1)),
        budget_cents,
        labels,
        planned: plan.is_some(),
        token_id: draft.read().caller().token.clone(),
        delegation: draft.read().caller().under.clone(),
    })?;
    if let (Some(payer), Some(cents)) = (payer, budget_cents) {
        reserve(&id, payer, cents, draft)?;
    }
    let kept = Map::from_iter([("text".to_owned(), Value::from(text)), ("plan".to_owned(), json!(plan))]);
    draft.record(ContentKept { id: id.clone(), part: "asked".into(), kept })?;
    if let Some(above) = above {
        draft.record(RunWaiting {
            id: above.run.clone(),
            agent: draft.read().caller().actor(),
            asker: above.asker.clone(),
            step: above.step(),
            kind: StepKind::Delegate,
            name: agent.to_string(),
            target: id.to_string(),
            wait: Wait::Run { run: id.clone() },
        })?;
    }
    Ok(Begun { task, run: id.to_string(), status: RunStatus::Queued })
}

/// Returns the initial labels: those of what the parent run has read, and untrusted if an outside agent is among those who ask.
fn labels(askers: &[ActorId], above: Option<&RunFacts>, read: &Reader<'_>) -> BTreeSet<Label> {
    let is_outside = |id: &ActorId| read.card(id).is_some_and(|card| card.actor.kind == ActorKind::OutsideAgent);
    let untrusted = askers.iter().any(is_outside).then_some(Label::Untrusted);
    above.iter().flat_map(|above| above.labels.iter().copied()).chain(untrusted).collect()
}

/// Returns everybody for whom the run is done, nearest first: the asker, those on whose behalf, those of the parent run, and
/// the issuer of the token used, since they could be the one asking.
fn whoever_asks(asker: &ActorId, read: &Reader<'_>) -> Vec<ActorId> {
    let mut askers = vec![asker.clone()];
    for other in read.on_behalf_of().into_iter().chain(read.caller().issuer.clone()) {
        if !askers.contains(&other) {
            askers.push(other);
        }
    }
    askers
}

/// Checks whether a run may start a child with this agent: not its own or that of an ancestor, and not nested too deep.
fn is_part(above: &RunFacts, asker: &ActorId, agent: &ActorId) -> Result<(), Refusal> {
    if agent == asker || above.askers.contains(agent) {
        return Err(Refusal::field("agent", format!("{agent} works on this already")));
    }
    if above.depth >= DEEPEST {
        return Err(Refusal::conflict(format!("{} is {DEEPEST} runs deep already", above.run)));
    }
    Ok(())
}

/// Returns the budget: the smallest of the one given, the definition's, and what the parent run or the delegation used has
/// left.
fn budget(
    new: &Beginning,
    above: Option<&RunFacts>,
    payer: Option<&Delegation>,
    read: &Reader<'_>,
) -> Result<Option<i64>, Stop> {
    let defined = read.agent_limits(&new.agent)?.and_then(|limits| limits.run_cents);
    let defined = defined.and_then(|cents| i64::try_from(cents).ok());
    let above = above.map(|above| read.run(above.run.as_str())).transpose()?.flatten();
    let left = above.and_then(|run| run.budget_cents.map(|budget| (budget - run.cost_cents).max(0)));
    let delegated = payer.and_then(Delegation::left_cents);
    Ok([new.budget_cents, defined, left, delegated].into_iter().flatten().min())
}
