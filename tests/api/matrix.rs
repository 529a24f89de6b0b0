//! Everybody tries everything: each operation, as each kind of actor, on what is their own, on what belongs to the team
//! ops, on what is another's, and on what does not exist.

mod examples;
mod targets;
mod things;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ok::gate::Entry;
use serde_json::{Value, json};

use crate::harness::{Answer, Test, fill, hiring};
use examples::Examples;
use targets::Of::{self, Absent, Company, Own};
use targets::targets;

/// A kind of actor: its column, who that is, the team that it is in or leads, and an agent of its own.
struct Who {
    column: &'static str,
    id: &'static str,
    team: Option<&'static str>,
    agent: &'static str,
}

const fn who(column: &'static str, id: &'static str, team: Option<&'static str>, agent: &'static str) -> Who {
    Who { column, id, team, agent }
}

/// `lead` leads the team ops, `other` another team.
const EVERYBODY: &[Who] = &[
    who("visitor", "", None, "adabot"),
    who("admin", "ada", None, "adabot"),
    who("lead", "lea", Some("team:ops"), "bot"),
    who("other", "liv", Some("team:dev"), "devbot"),
    who("steward", "sam", None, "sambot"),
    who("auditor", "aud", None, "audbot"),
    who("member", "mia", Some("team:ops"), "bot"),
    who("agent", "bot", Some("team:ops"), "bot"),
    who("outside", "ext", Some("team:ops"), "ext"),
    // The admin, by a token limited to `read`, and by one that was revoked.
    who("read", "ada", None, "adabot"),
    who("revoked", "ada", None, "adabot"),
];

struct Stage {
    test: Test,
    count: usize,
    /// Tokens by column, until something may have been done to them.
    credentials: BTreeMap<&'static str, String>,
    proposals: Vec<String>,
    /// What was sent last.
    sent: Value,
}

