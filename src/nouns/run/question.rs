//! Asks a person a question from a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::RUN;
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::actors::Status;
use store::content::events::ContentKept;
use store::runs::events::RunWaiting;
use types::actor::ActorKind;
use types::id::ActorId;
use types::refusal::{Refusal, Stop};
use types::run::{LONGEST_TEXT, RunFacts, StepKind, Wait};
use types::scope::Reach;
use types::visible::is_blank;

#[derive(Deserialize, JsonSchema)]
pub struct NewQuestion {
    /// The question or request: 1 byte to 64 KiB. It can be erased.
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    pub text: String,
    /// The person to ask; by default the first person among those who asked for the run.
    pub to: Option<ActorId>,
}

/// Who is to answer.
#[derive(Serialize, JsonSchema)]
pub struct Waits {
    pub to: ActorId,
}

/// Ask somebody.
pub enum AskSomebody {}

impl Change for AskSomebody {
    const SPEC: Spec = Spec {
        name: "run.ask",
        doc: "Ask a person something, and wait for the answer. Only for agents at work, about their own run.",
        scope: Reach::Full,
        route: Route::LOCAL.in_run().as_step(StepKind::Question),
        about: &[&RUN],
        events: &[RunWaiting::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "asks[ {to}] a question";
    type Input = NewQuestion;
    type Output = Waits;

    fn target(_: &NewQuestion, read: &Reader<'_>) -> Result<Target, Stop> {
        let own = own(read)?;
        Ok(read.run_target(&read.run(own.run.as_str())?.ok_or_else(Refusal::not_found)?))
    }

    fn run(permit: Permit<Self>, input: NewQuestion, draft: &mut Draft<'_>) -> Result<Waits, Stop> {
        let own = own(draft.read())?;
        if is_blank(&input.text) || input.text.len() > LONGEST_TEXT {
            return Err(Refusal::field("text", format!("must have 1 to {LONGEST_TEXT} bytes")).into());
        }
        let to = addressee(input.to, &own, draft.read())?;
        has_room(&to, &own, draft.read())?;
        let (id, step) = (own.run.clone(), own.step());
        let kept = Map::from_iter([("text".to_owned(), Value::from(input.text))]);
        draft.record(ContentKept { id: id.clone(), part: format!("{step}/question"), kept })?;
        draft.record(RunWaiting {
            id,
            agent: permit.actor(),
            asker: own.asker.clone(),
            step,
            kind: StepKind::Question,
            name: to.to_string(),
            target: to.to_string(),
            wait: Wait::Question { to: vec![to.clone()] },
        })?;
        Ok(Waits { to })
    }
}

/// The maximum number of open questions to one person in runs of one asker, so that nobody fills another's inbox.
const MOST_OF_ONE: usize = 25;

fn has_room(to: &ActorId, own: &RunFacts, read: &Reader<'_>) -> Result<(), Stop> {
    let origin = own.origin();
    let open = read.runs_asking(to)?.into_iter().filter(|run| run.origin() == origin).count();
    if origin == to || open < MOST_OF_ONE {
        return Ok(());
    }
    let whose = format!("{to} has {open} open questions of runs that {origin} asked for");
    Err(Refusal::conflict(format!("{whose}, the most there may be")).into())
}

/// Returns the run in which the caller takes a step.
pub(super) fn own(read: &Reader<'_>) -> Result<RunFacts, Refusal> {
    let run = read.caller().run.as_deref().cloned();
    run.ok_or_else(|| Refusal::conflict("only an agent does this, in a run of its own"))
}

fn addressee(to: Option<ActorId>, own: &RunFacts, read: &Reader<'_>) -> Result<ActorId, Stop> {
    let is_there = |id: &ActorId| {
        read.card(id).is_some_and(|card| card.actor.kind == ActorKind::Person && card.actor.status == Status::Active)
    };
    match to {
        Some(to) if is_there(&to) && read.knows(&to) => Ok(to),
        Some(_) => Err(Refusal::field("to", "there is no such person to be asked").into()),
        None => {
            let first = own.askers.iter().find(|asker| is_there(asker));
            let nobody = || Refusal::field("to", "no requester can answer; name a person");
            Ok(first.cloned().ok_or_else(nobody)?)
        }
    }
}
