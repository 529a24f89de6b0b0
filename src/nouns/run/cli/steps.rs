//! Prints a run and its steps.

use serde_json::{Value, json};

use super::exit::Failure;
use super::show;
use crate::nouns::run::{ShownRun, ShownStep, WholeRun};
use crate::types::id::ActorId;
use crate::types::run::{RunStatus, StepStatus, Wait};

/// The maximum characters of a call's input in its line.
const LONGEST_INPUT: usize = 200;

/// Prints a run, one line per step.
pub(super) fn shown(run: &WholeRun) -> Result<(), Failure> {
    print(run, &[], false)
}

/// Prints a run, one line per step, and what it or a descendant waits for. `is_served`: whether a server resumes it.
pub(super) fn print(run: &WholeRun, parts: &[WholeRun], is_served: bool) -> Result<(), Failure> {
    run.trace.iter().try_for_each(|step| show::text(&line(step)))?;
    if let Some(output) = &run.output {
        show::text(&format!("\n{}", indented(output)))?;
    }
    let ShownRun { id, status, cost_cents, error, reason, .. } = &run.run;
    let why = error.as_ref().map(|error| &error.message).or(reason.as_ref()).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let steps = if run.run.steps == 1 { "1 step".to_owned() } else { format!("{} steps", run.run.steps) };
    show::note(&format!("{id} is {status}{why} ({steps}, {cost_cents} cents)"));
    if let Some(delegation) = &run.run.delegation {
        show::note(&format!("It is done under {delegation}."));
    }
    waits(run, is_served);
    for part in parts {
        show::note(&format!("{} is {}", part.run.id, part.run.status));
        waits(part, is_served);
    }
    Ok(())
}

/// Prints what a run waits for.
fn waits(run: &WholeRun, is_served: bool) {
    let ShownRun { id, status, .. } = &run.run;
    if *status == RunStatus::Held && !matches!(run.run.waiting, Some(Wait::Budget { .. })) {
        return show::note("A kill switch holds it: `ok kill --list`.");
    }
    asks(run);
    for approval in run.trace.iter().filter_map(|step| match &step.waiting {
        Some(Wait::Approval { approval }) if step.status == StepStatus::Waiting => Some(approval),
        _ => None,
    }) {
        show::note(&format!("It waits for {approval}; an approver runs `ok approve {approval}`."));
    }
    match &run.run.waiting {
        Some(Wait::Time { until }) if is_served => show::note(&format!("It continues at {until}.")),
        Some(Wait::Time { until }) => {
            show::note(&format!("It waits until {until}: a server or `ok tick --now {until}` resumes it."))
        }
        Some(Wait::Budget { reason, beside: Some(_), .. }) => {
            show::note(&format!("{reason}; it continues once enough of that is released."));
        }
        Some(Wait::Budget { reason, until: Some(until), .. }) => {
            show::note(&format!("{reason}; it continues at {until}."));
        }
        Some(Wait::Budget { reason, until: None, payer, .. }) => {
            let payer = payer.as_ref().map_or(id.as_str(), |payer| payer.as_str());
            show::note(&format!("{reason}; to raise that budget: `ok run budget {payer} <cents>`."));
            if let Some(delegation) = &run.run.delegation {
                show::note(&format!(
                    "It spends the budget of {delegation}, too: if nothing is left there, it cannot be raised; `ok run cancel` ends the run."
                ));
            }
            if let Some(request) = &run.request {
                show::note(&format!("Its agent asks for more; an approver runs `ok approve {request}`."));
            }
        }
        Some(Wait::Model { reason }) => show::note(&format!("{reason}; it continues once a server can call one.")),
        Some(Wait::RateLimit { reason, until }) => show::note(&format!("{reason}; it continues at {until}.")),
        Some(Wait::Run { run }) => show::note(&format!("It waits for {run}.")),
        Some(Wait::Question { .. } | Wait::Outcome { .. } | Wait::Approval { .. }) | None => {}
    }
}

/// Prints a run's questions, and to whom.
fn asks(run: &WholeRun) {
    let is_question = |step: &ShownStep| matches!(step.waiting, Some(Wait::Question { .. } | Wait::Outcome { .. }));
    let is_asked = |step: &&ShownStep| step.status == StepStatus::Waiting && is_question(step);
    let asked: Vec<&ShownStep> = run.trace.iter().filter(is_asked).collect();
    for step in &asked {
        let question = step.question.as_deref().or(run.question.as_deref()).unwrap_or("something");
        let which = if asked.len() > 1 { format!(" --question {}", step.seq) } else { String::new() };
        let to = step.waiting.as_ref().map(Wait::asks).unwrap_or_default();
        let to = to.iter().map(ActorId::as_str).collect::<Vec<_>>().join(" or ");
        let question = indented(question);
        show::note(&format!("It asks {to}: {question}\nThe answer: `ok answer {} \"…\"{which}`.", run.run.id));
    }
}

pub(super) fn line(step: &ShownStep) -> String {
    let ShownStep { seq, kind, name, status, target, input, reason, output, question, .. } = step;
    let about = if target.is_empty() || target == name { String::new() } else { format!(" {target}") };
    let name = name.replace(['\n', '\r'], " ");
    let named = if name.is_empty() { String::new() } else { format!(" {name}{about}") };
    let with = input.as_ref().filter(|input| **input != json!({})).map(|input| format!(" {}", brief(input)));
    let with = with.unwrap_or_default();
    // While it waits for the answer, the question is printed below.
    let asked = question.as_ref().filter(|_| *status != StepStatus::Waiting);
    let asked = asked.map(|question| format!(" «{}»", indented(question))).unwrap_or_default();
    let stands = if *status == StepStatus::Completed { String::new() } else { format!(" {status}") };
    let said = match (reason, output) {
        (Some(reason), _) => format!(": {}", indented(reason)),
        (None, Some(Value::String(text))) if !text.is_empty() => format!(": {}", indented(text)),
        _ => String::new(),
    };
    format!("{seq:>3}  {kind}{named}{with}{asked}{stands}{said}")
}

/// Indents a text written by a model or somebody else: no line of it can pass for a step's.
pub fn indented(text: &str) -> String {
    text.trim_start().replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\n     ")
}

/// Formats as JSON in one line, truncated: `--format json` has all of it.
fn brief(input: &Value) -> String {
    let text = input.to_string();
    match text.char_indices().nth(LONGEST_INPUT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
