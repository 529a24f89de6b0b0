//! Decides what a run without a plan does next: it calls a model, makes the requested calls, one step each, returns their
//! results to the model, and so on until it requests none. All of that follows from the rows, as with a plan: a recorded answer
//! is not requested again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::Value;

use super::answers::{is_answer, wanted};
use super::moves::{Move, Own, Stage, Thought, Todo};
use super::tools::{meant, no_longer_allowed, unable};
use super::under_way::UnderWay;
use super::why;
use crate::kill::holds;
use gate::Reader;
use log::read::{Filter, Order};
use store::kills::events::KillSwitch;
use store::runs::{Run, Step};
use types::chat::Wanted;
use types::json::MAX_DEPTH;
use types::quoted::quoted;
use types::refusal::{Fault, Stop};
use types::run::{Failure, StepKind, StepStatus};
use types::time::Time;

/// How often in a row the result of calling one model may be unknown.
const MOST_LOST: usize = 3;

/// The reason for an answer abandoned because a kill switch held the run: that says nothing about the model, so it is not
/// counted.
const HELD: &str = "its answer was abandoned: a kill switch held the run";

/// The maximum number of concurrent calls of one answer.
const MOST_AT_ONCE: usize = 32;

pub(super) fn think(run: &Run, read: &Reader<'_>) -> Result<Move, Stop> {
    let mut steps = read.steps(&run.id)?;
    let current = steps.iter().position(|step| step.number > run.steps).map(|at| steps.split_off(at));
    match current.iter().flatten().next() {
        Some(step) if step.kind != StepKind::Model => {}
        Some(step) if step.status == StepStatus::Dispatched => {
            let reason = match was_held(run, step.started_at, read)? {
                true => HELD,
                false => "its answer was abandoned: the server or the run was stopped",
            };
            return Ok(Move::Own(Own::Lost(UnderWay::of(step), reason.to_owned())));
        }
        Some(step) if step.status == StepStatus::Decided => {
            let barred = no_longer_allowed(run, step, read)?;
            return Ok(barred.map_or_else(|| decided(UnderWay::of(step), read), |why| unable_to_ask(step, why)));
        }
        _ => {}
    }
    let answered = steps.iter().rposition(is_answer);
    let since = steps.split_off(answered.map_or(0, |at| at + 1));
    let Some(answer) = steps.last().filter(|_| answered.is_some()) else { return next_model(run, &since, read) };
    let Some(calls) = wanted(run, answer.number, read)? else {
        return Ok(Move::Own(Own::Fail(Failure::Failed, Some("what a model answered was erased".into()))));
    };
    if calls.is_empty() && since.is_empty() {
        return Ok(Move::Own(Own::Complete));
    }
    let last = answer.number.saturating_add(u32::try_from(calls.len()).unwrap_or(u32::MAX));
    if run.steps < last {
        return to_be_made(run, (answer.number, calls), read);
    }
    next_model(run, since.get(calls.len()..).unwrap_or_default(), read)
}

