//! Builds the body of a message: as recorded, plus the output of a completed run if the subscription includes it.

use std::collections::BTreeSet;

use serde_json::Value;

use gate::Reader;
use store::outbox::Intent;
use store::runs::Run;
use store::webhooks::Webhook;
use types::caller::{Caller, Channel, Who};
use types::canonical;
use types::field::Label;
use types::json;
use types::refusal::{Fault, Stop};
use types::webhook::Topic;

/// The maximum bytes of an output as JSON: a message has less than 20 kB. `output_cut` tells if it was truncated.
const MOST: usize = 16_000;

/// Returns the body of a message. The log does not hold the output: it is read when the message is sent, while it is kept and
/// the subscription's owner may read the run.
pub(super) fn body(webhook: &Webhook, intent: &Intent, read: &Reader<'_>) -> Result<String, Stop> {
    let recorded = || intent.body.clone();
    if !webhook.include_output || intent.topic != Topic::RunCompleted.name() {
        return Ok(recorded());
    }
    let mut body: Value = json::read(intent.body.as_bytes()).map_err(|error| Fault::Broken(error.to_string()))?;
    let Some(run) = body.pointer("/data/run_id").and_then(Value::as_str) else { return Ok(recorded()) };
    let Some(output) = output(webhook, run, read)? else { return Ok(recorded()) };
    if let Some(data) = body.get_mut("data").and_then(Value::as_object_mut) {
        let sent = beginning(&output);
        data.insert("output_cut".into(), (sent.len() < output.len()).into());
        data.insert("output".into(), sent.into());
    }
    Ok(String::from_utf8_lossy(&canonical::to_vec(&body)?).into_owned())
}

/// Truncates a text to at most [`MOST`] bytes when written as JSON (RFC 8785).
fn beginning(text: &str) -> &str {
    let mut left = MOST;
    let ends = text.char_indices().find(|(_, c)| {
        let size = match c {
            '"' | '\\' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        let fits = size <= left;
        left = left.saturating_sub(size);
        !fits
    });
    ends.map_or(text, |(at, _)| text.get(..at).unwrap_or_default())
}

fn output(webhook: &Webhook, run: &str, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let owner = Caller::new(Who::Holder(webhook.owner.clone()), Channel::Tick);
    // Under the default policies, nothing leaves a run that has read both, unless a lead has reviewed it.
    let has_read_both =
        |labels: &BTreeSet<Label>| [Label::Untrusted, Label::Confidential].iter().all(|one| labels.contains(one));
    let may_read = |run: &Run| read.ruling(&owner, "run.read", &read.run_target(run)).is_allowed();
    let Some(run) = read.run(run)?.filter(|run| may_read(run) && !has_read_both(&run.labels)) else {
        return Ok(None);
    };
    Ok(read.kept(&run.id, "output")?.and_then(|kept| Some(kept.get("text")?.as_str()?.to_owned())))
}
