//! Plans: what an agent does, step by step, in place of a model. A plan uses the same loop, gate and log as a model, so
//! policies about an agent can be tested with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::id::ActorId;
use super::run::MOST_STEPS;
use super::visible::is_blank;

/// A scripted run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a plan: an object with `steps`")]
pub struct Plan {
    /// The steps in order; at most 1000.
    #[schemars(length(max = 1000))]
    pub steps: Vec<Step>,
}

/// One step: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", try_from = "Written")]
pub enum Step {
    Say(String),
    Call(Call),
    Ask(Question),
    Delegate(Part),
    Wait(Pause),
    Model(Answered),
    Fail(String),
}

/// A step as it is written: YAML has a syntax of its own for what is one of several, and people do not.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Step", description = "One step: exactly one of these.")]
struct Written {
    /// The agent says this. What it says last is the run's output.
    say: Option<String>,
    /// The agent performs an operation.
    call: Option<Call>,
    /// The agent asks somebody, and goes on with the answer.
    ask: Option<Question>,
    /// Another agent does a part; the run goes on when that has ended.
    delegate: Option<Part>,
    /// The run waits.
    wait: Option<Pause>,
    /// A model answers: what it says, and what that takes.
    model: Option<Answered>,
    /// The run ends as failed, for this reason.
    fail: Option<String>,
}

impl TryFrom<Written> for Step {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Step, &'static str> {
        let Written { say, call, ask, delegate, wait, model, fail } = written;
        let one = [
            say.map(Step::Say),
            call.map(Step::Call),
            ask.map(Step::Ask),
            delegate.map(Step::Delegate),
            wait.map(Step::Wait),
            model.map(Step::Model),
            fail.map(Step::Fail),
        ];
        let mut given = one.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(step), None) => Ok(step),
            _ => Err("a step is exactly one of say, call, ask, delegate, wait, model, fail"),
        }
    }
}

impl Step {
    /// Returns the input of a tool call or of a request to another agent.
    pub fn input(&self) -> Option<Value> {
        match self {
            Step::Call(call) => Some(Value::Object(call.with.clone())),
            Step::Delegate(part) => Some(json!({ "agent": part.agent, "text": part.text })),
            Step::Say(_) | Step::Ask(_) | Step::Wait(_) | Step::Model(_) | Step::Fail(_) => None,
        }
    }
}

/// An operation that the agent performs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The operation's name, such as `actor.read`; `GET /api/tools` lists them.
    pub tool: String,
    /// Its input.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
    /// The expected decision of the gate. With any other, the run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expected>,
}

/// What the gate says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    Allow,
    NeedsApproval,
    Deny,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What is asked.
    pub text: String,
    /// The person to ask; by default whoever asked for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ActorId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The other agent.
    pub agent: ActorId,
    /// What is asked of it.
    pub text: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// How long: 1 to 2592000 (30 days).
    #[schemars(range(min = 1, max = 2_592_000))]
    pub seconds: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// What it says.
    pub text: String,
    /// The model's name; `plan` unless given.
    #[serde(default = "plan", skip_serializing_if = "is_plan")]
    pub model: String,
    /// Tokens that were read.
    #[serde(default)]
    pub input_tokens: u32,
    /// Tokens that were written.
    #[serde(default)]
    pub output_tokens: u32,
    /// What it costs.
    #[serde(default)]
    pub cost_cents: u32,
}

fn plan() -> String {
    "plan".into()
}

fn is_plan(model: &str) -> bool {
    model == "plan"
}

/// The maximum pause, in seconds.
const LONGEST_PAUSE: u32 = 30 * 24 * 3600;

impl Plan {
    /// Returns what is wrong with it beyond its form. `knows` tells whether there is a tool of this name.
    pub fn problems(&self, knows: &dyn Fn(&str) -> bool) -> Vec<String> {
        self.problems_at("plan.steps", knows)
    }

    fn problems_at(&self, at: &str, knows: &dyn Fn(&str) -> bool) -> Vec<String> {
        if self.steps.is_empty() || self.steps.len() > MOST_STEPS as usize {
            return vec![format!("{at}: must have 1 to {MOST_STEPS} steps, not {}", self.steps.len())];
        }
        let steps = self.steps.iter().enumerate();
        steps.flat_map(|(index, step)| step.problems(&format!("{at}[{index}]"), knows)).take(20).collect()
    }
}

impl Step {
    fn problems(&self, at: &str, knows: &dyn Fn(&str) -> bool) -> Vec<String> {
        let blank = |text: &str, field: &str| is_blank(text).then(|| format!("{at}.{field}: must not be empty"));
        match self {
            Step::Call(Call { tool, .. }) if !knows(tool) => {
                vec![format!("{at}.call.tool: there is no tool `{}`", cut(tool))]
            }
            Step::Wait(Pause { seconds }) if !(1..=LONGEST_PAUSE).contains(seconds) => {
                vec![format!("{at}.wait.seconds: must be 1 to {LONGEST_PAUSE}, not {seconds}")]
            }
            Step::Ask(Question { text, .. }) => blank(text, "ask.text").into_iter().collect(),
            Step::Delegate(Part { text, plan, .. }) => {
                let below = plan.iter().flat_map(|plan| plan.problems_at(&format!("{at}.delegate.plan.steps"), knows));
                blank(text, "delegate.text").into_iter().chain(below).collect()
            }
            Step::Fail(reason) => blank(reason, "fail").into_iter().collect(),
            Step::Say(_) | Step::Call(_) | Step::Wait(_) | Step::Model(_) => Vec::new(),
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}
