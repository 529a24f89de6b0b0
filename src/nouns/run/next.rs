//! Decides what a run does next. It follows from its plan and its history only, so it is the same after a restart.

use serde_json::{Value, json};

use super::moves::{Move, Own, Stage, Todo};
use super::think::think;
use super::tools::unable;
use super::why;
use gate::Reader;
use store::actors::Status;
use store::runs::Run;
use types::models::OF_PLANS;
use types::plan::{self, Expected, Plan};
use types::quoted::quoted;
use types::refusal::Stop;
use types::run::{Failure, LONGEST_ACTIVE, MOST_DENIALS, MOST_STEPS, StepStatus, Wait};
use types::time::{SECOND, Time};

/// Returns a run's next move at the reader's time.
pub(super) fn next(run: &Run, read: &Reader<'_>) -> Result<Move, Stop> {
    next_by(run, read.now(), read)
}

/// Returns a run's next move at that time.
pub(super) fn next_by(run: &Run, now: Time, read: &Reader<'_>) -> Result<Move, Stop> {
    if run.status.is_over() || read.is_held(run) {
        return Ok(Move::Nothing);
    }
    let fail = |failure, why: String| Ok(Move::Own(Own::Fail(failure, Some(why))));
    if !read.card(&run.agent).is_some_and(|card| card.actor.status == Status::Active) {
        return fail(Failure::Offboarded, format!("{} has left", run.agent));
    }
    if let Some(delegation) = read.ended_delegation_of(run)? {
        return fail(Failure::DelegationEnded, format!("{delegation}, under which it was asked for, has ended"));
    }
    if let Some(own) = waited(run, now, read)? {
        return Ok(Move::Own(own));
    }
    if let Some(wait) = &run.wait {
        let amiss = if matches!(wait, Wait::Approval { .. }) { waits_amiss(run, read)? } else { None };
        return amiss.map_or(Ok(Move::Nothing), |why| fail(Failure::Failed, why));
    }
    if run.denials >= MOST_DENIALS {
        return fail(Failure::Denied, format!("it was refused the same thing {MOST_DENIALS} times"));
    }
    let most = most_steps(run, read)?;
    if run.steps > most {
        return fail(Failure::Steps, format!("it took more than {most} steps"));
    }
    let Some(plan) = plan_of(run, read)? else {
        return fail(Failure::Failed, "its plan was erased".into());
    };
    let Some(plan) = plan else {
        return match think(run, read)? {
            Move::Own(own) => Ok(Move::Own(own)),
            Move::Calls(todo) if todo.iter().any(|todo| todo.number <= most) => {
                Ok(Move::Calls(todo.into_iter().filter(|todo| todo.number <= most).collect()))
            }
            // The answer requested no more than was allowed then: the agent's limit is lower by now.
            Move::Calls(_) => fail(Failure::Steps, format!("it may take no more than {most} steps")),
            idle @ (Move::NoModel | Move::Nothing) => Ok(idle),
            _ if run.steps >= most => fail(Failure::Steps, format!("it took {most} steps, as many as it may")),
            step => Ok(step),
        }
        .and_then(|step| in_time(step, run, read));
    };
    if let Some(why) = unexpected(run, &plan, read)? {
        return Ok(Move::Own(Own::GiveUp(why)));
    }
    match plan.steps.get(run.steps as usize) {
        Some(_) if run.steps >= most => fail(Failure::Steps, format!("it took {most} steps, as many as it may")),
        Some(step) => in_time(planned(run, step, read)?, run, read),
        None => Ok(Move::Own(Own::Complete)),
    }
}

/// Returns a run's plan, if it has one; the outer `None` if it was erased.
pub(super) fn plan_of(run: &Run, read: &Reader<'_>) -> Result<Option<Option<Plan>>, Stop> {
    let kept = read.kept(&run.id, "asked")?.and_then(|mut kept| kept.remove("plan"));
    Ok(kept.and_then(|plan| serde_json::from_value(plan).ok()))
}

/// Returns the maximum number of steps of a run.
pub(super) fn most_steps(run: &Run, read: &Reader<'_>) -> Result<u32, Stop> {
    let limits = read.agent_limits(&run.agent)?;
    Ok(limits.and_then(|limits| limits.steps).unwrap_or(MOST_STEPS).min(MOST_STEPS))
}

/// Fails the run if the move starts something after its active time is used up. What has started is finished.
fn in_time(step: Move, run: &Run, read: &Reader<'_>) -> Result<Move, Stop> {
    let begins = match &step {
        Move::Think(_) => true,
        Move::Calls(todo) => todo.iter().all(|todo| todo.stage == Stage::Fresh),
        Move::Own(_) | Move::NoModel | Move::Nothing => false,
    };
    // Its active time is at most the time since it started.
    let is_young = run.started_at.is_none_or(|begun| read.now().0.saturating_sub(begun.0) < SECOND);
    if begins && !is_young && time_left(run, read)? <= 0 {
        return Ok(Move::Own(Own::Fail(Failure::TimedOut, Some("it was at work for too long".into()))));
    }
    Ok(step)
}

