//! Reads model answers: the calls they requested, and the results. The texts are content, which may be erased.

use serde_json::Value;

use super::why;
use gate::Reader;
use store::runs::{Run, Step};
use types::chat::Wanted;
use types::quoted::plain;
use types::refusal::{Fault, Stop};
use types::run::{StepKind, StepStatus};

/// Checks whether a step is a model's answer.
pub(super) fn is_answer(step: &Step) -> bool {
    step.kind == StepKind::Model && step.status == StepStatus::Completed
}

/// Returns the calls that a model requested at a step; `None` if erased.
pub(super) fn wanted(run: &Run, step: u32, read: &Reader<'_>) -> Result<Option<Vec<Wanted>>, Stop> {
    let kept = read.kept(&run.id, &step.to_string())?;
    let calls = kept.and_then(|mut kept| kept.remove("calls")).map(serde_json::from_value).transpose();
    Ok(calls.map_err(Fault::from)?)
}

/// Returns the result of a call as the model is told.
pub(super) fn came(run: &Run, step: &Step, read: &Reader<'_>) -> Result<String, Stop> {
    let why = why::of_step(&run.id, step, read)?;
    let why = plain(why.as_deref().unwrap_or("the reason is erased"));
    match step.status {
        StepStatus::Completed => {}
        StepStatus::Denied => return Ok(format!("error: denied: {why}")),
        _ => return Ok(format!("error: {why}")),
    }
    let kept = match step.kind {
        StepKind::Delegate => read.kept(&step.target, "output")?.and_then(|mut kept| kept.remove("text")),
        _ => read
            .kept(&run.id, &step.number.to_string())?
            .map(|mut kept| kept.remove("output").unwrap_or(Value::Object(kept))),
    };
    Ok(match kept {
        Some(Value::String(text)) => text,
        Some(output) => output.to_string(),
        None => "done".into(),
    })
}
