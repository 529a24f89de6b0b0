//! What a run promises, held against all that it has done.

use std::collections::BTreeMap;

use ok::types::chat::Message;
use serde_json::Value;

use super::World;
use super::hands::Hands;
use super::script::Script;
use crate::harness::Test;

/// What is over: a step, by its number, as it was when it was.
#[derive(Default)]
pub struct Over(BTreeMap<u64, Value>);

impl Over {
    /// A step that is over stays as it is, whatever dies and starts again.
    pub fn stays(&mut self, run: &Value) {
        let is_over = |step: &&Value| ["completed", "denied", "failed"].iter().any(|over| step["status"] == *over);
        for step in steps(run).iter().filter(is_over) {
            let number = step["seq"].as_u64().unwrap();
            assert_eq!(self.0.entry(number).or_insert_with(|| step.clone()), step, "step {number} was over: {run}");
        }
    }
}

/// What stands at the end. A run of a plan asks no model.
pub async fn hold(World { test, script, hands, deaths, was_strict, .. }: &World, run: &Value, is_planned: bool) {
    called_as_recorded(test, run, hands).await;
    spent_as_set_aside(test, run).await;
    effects_once(test, run, *was_strict).await;
    if !is_planned {
        asked_once(run, script, *deaths);
    }
}

fn steps(run: &Value) -> &[Value] {
    run["trace"].as_array().unwrap()
}

fn key(run: &Value, step: &Value) -> String {
    format!("{}/{}", run["id"].as_str().unwrap(), step["seq"])
}

/// Every event of this kind about the run.
async fn events(test: &Test, run: &Value, kind: &str) -> Vec<Value> {
    let page = test.get(&format!("/events?limit=1000&type={kind}"), &test.admin).await.json();
    assert!(page["next"].is_null(), "more than a page");
    page["events"].as_array().unwrap().iter().filter(|record| record["event"]["id"] == run["id"]).cloned().collect()
}

/// What a tool from elsewhere does once it does once, unless a person has it done again; none was called that was not allowed,
/// and recorded as begun.
async fn called_as_recorded(test: &Test, run: &Value, hands: &Hands) {
    let begun = events(test, run, "step_dispatched").await;
    for step in steps(run).iter().filter(|step| step["name"] == "echo.once") {
        let key = key(run, step);
        let may = 1 + hands.again.lock().unwrap().iter().filter(|again| **again == key).count();
        let (calls, effects) = (Hands::of(&hands.calls, &key), Hands::of(&hands.effects, &key));
        assert!(effects <= may && calls <= may, "{key} was done {effects} times: {run}");
    }
    let calls = hands.calls.lock().unwrap().clone();
    for (tool, key) in &calls {
        let is_of =
            |record: &&Value| key.ends_with(&format!("/{}", record["event"]["step"])) && record["decision"] == "allow";
        let (made, allowed) = (calls.iter().filter(|(_, of)| of == key).count(), begun.iter().filter(is_of).count());
        // What does no harm when it is done twice is called again without another word.
        assert!(
            allowed > 0 && (made <= allowed || tool != "echo.once"),
            "{tool} was called {made} times, and allowed {allowed}: {run}"
        );
    }
}

/// Each step took at most what was set aside when it began, and the run as much as its steps.
async fn spent_as_set_aside(test: &Test, run: &Value) {
    for record in events(test, run, "step_dispatched").await {
        let (number, aside) = (&record["event"]["step"], record["event"]["cost_cents"].as_i64().unwrap());
        let step = steps(run).iter().find(|step| step["seq"] == *number).unwrap();
        assert!(step["cost_cents"].as_i64().unwrap() <= aside, "{step} took more than was set aside");
    }
    let spent: i64 = steps(run).iter().map(|step| step["cost_cents"].as_i64().unwrap()).sum();
    assert_eq!(run["cost_cents"].as_i64().unwrap(), spent);
}

/// A model is asked as often as steps say so, and an answer that is recorded is never asked for again: it may
/// be lost where the server has died.
fn asked_once(run: &Value, script: &Script, deaths: usize) {
    let models =
        |status: &str| steps(run).iter().filter(|step| step["kind"] == "model" && step["status"] == status).count();
    let asked = script.asked.lock().unwrap().clone();
    // An answer is lost only where the server dies before it is recorded.
    let lost = script.answered.lock().unwrap().checked_sub(models("completed"));
    assert!(lost.is_some_and(|lost| lost <= deaths), "{lost:?} answers were lost: {run}");
    assert_eq!(
        models("completed") + models("unknown") + models("failed"),
        asked.len(),
        "asked otherwise than told: {run}"
    );
    // Each prompt holds all answers before it, and what came of each call that they wanted.
    let mut before = 0;
    for prompt in &asked {
        let said = prompt.messages.iter().filter(|message| matches!(message, Message::Said { .. })).count();
        let wanted: usize = prompt
            .messages
            .iter()
            .map(|message| match message {
                Message::Said { calls, .. } => calls.len(),
                _ => 0,
            })
            .sum();
        let came = prompt.messages.iter().filter(|message| matches!(message, Message::Came { .. })).count();
        assert!(said >= before && said - before <= 1 && wanted == came, "{said} after {before}; {wanted} but {came}");
        before = said;
    }
}

/// Each call of an operation was made once, and each part that another agent did makes one too.
async fn effects_once(test: &Test, run: &Value, was_strict: bool) {
    let mut made: Vec<String> = test
        .get("/tasks?limit=1000", &test.admin)
        .await
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["title"].as_str().unwrap().to_owned())
        .filter(|title| title.contains('/'))
        .collect();
    let completed =
        |name: &str| steps(run).iter().filter(|step| step["name"] == name && step["status"] == "completed").count();
    // Each part makes one too, unless it was refused.
    let (own, parts) = (completed("task.create"), completed("aide"));
    let least = if was_strict { own } else { own + parts };
    assert!((least..=own + parts).contains(&made.len()), "a call was made twice, or not as told: {made:?}");
    made.retain(|title| !title.ends_with('x'));
    made.sort();
    assert!(made.windows(2).all(|two| two[0] != two[1]), "a call was made twice: {made:?}");
}
