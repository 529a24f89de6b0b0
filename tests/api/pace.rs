//! How fast runs go on: as the limits of whoever asked let them, and those of their agents.

use serde_json::{Value, json};

use super::limits::with;
use super::runs;
use crate::harness::Test;

#[tokio::test]
async fn what_somebody_has_done_takes_as_many_steps_as_they_may_make_changes() {
    let limits = "rates:\n  changes:\n    roles: [member]\n    operations: [change]\n    most: 5\n";
    let test = Test::with_policies(with(limits)).await;
    let cast = test.cast().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let said = async |token: &str, agent: &str, plan: Value| {
        let asked =
            test.post("/ask", token, json!({ "agent": agent, "text": "talk", "plan": { "steps": plan } })).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        asked.json()["run"].as_str().unwrap().to_owned()
    };
    let talk = json!(vec![json!({ "say": "so" }); 8]);
    // What an agent has another one do is for whoever asked for the whole.
    let part = json!([{ "delegate": { "agent": "aide", "text": "talk", "plan": { "steps": talk } } }]);
    let (long, of_others) = (said(&cast.mia, "bot", part).await, said(&test.admin, "bot", talk).await);
    let stand = async || {
        let read = async |id: &str| runs::run(&test, id).await["status"].clone();
        (read(&long).await, read(&of_others).await)
    };
    test.go_on().await;
    let taken = async || {
        let parts = test.get("/runs?agent=aide", &test.admin).await.json();
        parts[0]["steps"].as_u64().unwrap_or_else(|| panic!("{parts}"))
    };
    assert_eq!((stand().await, taken().await), ((json!("running"), json!("completed")), 4), "one of five was to ask");
    assert_eq!(test.post("/tasks", &cast.mia, json!({ "title": "of her own" })).await.status, 201, "counted apart");
    test.clock.advance(59_999);
    test.go_on().await;
    assert_eq!(taken().await, 4);
    test.clock.advance(1);
    test.go_on().await;
    assert_eq!(taken().await, 8);
    test.clock.advance(60_000);
    test.go_on().await;
    assert_eq!(stand().await.0, "completed");
    runs::accounted_for(&test);
}

/// Steps that keep long answers fill the disk like changes with long inputs.
#[tokio::test]
async fn what_steps_keep_of_answers_counts_by_its_bytes() {
    let limits = "rates:\n  changes:\n    roles: [member]\n    operations: [change]\n    most: 5\n";
    let test = Test::with_policies(with(limits)).await;
    let cast = test.cast().await;
    let new = json!({ "title": "t", "goal": "x".repeat(9 << 10), "owner": "bot" });
    let task = test.post("/tasks", &cast.mia, new).await.json()["id"].clone();
    let reads = json!(vec![json!({ "call": { "tool": "task.read", "with": { "id": task } } }); 8]);
    let id = runs::asked(&test, &cast.mia, reads).await;
    let shown = runs::run(&test, &id).await;
    // Each is a step and two times 4 KiB.
    assert_eq!((&shown["status"], &shown["steps"]), (&json!("running"), &json!(2)), "{shown}");
    assert_eq!(shown["trace"][1]["status"], "completed", "{shown}");
}

#[tokio::test]
async fn what_an_agent_does_for_one_uses_up_nothing_of_what_it_may_do_for_others() {
    let limits = "rates:\n  changes:\n    kinds: [agent]\n    operations: [change]\n    most: 3\n";
    let test = Test::with_policies(with(limits)).await;
    let cast = test.cast().await;
    let creates = |count: usize| {
        json!(vec![json!({ "call": { "tool": "task.create", "with": { "title": "one of many" } } }); count])
    };
    let many = runs::asked(&test, &cast.mia, creates(5)).await;
    let rests = runs::run(&test, &many).await;
    assert_eq!((&rests["status"], &rests["steps"]), (&json!("running"), &json!(3)), "{rests}");
    let reason = "what its agent does for the requester is over the limit changes: 3 in 60 s";
    let waits = json!({ "kind": "rate_limit", "reason": reason, "until": "2026-11-20T09:01:00Z" });
    assert_eq!(rests["waiting"], waits);
    let few = runs::asked(&test, &cast.lea, creates(2)).await;
    assert_eq!(runs::run(&test, &few).await["status"], "completed", "others have their own");
    assert_eq!(test.post("/tasks", &cast.bot, json!({ "title": "its own" })).await.status, 201);
    test.clock.advance(60_000);
    test.go_on().await;
    assert_eq!(runs::run(&test, &many).await["status"], "completed");
    runs::accounted_for(&test);
}

/// A run waits a minute at the most; what it is told of a limit that takes longer is for it to see to.
#[tokio::test]
async fn a_run_is_told_of_a_limit_that_holds_for_longer() {
    let limits = "rates:\n  few:\n    kinds: [agent]\n    operations: [task.create]\n    most: 1\n    seconds: 3600\n";
    let test = Test::with_policies(with(limits)).await;
    let cast = test.cast().await;
    let create = json!({ "call": { "tool": "task.create", "with": { "title": "one" } } });
    let done = runs::asked(&test, &cast.mia, json!([create, create, { "say": "one was enough" }])).await;
    let done = runs::run(&test, &done).await;
    assert_eq!((&done["status"], &done["trace"][1]["status"]), (&json!("completed"), &json!("failed")), "{done}");
    let told = "rate_limited: over the limit few: 1 calls in 3600 s; try again in 3600 s";
    assert_eq!(done["trace"][1]["reason"], told);
}

/// What it waits for is told, whatever the limit is of; and it has no place meanwhile that others need.
#[tokio::test]
async fn a_run_that_one_operations_limit_holds_says_so() {
    let limits = "rates:\n  few:\n    kinds: [agent]\n    operations: [task.create]\n    most: 1\n    seconds: 30\n  \
                  models:\n    kinds: [agent]\n    operations: [model.call]\n    most: 1\n    seconds: 3600\n";
    let test = Test::with_policies(with(limits)).await;
    let cast = test.cast().await;
    let create = json!({ "call": { "tool": "task.create", "with": { "title": "one" } } });
    let said = json!({ "model": { "text": "so", "input_tokens": 1, "output_tokens": 1, "cost_cents": 1 } });
    for (step, limit, until, ms) in [
        (create, "few: 1 in 30 s", "2026-11-20T09:00:30Z", 30_000),
        (said, "models: 1 in 3600 s", "2026-11-20T10:00:30Z", 3_600_000),
    ] {
        let id = runs::asked(&test, &cast.mia, json!([step, { "say": "between" }, step])).await;
        let rests = runs::run(&test, &id).await;
        let reason = format!("what its agent does for the requester is over the limit {limit}");
        let waits = json!({ "kind": "rate_limit", "reason": reason, "until": until });
        assert_eq!((&rests["status"], &rests["steps"], &rests["waiting"]), (&json!("running"), &json!(2), &waits));
        test.clock.advance(ms - 1);
        test.go_on().await;
        assert_eq!(runs::run(&test, &id).await["steps"], 2);
        test.clock.advance(1);
        test.go_on().await;
        assert_eq!(runs::run(&test, &id).await["status"], "completed");
    }
    runs::accounted_for(&test);
}
