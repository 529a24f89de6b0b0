//! Tools from elsewhere: what they do is done outside. Somebody counts what is asked of them.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ok::background::models::{Setup, Usual};
use ok::background::runner;
use ok::background::tools::{Answer, Looked, ToolCall, Tools};
use ok::nouns::run::Came;
use ok::policy::Bundle;
use ok::types::caller::Credential;
use ok::types::models::ProviderKind;
use ok::types::time::{DAY, SECOND};
use serde_json::{Value, json};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::brain::put_into_force;
use super::runs::{accounted_for, ask, asked, run};
use super::thinking::steps;
use crate::harness::fake::{Fake, Reply};
use crate::harness::{Cast, Test};

/// How a call goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goes {
    Well,
    /// It has its effect, and nobody hears of it.
    Silent,
    /// It has none, and nobody hears of that.
    Lost,
    Broken,
}

#[derive(Default)]
struct Hands {
    /// How the next calls go; well, after them.
    next: Mutex<Vec<Goes>>,
    /// The keys of all calls, with the tool, in their order.
    calls: Mutex<Vec<(String, String)>>,
    /// What happened, by key.
    done: Mutex<BTreeMap<String, Value>>,
    looked: Mutex<Vec<String>>,
}

impl Hands {
    fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect()
    }
    /// How often a tool's effect has happened.
    fn effects(&self) -> usize {
        self.done.lock().unwrap().len()
    }
    fn go(&self, next: &[Goes]) {
        *self.next.lock().unwrap() = next.to_vec();
    }
}

impl Tools for Hands {
    fn call<'a>(&'a self, asked: &'a ToolCall) -> Answer<'a, Came> {
        let goes = self.next.lock().unwrap().pop().unwrap_or(Goes::Well);
        let text = asked.arguments["text"].clone();
        let mut calls = self.calls.lock().unwrap();
        calls.push((asked.tool.clone(), asked.key.clone()));
        let mut done = self.done.lock().unwrap();
        if matches!(goes, Goes::Well | Goes::Silent) && asked.tool != "echo.read" {
            // What is done once happens each time.
            let key =
                if asked.tool == "echo.once" { format!("{} {}", asked.key, calls.len()) } else { asked.key.clone() };
            done.insert(key, text.clone());
        }
        Box::pin(async move {
            match goes {
                Goes::Well => Came::Done(text),
                Goes::Broken => Came::Failed("the other end is out of paper".into()),
                Goes::Silent | Goes::Lost => pending().await,
            }
        })
    }

    fn look<'a>(&'a self, asked: &'a ToolCall) -> Answer<'a, Looked> {
        self.looked.lock().unwrap().push(asked.key.clone());
        let done = self.done.lock().unwrap().get(&asked.key).cloned();
        Box::pin(async { done.map_or(Looked::NotDone, Looked::Done) })
    }

    fn trace(&self, _: &ToolCall) -> Option<String> {
        None
    }
}

async fn company(policy: &str) -> (Test, Cast, Arc<Hands>) {
    let mut policies = Bundle::built_in();
    if !policy.is_empty() {
        policies.files.insert("more.cedar".into(), policy.into());
    }
    let hands: Arc<Hands> = Arc::default();
    let test = Test::with_tools(Setup::default(), policies, hands.clone()).await;
    let cast = test.cast().await;
    (test, cast, hands)
}

fn call(tool: &str, text: &str) -> Value {
    json!({ "call": { "tool": tool, "with": { "text": text } } })
}

/// Begins a run, and has its server die while a call is under way.
async fn dies_under_way(test: Test, token: &str, plan: Value) -> (Test, String) {
    let asked = ask(&test, token, plan).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    dies(&test).await;
    (test.reopened().await, asked.json()["run"].as_str().unwrap().to_owned())
}

/// What is under way is dropped, as where a server is killed: nothing more is recorded of it.
async fn dies(test: &Test) {
    let gone = timeout(Duration::from_millis(600), runner::settle(&test.company.gate, test.means())).await;
    assert!(gone.is_err(), "nothing was under way");
}

