//! A run with its steps as shown to people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::{is_answer, wanted};
use super::ask::Ask;
use super::budget::Raise;
use super::inputs;
use super::next::plan_of;
use super::shown::{ShownRun, Tokens, shown};
use super::why;
use gate::{Change as _, Reader};
use store::approvals::Approval;
use store::runs::{Run, Step};
use types::approval::ApprovalStatus;
use types::chat::Wanted;
use types::plan::{self, Plan};
use types::refusal::Stop;
use types::run::{StepKind, StepStatus, Wait};
use types::time::Time;

/// A run with its steps.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct WholeRun {
    #[serde(flatten)]
    pub run: ShownRun,
    /// What was asked; none where it is erased.
    pub input: Option<String>,
    /// What the agent said last.
    pub output: Option<String>,
    /// What is asked of somebody, while it waits for the answer; of several questions the first.
    pub question: Option<String>,
    /// The open request for more money, while it waits for that.
    pub request: Option<String>,
    pub trace: Vec<ShownStep>,
}

/// One step of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownStep {
    /// 1 for the first.
    pub seq: u32,
    pub kind: StepKind,
    /// The operation, the model, the agent, or who answered.
    #[schemars(extend("x-names" = "reference"))]
    pub name: String,
    pub status: StepStatus,
    /// What it was about.
    #[schemars(extend("x-names" = "reference"))]
    pub target: String,
    /// What a tool was called with, or another agent asked; `hidden` stands for whom the reader does not see, there or not. None
    /// where it is erased.
    #[schemars(extend("x-names" = "json"))]
    pub input: Option<Value>,
    /// What it waits for, or waited for.
    pub waiting: Option<Wait>,
    /// What it asks of somebody; none where it is erased.
    pub question: Option<String>,
    /// Why it was denied, or failed.
    #[schemars(extend("x-names" = "text"))]
    pub reason: Option<String>,
    /// What came of it; none where nothing did, or where it is erased.
    #[schemars(extend("x-names" = "json"))]
    pub output: Option<Value>,
    pub tokens: Tokens,
    pub cost_cents: i64,
    pub started_at: Time,
    /// How long it took, with the waiting.
    pub duration_ms: Option<i64>,
}

/// Returns a run with its steps after one.
pub(super) fn whole(run: Run, since: u32, read: &Reader<'_>) -> Result<WholeRun, Stop> {
    // Whoever reads a run's steps has read what the run was told.
    run.labels.iter().for_each(|label| read.mark(*label));
    let text = |part: &str, field: &str| -> Result<Option<String>, Stop> {
        Ok(read.kept(&run.id, part)?.and_then(|kept| Some(kept.get(field)?.as_str()?.to_owned())))
    };
    let (input, output) = (text("asked", "text")?, text("output", "text")?);
    let mut inputs = Inputs { run: &run, read, plan: None, answer: None };
    let steps = read.steps_after(&run.id, since)?.into_iter();
    let trace = steps.map(|step| shown_step(&run.id, inputs.of_step(&step)?, step, read));
    let trace = trace.collect::<Result<Vec<_>, Stop>>()?;
    let asks = trace.iter().find(|step| step.question.is_some() && step.status == StepStatus::Waiting);
    let question = asks.and_then(|step| step.question.clone());
    let request = request(&run, read)?;
    Ok(WholeRun { input, output, question, request, trace, run: shown(run, read)? })
}

/// Returns the open request to raise the budget for a held run, or that of the ancestor that pays for it.
fn request(run: &Run, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let Some(Wait::Budget { until: None, payer, .. }) = &run.wait else { return Ok(None) };
    let payer = payer.as_ref().map_or(run.id.as_str(), |payer| payer.as_str());
    let asked = read.requests_about(Raise::SPEC.name, payer)?.into_iter();
    let is_open = |request: &Approval| request.status == ApprovalStatus::Pending && request.expires_at > read.now();
    let mut open = asked.filter(is_open);
    Ok(open.find(|request| read.sees(&read.approval_target(request))).map(|request| request.id))
}