impl Stage {
    async fn new() -> Stage {
        let test = Test::new().await;
        test.cast().await;
        test.add("ada", "person", json!({ "role": "admin" })).await;
        test.add("team:far", "team", json!({})).await;
        test.add("fay", "person", json!({ "team": "team:far" })).await;
        test.add("oz", "person", json!({ "team": "team:ops" })).await;
        for (agent, owner, team) in [
            ("adabot", "ada", None),
            ("sambot", "sam", None),
            ("audbot", "aud", None),
            ("devbot", "max", Some("team:dev")),
            ("ozbot", "oz", Some("team:ops")),
            ("farbot", "fay", Some("team:far")),
        ] {
            test.add(agent, "agent", json!({ "owner": owner, "team": team })).await;
        }
        test.add("ext", "outside_agent", json!({ "owner": "mia", "team": "team:ops" })).await;
        let spec = json!({ "fields": { "text": { "type": "text" } } });
        crate::api::brain::create(&test, "notes", spec).await;
        Stage::views(&test).await;
        Stage { test, count: 0, credentials: BTreeMap::new(), proposals: Vec::new(), sent: Value::Null }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}{}", self.count)
    }

    async fn new_token(&self, holder: &str) -> Value {
        self.test.post("/tokens", &self.test.admin, json!({ "for": holder })).await.json()
    }

    async fn token_of(&self, of: Of, who: &Who) -> String {
        match of {
            Absent => "tok_00000000000000000000000000".into(),
            _ => self.new_token(of.person(who)).await["id"].as_str().unwrap().to_owned(),
        }
    }

    /// The number of a recorded refusal.
    async fn refusal_of(&self, of: Of, who: &Who) -> i64 {
        if of == Absent {
            return 999_999;
        }
        let by = if of == Own && !who.id.is_empty() && who.id != "ada" { who.id } else { "fay" };
        let token = self.new_token(by).await["token"].as_str().unwrap().to_owned();
        assert_eq!(self.test.post("/tick", &token, json!({})).await.status, 403);
        self.test.last_seq().await
    }

    /// A fresh person, so that everybody stays to try the rest; oneself where it is about oneself.
    async fn leaver(&mut self, of: Of, who: &Who) -> String {
        match of {
            Own if !who.id.is_empty() => who.id.to_owned(),
            Absent => "nobody".to_owned(),
            _ => {
                let id = self.fresh("leaver");
                self.test.add(&id, "person", json!({ "team": of.team(who) })).await;
                id
            }
        }
    }

    /// An inbox item: an alert, because everybody can have one.
    async fn item(&mut self, of: Of, who: &Who) -> String {
        let agent = match of {
            Absent => return "inb_alert.actor:none:none".to_owned(),
            _ => self.fresh("pet"),
        };
        let person = if of == Own && !["bot", "ext", ""].contains(&who.id) { who.id } else { "fay" };
        self.test.add(&agent, "agent", json!({ "owner": person })).await;
        self.test.post("/kill", &self.test.admin, json!({ "scope": format!("actor:{agent}") })).await;
        format!("inb_alert.actor:{agent}:{person}")
    }

    /// A call of the lead of ops that waits for an admin.
    async fn waiting(&mut self, of: Of) -> String {
        if of == Absent {
            return "apr_00000000000000000000000000".into();
        }
        let lead = self.new_token("lea").await["token"].as_str().unwrap().to_owned();
        let new = json!({ "id": self.fresh("wanted"), "kind": "person", "team": "team:ops" });
        self.test.post("/actors", &lead, new).await.json()["approval"].as_str().unwrap().to_owned()
    }

    /// The version that the company's settings are at.
    async fn version(&self) -> Value {
        self.test.get("/company", &self.test.admin).await.json()["version"].clone()
    }

    /// An input that would be right if one were allowed.
    async fn input(&mut self, name: &str, of: Of, who: &Who) -> Value {
        match name {
            "approval.decide" | "approval.explain" | "approval.read" | "approval.withdraw" => {
                json!({ "id": self.waiting(of).await, "decision": "approve" })
            }
            "actor.read" | "actor.trust" => {
                json!({ "id": of.agent(who), "tier": "assist", "reason": "tidying up" })
            }
            "actor.update" => json!({ "id": of.agent(who), "name": "tidying up" }),
            "actor.add" => json!({ "id": self.fresh("new"), "kind": "agent", "team": of.team(who), "owner": "ana" }),
            "actor.hire" => hiring(&self.fresh("hired"), of.team(who)),
            "company.replace" => json!({ "version": self.version().await }),
            "company.update" => json!({ "locale": "en" }),
            "blueprint.install" => json!({ "id": "solo-founder" }),
            "inbox.read" => json!({ "id": self.item(of, who).await }),
            "actor.offboard" => json!({ "id": self.leaver(of, who).await, "reason": "tidying up" }),
            "kill" if of == Company => json!({ "scope": "tool:mail.send" }),
            "kill" => json!({ "scope": format!("actor:{}", of.agent(who)) }),
            "break_glass.open" => {
                self.review_grants_of(who.id).await;
                Stage::harmless()
            }
            "break_glass.end" | "break_glass.review" => {
                json!({ "id": self.grant(of, who).await, "verdict": "justified" })
            }
            "policy.check" => json!({ "files": {} }),
            "policy.diff" => json!({ "files": Stage::policies(), "impact": false }),
            "search" => json!({ "q": "note" }),
            "policy.who_can" => json!({ "op": "tick" }),
            "policy.propose" => json!({ "files": Stage::policies(), "reason": "tidying up" }),
            "policy.source" => json!({ "kind": "workspace" }),
            "change.propose" => {
                json!({ "target": "policy", "content": { "files": Stage::policies() }, "reason": "tidying up" })
            }
            "change.review" => json!({ "id": self.change(of, who).await, "verdict": "approve" }),
            "change.canary" => json!({ "id": self.change(of, who).await, "percent": 10 }),
            "change.read" | "change.evals" | "change.promote" | "change.reject" => {
                json!({ "id": self.change(of, who).await })
            }
            "policy.explain" => json!({ "actor": of.person(who), "op": "company.update" }),
            "token.issue" => json!({ "for": of.person(who) }),
            "token.revoke_all" => json!({ "actor": of.person(who) }),
            "token.narrow" => json!({ "id": self.token_of(of, who).await, "scopes": ["read"] }),
            "token.read" | "token.revoke" => json!({ "id": self.token_of(of, who).await }),
            "delegation.grant" => json!({ "to": of.person(who), "authority": "inform" }),
            "delegation.read" | "delegation.revoke" => json!({ "id": self.delegation(of, who).await.0 }),
            "delegation.reserve" => {
                json!({ "id": self.delegation(of, who).await.0, "cents": 5, "purpose": "tidying up" })
            }
            "delegation.settle" => {
                let (id, reservation) = self.delegation(of, who).await;
                json!({ "id": id, "reservation": reservation, "cents": 5 })
            }
            "agent.ask" => json!({ "agent": of.agent(who), "text": "x", "plan": { "steps": [{ "say": "x" }] } }),
            "task.create" => json!({ "title": "tidying up" }),
            "task.read" => json!({ "id": self.task(of, who, false).await.0 }),
            "task.run" => json!({ "id": self.task(of, who, false).await.0, "plan": { "steps": [{ "say": "x" }] } }),
            "task.assign" => json!({ "id": self.task(of, who, false).await.0, "to": "oz" }),
            "task.complete" => json!({ "id": self.task(of, who, false).await.0, "outcome": "done" }),
            "task.update" => {
                json!({ "id": self.task(of, who, false).await.0, "collection": "url", "thing": "https://example.org/x" })
            }
            "run.read" | "run.stream" | "run.cancel" => json!({ "id": self.task(of, who, true).await.1 }),
            "run.answer" => json!({ "id": self.task(of, who, true).await.1, "text": "x" }),
            "budget.raise" => json!({ "id": self.task(of, who, true).await.1, "budget_cents": 5 }),
            name if ["collection", "record", "schema", "search", "semantics", "view"]
                .contains(&name.split('.').next().unwrap()) =>
            {
                self.of_the_brain(name, of, who).await
            }
            "knowledge.propose" => json!({ "statement": self.fresh("known"), "topics": ["matrix"] }),
            "knowledge.upload" => self.new_document(),
            "knowledge.text" => json!({ "id": self.document(of, who).await }),
            "knowledge.read" | "knowledge.accept" | "knowledge.reject" | "knowledge.retract" => {
                json!({ "id": self.knowledge(of, who, name == "knowledge.retract").await })
            }
            "context.forget" => json!({ "events": [self.refusal_of(of, who).await], "reason": "tidying up" }),
            "access.evaluate.batch" => json!({ "evaluations": [{}] }),
            "webhook.list" => json!({}),
            "webhook.create" => json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"] }),
            name if name.starts_with("webhook.") => self.webhook(name, of, who).await,
            "audit.proof" => json!({ "seq": if of == Absent { 999_999 } else { 1 } }),
            "audit.consistency" => json!({ "from": 1 }),
            _ => json!({}),
        }
    }

    async fn credential(&mut self, who: &Who) -> String {
        if who.id.is_empty() {
            return String::new();
        }
        if let Some(token) = self.credentials.get(who.column) {
            return token.clone();
        }
        let token = self.new_credential(who).await;
        self.credentials.insert(who.column, token.clone());
        token
    }

    async fn new_credential(&self, who: &Who) -> String {
        let scopes = if who.column == "read" { json!(["read"]) } else { json!(null) };
        // People issue their own: with one that an admin issued, they would decide nothing of that admin's.
        let new = json!({ "for": who.id, "scopes": scopes });
        let shown = self.test.get(&format!("/actors/{}", who.id), &self.test.admin).await.json();
        let token = match shown["kind"].as_str() {
            Some("person") => self.test.local_as(who.id, "token.issue", new).await,
            _ => self.test.post("/tokens", &self.test.admin, new).await.json(),
        };
        if who.column == "revoked" {
            let path = format!("/tokens/id/{}", token["id"].as_str().unwrap());
            self.test.call("DELETE", &path, &self.test.admin, None).await;
        }
        token["token"].as_str().unwrap().to_owned()
    }

    async fn try_it(&mut self, entry: &Entry, of: Of, who: &Who) -> Answer {
        let input = self.input(entry.spec.name, of, who).await;
        let token = self.credential(who).await;
        let (path, rest) = fill(entry.spec.route.path, &input);
        self.sent = input.clone();
        let answer = match entry.spec.route.method.name() {
            method @ ("GET" | "DELETE") => {
                let query: Vec<String> = rest
                    .iter()
                    .map(|(name, value)| {
                        format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                    })
                    .collect();
                let asks = ["consistency", "catalog", "who-can", "search"].iter().any(|end| path.ends_with(end));
                let query = if method == "GET" && query.len() == 1 && asks {
                    format!("?{}", query.join("&"))
                } else {
                    String::new()
                };
                if query.is_empty() {
                    let sent = self.sent.as_object_mut().unwrap();
                    sent.retain(|name, _| entry.spec.route.path.contains(&format!("{{{name}}}")));
                }
                self.test.call(method, &format!("{path}{query}"), &token, None).await
            }
            method => self.test.call(method, &path, &token, Some(Value::Object(rest))).await,
        };
        if ["schema.propose", "semantics.propose"].contains(&entry.spec.name) && answer.status == 201 {
            self.proposals.push(answer.json()["id"].as_str().unwrap().to_owned());
        }
        self.take_back_proposals().await;
        if entry.spec.name.starts_with("webhook.") {
            let made = (answer.status == 201).then(|| answer.json()["id"].clone());
            self.remove_webhook(made.as_ref().unwrap_or(&input["id"])).await;
        }
        if ["token.", "actor."].iter().any(|noun| entry.spec.name.starts_with(noun)) {
            self.credentials.clear();
        }
        if entry.spec.name == "kill" && answer.status == 200 {
            let off = json!({ "scope": input["scope"], "off": true });
            assert_eq!(self.test.post("/kill", &self.test.admin, off).await.status, 200);
        }
        answer
    }
}