#[tokio::test]
async fn a_call_is_recorded_as_begun_before_it_is_made_and_what_it_answers_is_untrusted() {
    let (test, cast, hands) = company("").await;
    let id = asked(&test, &cast.mia, json!([call("echo.once", "paid"), call("task.list", "")])).await;
    let done = run(&test, &id).await;
    assert_eq!(steps(&done)[0], "tool echo.once completed");
    assert_eq!((&done["trace"][0]["output"], &done["labels"]), (&json!("paid"), &json!(["untrusted"])));
    let kinds = test.newest(40).await;
    let at = |kind: &str| kinds.iter().position(|one| one == kind);
    assert!(at("step_dispatched").unwrap() < at("step_completed").unwrap(), "{kinds:?}");
    assert_eq!(hands.calls.lock().unwrap()[0], ("echo.once".into(), format!("{id}/1")));
    // What the other end refuses is told to the run.
    hands.go(&[Goes::Broken]);
    let id = asked(&test, &cast.mia, json!([call("echo.once", "paid"), { "say": "not paid" }])).await;
    assert_eq!(steps(&run(&test, &id).await)[0], "tool echo.once failed the other end is out of paper");
    accounted_for(&test);
}

#[tokio::test]
async fn what_happens_once_is_not_done_again_after_a_crash_and_people_say_whether_it_was() {
    for goes in [Goes::Silent, Goes::Lost] {
        let (test, cast, hands) = company("").await;
        hands.go(&[goes]);
        let (test, id) = dies_under_way(test, &cast.mia, json!([call("echo.once", "paid"), { "say": "next" }])).await;
        test.go_on().await;
        let waits = run(&test, &id).await;
        assert_eq!((&waits["status"], &waits["waiting"]["kind"]), (&json!("waiting_input"), &json!("outcome")));
        assert_eq!(waits["waiting"]["to"], json!(["mia"]));
        assert!(waits["question"].as_str().unwrap().starts_with("Did echo.once take effect?"), "{waits}");
        let inbox = test.get("/inbox", &cast.mia).await.json();
        let is_told = |item: &Value| item["title"] == "bot asks you whether echo.once has happened";
        assert!(inbox.as_array().unwrap().iter().any(is_told), "{inbox}");
        let path = format!("/runs/{id}/answer");
        let wrong = test.post(&path, &cast.mia, json!({ "text": "perhaps" })).await;
        assert_eq!(
            (wrong.status.as_u16(), &wrong.json()["problems"]),
            (422, &json!(["text: must be yes, no or retry"]))
        );
        assert_eq!(test.post(&path, &cast.max, json!({ "text": "yes" })).await.status, 404);
        assert_eq!(hands.called(), ["echo.once"], "it is not called again by itself");
        let (word, stands) = match goes {
            Goes::Silent => ("Yes", "tool echo.once completed"),
            _ => ("no", "tool echo.once failed mia says that it did not happen"),
        };
        assert_eq!(test.post(&path, &cast.mia, json!({ "text": word })).await.status, 200);
        let again = test.post(&path, &cast.mia, json!({ "text": word })).await;
        assert_eq!(again.error(), format!("409 conflict the question of {id} at step 1 is answered already"));
        test.go_on().await;
        let done = run(&test, &id).await;
        assert_eq!((&done["status"], steps(&done)[0].as_str()), (&json!("completed"), stands));
        assert_eq!(hands.called(), ["echo.once"]);
        accounted_for(&test);
    }
}

