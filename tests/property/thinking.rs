//! Whatever models answer or fail to answer, wherever the server dies, whatever approvers and the asked say: a model is asked
//! once for each step that says so, an answer that is recorded is never asked for again, each of the calls that it wants at
//! once is made once at the most, and none waits for another; what a tool from elsewhere does once it does once, unless a person
//! has it done again; an agent that is stopped does nothing meanwhile, other policies and another time make no difference; nothing
//! is spent beyond the budget, and a run that is not over waits for one thing that somebody can end.

mod hands;
mod mortal;
mod promises;
mod script;

use std::sync::{Arc, Mutex};

use ok::background::models::{Setup, Usual};
use ok::background::runner;
use ok::background::tools::Means;
use ok::policy::Bundle;
use ok::types::time::SECOND;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::hands::{Goes, Hands};
use self::mortal::Mortal;
use self::promises::Over;
use self::script::{Said, Script, planned, said};
use super::run;
use crate::api::brain::put_into_force;
use crate::api::runs::accounted_for;
use crate::harness::prove::law;
use crate::harness::{Cast, Test};

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
    /// Other policies come into force, in turn: under those agents may neither create tasks nor do what happens each time, and
    /// those as before.
    OtherPolicies,
    /// The server dies once it has recorded so many batches more.
    Dies(u32),
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    prop_oneof![
        3 => Just(Meanwhile::Nothing),
        2 => prop::sample::select(vec![-30, -1, 1, 30]).prop_map(Meanwhile::Clock),
        1 => Just(Meanwhile::Killed),
        1 => Just(Meanwhile::OtherPolicies),
        6 => (0..12_u32).prop_map(Meanwhile::Dies),
    ]
}

const MODELS: &str = "providers:\n  here: {kind: ollama}\nmodels:\n  \
    m: {provider: here, context: 100000, max_output: 1000, capabilities: [tools], price: {input: 200, output: 900}, fallbacks: [n, o]}\n  \
    n: {provider: here, context: 100000, max_output: 1000, capabilities: [tools], price: {input: 100, output: 300}}\n  \
    o: {provider: here, context: 100000, max_output: 1000, capabilities: [tools]}\ndefaults: {default: m}\n";
const WARY: &str = r#"@id("urgent-with-approval") @reason("an admin looks at it first")
    forbid (principal is Ok::Actor, action == Ok::Action::"task.create", resource)
    when { principal.kind == "agent" && context.input has priority && context.input.priority == "urgent" }
    unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;

const ANY: &str =
    "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: me.read, target: ana, expect: allow}\n";
const STRICT: &str = r#"@id("not-now") @reason("nothing of that kind now")
    forbid (
        principal is Ok::Actor,
        action in [Ok::Action::"task.create", Ok::Action::"echo.once"],
        resource
    ) when { principal.kind == "agent" };"#;

/// A company, the model and the tools that its agents use, and its log.
struct World {
    test: Test,
    cast: Cast,
    script: Arc<Script>,
    hands: Arc<Hands>,
    log: Arc<Mortal>,
    /// How often its server has died.
    deaths: usize,
    /// Whether agents may do nothing that happens each time.
    is_strict: bool,
    was_strict: bool,
}

impl World {
    async fn new(answers: Vec<Said>, fates: Vec<Goes>) -> World {
        let script = Arc::new(Script { left: Mutex::new(answers.into()), ..Script::default() });
        let dies = || Arc::clone(&script.dies);
        let hands = Arc::new(Hands { left: Mutex::new(fates.into()), dies: dies(), ..Hands::default() });
        let log = Arc::new(Mortal::new(dies()));
        let mut policies = Bundle::built_in();
        policies.files.insert("wary.cedar".into(), WARY.into());
        // The tests of the default policies fail where agents may do less.
        policies.files.retain(|path, _| !path.starts_with("tests/"));
        policies.files.insert("tests/any.yaml".into(), ANY.into());
        let setup = Setup::of_file(MODELS, &Usual::default(), &|_| None).unwrap();
        let test = Test::with_tools_and(setup, policies, hands.clone(), log.clone()).await;
        let cast = test.cast().await;
        test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
        World { test, cast, script, hands, log, deaths: 0, is_strict: false, was_strict: false }
    }

    /// Lets runs go on until they wait or are over; started again where the server has died.
    async fn go_on(self) -> World {
        let means = Means { models: self.script.clone(), tools: self.hands.clone() };
        let gate = self.test.company.gate.clone();
        let before = self.done_each_time().await;
        let died = tokio::select! {
            biased;
            () = self.script.dies.notified() => true,
            settled = runner::settle(&gate, means) => settled.map(|_| false).unwrap(),
        };
        drop(gate);
        self.log.dies_after(None);
        let world =
            if died { World { test: self.test.reopened().await, deaths: self.deaths + 1, ..self } } else { self };
        let after = world.done_each_time().await;
        assert!(!world.is_strict || before == after, "what the policies forbid was done: {before:?} {after:?}");
        world
    }