/// Returns how many milliseconds of active time a run has left, which bounds models and tools.
pub(super) fn time_left(run: &Run, read: &Reader<'_>) -> Result<i64, Stop> {
    let most = read.agent_limits(&run.agent)?.and_then(|limits| limits.wall_ms()).unwrap_or(LONGEST_ACTIVE);
    Ok(most.saturating_sub(read.active_ms(&run.id)?))
}

/// Returns what to record if a wait of the run has timed out.
fn waited(run: &Run, now: Time, read: &Reader<'_>) -> Result<Option<Own>, Stop> {
    if run.due_at.is_none_or(|due| due > now) {
        return Ok(None);
    }
    if matches!(run.wait, Some(Wait::Budget { .. })) {
        return Ok(Some(Own::Resume));
    }
    let over = read.waiting_steps(run)?.into_iter().find(|step| step.until().is_some_and(|until| until <= now));
    Ok(over.map(|step| match step.wait {
        Some(Wait::Time { .. }) => Own::Awake,
        Some(Wait::Outcome { .. }) => {
            let why = format!("nobody said whether {} took effect", step.name);
            Own::Fail(Failure::UnknownEffect, Some(why))
        }
        _ => Own::Fail(Failure::TimedOut, Some("no answer in time".into())),
    }))
}

fn planned(run: &Run, step: &plan::Step, read: &Reader<'_>) -> Result<Move, Stop> {
    let number = run.facts().step();
    let call = |operation: &str, input: Value| {
        Move::Calls(vec![Todo { number, operation: operation.to_owned(), input: Ok(input), stage: Stage::Fresh }])
    };
    Ok(match step {
        plan::Step::Say(text) => Move::Own(Own::Say(text.clone())),
        plan::Step::Fail(reason) => Move::Own(Own::GiveUp(quoted(reason))),
        plan::Step::Wait(pause) => Move::Own(Own::Pause(read.now().plus_ms(i64::from(pause.seconds) * 1000))),
        plan::Step::Ask(question) => call("run.ask", json!({ "text": question.text, "to": question.to })),
        plan::Step::Delegate(part) => {
            call("agent.ask", json!({ "agent": part.agent, "text": part.text, "plan": part.plan }))
        }
        plan::Step::Model(said) => call(
            "model.call",
            json!({
                "provider": OF_PLANS, "model": said.model, "text": said.text, "input_tokens": said.input_tokens,
                "output_tokens": said.output_tokens, "cost_cents": said.cost_cents,
            }),
        ),
        plan::Step::Call(one) => {
            let step = read.step(&run.id, number)?;
            let input = match unable(run, (step.as_ref(), &one.tool), read)? {
                Some(reason) => Err(reason),
                None => Ok(Value::Object(one.with.clone())),
            };
            let stage = step.as_ref().map_or(Stage::Fresh, Stage::of);
            Move::Calls(vec![Todo { number, operation: one.tool.clone(), input, stage }])
        }
    })
}

/// Explains why the gate's answer to the last step differs from the plan's expectation, if it does.
fn unexpected(run: &Run, plan: &Plan, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let before = (run.steps as usize).checked_sub(1).and_then(|index| plan.steps.get(index));
    let Some(plan::Step::Call(plan::Call { tool, expect: Some(expected), .. })) = before else { return Ok(None) };
    let said = match read.last_step(&run.id)? {
        Some((StepStatus::Denied, false)) => Some(Expected::Deny),
        Some((_, true)) => Some(Expected::NeedsApproval),
        // The gate was never asked, or the call failed although allowed.
        Some((StepStatus::Failed, false)) => None,
        _ => Some(Expected::Allow),
    };
    Ok(match said {
        Some(said) if said == *expected => None,
        Some(said) => Some(another_answer((run.steps, tool), *expected, said)),
        None => {
            let step = read.step(&run.id, run.steps)?;
            let why = step.map(|step| why::of_step(&run.id, &step, read)).transpose()?.flatten().unwrap_or_default();
            Some(format!("{}, and the call failed: {why}", expects((run.steps, tool), *expected)))
        }
    })
}

/// Explains why a call should not wait for approval, if its plan expects another answer: the run ends before people see the
/// request.
fn waits_amiss(run: &Run, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let plan = plan_of(run, read)?.flatten();
    let step = plan.as_ref().and_then(|plan| plan.steps.get(run.steps as usize));
    let Some(plan::Step::Call(plan::Call { tool, expect: Some(expected), .. })) = step else { return Ok(None) };
    let amiss = *expected != Expected::NeedsApproval;
    Ok(amiss.then(|| another_answer((run.facts().step(), tool), *expected, Expected::NeedsApproval)))
}

fn another_answer(at: (u32, &str), expected: Expected, said: Expected) -> String {
    format!("{}, the gate said {}", expects(at, expected), name(said))
}

fn expects((step, tool): (u32, &str), expected: Expected) -> String {
    format!("step {step} ({tool}): the plan expects {}", name(expected))
}

fn name(expected: Expected) -> &'static str {
    match expected {
        Expected::Allow => "allow",
        Expected::NeedsApproval => "needs_approval",
        Expected::Deny => "deny",
    }
}
