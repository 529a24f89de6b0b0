//! Answers a question of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::outside::who_may_know;
use super::shown::{ShownRun, shown};
use super::{RUN, find, open};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::runs::events::RunAnswered;
use store::runs::{Run, Step, waits_for};
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::run::{Happened, LONGEST_TEXT, StepKind, StepStatus, Wait};
use types::scope::Reach;
use types::visible::is_blank;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Reply {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// The answer: 1 byte to 64 KiB. It can be erased. Where the run asks whether a call took effect: yes, no or retry.
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    pub text: String,
    /// The step that asked; refused if the run has moved on.
    #[arg(long, value_name = "STEP")]
    pub question: Option<u32>,
}

/// Answer a run.
pub enum Answer {}

impl Change for Answer {
    const SPEC: Spec = Spec {
        name: "run.answer",
        doc: "Answer a run's question. The run resumes with the answer.",
        scope: Reach::Full,
        route: post("/runs/{id}/answer"),
        about: &[&RUN],
        events: &[RunAnswered::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "answers {id}";
    type Input = Reply;
    type Output = ShownRun;

    fn target(input: &Reply, read: &Reader<'_>) -> Result<Target, Stop> {
        let run = find(&input.id, read)?;
        let target = read.run_target(&run);
        match answered(&run, input.question, read)? {
            Some(step) if read.may("run.read", &target) => {
                Err(Refusal::conflict(format!("the question of {} at step {step} is answered already", run.id)).into())
            }
            _ => Ok(target),
        }
    }

    fn run(permit: Permit<Self>, input: Reply, draft: &mut Draft<'_>) -> Result<ShownRun, Stop> {
        let run = open(&input.id, draft.read())?;
        if is_blank(&input.text) || input.text.len() > LONGEST_TEXT {
            return Err(Refusal::field("text", format!("must have 1 to {LONGEST_TEXT} bytes")).into());
        }
        let (id, by) = (Id::stored(&run.id), permit.actor());
        let step = asking(&run, input.question, &by, draft.read())?;
        let (step, happened) = (step.number, happened(&step, &input.text)?);
        let said = if happened == Some(Happened::Yes) { format!("{by} says that it has happened") } else { input.text };
        let (agent, asker) = (run.agent.clone(), run.asker.clone());
        draft.record(RunAnswered { id: id.clone(), agent, asker, step, by, happened })?;
        let kept = Map::from_iter([("output".to_owned(), Value::from(said))]);
        draft.record(ContentKept { id, part: step.to_string(), kept })?;
        let waits = draft.read().waiting_steps(&run)?;
        let others: Vec<&Step> = waits.iter().filter(|other| other.number != step).collect();
        let (status, wait) = waits_for(&others);
        shown(Run { status, wait: wait.cloned(), ..run }, draft.read())
    }
}

/// Returns the step at which the caller was asked something already answered, if nothing else is asked of them: of two
/// simultaneous answers, the second is told what happened rather than that it is not asked.
fn answered(run: &Run, question: Option<u32>, read: &Reader<'_>) -> Result<Option<u32>, Stop> {
    let by = read.caller().actor();
    if run.asked.contains(&by) || question.is_none() && !run.asked.is_empty() {
        return Ok(None);
    }
    let knows = who_may_know(run, read).is_ok_and(|asked| asked.contains(&by));
    let is_meant = |step: &&Step| question.is_none_or(|number| number == step.number);
    for step in read.steps(&run.id)?.iter().rev().filter(is_meant) {
        let was_asked = match step.kind {
            StepKind::Question => step.status == StepStatus::Completed && step.name == by.as_str(),
            StepKind::Tool if knows && step.status.is_over() => {
                read.kept(&run.id, &format!("{}/question", step.number))?.is_some()
            }
            _ => false,
        };
        if was_asked {
            return Ok(Some(step.number));
        }
    }
    Ok(None)
}

/// Parses an answer about an effect, if that is the question.
fn happened(step: &Step, text: &str) -> Result<Option<Happened>, Refusal> {
    if !matches!(step.wait, Some(Wait::Outcome { .. })) {
        return Ok(None);
    }
    let word = text.trim().to_lowercase().parse::<Happened>();
    word.map(Some).map_err(|_| Refusal::field("text", "must be yes, no or retry"))
}

/// Returns the step whose question is answered. Somebody who is asked answers that, naming the step if there are several;
/// others who may answer can answer any.
fn asking(run: &Run, question: Option<u32>, by: &ActorId, read: &Reader<'_>) -> Result<Step, Stop> {
    let asks = |step: &Step, of: &dyn Fn(&[ActorId]) -> bool| step.wait.as_ref().is_some_and(|wait| of(wait.asks()));
    let mut waits = read.waiting_steps(run)?;
    waits.retain(|step| asks(step, &|asked| !asked.is_empty()));
    if waits.iter().any(|step| asks(step, &|asked| asked.contains(by))) {
        waits.retain(|step| asks(step, &|asked| asked.contains(by)));
    }
    let asks: Vec<u32> = waits.iter().map(|step| step.number).collect();
    let wanted = question.or(asks.first().copied().filter(|_| asks.len() == 1));
    if let Some(step) = waits.into_iter().find(|step| Some(step.number) == wanted) {
        return Ok(step);
    }
    let refused = match (asks.as_slice(), question) {
        ([], _) => format!("{} waits for no answer", run.id),
        ([step], Some(_)) => format!("{} asks at step {step} now", run.id),
        (asks, _) => {
            let steps = asks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            format!("{} asks at the steps {steps}: say which one you answer", run.id)
        }
    };
    Err(Refusal::conflict(refused).into())
}