    /// How often a tool was called that does something each time, and how many tasks there are.
    async fn done_each_time(&self) -> (usize, usize) {
        let once = self.hands.calls.lock().unwrap().iter().filter(|(tool, _)| tool == "echo.once").count();
        (once, self.test.get("/tasks?limit=1000", &self.test.admin).await.json().as_array().unwrap().len())
    }

    /// Has it happen, and lets runs go on.
    async fn after(self, what: Meanwhile) -> World {
        let mut world = self;
        match what {
            Meanwhile::Nothing => {}
            Meanwhile::Clock(minutes) => world.test.clock.advance(minutes * 60 * SECOND),
            Meanwhile::Dies(batches) => world.log.dies_after(Some(batches)),
            Meanwhile::Killed => {
                world.kill(false).await;
                let before = (world.done(), world.test.last_seq().await);
                world = world.go_on().await;
                let after = (world.done(), world.test.last_seq().await);
                assert_eq!(after, before, "an agent that is stopped does nothing");
                world.kill(true).await;
            }
            Meanwhile::OtherPolicies => {
                let mut files = world.test.get("/policy/export", &world.test.admin).await.json()["files"].clone();
                world.is_strict = !world.is_strict;
                world.was_strict = true;
                let rest = if world.is_strict { STRICT } else { "" };
                files["wary.cedar"] = format!("{WARY}\n// {}\n{rest}\n", world.test.last_seq().await).into();
                let applied = put_into_force(&world.test, files).await;
                assert_eq!(applied.status, 200, "{}", applied.text());
            }
        }
        world.go_on().await
    }

    async fn kill(&self, off: bool) {
        let switch = json!({ "scope": "actor:bot", "off": off });
        assert_eq!(self.test.post("/kill", &self.test.admin, switch).await.status, 200);
    }

    /// How often a model was asked, and a tool called.
    fn done(&self) -> (usize, usize) {
        (self.script.asked.lock().unwrap().len(), self.hands.calls.lock().unwrap().len())
    }

    async fn run(&self, id: &str) -> Value {
        self.test.get(&format!("/runs/{id}"), &self.test.admin).await.json()
    }

    /// Ends one of the things that a run waits for.
    async fn answer(&self, run: &Value, yes: bool) {
        let (test, cast) = (&self.test, &self.cast);
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
                let word = self.hands.word(format!("{}/{}", run["id"].as_str().unwrap(), step["seq"]), yes);
                test.post(&format!("{path}/answer"), &cast.mia, json!({ "text": word, "question": step["seq"] })).await
            }
            Some("time") => return test.clock.advance(60 * SECOND),
            // What it waits for waits itself, or goes on once its server does.
            Some("run") => {
                let part = self.run(step["waiting"]["run"].as_str().unwrap()).await;
                if !part["waiting"].is_null() {
                    Box::pin(self.answer(&part, yes)).await;
                }
                return;
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
}

/// What is drawn around a run.
#[derive(Clone, Debug)]
struct Drawn {
    answers: Vec<Said>,
    fates: Vec<Goes>,
    around: Vec<Meanwhile>,
    choices: Vec<bool>,
    budget: i64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    use prop::collection::vec;
    (vec(said(), 1..8), vec(goes(), 0..6), vec(meanwhile(), 0..8), vec(any::<bool>(), 0..8), 1..40_i64)
        .prop_map(|(answers, fates, around, choices, budget)| Drawn { answers, fates, around, choices, budget })
}

async fn hold(Drawn { answers, fates, mut around, mut choices, budget }: Drawn, is_planned: bool) {
    let mut wish = json!({ "agent": "bot", "text": "do it", "budget_cents": budget });
    if is_planned {
        wish["plan"] = planned(&answers);
    }
    let mut world = World::new(answers, fates).await;
    let asked = world.test.post("/ask", &world.cast.mia, wish).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    let id = asked.json()["run"].as_str().unwrap().to_owned();
    let mut over = Over::default();
    for _ in 0..200 {
        world = world.after(around.pop().unwrap_or(Meanwhile::Nothing)).await;
        let run = world.run(&id).await;
        over.stays(&run);
        assert!(run["cost_cents"].as_i64().unwrap() <= run["budget_cents"].as_i64().unwrap(), "{run}");
        if !run["ended_at"].is_null() {
            promises::hold(&world, &run, is_planned).await;
            return accounted_for(&world.test);
        }
        if !run["waiting"].is_null() {
            world.answer(&run, choices.pop().unwrap_or(false)).await;
        }
    }
    panic!("it never ends: {}", world.run(&id).await);
}

proptest! {
    #![proptest_config(law(6))]

    #[test]
    fn a_run_that_thinks_keeps_its_promises_whatever_happens(drawn in drawn()) {
        run(hold(drawn, false));
    }

    #[test]
    fn a_run_of_a_plan_keeps_its_promises_whatever_happens(drawn in drawn()) {
        run(hold(drawn, true));
    }
}
