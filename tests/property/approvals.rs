//! Whatever people, the clock, kill switches, other policies and restarts do: an approved call has at most one effect, and none without
//! enough eligible people, after a rejection, after its time, under a kill switch, against the policy of the moment, or for
//! somebody who left.

use std::collections::BTreeSet;

use ok::policy::Bundle;
use ok::types::time::DAY;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::run;
use crate::harness::Test;
use crate::harness::prove::law;

const HOUR: i64 = DAY / 24;
/// Admins decide; the requester lea, the member max and the agent bot try to.
const VOTERS: [&str; 6] = ["ana", "ben", "cleo", "lea", "max", "bot"];
const ADMINS: [&str; 3] = ["ana", "ben", "cleo"];

#[derive(Clone, Debug)]
enum Step {
    Vote { by: &'static str, approve: bool },
    Advance(i64),
    Kill { scope: &'static str, off: bool },
    Trouble(Trouble),
    Policies(Policies),
    Restart,
    Tick,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    RequesterLeaves,
    SomebodyElseTakesTheId,
}

/// What is in force from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Policies {
    /// Two admins must agree.
    Two,
    Three,
    /// Nobody needs to be asked any more.
    Open,
    /// No approval helps any more.
    Closed,
}

impl Policies {
    fn threshold(self) -> usize {
        if self == Policies::Three { 3 } else { 2 }
    }

    fn bundle(self) -> Bundle {
        let mut bundle = Bundle::built_in();
        let rule = format!("kinds: {{admin: {{eligible: [{{role: admin}}], threshold: {}}}}}", self.threshold());
        bundle.files.insert("approvals.yaml".into(), rule);
        let leads = bundle.files.get_mut("base/leads.cedar").unwrap();
        let needed =
            "  principal in Ok::Role::\"admin\" ||\n  context.approvals.contains(Ok::ApprovalKind::\"admin\")\n";
        let other = match self {
            Policies::Two | Policies::Three => return bundle,
            Policies::Open => "  principal in Ok::Role::\"admin\" || principal in Ok::Role::\"lead\"\n",
            Policies::Closed => "  principal in Ok::Role::\"admin\"\n",
        };
        assert!(leads.contains(needed));
        // The first of them is about who joins a team.
        *leads = leads.replacen(needed, other, 1);
        bundle
    }
}

fn step() -> impl Strategy<Value = Step> {
    let vote =
        (select(VOTERS.to_vec()), prop::bool::weighted(0.85)).prop_map(|(by, approve)| Step::Vote { by, approve });
    let kill = (select(vec!["global", "actor:lea", "team:ops", "actor:max"]), any::<bool>())
        .prop_map(|(scope, off)| Step::Kill { scope, off });
    let trouble = select(vec![Trouble::RequesterLeaves, Trouble::SomebodyElseTakesTheId]).prop_map(Step::Trouble);
    prop_oneof![
        12 => vote,
        2 => (1..40_i64).prop_map(|hours| Step::Advance(hours * HOUR)),
        3 => kill,
        1 => trouble,
        2 => select(vec![Policies::Two, Policies::Three, Policies::Open, Policies::Closed]).prop_map(Step::Policies),
        2 => Just(Step::Restart),
        2 => Just(Step::Tick),
    ]
}

/// What must be true by the rules alone.
struct Model {
    policies: Policies,
    agreed: BTreeSet<&'static str>,
    waited: i64,
    killed: BTreeSet<&'static str>,
    left: bool,
    taken: bool,
    over: bool,
    effect: bool,
}

impl Model {
    fn new() -> Model {
        Model {
            policies: Policies::Two,
            agreed: BTreeSet::new(),
            waited: 0,
            killed: BTreeSet::new(),
            left: false,
            taken: false,
            over: false,
            effect: false,
        }
    }

