//! Explains the gate's answer, to one call or to every operation for an actor.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::agreed::agreed;
use super::explained::{
    EvaluationExplained, Explained, NeededKind, PolicyVersion, ShownBreakGlass, ShownChange, links, needed,
};
use super::moment::Moment;
use super::narrowed::narrowed;
use super::question::{About, answer, at_work, caller, operation, own_run, run_about, sees_policies, target, under};
use super::shown::ShownPolicy;
use crate::actor::resource::ACTOR;
use crate::authzen::{self, EntitySource, Evaluation};
use crate::brain;
use gate::past::moment::AsOf;
use gate::{Alteration, Entry, Inquiry, Permit, Query, Reader, Spec, Target, post};
use policy::{ExplainedPolicy, Eyes, Ruling};
use store::actors::Status;
use types::caller::Caller;
use types::id::{ActorId, Id};
use types::impact::Decision;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;
use types::time::Time;

/// What is to be explained.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct ToExplain {
    /// The actor; the caller unless given.
    pub actor: Option<ActorId>,
    /// The operation, such as `token.issue`; all of them unless given.
    pub op: Option<String>,
    /// The target: the id of an actor, a token, an approval, a change, a delegation, a grant, a task, a run or an event, or a kill
    /// switch; the company unless given.
    #[schemars(extend("x-id" = true))]
    pub target: Option<String>,
    /// The operation's input. Without a `target` it must be complete, and determines the target; with one, omitted
    /// fields are blank.
    pub input: Option<Value>,
    /// The delegation to act under; the one that the caller acts under, or none, unless given.
    #[schemars(extend("x-id" = true))]
    pub under: Option<String>,
    /// The actor's run whose next step would perform it; for operations that only running agents can perform, by
    /// default the target run.
    #[schemars(extend("x-id" = true))]
    pub run: Option<String>,
    /// A question about the company's own types, as other programs ask it; replaces all of the above except `actor`.
    pub evaluation: Option<Evaluation>,
    /// An event number or a time: answer with the policies, the directory and the stored entities of then; by default,
    /// now.
    pub at: Option<Moment>,
}

/// One answer, or that of every operation.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Explanation {
    One(Box<Explained>),
    Evaluated(Box<EvaluationExplained>),
    All(AllExplained),
}

impl<'de> Deserialize<'de> for Explanation {
    /// Tells the variants apart by a field that only one has: parsed as the wrong one, an answer would lose the rest.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Explanation, D::Error> {
        let answer = Value::deserialize(from)?;
        let read = match (answer.get("operations"), answer.get("limits")) {
            (Some(_), _) => serde_json::from_value(answer).map(Explanation::All),
            (None, Some(_)) => serde_json::from_value(answer).map(Explanation::One),
            (None, None) => serde_json::from_value(answer).map(Explanation::Evaluated),
        };
        read.map_err(D::Error::custom)
    }
}

impl Explanation {
    /// Returns the decision on one question.
    pub fn decision(&self) -> Option<Decision> {
        match self {
            Explanation::One(one) => Some(one.decision),
            Explanation::Evaluated(one) => Some(one.decision),
            Explanation::All(_) => None,
        }
    }
}

/// What the gate would answer to somebody, operation by operation.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct AllExplained {
    pub actor: ActorId,
    pub operations: Vec<BrieflyExplained>,
    pub policy: PolicyVersion,
    pub at: Time,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct BrieflyExplained {
    pub operation: Cow<'static, str>,
    /// `allow`, `needs_approval`, `deny`, or `depends` on a target that must be named.
    #[schemars(extend("enum" = ["allow", "needs_approval", "deny", "depends"]))]
    pub decision: Cow<'static, str>,
    pub reason: String,
}

/// Explain a decision.
pub enum Explain {}

impl Query for Explain {
    const SPEC: Spec = Spec {
        name: "policy.explain",
        doc: "Explain what the gate would decide, and why. Nothing is performed.",
        scope: Reach::Full,
        route: post("/policy/explain").slow(),
        about: &[&ACTOR],
        events: &[],
    };
    type Input = ToExplain;
    type Output = Explanation;