#[tokio::test]
async fn a_person_may_have_it_done_again_and_the_policies_are_asked_again() {
    let stop = r#"@id("no-more") @reason("twice is too often") forbid (principal is Ok::Actor, action == Ok::Action::"echo.once", resource)
        when { context.hist["echo.once"].day >= 2 };"#;
    let (test, cast, hands) = company(stop).await;
    hands.go(&[Goes::Lost, Goes::Lost]);
    let (mut test, id) = dies_under_way(test, &cast.mia, json!([call("echo.once", "paid"), { "say": "next" }])).await;
    let path = format!("/runs/{id}/answer");
    test.go_on().await;
    assert_eq!(test.post(&path, &cast.mia, json!({ "text": "retry" })).await.status, 200);
    dies(&test).await;
    test = test.reopened().await;
    test.go_on().await;
    assert_eq!((hands.called().len(), hands.effects()), (2, 0));
    assert_eq!(test.post(&path, &cast.mia, json!({ "text": "retry" })).await.status, 200);
    test.go_on().await;
    let done = run(&test, &id).await;
    assert_eq!(steps(&done)[0], "tool echo.once denied policy denied echo.once: twice is too often");
    assert_eq!(hands.called().len(), 2);
    accounted_for(&test);
}

#[tokio::test]
async fn a_run_ends_where_nobody_says_within_a_week_whether_it_happened() {
    let (test, cast, hands) = company("").await;
    hands.go(&[Goes::Silent]);
    let (test, id) = dies_under_way(test, &cast.mia, json!([call("echo.once", "paid")])).await;
    test.go_on().await;
    test.clock.advance(7 * DAY + SECOND);
    test.go_on().await;
    let failed = run(&test, &id).await;
    let why = json!({ "code": "unknown_effect", "message": "nobody said whether echo.once took effect" });
    assert_eq!((&failed["status"], &failed["error"]), (&json!("failed"), &why));
    accounted_for(&test);
}

#[tokio::test]
async fn what_may_be_done_again_is_done_again_under_its_key_and_what_can_be_looked_up_is() {
    let again = |tool: &'static str, goes: Goes| async move {
        let (test, cast, hands) = company("").await;
        hands.go(&[goes]);
        let (test, id) = dies_under_way(test, &cast.mia, json!([call(tool, "x")])).await;
        test.go_on().await;
        let done = run(&test, &id).await;
        assert_eq!(
            (&done["status"], &done["trace"][0]["output"]),
            (&json!("completed"), &json!("x")),
            "{tool} {goes:?}"
        );
        accounted_for(&test);
        let calls = hands.calls.lock().unwrap().clone();
        assert!(calls.iter().all(|(_, key)| *key == format!("{id}/1")), "{calls:?}");
        let looked = hands.looked.lock().unwrap().len();
        (calls.len(), looked, hands.effects())
    };
    assert_eq!(again("echo.read", Goes::Lost).await, (2, 0, 0));
    assert_eq!(again("echo.idempotent", Goes::Silent).await, (2, 0, 1));
    assert_eq!(again("echo.idempotent", Goes::Lost).await, (2, 0, 1));
    assert_eq!(again("echo.reconcilable", Goes::Silent).await, (1, 1, 1), "it is there already");
    assert_eq!(again("echo.reconcilable", Goes::Lost).await, (2, 1, 1), "it is not there, so it is called");
}

#[tokio::test]
async fn a_kill_switch_breaks_a_call_off_unless_that_leaves_nobody_knowing_what_came_of_it() {
    let (test, cast, hands) = company("").await;
    hands.go(&[Goes::Lost]);
    let asked = ask(&test, &cast.mia, json!([call("echo.idempotent", "x")])).await;
    let id = asked.json()["run"].as_str().unwrap().to_owned();
    let (gate, means) = (test.company.gate.clone(), test.means());
    let works = tokio::spawn(async move { runner::settle(&gate, means).await });
    while hands.called().is_empty() {
        tokio::task::yield_now().await;
    }
    let killed = test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "reason": "look" })).await;
    assert_eq!(killed.status, 200, "{}", killed.text());
    timeout(Duration::from_secs(1), works).await.expect("it was not broken off").unwrap().unwrap();
    assert_eq!(run(&test, &id).await["status"], "held");
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "off": true })).await;
    test.go_on().await;
    assert_eq!((&run(&test, &id).await["status"], hands.called().len()), (&json!("completed"), 2));
    accounted_for(&test);
}

