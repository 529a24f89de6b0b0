//! What `limits.yaml` sets: how often each actor may ask, and how much a change of the policies may change.

use std::collections::BTreeMap;

use ok::gate::state::refold;
use ok::policy::Bundle;
use serde_json::json;

use crate::harness::{Answer, Test, together};

pub fn with(limits: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.insert("limits.yaml".into(), limits.into());
    bundle
}

#[tokio::test]
async fn over_a_rate_limit_an_actor_is_told_when_to_come_back_and_nobody_else_is() {
    let limits = "rates:\n  reads:\n    roles: [member]\n    operations: [query]\n    most: 3\n    seconds: 60\n";
    let test = Test::with_policies(with(limits)).await;
    let (mia, max) = (test.add("mia", "person", json!({})).await, test.add("max", "person", json!({})).await);
    for _ in 0..2 {
        assert_eq!(test.get("/me", &mia).await.status, 200);
    }
    test.clock.advance(20_500);
    let explained = test.post("/policy/explain", &test.admin, json!({ "actor": "mia", "op": "me.read" })).await.json();
    assert_eq!(explained["limits"], json!([{ "id": "reads", "most": 3, "seconds": 60, "left": 1 }]));
    // Another kind of query counts for the same limit; a change does not.
    assert_eq!(test.get("/inbox", &mia).await.status, 200);
    assert_eq!(test.post("/tokens", &mia, json!({})).await.status, 201);
    let before = test.last_seq().await;
    let over = test.get("/me", &mia).await;
    assert_eq!(over.error(), "429 rate_limited over the limit reads: 3 calls in 60 s; try again in 40 s");
    assert_eq!((over.header("retry-after"), over.header("ok-policy")), ("40", "1"));
    assert_eq!(test.last_seq().await, before, "what is not even asked is not recorded");
    assert_eq!(
        (test.get("/me", &max).await.status, test.get("/me", &test.admin).await.status),
        (200.try_into().unwrap(), 200.try_into().unwrap())
    );
    test.clock.advance(40_000);
    assert_eq!(test.get("/me", &mia).await.status, 200);
}

#[tokio::test]
async fn by_default_everybody_has_limits_and_no_limit_holds_up_what_stops() {
    let test = Test::new().await;
    test.cast().await;
    test.add("far", "outside_agent", json!({ "owner": "mia" })).await;
    let limits = async |actor: &str, op: &str| {
        let asked = json!({ "actor": actor, "op": op, "target": actor });
        let explained = test.post("/policy/explain", &test.admin, asked).await.json();
        let limits = explained["limits"].as_array().unwrap_or_else(|| panic!("{explained}")).clone();
        let shown = limits.iter().map(|limit| format!("{} {}", limit["id"].as_str().unwrap(), limit["most"]));
        shown.collect::<Vec<_>>().join(", ")
    };
    for (actor, changes, reads) in [
        ("ana", "changes-by-admins 600000", "reads-by-admins 1000000"),
        ("mia", "changes-by-people 6000", "reads-by-people 300000"),
        ("bot", "changes-by-agents 300", "reads-by-agents 300000"),
        ("far", "changes-by-outside-agents 60", "reads-by-outside-agents 6000"),
    ] {
        let told = (limits(actor, "token.issue").await, limits(actor, "actor.read").await);
        assert_eq!((told.0.as_str(), told.1.as_str()), (changes, reads));
        assert_eq!(limits(actor, "actor.offboard").await, "", "what stops somebody");
    }

    // A bundle that says nothing of limits has the same.
    let mut files = Bundle::built_in().files;
    files.remove("limits.yaml");
    let test = Test::with_policies(Bundle { files }).await;
    let explained = test.post("/policy/explain", &test.admin, json!({ "actor": "ana", "op": "token.issue" })).await;
    assert_eq!(explained.json()["limits"][0]["id"], "changes-by-admins");

    let test = Test::with_policies(with("rates:\n  all:\n    except: [query]\n    most: 1\n")).await;
    let mia = test.add("mia", "person", json!({})).await;
    assert_eq!(test.post("/tokens", &test.admin, json!({})).await.status, 429);
    assert_eq!(test.post("/kill", &test.admin, json!({ "scope": "actor:mia", "reason": "r" })).await.status, 200);
    assert_eq!(test.call("DELETE", "/tokens/mia", &test.admin, None).await.status, 200);
    assert_eq!(test.get("/me", &mia).await.status, 401);
}