/// An answer without what is different each time, and without what was asked for.
fn shape(answer: &Answer) -> (String, Vec<(String, String)>) {
    // How long the log is by now is no matter of what was asked.
    let apart = ["x-request-id", "ok-audit", "content-length"];
    let headers = answer.headers.iter().filter(|(name, _)| !apart.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let named = |(at, part)| if at % 2 == 1 { "<id>" } else { part };
    (answer.text().split('`').enumerate().map(named).collect(), headers)
}

#[tokio::test]
async fn everybody_is_answered_by_what_they_may_do() {
    let mut stage = Stage::new().await;
    let mut head = format!("{:<26} {:<10}", "operation", "target");
    EVERYBODY.iter().for_each(|who| write!(head, "{:>9}", who.column).unwrap());
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    let (mut absences, mut examples) = (BTreeMap::<&str, BTreeSet<_>>::new(), Examples::default());
    let mut entries: Vec<&Entry> = ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served()).collect();
    entries.sort_by_key(|entry| entry.spec.name);
    for entry in entries {
        let name = entry.spec.name;
        let noun = name.split('.').next().unwrap();
        let table = tables.entry(noun).or_insert_with(|| format!("{head}\n"));
        let targets = targets(entry).unwrap_or_else(|| panic!("say in `targets` and `input` what {name} is tried on"));
        for of in targets {
            write!(table, "{name:<26} {:<10}", of.name()).unwrap();
            for who in EVERYBODY {
                let answer = stage.try_it(entry, *of, who).await;
                write!(table, "{:>9}", answer.status.as_u16()).unwrap();
                assert!(answer.status.as_u16() < 500, "{name} {} {}: {}", of.name(), who.column, answer.text());
                examples.add(entry, &stage.sent, &answer);
                if answer.status == 404 {
                    absences.entry(name).or_default().insert(shape(&answer));
                }
            }
            table.push('\n');
        }
    }
    examples.ask(&stage.test).await;
    examples.are_kept().await;
    for (name, absences) in &absences {
        assert_eq!(absences.len(), 1, "{name}: what is absent and what may not be seen read the same: {absences:#?}");
    }
    assert!(absences.len() > 50, "{}", absences.len());
    assert!(stage.test.verdict().ok);
    for (noun, table) in tables {
        crate::harness::snapshots("api/matrix").bind(|| insta::assert_snapshot!(noun, table));
    }
}
