//! Evaluates many requests at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kept::Keeper;
use super::recorded::{Decision, Judge, NotUnderstood, Why};
use super::words::{Action, Entity, Evaluation, SHORT, bad, list, maybe};
use crate::company::COMPANY;
use gate::declare::operation::Decide;
use gate::{Permit, Reader, Spec, Target, post};
use policy::own::{Properties, Wrong};
use store::decisions::events::AccessDecided;
use store::event::Event;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The maximum number of questions in one request.
const MOST: usize = 1_000;

/// Questions, and what those that leave it out have in common.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Batch {
    /// The subject of each question that names none.
    #[serde(default, deserialize_with = "maybe")]
    pub subject: Option<Entity>,
    #[serde(default, deserialize_with = "maybe")]
    pub action: Option<Action>,
    #[serde(default, deserialize_with = "maybe")]
    pub resource: Option<Entity>,
    #[serde(default, deserialize_with = "maybe")]
    pub context: Option<Properties>,
    /// At most 1000. If there are none, the fields above are the only question.
    #[schemars(length(max = 1000))]
    #[serde(default, deserialize_with = "list")]
    pub evaluations: Option<Vec<Evaluation>>,
    #[serde(default, deserialize_with = "maybe")]
    pub options: Option<BatchOptions>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct BatchOptions {
    #[serde(default)]
    pub evaluations_semantic: Semantic,
}

/// How far a batch is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Semantic {
    /// Every question.
    #[default]
    ExecuteAll,
    /// Stop at the first denial, which is the last answer.
    DenyOnFirstDeny,
    /// Stop at the first permit, which is the last answer.
    PermitOnFirstPermit,
}

impl Semantic {
    fn ends_with(self, decision: bool) -> bool {
        match self {
            Semantic::ExecuteAll => false,
            Semantic::DenyOnFirstDeny => !decision,
            Semantic::PermitOnFirstPermit => decision,
        }
    }
}

/// The answers, in the order of the questions; or the one answer where no `evaluations` were asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answers {
    Many { evaluations: Vec<Decision> },
    One(Decision),
}

/// Evaluate many decisions.
pub enum Evaluations {}

impl Decide for Evaluations {
    const SPEC: Spec = Spec {
        name: "access.evaluate.batch",
        doc: "Evaluate up to 1000 AuthZEN access requests at once, all by the same version of the policies.",
        scope: Reach::Full,
        route: post("/access/v1/evaluations").standard().slow(),
        about: &[&COMPANY],
        events: &[AccessDecided::KIND],
    };
    type Input = Batch;
    type Output = Answers;

    fn target(_: &Batch, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn is_long(input: &Batch) -> bool {
        input.evaluations.as_ref().is_some_and(|all| all.len() > SHORT)
    }

    fn decisions(input: &Batch) -> usize {
        input.evaluations.as_ref().map_or(1, Vec::len)
    }

    fn run(_: Permit<Self>, input: Batch, read: &Reader<'_>) -> Result<(Answers, Vec<Event>), Stop> {
        let Batch { subject, action, resource, context, evaluations, options } = input;
        let evaluations = evaluations.unwrap_or_default();
        let semantic = options.unwrap_or_default().evaluations_semantic;
        if evaluations.len() > MOST {
            return Err(Refusal::field("evaluations", format!("must be at most {MOST}")).into());
        }
        let common = Evaluation { subject, action, resource, context };
        let serving = read.serving();
        let mut judge = Judge::new(read, &serving);
        let keeper = Keeper::of(read, &serving);
        if evaluations.is_empty() {
            let decision = judged(&Evaluation::default(), &common, keeper.as_ref(), &mut judge)?;
            return Ok((Answers::One(decision.map_err(|wrong| bad(&wrong))?), judge.events));
        }
        let mut answers = Vec::with_capacity(evaluations.len());
        for evaluation in &evaluations {
            // An invalid question is a denial, and does not affect the others.
            let answer = judged(evaluation, &common, keeper.as_ref(), &mut judge)?.unwrap_or_else(|wrong| Decision {
                decision: false,
                context: Some(Why {
                    error: Some(NotUnderstood { status: 400, message: wrong.to_string() }),
                    ..Why::default()
                }),
            });
            let last = semantic.ends_with(answer.decision);
            answers.push(answer);
            if last {
                break;
            }
        }
        Ok((Answers::Many { evaluations: answers }, judge.events))
    }
}

/// Returns a question with the batch's defaults filled in.
fn effective(asked: &Evaluation, common: &Evaluation) -> Evaluation {
    let Evaluation { subject, action, resource, context } = asked.clone();
    Evaluation {
        subject: subject.or_else(|| common.subject.clone()),
        action: action.or_else(|| common.action.clone()),
        resource: resource.or_else(|| common.resource.clone()),
        context: context.or_else(|| common.context.clone()),
    }
}

/// Evaluates one question. If the company keeps entities, it is completed just as it would be alone.
fn judged(
    asked: &Evaluation,
    common: &Evaluation,
    keeper: Option<&Keeper<'_>>,
    judge: &mut Judge<'_>,
) -> Result<Result<Decision, Wrong>, Stop> {
    let Some(keeper) = keeper else { return Ok(judge.decide(asked, common)) };
    let whole = effective(asked, common);
    Ok(judge.decide(&*keeper.question(&whole)?, &Evaluation::default()))
}
