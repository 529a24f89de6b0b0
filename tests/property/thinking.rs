//! Whatever models answer or fail to answer, wherever the server dies, whatever approvers and the asked say: a model is asked
//! once for each step that says so, an answer that is recorded is never asked for again, each of the calls that it wants at
//! once is made once at the most, and none waits for another; what a tool from elsewhere does once it does once, unless a person
//! has it done again; an agent that is stopped does nothing meanwhile, other policies and another time make no difference; nothing
//! is spent beyond the budget, and a run that is not over waits for one thing that somebody can end.

mod hands;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ok::background::models::{Asking, Chat, Hear, Setup, Usual};
use ok::background::runner;
use ok::background::tools::Means;
use ok::policy::Bundle;
use ok::types::chat::{Answer, Failed, Message, Prompt, Wanted};
use ok::types::time::SECOND;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Notify;

use self::hands::{Goes, Hands};
use super::run;
use crate::api::brain::put_into_force;
use crate::api::runs::accounted_for;
use crate::harness::prove::law;
use crate::harness::{Cast, Test};

#[derive(Clone, Debug)]
enum Said {
    Done,
    /// It wants these at once.
    Calls(Vec<Call>),
    Refuses,
    BreaksOff,
    /// The server dies while it answers.
    Dies,
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Create,
    CreateWithApproval,
    /// The same as all others of its answer, to the letter.
    Alike,
    Delegate,
    Forbidden,
    Unheard,
    Crooked,
    Ask,
    /// What happens each time that it is called.
    Pay,
    /// What happens once for each key.
    Send,
}

fn said() -> impl Strategy<Value = Said> {
    use Call::{Alike, Ask, Create, CreateWithApproval, Crooked, Delegate, Forbidden, Pay, Send, Unheard};
    let all =
        vec![Create, Create, CreateWithApproval, Alike, Delegate, Forbidden, Unheard, Crooked, Ask, Pay, Pay, Send];
    let call = prop::sample::select(all);
    prop_oneof![
        1 => Just(Said::Done),
        6 => prop::collection::vec(call, 1..4).prop_map(Said::Calls),
        1 => Just(Said::Refuses),
        2 => Just(Said::BreaksOff),
        3 => Just(Said::Dies),
    ]
}

fn goes() -> impl Strategy<Value = Goes> {
    prop::sample::select(vec![Goes::Well, Goes::Broken, Goes::DiesBefore, Goes::DiesAfter])
}

/// What happens around the run before it goes on.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// The clock is set on, or back, by so many minutes.
    Clock(i64),
    /// Its agent is stopped for a while: nothing is asked or called.
    Killed,
    /// Another version of the policies comes into force, which says the same.
    OtherPolicies,
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    prop_oneof![
        3 => Just(Meanwhile::Nothing),
        2 => prop::sample::select(vec![-30, -1, 1, 30]).prop_map(Meanwhile::Clock),
        1 => Just(Meanwhile::Killed),
        1 => Just(Meanwhile::OtherPolicies),
    ]
}

/// A model that says what was drawn for it, and at last that it is done.
#[derive(Default)]
struct Script {
    left: Mutex<VecDeque<Said>>,
    asked: Mutex<Vec<Prompt>>,
    answered: Mutex<usize>,
    dies: Arc<Notify>,
}

impl Script {
    /// What it answers; none where the server dies first.
    fn next(&self, prompt: &Prompt) -> Option<Result<Answer, Failed>> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(prompt.clone());
        let number = asked.len();
        let calls = match self.left.lock().unwrap().pop_front().unwrap_or(Said::Done) {
            Said::Done => Vec::new(),
            Said::Calls(calls) => calls.iter().enumerate().map(|(at, call)| wanted(*call, number, at)).collect(),
            Said::Refuses => return Some(Err(Failed::Refused("it refuses".into()))),
            Said::BreaksOff => return Some(Err(Failed::Unknown("it broke off".into()))),
            Said::Dies => return None,
        };
        *self.answered.lock().unwrap() += 1;
        let text = if calls.is_empty() { "done".to_owned() } else { String::new() };
        Some(Ok(Answer { text, calls, input_tokens: prompt.tokens(), output_tokens: prompt.most_output }))
    }
}