#[tokio::test]
async fn each_decision_of_a_batch_counts() {
    let test = Test::with_policies(with("rates:\n  decisions:\n    operations: [access.*]\n    most: 5\n")).await;
    let ask = async |questions: usize| {
        let question = json!({ "subject": { "type": "Ok::Person", "id": "ana" } });
        test.post("/access/v1/evaluations", &test.admin, json!({ "evaluations": vec![question; questions] })).await
    };
    for (questions, status) in [(3, 200), (1, 200), (3, 200), (1, 429)] {
        assert_eq!(ask(questions).await.status, status);
    }
}

#[tokio::test]
async fn whoever_may_stop_somebody_does_not_fill_the_log_with_it() {
    let test = Test::new().await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let kill = async |who: &str| test.post("/kill", who, json!({ "scope": "team:ops", "reason": "again" })).await;
    for _ in 0..600 {
        assert_eq!(kill(&lea).await.status, 200);
    }
    let over = kill(&lea).await.error();
    assert!(over.starts_with("429 rate_limited over 600 calls a minute that stop or revoke"), "{over}");
    assert_eq!(kill(&test.admin).await.status, 200);
    test.clock.advance(60_000);
    assert_eq!(kill(&lea).await.status, 200);
}

/// Refusals of one's own, so that no two are equal.
async fn refused(test: &Test, who: &str, tool: &str) -> Answer {
    test.post("/kill", who, json!({ "scope": format!("tool:{tool}"), "reason": "r" })).await
}

#[tokio::test]
async fn nobody_fills_the_log_with_what_they_may_not_do() {
    let test = Test::new().await;
    let (mia, max) = (test.add("mia", "person", json!({})).await, test.add("max", "person", json!({})).await);
    let before = test.last_seq().await;
    for tool in 0..300 {
        assert_eq!(refused(&test, &mia, &format!("t{tool}")).await.status, 403);
    }
    assert_eq!(test.last_seq().await, before + 300);
    test.clock.advance(20_000);
    let over = refused(&test, &mia, "more").await;
    assert!(over.error().starts_with("429 rate_limited refused, like 300 others this minute"), "{}", over.error());
    assert!(over.header("retry-after").parse::<u64>().unwrap() <= 40);
    assert_eq!(test.last_seq().await, before + 300, "what is refused beyond is not recorded");
    assert_eq!(test.get("/me", &mia).await.status, 200, "what is allowed goes on");
    assert_eq!(refused(&test, &max, "more").await.status, 403, "others have their own");
    test.clock.advance(40_000);
    assert_eq!(refused(&test, &mia, "more").await.status, 403);
}

#[tokio::test]
async fn equal_refusals_within_a_second_are_two_entries_and_one_of_them_counts() {
    let test = Test::new().await;
    let (mia, max) = (test.add("mia", "person", json!({})).await, test.add("max", "person", json!({})).await);
    let other = test.token("mia", json!({})).await;
    let before = test.last_seq().await;
    let first = refused(&test, &mia, "mail").await;
    test.clock.advance(300);
    let again = refused(&test, &mia, "mail").await;
    assert_eq!((again.error(), again.header("ok-decision")), (first.error(), first.header("ok-decision")));
    test.clock.advance(600);
    for _ in 0..212 {
        assert_eq!(refused(&test, &mia, "mail").await.status, 403);
    }
    assert_eq!(test.last_seq().await, before + 1, "the first was recorded at once");
    // Another question, another actor, another token: other refusals.
    refused(&test, &mia, "db").await;
    refused(&test, &max, "mail").await;
    refused(&test, &other, "mail").await;
    assert_eq!(test.last_seq().await, before + 4);

    test.clock.advance(100);
    let later = refused(&test, &mia, "mail").await;
    assert_ne!(later.header("ok-decision"), first.header("ok-decision"), "after a second it is recorded again");
    let events = test.get(&format!("/events?since={}", before + 4), &test.admin).await.json()["events"].clone();
    let told = json!({
        "type": "denied", "operation": "kill", "target": "tool:mail", "reason": "no policy permits it", "fault": null,
        "count": 213, "first_at": "2026-11-20T09:00:00.3Z", "last_at": "2026-11-20T09:00:00.9Z",
    });
    assert_eq!(
        (&events[0]["event"], &events[0]["actor"], &events[0]["decision"]),
        (&told, &json!("mia"), &json!("deny"))
    );
    assert_eq!((&events[1]["event"]["count"], events.as_array().unwrap().len()), (&json!(null), 2));

    // What decisions hang on is only changed once everything that was decided before is told.
    refused(&test, &mia, "mail").await;
    test.post("/actors", &test.admin, json!({ "id": "new", "kind": "person" })).await;
    assert_eq!(test.newest(2).await, ["denied", "actor_added"]);
    // A stop tells what was counted until then.
    refused(&test, &max, "mail").await;
    refused(&test, &max, "mail").await;
    let test = test.reopened().await;
    assert_eq!(test.event().await["event"]["count"], 1);
    assert!(test.verdict().ok);
    let replayed = test.post("/policy/diff", &test.admin, json!({ "files": Bundle::built_in().files })).await.json();
    let matrix = &replayed["impact"]["matrix"];
    assert_eq!(matrix["deny"], json!({ "allow": 0, "needs_approval": 0, "deny": 221 }), "each call counts: {replayed}");

    let folder = test.closed().await;
    let mut log = std::process::Command::new(assert_cmd::cargo::cargo_bin!("ok"));
    let shown = log.args(["--as", "ana", "--state"]).arg(folder.path().join("state.db")).arg("log").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.lines().any(|line| line.contains("denied 213 times") && line.contains("target=tool:mail")),
        "{shown}"
    );
}

