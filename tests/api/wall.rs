//! For how long a run may be at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ok::background::models::{Asking, Chat, Hear};
use ok::background::runner;
use ok::background::tools::{Answer, Elsewhere, Looked, Means, ToolCall, Tools};
use ok::nouns::run::Came;
use ok::policy::Bundle;
use ok::types::chat::{self, Prompt, Wanted};
use ok::types::models::ProviderKind;
use ok::types::time::DAY;
use serde_json::json;

use super::budgets::hired;
use super::runs::{accounted_for, run};
use super::thinking;
use crate::harness::fake::{Fake, Reply};
use crate::harness::{Test, TestClock};

/// A model that takes half an hour over each answer, and hears of it when the server dies.
struct Slow {
    clock: Arc<TestClock>,
    dies: AtomicBool,
}

impl Chat for Slow {
    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(async {
            self.clock.advance(31 * 60_000);
            if self.dies.swap(false, Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            let wanted = |tool: &str| Wanted {
                id: "call".into(),
                tool: tool.into(),
                arguments: json!({}),
                signatures: Vec::new(),
            };
            Ok(chat::Answer { text: String::new(), calls: vec![wanted("me_read")], input_tokens: 1, output_tokens: 1 })
        })
    }
}

#[tokio::test]
async fn a_run_that_was_at_work_for_too_long_ends_and_neither_waiting_nor_a_stopped_server_is_work() {
    let fake = Fake::new(ProviderKind::Anthropic, vec![Reply::Call(&[("run_ask", r#"{"text":"which?"}"#)])]);
    let (test, cast) = thinking::company(&fake).await;
    let id = thinking::asked(&test, &cast, json!({})).await;
    assert_eq!(run(&test, &id).await["status"], "waiting_input");
    test.clock.advance(3 * DAY);
    test.post(&format!("/runs/{id}/answer"), &cast.mia, json!({ "text": "the first" })).await;
    // The server dies under the first call, and is away for days; then each answer takes half an hour.
    let slow = Arc::new(Slow { clock: test.clock.clone(), dies: AtomicBool::new(true) });
    let gone = tokio::time::timeout(Duration::from_secs(1), runner::settle(&test.company.gate, slow.clone())).await;
    assert!(gone.is_err(), "nothing was under way");
    let test = test.reopened().await;
    test.clock.advance(3 * DAY);
    runner::settle(&test.company.gate, slow).await.unwrap();
    let ended = run(&test, &id).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["message"]),
        (&json!("timed_out"), &json!("it was at work for too long"))
    );
    let stand: Vec<&str> =
        ended["trace"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(stand[2..], ["unknown", "completed"], "one answer more, which took too long: {ended}");
    accounted_for(&test);
}

/// A model or a tool over which six tenths of a second go by. The model then says nothing, the tool is done.
struct Tardy(Arc<TestClock>);

impl Chat for Tardy {
    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        self.0.advance(600);
        Box::pin(std::future::pending())
    }
}

impl Tools for Tardy {
    fn call<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Came> {
        self.0.advance(600);
        Box::pin(async { Came::Done("done".into()) })
    }

    fn look<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Looked> {
        Box::pin(async { Looked::NotDone })
    }

    fn trace(&self, _: &ToolCall) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn a_plan_begins_no_step_after_its_time_and_a_model_is_not_waited_for_beyond_it() {
    let fake = Fake::new(ProviderKind::Anthropic, vec![Reply::Hang]);
    let models = thinking::setup(&fake.config());
    let test = Test::with_tools(models, Bundle::built_in(), Arc::new(Elsewhere::default())).await;
    test.cast().await;
    hired(&test, "{wall: 1s}\n  tools: [echo.read, task.create]").await;
    let tardy = Arc::new(Tardy(test.clock.clone()));
    let means = Means { models: tardy.clone(), tools: tardy.clone() };
    let echo = json!({ "call": { "tool": "echo.read", "with": { "text": "a" } } });
    let make = json!({ "call": { "tool": "task.create", "with": { "title": "too late" } } });
    let wish = json!({ "agent": "clerk", "text": "do", "plan": { "steps": [echo, echo, make] } });
    let id = test.post("/ask", &test.admin, wish).await.json()["run"].as_str().unwrap().to_owned();
    runner::settle(&test.company.gate, means).await.unwrap();
    let late = run(&test, &id).await;
    assert_eq!(
        (&late["status"], &late["error"]["message"]),
        (&json!("timed_out"), &json!("it was at work for too long")),
        "{late}"
    );
    assert_eq!(late["trace"].as_array().unwrap().len(), 2, "what had begun was seen to its end: {late}");
    let wish = json!({ "agent": "clerk", "text": "think" });
    let id = test.post("/ask", &test.admin, wish).await.json()["run"].as_str().unwrap().to_owned();
    runner::settle(&test.company.gate, tardy).await.unwrap();
    let late = run(&test, &id).await;
    let step = &late["trace"][0];
    let told = "the run has been at work for as long as it may";
    assert_eq!(
        (&late["status"], &step["status"], &step["reason"]),
        (&json!("timed_out"), &json!("unknown"), &json!(told))
    );
    accounted_for(&test);
}