fn wanted(call: Call, number: usize, at: usize) -> Wanted {
    let (tool, arguments) = match call {
        Call::Create => ("task_create", json!({ "title": format!("{number}/{at}") })),
        Call::CreateWithApproval => ("task_create", json!({ "title": format!("{number}/{at}"), "priority": "urgent" })),
        Call::Alike => ("task_create", json!({ "title": format!("{number}/x"), "priority": "urgent" })),
        Call::Delegate => {
            let plan = json!({ "steps": [{ "call": { "tool": "task.create", "with": { "title": format!("{number}/{at}") } } }] });
            ("agent_ask", json!({ "agent": "aide", "text": format!("{number}/{at}"), "plan": plan }))
        }
        Call::Forbidden => ("tick", json!({})),
        Call::Unheard => ("no_such_tool", json!({})),
        Call::Crooked => ("task_create", json!("{\"title\": ")),
        Call::Pay => ("echo_once", json!({ "text": format!("{number}/{at}") })),
        Call::Send => ("echo_idempotent", json!({ "text": format!("{number}/{at}") })),
        Call::Ask => ("run_ask", json!({ "text": format!("{number}/{at}?") })),
    };
    Wanted { id: format!("call {number}/{at}"), tool: tool.into(), arguments, signatures: Vec::new() }
}

impl Chat for Script {
    fn ask<'a>(&'a self, prompt: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(async move {
            match self.next(prompt) {
                Some(answer) => answer,
                None => {
                    self.dies.notify_one();
                    std::future::pending().await
                }
            }
        })
    }
}

const MODELS: &str = "providers:\n  here: {kind: ollama}\nmodels:\n  \
    m: {provider: here, context: 100000, max_output: 1000, capabilities: [tools], price: {input: 200, output: 900}, fallbacks: [n, o]}\n  \
    n: {provider: here, context: 100000, max_output: 1000, capabilities: [tools], price: {input: 100, output: 300}}\n  \
    o: {provider: here, context: 100000, max_output: 1000, capabilities: [tools]}\ndefaults: {default: m}\n";
const WARY: &str = r#"@id("urgent-with-approval") @reason("an admin looks at it first")
    forbid (principal is Ok::Actor, action == Ok::Action::"task.create", resource)
    when { principal.kind == "agent" && context.input has priority && context.input.priority == "urgent" }
    unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;

async fn company(hands: Arc<Hands>) -> (Test, Cast) {
    let mut policies = Bundle::built_in();
    policies.files.insert("wary.cedar".into(), WARY.into());
    let setup = Setup::of_file(MODELS, &Usual::default(), &|_| None).unwrap();
    let test = Test::with_tools(setup, policies, hands).await;
    let cast = test.cast().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    (test, cast)
}

/// Lets the run go on until it waits or is over; the company after the server has died, if it has.
async fn go_on(test: Test, script: &Arc<Script>, hands: &Arc<Hands>) -> Test {
    let means = Means { models: script.clone(), tools: hands.clone() };
    let gate = test.company.gate.clone();
    let died = tokio::select! {
        settled = runner::settle(&gate, means) => settled.map(|()| false).unwrap(),
        () = script.dies.notified() => true,
    };
    drop(gate);
    if died { test.reopened().await } else { test }
}

/// Has it happen; the company after that.
async fn happens(test: Test, what: Meanwhile, (script, hands): (&Arc<Script>, &Arc<Hands>)) -> Test {
    match what {
        Meanwhile::Nothing => test,
        Meanwhile::Clock(minutes) => {
            test.clock.advance(minutes * 60 * SECOND);
            test
        }
        Meanwhile::Killed => {
            let kill = async |test: &Test, off: bool| {
                let switch = json!({ "scope": "actor:bot", "off": off });
                assert_eq!(test.post("/kill", &test.admin, switch).await.status, 200);
            };
            let done = || (script.asked.lock().unwrap().len(), hands.calls.lock().unwrap().len());
            let before = done();
            kill(&test, false).await;
            let test = go_on(test, script, hands).await;
            assert_eq!(done(), before, "an agent that is stopped does nothing");
            kill(&test, true).await;
            test
        }
        Meanwhile::OtherPolicies => {
            let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
            files["wary.cedar"] = format!("{WARY}\n// {}\n", test.last_seq().await).into();
            let applied = put_into_force(&test, files).await;
            assert_eq!(applied.status, 200, "{}", applied.text());
            test
        }
    }
}

async fn shown(test: &Test, id: &str) -> Value {
    test.get(&format!("/runs/{id}"), &test.admin).await.json()
}