/// A switch for a tool breaks off what may be broken off, too: the run is told, and goes on without it.
#[tokio::test]
async fn a_kill_switch_for_a_tool_breaks_a_call_of_it_off() {
    let (test, cast, hands) = company("").await;
    hands.go(&[Goes::Lost]);
    let asked = ask(&test, &cast.mia, json!([call("echo.read", "x"), { "say": "without" }])).await;
    let id = asked.json()["run"].as_str().unwrap().to_owned();
    let (gate, means) = (test.company.gate.clone(), test.means());
    let works = tokio::spawn(async move { runner::settle(&gate, means).await });
    while hands.called().is_empty() {
        tokio::task::yield_now().await;
    }
    test.post("/kill", &test.admin, json!({ "scope": "tool:echo.read", "reason": "look" })).await;
    timeout(Duration::from_secs(5), works).await.expect("it was not broken off").unwrap().unwrap();
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["output"], hands.called().len()), (&json!("completed"), &json!("without"), 1));
    let reason = "it was in progress, and may no longer be called";
    assert_eq!((&done["trace"][0]["status"], &done["trace"][0]["reason"]), (&json!("failed"), &json!(reason)));
    accounted_for(&test);
}

#[tokio::test]
async fn policies_look_at_what_a_tool_is_given_and_people_approve_a_call_of_it() {
    let policy = r#"@id("paid-with-approval") @reason("a lead looks at what is paid")
        forbid (principal is Ok::Actor, action == Ok::Action::"echo.once", resource) when { context.input.text == "paid" }
        unless { context.approvals.contains(Ok::ApprovalKind::"lead") };"#;
    let (test, cast, hands) = company(policy).await;
    let id =
        asked(&test, &cast.mia, json!([call("echo.once", "seen"), call("echo.once", "paid"), { "say": "so" }])).await;
    let waits = run(&test, &id).await;
    assert_eq!((&waits["status"], hands.called().len()), (&json!("waiting_approval"), 1));
    let approval = waits["waiting"]["approval"].as_str().unwrap();
    let decided = test.post(&format!("/approvals/{approval}"), &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    assert_eq!(hands.called().len(), 1, "nobody reaches out while it is decided");
    hands.go(&[Goes::Silent]);
    dies(&test).await;
    let test = test.reopened().await;
    test.go_on().await;
    assert_eq!((&run(&test, &id).await["waiting"]["kind"], hands.called().len()), (&json!("outcome"), 2));
    accounted_for(&test);
}

#[tokio::test]
async fn the_calls_of_one_answer_each_go_on_by_themselves_after_a_crash() {
    const BOTH: &[(&str, &str)] = &[("echo_once", r#"{"text":"paid"}"#), ("echo_idempotent", r#"{"text":"sent"}"#)];
    let fake = Fake::new(ProviderKind::Anthropic, vec![Reply::Call(BOTH), Reply::Say("Both are done.")]);
    let key = |name: &str| (name == "FAKE_KEY").then(|| Zeroizing::new("sk-right".to_owned()));
    let setup = Setup::of_file(&fake.config(), &Usual::default(), &key).unwrap();
    let hands: Arc<Hands> = Arc::default();
    let test = Test::with_tools(setup, Bundle::built_in(), hands.clone()).await;
    let cast = test.cast().await;
    hands.go(&[Goes::Silent, Goes::Silent]);
    let asked = test.post("/ask", &cast.mia, json!({ "agent": "bot", "text": "pay and send" })).await;
    let id = asked.json()["run"].as_str().unwrap().to_owned();
    dies(&test).await;
    let test = test.reopened().await;
    test.go_on().await;
    let waits = run(&test, &id).await;
    assert_eq!(
        steps(&waits)[1..],
        ["tool echo.once waiting", "tool echo.idempotent completed"],
        "each by what it is: {waits}"
    );
    assert_eq!(test.post(&format!("/runs/{id}/answer"), &cast.mia, json!({ "text": "yes" })).await.status, 200);
    test.go_on().await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("Both are done.")));
    assert_eq!((hands.called().len(), hands.effects()), (3, 2));
    accounted_for(&test);
}

#[tokio::test]
async fn a_tool_that_nobody_carries_out_is_not_there() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let refused = ask(&test, &cast.mia, json!([call("echo.once", "x")])).await;
    assert_eq!(refused.json()["problems"], json!(["plan.steps[0].call.tool: there is no tool `echo.once`"]));
    let names = |tools: Value| {
        let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("echo.")).collect::<Vec<_>>()
    };
    assert_eq!(names(test.get("/tools", &cast.bot).await.json()), [""; 0]);
    let (test, cast, _) = company("").await;
    let tools = test.get("/tools", &cast.bot).await.json();
    assert_eq!(names(tools.clone()), ["echo.read", "echo.idempotent", "echo.reconcilable", "echo.once"]);
    let once = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "echo.once").unwrap();
    assert_eq!((&once["effect"], &once["input_schema"]["required"]), (&json!("once"), &json!(["text"])));
}