    /// The actor that the question is about.
    fn target(input: &ToExplain, read: &Reader<'_>) -> Result<Target, Stop> {
        let actor = input.actor.clone().unwrap_or_else(|| read.caller().actor());
        if actor.is_team() {
            return Err(Refusal::field("actor", "teams do not act; name a person or an agent").into());
        }
        read.actor(&actor)?;
        Ok(Target::Actor(actor))
    }

    fn run(permit: Permit<Self>, input: ToExplain, read: &Reader<'_>) -> Result<Explanation, Stop> {
        let actor = input.actor.clone().unwrap_or_else(|| permit.actor());
        let past = input.at.map(|at| at.company(read)).transpose()?;
        // An invalid question is reported below.
        let is_own = input.evaluation.is_none();
        let under = under(&actor, input.under.as_deref(), read).ok().flatten();
        let known = |past| if is_own { read.knowing(past, &actor, under.as_ref()) } else { Ok(past) };
        let past = past.map(known).transpose()?;
        match &past {
            Some(past) => explain(&actor, &input, read, (&read.in_past(past), Some(past))),
            None => explain(&actor, &input, read, (read, None)),
        }
    }
}

/// Explains the answer of the company at `then` to the caller of `read`.
fn explain(
    actor: &ActorId,
    input: &ToExplain,
    read: &Reader<'_>,
    (then, past): (&Reader<'_>, Option<&AsOf>),
) -> Result<Explanation, Stop> {
    match then.card(actor).map(|card| card.actor.status) {
        Some(Status::Active) => {}
        None => return Err(Refusal::field("at", format!("{actor} did not exist at that time")).into()),
        // Whoever has left is not admitted: no policy is asked about them.
        Some(_) => return Err(Refusal::conflict(format!("{actor} has left, and may do nothing")).into()),
    }
    if let Some(evaluation) = &input.evaluation {
        let others = [input.op.is_some(), input.target.is_some(), input.input.is_some(), input.under.is_some()];
        if others.contains(&true) || input.run.is_some() {
            return Err(Refusal::field("evaluation", "give it without op, target, input, under and run").into());
        }
        return Ok(Explanation::Evaluated(Box::new(evaluated(evaluation, read, (then, past))?)));
    }
    let about = match (&input.input, &input.target) {
        (Some(value), None) => About::Input(value),
        (_, Some(id)) => About::Id(id),
        (None, None) => About::Nothing,
    };
    if input.run.is_some() && input.under.is_some() {
        return Err(Refusal::field(
            "under",
            "a run's step is done under the run's own delegation, if any: omit this or `run`",
        )
        .into());
    }
    let under = under(actor, input.under.as_deref(), read)?;
    let Some(op) = &input.op else {
        if !matches!(about, About::Nothing) || input.run.is_some() {
            return Err(Refusal::field("op", "name an operation: `target`, `input` and `run` belong to one").into());
        }
        return Ok(Explanation::All(every(actor, &under, read, then)?));
    };
    let entry = operation("op", op)?;
    if let Some(value) = &input.input {
        entry.arguments().check(value).map_err(|what| Refusal::field("input", what))?;
    }
    let is_at_work = input.run.is_some() || entry.spec.route.is_in_run();
    if past.is_some() && is_at_work {
        let why = "steps of a run can be explained only as of now: omit `at`";
        return Err(Refusal::field("at", why).into());
    }
    let about = match (about, &input.run) {
        (About::Nothing, Some(run)) if entry.spec.route.is_in_run() => About::Id(run),
        _ => about,
    };
    let run = input.run.as_deref().map(|id| own_run(actor, id, read)).transpose()?;
    if let Some(over) = run.as_ref().filter(|run| run.status.is_over()) {
        return Err(Refusal::field("run", format!("{} is over: it has no steps left", over.id)).into());
    }
    let under = if run.is_some() { None } else { under };
    let caller = at_work(Caller { under, ..caller(actor, entry, read) }, run.as_ref(), read)?;
    let target = target(about, entry, &caller, read, then)?;
    let (target, given) = match (&input.target, &input.input) {
        (Some(_), Some(value)) => {
            let (target, given) = agreed(target, value, (entry, &caller), then)?;
            (target, Some(given))
        }
        (_, given) => (target, given.clone()),
    };
    let caller = match run {
        Some(_) => caller,
        None => at_work(caller, run_about(entry, &target, read)?.as_ref(), read)?,
    };
    let inquiry = read.inquire(then, caller, entry.spec.name, &target, given.clone());
    let mut one = one(actor, entry, &target, &inquiry, given.as_ref(), read)?;
    if one.decision == Decision::Allow {
        let theirs = then.acting_as(inquiry.caller());
        one.narrowed = narrowed(entry.spec.name, &target, &theirs, sees_policies(read));
    }
    Ok(Explanation::One(Box::new(one)))
}

fn one(
    actor: &ActorId,
    entry: &'static Entry,
    target: &Target,
    inquiry: &Inquiry<'_>,
    input: Option<&Value>,
    read: &Reader<'_>,
) -> Result<Explained, Stop> {
    let (_, own, hidden) = answer(entry, inquiry);
    let withheld = brain::withheld(target, read);
    let explanation = inquiry.explain(&own, &withheld);
    let is_hidden = hidden.is_some();
    let ruling = if is_hidden { own.clone() } else { with_parts(entry, inquiry, input, own.clone(), read) };
    let of_parts = explained_parts(&own, &ruling);
    let because = if own.is_allowed() && !ruling.is_allowed() { Vec::new() } else { explanation.because };
    let kinds = ruling.kinds();
    let break_glass = if is_hidden { None } else { inquiry.break_glass(entry, &ruling) };
    let with_source = sees_policies(read);
    let shown =
        |all: Vec<_>| all.into_iter().map(|explained| ShownPolicy::of(explained, with_source)).collect::<Vec<_>>();
    let changes = match &ruling {
        _ if is_hidden || ruling.is_allowed() => Vec::new(),
        _ if ruling == own => inquiry.what_would_change(&withheld),
        // The approvals that its parts need were tried with the rest; what a part's denial depends on is unknown.
        Ruling::NeedsApproval { kinds, .. } => vec![kinds.iter().cloned().map(Alteration::Approval).collect()],
        Ruling::Allow { .. } | Ruling::Deny { .. } => Vec::new(),
    };
    let changes = changes.iter().map(|set| set.iter().map(|change| ShownChange::of(change, inquiry)).collect());
    Ok(Explained {
        decision: ruling.decision(),
        operation: inquiry.operation().to_owned(),
        actor: actor.clone(),
        target: target.id(),
        break_glass: break_glass.map(|break_glass| ShownBreakGlass::of(break_glass, &ruling)),
        on_behalf_of: links(inquiry),
        because: shown(because.into_iter().chain(of_parts).collect()),
        near_misses: if is_hidden { Vec::new() } else { shown(explanation.near_misses) },
        reason: hidden.unwrap_or_else(|| ruling.reason().to_owned()),
        not_given: if is_hidden { Vec::new() } else { inquiry.not_given(entry, input) },
        narrowed: None,
        approvals: needed(kinds, inquiry, input, read)?,
        kill: inquiry.kills(),
        limits: read
            .limits_of(actor, inquiry.caller().run.as_deref(), &entry.spec)
            .into_iter()
            .map(Into::into)
            .collect(),
        what_would_change: changes.collect(),
        policy: version(inquiry.stamp()),
        at: inquiry.now(),
    })
}

/// Adds the rulings on the call's parts, if its whole input is given and the question is about now: on those parts that the
/// asker may see.
fn with_parts(
    entry: &'static Entry,
    inquiry: &Inquiry<'_>,
    input: Option<&Value>,
    ruling: Ruling,
    read: &Reader<'_>,
) -> Ruling {
    let Some(input) = input.filter(|_| !inquiry.is_past()) else { return ruling };
    let theirs = read.acting_as(inquiry.caller());
    let found = entry.prepare(input.clone()).ok().and_then(|call| call.target(&theirs).ok());
    match found.filter(|found| found.id() == inquiry.target().id()) {
        Some(_) => theirs.with_parts(entry, input, ruling, &|part| read.sees(part)),
        None => ruling,
    }
}

/// Returns the policies that apply only to the call's parts. What they read is not explained.
fn explained_parts(own: &Ruling, whole: &Ruling) -> Vec<ExplainedPolicy> {
    let more = whole.because().iter().filter(|policy| !own.because().contains(policy));
    more.map(|policy| ExplainedPolicy { policy: Arc::clone(policy), failing: 0, parts: Vec::new() }).collect()
}

/// Explains the answer that another program would get.
fn evaluated(
    asked: &Evaluation,
    read: &Reader<'_>,
    (then, past): (&Reader<'_>, Option<&AsOf>),
) -> Result<EvaluationExplained, Stop> {
    if !read.may("access.evaluate", &Target::Company) {
        let message = "policy denied access.evaluate: to have a decision explained you must be allowed to ask for it";
        return Err(Refusal::new(Code::Denied, message).into());
    }
    let snapshot = then.serving();
    let kept_then = past.map(|past| read.entities_then(past)).transpose()?;
    let kept = kept_then.as_ref().map_or(EntitySource::Now(read), EntitySource::Then);
    let said = authzen::said(&*authzen::completed(asked, kept, &snapshot)?, &snapshot)?;
    let question = said.to_question(&snapshot, Vec::new()).map_err(|wrong| Refusal::bad_request(wrong.to_string()))?;
    let ruling = question.answer(&snapshot).ruling;
    // The asker has provided everything known of these entities.
    let eyes = Eyes { sees: &|_| true, withheld: &BTreeSet::new() };
    let explanation = question.put(&snapshot, &question.action, &[], |put| snapshot.explain(put, &ruling, eyes));
    let with_source = sees_policies(read);
    let shown = |all: Vec<_>| all.into_iter().map(|explained| ShownPolicy::of(explained, with_source)).collect();
    let kinds = match &ruling {
        Ruling::NeedsApproval { kinds, .. } => kinds.clone(),
        Ruling::Allow { .. } | Ruling::Deny { .. } => Vec::new(),
    };
    let threshold = |kind: &String| snapshot.approvals().rule(kind).threshold;
    Ok(EvaluationExplained {
        decision: ruling.decision(),
        operation: said.action.clone(),
        actor: said.subject.name(),
        target: said.resource.name(),
        reason: ruling.reason().to_owned(),
        because: shown(explanation.because),
        near_misses: shown(explanation.near_misses),
        approvals: kinds.iter().map(|kind| NeededKind { kind: kind.clone(), threshold: threshold(kind) }).collect(),
        policy: version(then.policy_stamp()),
        at: then.now(),
    })
}

fn version((version, hash): (i64, &str)) -> PolicyVersion {
    PolicyVersion { version, hash: hash.to_owned() }
}

/// Explains the answer to each operation served.
fn every(actor: &ActorId, under: &Option<Id>, read: &Reader<'_>, then: &Reader<'_>) -> Result<AllExplained, Stop> {
    let served = crate::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served());
    let caller = |entry| Caller { under: under.clone(), ..caller(actor, entry, read) };
    let operations = served.map(|entry| row(caller(entry), entry, read, then)).collect::<Result<_, Stop>>()?;
    Ok(AllExplained { actor: actor.clone(), operations, policy: version(then.policy_stamp()), at: then.now() })
}

fn row(caller: Caller, entry: &'static Entry, read: &Reader<'_>, then: &Reader<'_>) -> Result<BrieflyExplained, Stop> {
    let target = match target(About::Nothing, entry, &caller, read, then) {
        Ok(target) => target,
        Err(Stop::Refused(refusal)) if matches!(refusal.code, Code::Invalid | Code::NotFound) => {
            let reason = "it depends on the target; name one".to_owned();
            return Ok(BrieflyExplained { operation: entry.spec.name.into(), decision: "depends".into(), reason });
        }
        Err(other) => return Err(other),
    };
    let inquiry = read.inquire(then, caller, entry.spec.name, &target, None);
    let (decision, ruling, hidden) = answer(entry, &inquiry);
    let reason = hidden.unwrap_or_else(|| ruling.reason().to_owned());
    Ok(BrieflyExplained { operation: entry.spec.name.into(), decision: decision.name().into(), reason })
}