#[tokio::test]
async fn a_counted_refusal_is_not_kept_for_its_idempotency_key() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let call = async |key: &str| {
        let bearer = format!("Bearer {mia}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", key)];
        test.raw("POST", "/kill", &headers, json!({ "scope": "global", "reason": "r" }).to_string()).await
    };
    let first = call("key-1").await;
    assert_eq!(call("key-1").await.header("idempotent-replayed"), "true");
    let second = call("key-2").await;
    assert_eq!((second.error(), call("key-2").await.header("idempotent-replayed")), (first.error(), ""));
    assert_eq!(refold::compare(&test.file()).unwrap(), [], "an answer that is kept has its entry");
}

#[tokio::test]
async fn a_mistake_in_the_limits_names_its_place() {
    let test = Test::new().await;
    let told = async |limits: &str| {
        let files: BTreeMap<String, String> = with(limits).files;
        let checked = test.post("/policy/check", &test.admin, json!({ "files": files })).await.json();
        let problem = checked["problems"][0].clone();
        format!(
            "{}:{} {} {}",
            problem["file"].as_str().unwrap(),
            problem["line"],
            problem["code"].as_str().unwrap(),
            problem["message"].as_str().unwrap()
        )
    };
    assert_eq!(
        told("rates:\n  a:\n    most: 0\n").await,
        "limits.yaml:3 limits_invalid rates.a.most: must be 1 to 1000000"
    );
    assert_eq!(
        told("rates:\n  a:\n    most: 1\n    operations: [token.isue]\n").await,
        "limits.yaml:4 limits_invalid rates.a.operations: there is no operation `token.isue`"
    );
    assert!(told("rates:\n  a:\n    mots: 1\n").await.contains("unknown field `mots`"));
}

#[tokio::test]
async fn a_change_keeps_the_budget_that_is_in_force_not_one_of_its_own() {
    let test = Test::with_policies(with("impact: {newly_denied: 0}\n")).await;
    test.post("/tokens", &test.admin, json!({})).await;
    let mut files = with("impact: {newly_denied: 1000}\n").files;
    files.retain(|path, _| !path.starts_with("tests/"));
    let stop = "@id(\"no-tokens\")\n@reason(\"no more\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"token.issue\",\n  resource\n);\n";
    files.insert("extra.cedar".into(), stop.into());
    files.insert(
        "tests/a.yaml".into(),
        "cases:\n  - {actor: zoe, op: me.read, expect: allow}\nactors:\n  - {id: zoe}\n".into(),
    );
    let sam = test.add("sam", "person", json!({ "role": "steward" })).await;
    let change = test.post("/policy/proposals", &sam, json!({ "files": files, "reason": "r" })).await.json();
    let path = format!("/changes/{}", change["id"].as_str().unwrap());
    let impact = |cases: &serde_json::Value| {
        let cases = cases.as_array().unwrap_or_else(|| panic!("{cases}"));
        let impact = cases.iter().find(|eval| eval["case"] == "impact").unwrap();
        assert_eq!((&impact["status"], impact["problems"].as_array().unwrap().len()), (&json!("failed"), 1));
        impact["problems"][0].as_str().unwrap().to_owned()
    };
    // Who proposed it may not read the decisions that are counted, and learns no count of them.
    let few = "more decisions would differ than the budget allows";
    let evals = test.post(&format!("{path}/evals"), &sam, json!({})).await.json();
    assert_eq!(impact(&evals["evals"]["last"]), few);
    for (token, told) in [(&sam, few), (&test.admin, "newly_denied is 2, of at most 0")] {
        assert_eq!(impact(&test.get("/changes", token).await.json()[0]["evals"]["last"]), told);
        let event = test.get("/events?type=evals_run", token).await.json()["events"][0]["event"].clone();
        assert_eq!(impact(&event["cases"]), told);
    }
    let promoted = test.post(&format!("{path}/promote"), &test.admin, json!({})).await.json();
    assert_eq!((&promoted["error"], &promoted["evals"]), (&json!("evals_failing"), &json!(["impact"])));
}