/// Ends one of the things that a run waits for.
async fn let_go_on(test: &Test, cast: &Cast, run: &Value, (hands, yes): (&Hands, bool)) {
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    let mut waits = run["trace"].as_array().unwrap().iter().filter(|step| step["status"] == "waiting");
    let step = if yes { waits.next() } else { waits.next_back() }.unwrap_or(run);
    let ended = match step["waiting"]["kind"].as_str() {
        Some("approval") => {
            let approval = step["waiting"]["approval"].as_str().unwrap();
            let decision = json!({ "decision": if yes { "approve" } else { "reject" }, "note": "so" });
            test.post(&format!("/approvals/{approval}"), &test.admin, decision).await
        }
        Some("question") => {
            let answer = json!({ "text": "this one", "question": step["seq"] });
            test.post(&format!("{path}/answer"), &cast.mia, answer).await
        }
        Some("outcome") => {
            let key = format!("{}/{}", run["id"].as_str().unwrap(), step["seq"]);
            let word = hands.word(key, yes);
            test.post(&format!("{path}/answer"), &cast.mia, json!({ "text": word, "question": step["seq"] })).await
        }
        Some("budget") if yes => {
            let budget = run["budget_cents"].as_i64().unwrap() + 20;
            test.post(&format!("{path}/budget"), &cast.lea, json!({ "budget_cents": budget })).await
        }
        Some("budget") => test.post(&format!("{path}/cancel"), &cast.mia, json!({})).await,
        other => panic!("a run that is not over waits for {other:?}: {run}"),
    };
    assert_eq!(ended.status, 200, "{}: {run}", ended.text());
}

/// What stands at the end.
async fn check(test: &Test, run: &Value, script: &Script, hands: &Hands) {
    let steps = run["trace"].as_array().unwrap();
    for step in steps.iter().filter(|step| step["name"] == "echo.once") {
        let key = format!("{}/{}", run["id"].as_str().unwrap(), step["seq"]);
        let may = 1 + hands.again.lock().unwrap().iter().filter(|again| **again == key).count();
        let (calls, effects) = (Hands::of(&hands.calls, &key), Hands::of(&hands.effects, &key));
        assert!(effects <= may && calls <= may, "{key} was done {effects} times: {run}");
    }
    // None was called that was not decided, and recorded as begun.
    let events = test.get("/events?limit=1000&type=step_dispatched", &test.admin).await.json();
    let begun =
        |tool: &str| events["events"].as_array().unwrap().iter().filter(|event| event["event"]["name"] == tool).count();
    let calls = hands.calls.lock().unwrap().iter().filter(|(tool, _)| tool == "echo.once").count();
    assert!(calls <= begun("echo.once"), "{run}");
    let models = |status: &str| steps.iter().filter(|step| step["kind"] == "model" && step["status"] == status).count();
    let asked = script.asked.lock().unwrap().clone();
    assert_eq!(models("completed"), *script.answered.lock().unwrap(), "an answer was lost: {run}");
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
        |name: &str| steps.iter().filter(|step| step["name"] == name && step["status"] == "completed").count();
    // Each part makes one too.
    let done = completed("task.create") + completed("aide");
    assert_eq!(made.len(), done, "a call was made twice, or not as told: {made:?}");
    made.retain(|title| !title.ends_with('x'));
    made.sort();
    assert!(made.windows(2).all(|two| two[0] != two[1]), "a call was made twice: {made:?}");
    let spent: i64 = steps.iter().map(|step| step["cost_cents"].as_i64().unwrap()).sum();
    assert_eq!(run["cost_cents"].as_i64().unwrap(), spent);
}

async fn hold(
    (answers, fates): (Vec<Said>, Vec<Goes>),
    mut around: Vec<Meanwhile>,
    mut choices: Vec<bool>,
    budget: i64,
) {
    let script = Arc::new(Script { left: Mutex::new(answers.into()), ..Script::default() });
    let dies = Arc::clone(&script.dies);
    let hands = Arc::new(Hands { left: Mutex::new(fates.into()), dies, ..Hands::default() });
    let (mut test, cast) = company(hands.clone()).await;
    let wish = json!({ "agent": "bot", "text": "do it", "budget_cents": budget });
    let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
    for _ in 0..200 {
        test = happens(test, around.pop().unwrap_or(Meanwhile::Nothing), (&script, &hands)).await;
        test = go_on(test, &script, &hands).await;
        let run = shown(&test, &id).await;
        assert!(run["cost_cents"].as_i64().unwrap() <= run["budget_cents"].as_i64().unwrap(), "{run}");
        if !run["ended_at"].is_null() {
            check(&test, &run, &script, &hands).await;
            return accounted_for(&test);
        }
        if run["waiting"].is_null() {
            continue;
        }
        let_go_on(&test, &cast, &run, (&hands, choices.pop().unwrap_or(false))).await;
    }
    panic!("it never ends: {}", shown(&test, &id).await);
}

proptest! {
    #![proptest_config(law(6))]

    #[test]
    fn a_run_that_thinks_keeps_its_promises_whatever_happens(
        answers in prop::collection::vec(said(), 1..8),
        fates in prop::collection::vec(goes(), 0..6),
        around in prop::collection::vec(meanwhile(), 0..6),
        choices in prop::collection::vec(any::<bool>(), 0..8),
        budget in 1..40_i64,
    ) {
        run(hold((answers, fates), around, choices, budget));
    }
}
