//! The answer to what a run has asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shown::{ShownRun, shown};
use super::{RUN, find, open};
use crate::gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use crate::store::content::events::ContentKept;
use crate::store::runs::events::RunAnswered;
use crate::store::runs::{Run, Step, waits_for};
use crate::types::id::Id;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::work::{LONGEST_TEXT, Wait};

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Reply {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// The answer: 1 byte to 64 KiB. It can be erased.
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    pub text: String,
    /// The step that asked; refused where the run has gone on since.
    #[arg(long, value_name = "STEP")]
    pub question: Option<u32>,
}

/// Answer a run.
pub enum Answer {}

impl Change for Answer {
    const SPEC: Spec = Spec {
        name: "run.answer",
        doc: "Answer what a run has asked; it goes on with the answer.",
        scope: Reach::Full,
        route: post("/runs/{id}/answer"),
        about: &[&RUN],
        events: &[RunAnswered::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "answers {id}";
    type Input = Reply;
    type Output = ShownRun;

    fn target(input: &Reply, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Reply, draft: &mut Draft<'_>) -> Result<ShownRun, Stop> {
        let run = open(&input.id, draft.read())?;
        if input.text.trim().is_empty() || input.text.len() > LONGEST_TEXT {
            return Err(Refusal::field("text", format!("must have 1 to {LONGEST_TEXT} bytes")).into());
        }
        let step = asking(&run, input.question, draft.read())?;
        let (id, by) = (Id::stored(&run.id), permit.actor());
        draft.record(RunAnswered { id: id.clone(), agent: run.agent.clone(), asker: run.asker.clone(), step, by })?;
        let kept = Map::from_iter([("output".to_owned(), Value::from(input.text))]);
        draft.record(ContentKept { id, part: step.to_string(), kept })?;
        let waits = draft.read().waiting_steps(&run)?;
        let others: Vec<&Step> = waits.iter().filter(|other| other.number != step).collect();
        let (status, wait) = waits_for(&others);
        Ok(shown(Run { status, wait: wait.cloned(), ..run }, draft.read()))
    }
}

/// The step whose question is answered. Who is asked several things at once says which one they answer.
fn asking(run: &Run, question: Option<u32>, read: &Reader<'_>) -> Result<u32, Stop> {
    let waits = read.waiting_steps(run)?.into_iter();
    let asks: Vec<u32> =
        waits.filter(|step| matches!(step.wait, Some(Wait::Question { .. }))).map(|step| step.number).collect();
    let refused = match (asks.as_slice(), question) {
        (asks, Some(question)) if asks.contains(&question) => return Ok(question),
        ([step], None) => return Ok(*step),
        ([], _) => format!("{} waits for no answer", run.id),
        ([step], Some(_)) => format!("{} asks at step {step} now", run.id),
        (asks, _) => {
            let steps = asks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            format!("{} asks at the steps {steps}: say which one you answer", run.id)
        }
    };
    Err(Refusal::conflict(refused).into())
}
