//! Why the gate would have answered as it did: the company as it was after an event, or at a time.

use serde_json::{Value, json};

use crate::harness::{START, Test};

fn time(ms: i64) -> String {
    ok::types::time::Time(ms).to_string()
}

#[tokio::test]
async fn an_earlier_answer_is_given_by_the_directory_and_the_switches_of_then() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let before = test.last_seq().await;
    test.clock.advance(60_000);
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot" })).await;
    let killed = test.last_seq().await;
    test.clock.advance(60_000);
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "off": true })).await;
    test.post("/actors/bot/offboard", &test.admin, json!({ "reason": "it left" })).await;
    let ask = async |at: Value| {
        let question = json!({ "op": "company.read", "actor": "bot", "at": at });
        let answer = test.post("/policy/explain", &cast.aud, question).await.json();
        (answer["decision"].clone(), answer["at"].clone(), answer["kill"].clone())
    };
    for (at, decision, when, kill) in [
        (json!(before), "allow", START, json!([])),
        (json!(time(START + 59_999)), "allow", START + 59_999, json!([])),
        (json!(killed), "deny", START + 60_000, json!(["actor:bot"])),
        (json!(time(START + 60_000)), "deny", START + 60_000, json!(["actor:bot"])),
        (json!(time(START + 119_999)), "deny", START + 119_999, json!(["actor:bot"])),
    ] {
        assert_eq!(ask(at.clone()).await, (json!(decision), json!(time(when)), kill), "{at}");
    }
    let now = test.post("/policy/explain", &cast.aud, json!({ "op": "company.read", "actor": "bot" })).await;
    assert_eq!(now.error(), "409 conflict bot has left, and may do nothing");
    let table = test.post("/policy/explain", &cast.aud, json!({ "actor": "bot", "at": killed })).await.json();
    assert_eq!(table["operations"][0]["reason"], "a kill switch stops this actor");
}

#[tokio::test]
async fn the_past_is_read_by_whoever_may_read_it_now() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let before = test.last_seq().await;
    test.post("/actors/lea/offboard", &test.admin, json!({ "reason": "she left", "successor": "liv" })).await;
    let question = json!({ "op": "tick", "actor": "mia", "at": before });
    // Lea led the team then; liv leads it now.
    for (token, status) in [(&cast.lea, 401), (&cast.liv, 200), (&cast.max, 403)] {
        assert_eq!(test.post("/policy/explain", token, question.clone()).await.status, status);
    }
}

#[tokio::test]
async fn a_moment_that_never_was_is_refused() {
    let test = Test::new().await;
    test.cast().await;
    let ask = |at: Value| test.post("/policy/explain", &test.admin, json!({ "op": "tick", "actor": "mia", "at": at }));
    let last = test.last_seq().await;
    for (at, said) in [
        (json!(0), "there is no event 0".to_owned()),
        (json!(-1), "there is no event -1".to_owned()),
        (json!(last + 1), format!("there is no event {}", last + 1)),
        (json!(1), "no policy was in force then".to_owned()),
        (json!(2), "mia did not exist at that time".to_owned()),
        (json!(time(START + 1)), format!("{} is still to come", time(START + 1))),
        (json!(time(START - 1)), format!("the company began after {}", time(START - 1))),
        // A day is its beginning, and what has a time is no day, wherever it is told.
        (json!("2026-11-20"), "the company began after 2026-11-20T00:00:00Z".to_owned()),
        (json!("2026-11-20T12:00:00+02:00"), "2026-11-20T10:00:00Z is still to come".to_owned()),
    ] {
        assert_eq!(ask(at).await.error(), format!("422 invalid at: {said}"));
    }
    for (at, said) in [
        (json!("yesterday"), "`yesterday` is not an RFC 3339 time, such as 2026-11-20T09:00:00Z"),
        (json!("2026-11-20T09:00:00"), "`2026-11-20T09:00:00` is not an RFC 3339 time, such as 2026-11-20T09:00:00Z"),
        (json!(1.5), "must be the number of an event, or an RFC 3339 time"),
        (json!([1]), "must be the number of an event, or an RFC 3339 time"),
    ] {
        let answer = ask(at).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text().ends_with(&format!("at: {said}")), "{}", answer.text());
    }
}