#[tokio::test]
async fn nobody_fills_the_file_with_answers_to_be_given_again() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let ask = async |number: usize| {
        let headers = [
            ("authorization", format!("Bearer {mia}")),
            ("idempotency-key", format!("k{number}")),
            ("content-type", "application/json".into()),
        ];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        test.raw("POST", "/tick", &headers, "{}").await
    };
    // So few at once that none of them waits for longer than a call may.
    for round in 0..100 {
        let answers = together((0..100).map(|number| ask(round * 100 + number))).await;
        assert!(answers.iter().all(|answer| answer.status == 403), "{round}");
        // Otherwise it were too many calls in a minute.
        test.clock.advance(2_000);
    }
    let over = ask(10_000).await;
    assert!(
        over.error().starts_with("429 rate_limited over 10000 calls a day with an Idempotency-Key"),
        "{}",
        over.error()
    );
    assert_eq!(test.post("/tick", &mia, json!({})).await.status, 403, "without a key it goes on");
    // Nothing holds up what stops, whatever it is called with.
    let bearer = format!("Bearer {mia}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", "k")];
    let stopped = test.raw("DELETE", "/tokens/mia", &headers, "").await;
    assert_eq!(stopped.status, 200, "{}", stopped.text());
}

#[tokio::test]
async fn nobody_fills_the_inbox_of_another_with_questions_of_agents() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let question = json!({ "ask": { "text": "which?", "to": "lea" } });
    let wish = || json!({ "agent": "bot", "text": "do", "plan": { "steps": [question, { "say": "so" }] } });
    let ask = async |who: &str| {
        let asked = test.post("/ask", who, wish()).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        test.go_on().await;
        test.get(&format!("/runs/{}", asked.json()["run"].as_str().unwrap()), who).await.json()
    };
    for _ in 0..25 {
        assert_eq!(ask(&cast.mia).await["status"], "waiting_input");
    }
    let one_more = ask(&cast.mia).await;
    let told = "conflict: lea has 25 open questions of runs that mia asked for, the most there may be";
    assert_eq!(
        (&one_more["status"], &one_more["trace"][0]["reason"]),
        (&json!("completed"), &json!(told)),
        "{one_more}"
    );
    assert_eq!(ask(&test.admin).await["status"], "waiting_input", "others may ask");
}

/// Comparisons of policies, however many people ask for them, take no place of what is asked beside them.
#[tokio::test(flavor = "multi_thread")]
async fn comparisons_of_several_people_hold_up_nobody_else() {
    let test = std::sync::Arc::new(Test::new().await);
    let cast = test.cast().await;
    let mut askers = Vec::new();
    for who in ["s1", "s2", "s3"] {
        askers.push(test.add(who, "person", json!({ "role": "steward" })).await);
    }
    let compare = |number: usize| {
        let (test, token) = (std::sync::Arc::clone(&test), askers[number % askers.len()].clone());
        let mut files = Bundle::built_in().files;
        // Twenty policies are a comparison of many seconds: what is asked beside them is answered long before.
        let policy = |one: usize| {
            format!(
                "@id(\"more-{one}\") @reason(\"r\") forbid (principal == Ok::Actor::\"z{number}-{one}\", action in [Ok::Action::\"query\", Ok::Action::\"change\"], resource);"
            )
        };
        let more: String = (0..20).map(policy).collect();
        files.insert("more.cedar".into(), more);
        tokio::spawn(async move { test.post("/policy/diff", &token, json!({ "files": files })).await.status })
    };
    let comparisons: Vec<_> = (0..9).map(compare).collect();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(test.why(&cast.mia, json!({ "op": "tick" })).await["decision"], "deny");
    assert_eq!(test.get("/policy/who-can?op=tick", &test.admin).await.status, 200);
    assert_eq!(
        test.post("/knowledge", &cast.mia, json!({ "statement": "The sky is blue.", "topics": ["sky"] })).await.status,
        201
    );
    assert!(!comparisons.iter().any(tokio::task::JoinHandle::is_finished), "it waited for a comparison");
    comparisons.iter().for_each(tokio::task::JoinHandle::abort);
}
