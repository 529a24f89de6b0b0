//! Whatever is given, handed on, revoked, switched off and left to run out: what is allowed under a delegation is allowed to
//! its taker alone, to everybody alone on whose behalf it is, and was handed on by each of them; and nothing is allowed
//! under what has ended.

use std::collections::BTreeMap;

use ok::types::time::DAY;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::run;
use crate::harness::Test;
use crate::harness::prove::law;

const HOUR: i64 = DAY / 24;
/// An admin, a lead, members of two teams, agents.
const PEOPLE: [&str; 6] = ["ana", "lea", "mia", "max", "bot", "sub"];
const SCOPES: [&[&str]; 6] = [
    &["*"],
    &["query", "delegation.grant"],
    &["actor.*", "delegation.*"],
    &["token.issue"],
    &["change"],
    &["actor.read"],
];
const ASKED: [(&str, Option<&str>); 9] = [
    ("actor.read", Some("mia")),
    ("actor.add", Some("team:ops")),
    ("actor.offboard", Some("mia")),
    ("actor.trust", Some("bot")),
    ("token.issue", Some("mia")),
    ("token.list", None),
    ("policy.read", None),
    ("policy.propose", None),
    ("company.update", None),
];

#[derive(Clone, Debug)]
enum Step {
    /// Somebody gives, under the delegation of this number among theirs, or in their own right.
    Give {
        from: usize,
        to: usize,
        under: Option<usize>,
        scope: usize,
        authority: &'static str,
        hours: i64,
    },
    Revoke(usize),
    Advance(i64),
    Kill {
        who: usize,
        off: bool,
    },
    Tick,
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let somebody = 0..PEOPLE.len();
    let authority = select(vec!["inform", "propose", "act", "act"]);
    let give = (
        somebody.clone(),
        somebody.clone(),
        prop::option::weighted(0.7, 0..4_usize),
        0..SCOPES.len(),
        authority,
        1..72_i64,
    )
        .prop_map(|(from, to, under, scope, authority, hours)| Step::Give {
            from,
            to,
            under,
            scope,
            authority,
            hours,
        });
    prop_oneof![
        14 => give,
        2 => (0..12_usize).prop_map(Step::Revoke),
        1 => (1..24_i64).prop_map(|hours| Step::Advance(hours * HOUR)),
        1 => (somebody.clone(), any::<bool>()).prop_map(|(who, off)| Step::Kill { who, off }),
        1 => Just(Step::Tick),
        // Never the admin, who asks.
        1 => (3..PEOPLE.len()).prop_map(Step::Leave),
    ]
}

struct World {
    test: Test,
    tokens: BTreeMap<&'static str, String>,
    /// Everything that was given, by id: taker and the delegation above.
    given: Vec<(String, String, Option<String>)>,
}