/// Checks whether a kill switch that holds a run was engaged since then.
fn was_held(run: &Run, since: Time, read: &Reader<'_>) -> Result<bool, Fault> {
    let mut held = false;
    let filter = Filter { kinds: vec![KillSwitch::KIND.name], ..Filter::default() };
    read.scan(Order::Newest, &filter, &mut |logged| {
        let event = logged.event.as_ref().filter(|event| event.get("engaged") == Some(&Value::Bool(true)));
        let scope = event.and_then(|event| event.get("scope")?.as_str()?.parse().ok());
        held |= logged.at >= since && scope.is_some_and(|scope| holds(&scope, run, read));
        Ok(if held || logged.at < since { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(held)
}

/// Returns an answer's calls that are to be made now.
fn to_be_made(run: &Run, (answer, calls): (u32, Vec<Wanted>), read: &Reader<'_>) -> Result<Move, Stop> {
    let taken: Vec<u32> = read
        .begun_steps(run)?
        .into_iter()
        .filter(|step| step.status != StepStatus::Due && Stage::of(step) == Stage::Fresh)
        .map(|step| step.number)
        .collect();
    let mut todo = Vec::new();
    for (call, number) in calls.into_iter().zip(answer.saturating_add(1)..=run.reach()) {
        if number > run.steps && !taken.contains(&number) && todo.len() < MOST_AT_ONCE {
            todo.push(made_of(run, number, call, read)?);
        }
    }
    Ok(if todo.is_empty() { Move::Nothing } else { Move::Calls(todo) })
}

fn unable_to_ask(step: &Step, reason: String) -> Move {
    Move::Own(Own::Unable { kind: StepKind::Model, operation: step.name.clone(), reason })
}

/// Returns the move for an approved call, with its model.
fn decided(call: UnderWay, read: &Reader<'_>) -> Move {
    let model = call.name.clone();
    match read.models().models.get(&model) {
        Some(found) if found.provider == call.provider && !read.models().is_available(found) => Move::NoModel,
        Some(found) if found.provider == call.provider => Move::Think(Thought { model, decided: Some(call) }),
        _ => {
            let reason = format!("{} no longer provides it", call.provider);
            Move::Own(Own::Unable { kind: StepKind::Model, operation: model, reason })
        }
    }
}

/// Builds the step for a requested call. Why a call cannot be made is returned to the model as the call's error.
fn made_of(run: &Run, number: u32, call: Wanted, read: &Reader<'_>) -> Result<Todo, Stop> {
    let Some(entry) = meant(&call.tool, read) else {
        let operation: String = call.tool.chars().take(80).collect();
        let reason = format!("there is no tool `{}`", quoted(&operation));
        return Ok(Todo { number, operation, input: Err(reason), stage: Stage::Fresh });
    };
    let (name, step) = (entry.spec.name, read.step(&run.id, number)?);
    let stage = step.as_ref().map_or(Stage::Fresh, Stage::of);
    let why = match call.arguments.is_object() {
        false => Some(format!("its arguments must be a JSON object, at most {MAX_DEPTH} deep; they are not")),
        true => unable(run, (step.as_ref(), name), read)?,
    };
    Ok(Todo { number, operation: name.to_owned(), input: why.map_or(Ok(call.arguments), Err), stage })
}

/// Returns the model to call, given what failed since the last answer: the next one replaces a model that refuses, or that may
/// not be called.
fn next_model(run: &Run, tried: &[Step], read: &Reader<'_>) -> Result<Move, Stop> {
    let chosen = read.models_of(&run.agent)?;
    let (mut left, mut lost): (Vec<&str>, _) = (chosen.iter().map(|(model, _)| *model).collect(), BTreeMap::new());
    for step in tried {
        if why::of_step(&run.id, step, read)?.as_deref() == Some(HELD) {
            continue;
        }
        // A denied step has only the operation's name: it was for the next model in order.
        let named = read.models().models.contains_key(&step.name).then_some(step.name.as_str());
        let Some(model) = named.or_else(|| left.first().copied()) else { continue };
        let times = lost.entry(model.to_owned()).or_insert(0);
        *times = if step.status == StepStatus::Unknown { *times + 1 } else { MOST_LOST };
        if *times >= MOST_LOST {
            left.retain(|one| *one != model);
        }
    }
    match (left.first(), tried.last()) {
        (Some(model), _) => Ok(Move::Think(Thought { model: (*model).to_owned(), decided: None })),
        (None, _) if chosen.is_empty() => Ok(Move::NoModel),
        (None, last) => {
            let why = last.map(|last| why::of_step(&run.id, last, read)).transpose()?.flatten();
            let why = why.as_deref().unwrap_or("nobody knows why");
            let keyless = read.keyless_of(&run.agent)?.into_iter().collect::<Vec<_>>().join(", ");
            let rest =
                if keyless.is_empty() { keyless } else { format!("; there is no key for its fallback {keyless}") };
            Ok(Move::Own(Own::GiveUp(format!("no model answers: {why}{rest}"))))
        }
    }
}