    /// Whether the vote counts, and what follows.
    fn vote(&mut self, by: &'static str, approve: bool) {
        // lea leads the team ops without being in it.
        let frozen = ["global", "actor:lea"].iter().any(|scope| self.killed.contains(scope));
        // Where fewer are needed than before, enough have agreed already, and one of them completes it by agreeing once more.
        let is_new = !self.agreed.contains(by) || self.agreed.len() >= self.policies.threshold();
        let is_open = ADMINS.contains(&by) && !self.over && self.waited < 72 * HOUR;
        // A no waits for nothing but the switch for everything, and whoever has agreed can think better of it.
        if !approve {
            self.over |= is_open && !self.killed.contains("global");
            return;
        }
        if !is_open || frozen || !is_new {
            return;
        }
        self.agreed.insert(by);
        if self.agreed.len() >= self.policies.threshold() {
            self.over = true;
            self.effect = !self.taken && !self.left && self.policies != Policies::Closed;
        }
    }
}

async fn company() -> (Test, String) {
    let test = Test::with_policies(Policies::Two.bundle()).await;
    test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    for admin in ["ben", "cleo"] {
        test.add(admin, "person", json!({ "role": "admin" })).await;
    }
    test.add("max", "person", json!({ "team": "team:ops" })).await;
    test.add("bot", "agent", json!({ "owner": "max", "team": "team:ops" })).await;
    let lea = test.token("lea", json!({})).await;
    let asked = test.post("/actors", &lea, json!({ "id": "new", "kind": "person", "team": "team:ops" })).await;
    let id = asked.json()["approval"].as_str().unwrap().to_owned();
    (test, id)
}

async fn take(mut test: Test, model: &mut Model, id: &str, tokens: &[String], step: &Step) -> Test {
    match step {
        Step::Vote { by, approve } => {
            model.vote(by, *approve);
            let voter = VOTERS.iter().position(|voter| voter == by).unwrap();
            let decision = if *approve { "approve" } else { "reject" };
            let answer = test.post(&format!("/approvals/{id}"), &tokens[voter], json!({ "decision": decision })).await;
            assert!(answer.status.as_u16() < 500, "{}", answer.text());
        }
        Step::Advance(ms) => {
            test.clock.advance(*ms);
            model.waited += ms;
        }
        Step::Kill { scope, off } => {
            let set = test.post("/kill", &test.admin, json!({ "scope": scope, "off": off })).await;
            assert_eq!(set.status, 200, "{}", set.text());
            if *off {
                model.killed.remove(scope)
            } else {
                model.killed.insert(scope)
            };
        }
        Step::Trouble(trouble) => {
            let answer = match trouble {
                Trouble::RequesterLeaves => {
                    test.post("/actors/lea/offboard", &test.admin, json!({ "reason": "a law" })).await
                }
                Trouble::SomebodyElseTakesTheId => {
                    test.post("/actors", &test.admin, json!({ "id": "new", "kind": "person" })).await
                }
            };
            if answer.status.is_success() {
                match trouble {
                    Trouble::RequesterLeaves => (model.left, model.over) = (true, true),
                    Trouble::SomebodyElseTakesTheId => model.taken = true,
                }
            }
        }
        Step::Policies(policies) => {
            test = test.upgraded(policies.bundle()).await;
            model.policies = *policies;
        }
        Step::Restart => test = test.reopened().await,
        Step::Tick => {
            test.post("/tick", &test.admin, json!({})).await;
        }
    }
    test
}

proptest! {
    #![proptest_config(law(10))]
    #[test]
    fn an_approval_has_the_effect_that_its_rules_allow_and_no_other(steps in prop::collection::vec(step(), 1..24)) {
        run(async {
            let (mut test, id) = company().await;
            let mut tokens = Vec::new();
            for voter in VOTERS {
                tokens.push(test.token(voter, json!({ "days": 90 })).await);
            }
            let mut model = Model::new();
            for step in &steps {
                test = take(test, &mut model, &id, &tokens, step).await;
            }
            let added = test.get("/events?type=actor_added&since=0&limit=1000", &test.admin).await.json();
            let by_lea = added["events"].as_array().unwrap().iter()
                .filter(|event| event["event"]["id"] == "new" && event["actor"] == "lea").count();
            assert_eq!(by_lea, usize::from(model.effect), "{steps:?}");
            let used = test.get("/events?type=approval_used&since=0", &test.admin).await.json();
            assert_eq!(used["events"].as_array().unwrap().len(), usize::from(model.effect), "{steps:?}");
        });
    }
}