impl World {
    async fn new() -> World {
        let test = Test::new().await;
        let cast = test.cast().await;
        let sub = test.add("sub", "agent", json!({ "team": "team:ops", "owner": "mia" })).await;
        let tokens = [
            ("ana", test.admin.clone()),
            ("lea", cast.lea),
            ("mia", cast.mia),
            ("max", cast.max),
            ("bot", cast.bot),
            ("sub", sub),
        ];
        World { test, tokens: tokens.into(), given: Vec::new() }
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Give { from, to, under, scope, authority, hours } => {
                let from = PEOPLE[*from];
                let held: Vec<String> =
                    self.given.iter().filter(|(_, taker, _)| taker == from).map(|(id, ..)| id.clone()).collect();
                let under = under.and_then(|number| held.get(number % held.len().max(1)).cloned());
                let new = json!({ "to": PEOPLE[*to], "scope": SCOPES[*scope], "authority": authority, "ttl": format!("{hours}h") });
                let bearer = format!("Bearer {}", self.tokens[from]);
                let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
                headers.extend(under.as_deref().map(|under| ("ok-delegation", under)));
                let answer = self.test.raw("POST", "/delegations", &headers, new.to_string()).await;
                assert!(answer.status.as_u16() < 500, "{}", answer.text());
                if answer.status == 201 {
                    let id = answer.json()["id"].as_str().unwrap().to_owned();
                    self.given.push((id, PEOPLE[*to].to_owned(), under));
                }
            }
            Step::Revoke(number) => {
                let Some((id, ..)) = self.given.get(number % self.given.len().max(1)).cloned() else { return };
                let path = format!("/delegations/{id}");
                assert_eq!(self.test.call("DELETE", &path, &self.test.admin, None).await.status, 200);
            }
            Step::Advance(ms) => self.test.clock.advance(*ms),
            Step::Kill { who, off } => {
                let scope = format!("actor:{}", PEOPLE[(*who).max(1)]);
                self.test.post("/kill", &self.test.admin, json!({ "scope": scope, "off": off })).await;
            }
            Step::Tick => drop(self.test.post("/tick", &self.test.admin, json!({})).await),
            Step::Leave(who) => {
                let path = format!("/actors/{}/offboard", PEOPLE[*who]);
                self.test.post(&path, &self.test.admin, json!({ "reason": "leaves" })).await;
            }
        }
    }

    async fn decision(&self, actor: &str, under: Option<&str>, op: &str, target: Option<&str>) -> String {
        let question = json!({ "actor": actor, "under": under, "op": op, "target": target });
        let answer = self.test.post("/policy/explain", &self.test.admin, question).await;
        // Whoever has left may do nothing.
        if answer.status == 200 { answer.json()["decision"].as_str().unwrap().to_owned() } else { "deny".into() }
    }

    async fn shown(&self, id: &str) -> Value {
        self.test.get(&format!("/delegations/{id}"), &self.test.admin).await.json()
    }

    /// The law.
    async fn check(&self) {
        for (id, taker, parent) in &self.given {
            let row = self.shown(id).await;
            let ended = row["status"] != "active";
            if let Some(parent) = parent {
                let above = self.shown(parent).await;
                assert!(above["status"] == "active" || ended, "{id} outlives {parent}");
            }
            for (op, target) in ASKED {
                if self.decision(taker, Some(id), op, target).await != "allow" {
                    continue;
                }
                assert!(!ended, "{op} under {row}");
                for who in std::iter::once(taker.as_str())
                    .chain(row["on_behalf_of"].as_array().unwrap().iter().map(|who| who.as_str().unwrap()))
                {
                    assert_eq!(self.decision(who, None, op, target).await, "allow", "{op} by {who} under {row}");
                }
                let mut next = Some(id.clone());
                while let Some(link) = next {
                    let link = self.shown(&link).await;
                    assert!(handed_on(op, &link), "{op} under {link}");
                    next = link["parent"].as_str().map(str::to_owned);
                }
            }
        }
    }
}

/// What a link hands on, by the words of the reference.
fn handed_on(op: &str, link: &Value) -> bool {
    let changes = !["actor.read", "token.list", "policy.read"].contains(&op);
    let noun = format!("{}.*", op.split('.').next().unwrap());
    let names = ["*", op, noun.as_str(), if changes { "change" } else { "query" }];
    let scope = link["scope"].as_array().unwrap().iter().any(|name| names.contains(&name.as_str().unwrap()));
    let authority = match link["authority"].as_str().unwrap() {
        "inform" => !changes,
        "propose" => !changes || op.ends_with(".propose"),
        _ => true,
    };
    scope && authority
}

proptest! {
    #![proptest_config(law(12))]

    #[test]
    fn nobody_does_more_under_a_delegation_than_everybody_in_it_could(steps in prop::collection::vec(step(), 4..24)) {
        run(async {
            let mut world = World::new().await;
            for step in &steps {
                world.take(step).await;
            }
            world.check().await;
            assert!(world.test.verdict().ok);
        });
    }
}
