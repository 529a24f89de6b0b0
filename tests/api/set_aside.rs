//! What is set aside for calls under way keeps others waiting no longer than these calls take.

use std::sync::Arc;

use ok::background::models::{Asking, Chat, Hear};
use ok::background::runner;
use ok::types::chat::{self, Prompt};
use ok::types::models::ProviderKind;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::runs::{accounted_for, run};
use super::thinking::company;
use crate::harness::Test;
use crate::harness::fake::{Fake, Reply};

/// A model that answers when it is let, and takes one cent for it.
struct Slow(Semaphore);

impl Chat for Slow {
    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(async {
            self.0.acquire().await.unwrap().forget();
            Ok(chat::Answer { text: "so".into(), calls: Vec::new(), input_tokens: 1, output_tokens: 1 })
        })
    }
}

async fn asks(test: &Test, who: &str, times: usize) -> Vec<String> {
    let mut runs = Vec::new();
    for _ in 0..times {
        test.clock.advance(1);
        let answer = test.post("/ask", who, json!({ "agent": "bot", "text": "think" })).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        runs.push(answer.json()["run"].as_str().unwrap().to_owned());
    }
    runs
}

async fn count(test: &Test, runs: &[String], status: &str) -> usize {
    let mut count = 0;
    for id in runs {
        count += usize::from(run(test, id).await["status"] == status);
    }
    count
}

async fn until(what: &str, fits: impl AsyncFn() -> bool) {
    for _ in 0..1_500 {
        if fits().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{what}: it never came to that");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_what_is_set_aside_goes_on_when_it_is_free_again() {
    let fake = Fake::new(ProviderKind::Anthropic, vec![Reply::Hang]);
    let (test, cast) = company(&fake).await;
    let may_spend = async |cents: u32| {
        let budget = json!({ "budget_cents_month": cents });
        assert_eq!(test.call("PATCH", "/company", &test.admin, Some(budget)).await.status, 200);
    };
    // A call takes some twenty cents at most: there is enough for two.
    may_spend(60).await;
    let (slow, stop) = (Arc::new(Slow(Semaphore::new(0))), CancellationToken::new());
    let _stops = stop.clone().drop_guard();
    tokio::spawn(runner::run(test.company.gate.clone(), slow.clone(), stop));
    let hers = asks(&test, &cast.mia, 4).await;
    until("two of hers", async || count(&test, &hers, "running").await == 2 && count(&test, &hers, "held").await == 2)
        .await;
    let another = asks(&test, &cast.lea, 1).await;
    until("another waits", async || count(&test, &another, "held").await == 1).await;
    let waits = run(&test, &another[0]).await["waiting"].clone();
    let reason = waits["reason"].as_str().unwrap();
    assert!(reason.starts_with("0 of 60 cents of the company this month are spent, "), "{reason}");
    assert!(reason.contains(" more are reserved for calls in progress, and the next step takes "), "{reason}");
    assert_eq!(waits["beside"]["of"], "ok");
    assert!(!test.get("/inbox", &cast.lea).await.text().contains("is held"), "nobody is to do anything");
    // One cent of what was set aside: both who wait look again, and there is enough for one.
    let all: Vec<String> = [hers, another].concat();
    slow.0.add_permits(1);
    until("one is over", async || {
        count(&test, &all, "completed").await == 1 && count(&test, &all, "running").await == 2
    })
    .await;
    slow.0.add_permits(4);
    until("all are over", async || count(&test, &all, "completed").await == 5).await;
    // What is spent is not free again.
    may_spend(5).await;
    let last = asks(&test, &cast.mia, 1).await;
    until("the last is held", async || count(&test, &last, "held").await == 1).await;
    let waits = run(&test, &last[0]).await["waiting"].clone();
    let spent = waits["reason"].as_str().unwrap().starts_with("5 of 5 cents of the company this month are spent, and");
    assert!(spent && waits["beside"].is_null(), "{waits}");
    accounted_for(&test);
}