#[tokio::test]
async fn a_limit_breaks_off_no_call_that_is_under_way() {
    let mut policies = Bundle::built_in();
    let few = "rates:\n  few:\n    kinds: [agent]\n    operations: [change]\n    most: 1\n";
    policies.files.insert("limits.yaml".into(), few.into());
    let hands: Arc<Hands> = Arc::default();
    let test = Test::with_tools(Setup::default(), policies, hands.clone()).await;
    let cast = test.cast().await;
    hands.go(&[Goes::Silent]);
    let begun = ask(&test, &cast.mia, json!([call("echo.idempotent", "paid")])).await;
    dies(&test).await;
    let other = ask(&test, &cast.mia, json!([call("echo.idempotent", "more")])).await;
    let next = async |asked: &crate::harness::Answer| {
        let id = asked.json()["run"].clone();
        test.local(Credential::Server, "run.next", json!({ "id": id })).await
    };
    assert_eq!(next(&other).await, "nothing", "the limit holds what is not begun");
    assert_eq!(next(&begun).await["calls"]["calls"][0]["stage"], "dispatched");
}

#[tokio::test]
async fn an_approved_call_that_has_not_begun_is_decided_by_the_policies_in_force_when_it_would() {
    let gated = |more: &str| {
        format!(
            r#"@id("once-with-approval") @reason("a lead looks first")
            forbid (principal is Ok::Actor, action == Ok::Action::"echo.once", resource) when {{ context.input.text == "paid" }}
            unless {{ context.approvals.contains(Ok::ApprovalKind::"lead"){more} }};"#
        )
    };
    let not_counted_twice = r#"@id("once-a-day") @reason("once a day") forbid (principal is Ok::Actor, action == Ok::Action::"echo.once", resource)
        when { context.hist["echo.once"].day >= 1 };"#;
    for (more, made) in [("", true), (" || principal.admin", true), (" && principal.admin", false)] {
        let (test, cast, hands) = company(&(gated("") + not_counted_twice)).await;
        test.clock.advance(SECOND);
        let id = asked(&test, &cast.mia, json!([call("echo.once", "paid"), { "say": "so" }])).await;
        let path = format!("/approvals/{}", run(&test, &id).await["waiting"]["approval"].as_str().unwrap());
        test.post(&path, &cast.lea, json!({ "decision": "approve" })).await;
        if !more.is_empty() {
            let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
            files["more.cedar"] = (gated(more) + not_counted_twice).into();
            assert_eq!(put_into_force(&test, files).await.status, 200);
        }
        test.go_on().await;
        let done = run(&test, &id).await;
        let why = if made { Value::Null } else { json!("the policy now says: a lead looks first") };
        assert_eq!((hands.called().len(), &done["trace"][0]["reason"]), (usize::from(made), &why), "{done}");
        accounted_for(&test);
    }
}