/// The reason for a failed call shown to readers who may not see its input.
const MALFORMED: &str = "it was not called in the form that it takes";

fn shown_step(run: &str, mut input: Option<Value>, step: Step, read: &Reader<'_>) -> Result<ShownStep, Stop> {
    let output = read.kept(run, &step.number.to_string())?;
    let mut output = output.map(|mut kept| kept.remove("output").unwrap_or(Value::Object(kept)));
    let mut hidden = Vec::new();
    let operation = if step.kind == StepKind::Delegate { Ask::SPEC.name } else { &step.name };
    // Veil the agent's answer as for this reader.
    if let Some(entry) = crate::OPERATIONS.iter().find(|entry| entry.spec.name == operation) {
        output.iter_mut().for_each(|answer| entry.veil(answer, read));
        hidden = input.as_mut().map(|input| inputs::veil_written(entry, input, read)).unwrap_or_default();
    }
    let question = match step.kind {
        StepKind::Question | StepKind::Tool => read.kept(run, &format!("{}/question", step.number))?,
        _ => None,
    };
    let repeats = |why: &String| hidden.iter().any(|text| inputs::repeats(why, text));
    let reason = why::of_step(run, &step, read)?.map(|why| if repeats(&why) { MALFORMED.to_owned() } else { why });
    Ok(ShownStep {
        input,
        output,
        question: question.and_then(|kept| Some(kept.get("text")?.as_str()?.to_owned())),
        seq: step.number,
        kind: step.kind,
        name: step.name,
        status: step.status,
        target: step.target,
        waiting: step.wait,
        reason,
        tokens: Tokens { input: step.tokens_in, output: step.tokens_out },
        cost_cents: step.cost_cents,
        started_at: step.started_at,
        duration_ms: step.ended_at.map(|at| at.0.saturating_sub(step.started_at.0)),
    })
}

/// The inputs of a run's tool calls: from the plan, or from the model's earlier answer.
struct Inputs<'a> {
    run: &'a Run,
    read: &'a Reader<'a>,
    /// Read with the first step that needs it.
    plan: Option<Option<Plan>>,
    /// The calls of the last answer read, and its step.
    answer: Option<(u32, Vec<Wanted>)>,
}

impl Inputs<'_> {
    fn of_step(&mut self, step: &Step) -> Result<Option<Value>, Stop> {
        match step.kind {
            StepKind::Tool | StepKind::Delegate if self.run.planned => self.planned(step.number),
            StepKind::Tool | StepKind::Delegate => self.wanted(step.number),
            _ => Ok(None),
        }
    }

    fn planned(&mut self, number: u32) -> Result<Option<Value>, Stop> {
        if self.plan.is_none() {
            self.plan = Some(plan_of(self.run, self.read)?.flatten());
        }
        let step = self.plan.iter().flatten().find_map(|plan| plan.steps.get(number.checked_sub(1)? as usize));
        Ok(step.and_then(plan::Step::input))
    }

    /// Returns the input that a model requested at a step: its answer precedes it, with only its other calls in between.
    fn wanted(&mut self, number: u32) -> Result<Option<Value>, Stop> {
        if call(&self.answer, number).is_none() {
            let before = (1..number).rev().map(|at| self.read.step(&self.run.id, at));
            let answer = before.filter_map(Result::transpose).find(|step| step.as_ref().map_or(true, is_answer));
            let Some(answer) = answer.transpose()? else { return Ok(None) };
            self.answer = wanted(self.run, answer.number, self.read)?.map(|calls| (answer.number, calls));
        }
        Ok(call(&self.answer, number).map(|call| call.arguments.clone()))
    }
}

/// Returns the call that an answer requests at a step.
fn call(answer: &Option<(u32, Vec<Wanted>)>, number: u32) -> Option<&Wanted> {
    let (answer, calls) = answer.as_ref()?;
    calls.get(number.checked_sub(*answer)?.checked_sub(1)? as usize)
}
