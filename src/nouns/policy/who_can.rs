//! Lists who may perform an operation, by explaining it for everybody.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::question::{About, answer, at_work, caller, operation, run_about, target};
use super::shown::ShownPolicy;
use crate::company::COMPANY;
use gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use policy::Ruling;
use store::Position;
use store::actors::{self, Actor, Status};
use store::runs::Run;
use types::caller::{Caller, Who};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::{Fault, Refusal, Stop};
use types::scope::Reach;

/// What they should be able to do.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Wanted {
    /// The operation, such as `token.issue`.
    pub op: String,
    /// The target: the id of an actor, a token, an approval, a change, a delegation, a grant, a task, a run or an event, or a kill
    /// switch; the company unless given.
    #[schemars(extend("x-id" = true))]
    pub target: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// Somebody who can.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Able {
    pub actor: ActorId,
    /// `allow` or `needs_approval`.
    #[schemars(extend("enum" = ["allow", "needs_approval"]))]
    pub decision: Cow<'static, str>,
    /// The kinds of approval that they need; all are required.
    pub approvals: Vec<String>,
    pub because: Vec<ShownPolicy>,
}

/// An actor examined, with the result if they can.
struct Candidate {
    actor: Actor,
    able: Option<Able>,
}

/// List who may perform an operation.
pub enum WhoCan {}

impl Query for WhoCan {
    const SPEC: Spec = Spec {
        name: "policy.who_can",
        doc: "List who may perform an operation on a target, with or without approval, among the actors whose \
              decisions the caller may have explained.",
        scope: Reach::READ,
        route: get("/policy/who-can").slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Wanted;
    type Output = Page<Able>;

    fn target(_: &Wanted, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Wanted, read: &Reader<'_>) -> Result<Page<Able>, Stop> {
        let entry = operation("op", &input.op)?;
        let target = wanted(&input, entry, read)?;
        let what = format!("policy.who_can {} {}", input.op, target.id());
        let run = run_about(entry, &target, read)?;
        let asked = |actor: Actor| {
            let able = able(&actor, entry, (&target, run.as_ref()), read)?;
            Ok(Candidate { actor, able })
        };
        let fetch = |from: &Position, limit| -> Result<Vec<Candidate>, Fault> {
            read.actors_after(from, limit)?.into_iter().map(asked).collect()
        };
        let position = |candidate: &Candidate| actors::position(&candidate.actor);
        let page = read.page(&input.page, what, fetch, |candidate| candidate.able.is_some(), position)?;
        Ok(Page { rows: page.rows.into_iter().filter_map(|candidate| candidate.able).collect(), next: page.next })
    }

    fn next(output: &Page<Able>) -> Option<String> {
        output.next.clone()
    }
}

/// Returns the target. It must be given for operations on oneself, whose target differs from actor to actor.
fn wanted(input: &Wanted, entry: &'static Entry, read: &Reader<'_>) -> Result<Target, Stop> {
    let about = match &input.target {
        Some(id) => About::Id(id),
        None if entry.spec.about.contains(&&COMPANY) => About::Nothing,
        None => return Err(Refusal::field("target", format!("{} needs a target", entry.spec.name)).into()),
    };
    // For an event, the target as seen by nobody in particular.
    target(about, entry, &Caller::new(Who::Server, read.caller().channel), read, read)
}

/// Returns `None` for actors who cannot, and for those whose decisions the asker may not have explained.
fn able(
    actor: &Actor,
    entry: &Entry,
    (target, run): (&Target, Option<&Run>),
    read: &Reader<'_>,
) -> Result<Option<Able>, Fault> {
    if actor.id.is_team() || actor.status != Status::Active {
        return Ok(None);
    }
    let whom = Target::Actor(actor.id.clone());
    if !read.sees(&whom) || !read.may("policy.explain", &whom) {
        return Ok(None);
    }
    let caller = at_work(caller(&actor.id, entry, read), run, read)?;
    let inquiry = read.inquire(read, caller, entry.spec.name, target, None);
    let (decision, ruling, _) = answer(entry, &inquiry);
    let approvals = match &ruling {
        Ruling::Allow { .. } => Vec::new(),
        Ruling::NeedsApproval { kinds, .. } => kinds.clone(),
        Ruling::Deny { .. } => return Ok(None),
    };
    let because = ruling.because().iter().map(|policy| ShownPolicy::named(policy)).collect();
    Ok(Some(Able { actor: actor.id.clone(), decision: decision.name().into(), approvals, because }))
}
