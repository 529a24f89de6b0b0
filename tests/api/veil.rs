//! Whatever an operation answers, it names nobody whom its reader may not see. The hidden ones did all that can be done here,
//! and everything is asked by an admin who may see all but them.

mod absent;
mod brain;

use ok::gate::Entry;
use ok::gate::Lane;
use ok::gate::declare::operation::Effect;
use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::{Answer, Test, fill};

/// What the ids of all who are hidden have in common.
const NAME: &str = "qzx";

const UNSEEN: &str = r#"@id("veiled")
@reason("they are nobody's business")
forbid (principal == Ok::Actor::"eye", action == Ok::Action::"actor.read", resource is Ok::Actor)
when { resource has team && resource.team == Ok::Team::"team:veil" };
"#;

const TESTED: &str = "cases:\n  - {actor: server, op: tick, expect: allow, because: [server-ticks]}\n";

struct Stage {
    test: Test,
    eye: String,
    /// What waits, by qzx: to be read, to be decided, to be withdrawn.
    waiting: Vec<String>,
    /// What was decided.
    decided: Vec<String>,
    changes: Vec<String>,
    grants: Vec<String>,
    delegations: Vec<String>,
    tokens: Vec<String>,
    webhook: String,
    tasks: Vec<String>,
    runs: Vec<String>,
    records: Vec<String>,
    others: Vec<String>,
}

fn id(answer: &Answer) -> String {
    let body = answer.json();
    let id = body["approval"].as_str().or_else(|| body["id"].as_str());
    id.unwrap_or_else(|| panic!("{} {}", answer.status, answer.text())).to_owned()
}

fn policies(note: &str) -> Value {
    let mut bundle = Bundle::built_in();
    bundle.files.retain(|path, _| !path.starts_with("tests/"));
    bundle.files.insert("unseen.cedar".into(), UNSEEN.into());
    bundle.files.insert("tests/one.yaml".into(), TESTED.into());
    bundle.files.insert("note.cedar".into(), format!("// {note}\n"));
    json!(bundle.files)
}

impl Stage {
    async fn new() -> Stage {
        let mut bundle = Bundle::built_in();
        bundle.files.insert("unseen.cedar".into(), UNSEEN.into());
        let test = Test::with_policies(bundle).await;
        let eye = test.add("eye", "person", json!({ "role": "admin" })).await;
        test.add("team:veil", "team", json!({})).await;
        let admin = test.add("qzxadm", "person", json!({ "role": "admin", "team": "team:veil" })).await;
        let lead = test.add("qzx", "person", json!({ "role": "lead", "team": "team:veil" })).await;
        test.add("team:ops", "team", json!({ "lead": "qzx" })).await;
        test.add("qzxbot", "agent", json!({ "owner": "qzx", "team": "team:veil" })).await;
        test.add("bot", "agent", json!({ "owner": "qzx", "team": "team:ops" })).await;
        let mia = test.add("mia", "person", json!({ "team": "team:ops", "role": "lead" })).await;
        test.add("team:dev", "team", json!({ "lead": "mia" })).await;
        test.add("dev", "person", json!({ "team": "team:dev" })).await;
        let mut stage = Stage {
            test,
            eye,
            waiting: vec![],
            decided: vec![],
            changes: vec![],
            grants: vec![],
            delegations: vec![],
            tokens: vec![],
            webhook: String::new(),
            tasks: vec![],
            runs: vec![],
            records: vec![],
            others: vec![],
        };
        stage.records(&lead, &admin).await;
        stage.approvals(&lead, &admin, &mia).await;
        stage.changes(&admin).await;
        stage.work(&lead, &mia).await;
        stage.others(&lead, &admin, &mia).await;
        stage
    }

    async fn approvals(&mut self, lead: &str, admin: &str, mia: &str) {
        let test = &self.test;
        for name in ["w1", "w2", "w3", "w4", "w5"] {
            let new = json!({ "id": name, "kind": "person", "team": "team:ops" });
            self.waiting.push(id(&test.post("/actors", lead, new).await));
        }
        let yes = json!({ "decision": "approve", "note": "fine, @eye" });
        let approved = self.waiting.remove(0);
        assert_eq!(test.post(&format!("/approvals/{approved}"), admin, yes).await.status, 200);
        let leaving = json!({ "reason": "left", "successor": "qzx" });
        let offboard = id(&test.post("/actors/dev/offboard", mia, leaving).await);
        let no = json!({ "decision": "reject", "note": "not yet" });
        self.decided = vec![approved, offboard.clone()];
        assert_eq!(test.post(&format!("/approvals/{offboard}"), admin, no).await.status, 200);
        let agent = json!({ "id": "w6", "kind": "agent", "team": "team:dev", "owner": "qzx" });
        self.waiting.push(id(&test.post("/actors", mia, agent).await));
    }

    async fn changes(&mut self, admin: &str) {
        for (number, author) in [(0, admin), (1, admin), (0, &self.test.admin)] {
            let new = json!({ "files": policies(&format!("no. {number}")), "reason": "for @eye to see" });
            self.changes.push(id(&self.test.post("/policy/proposals", author, new).await));
        }
        let review = format!("/changes/{}/review", self.changes[2]);
        assert_eq!(self.test.post(&review, admin, json!({ "verdict": "approve" })).await.status, 200);
    }

    /// What agents did for them, and wait for.
    async fn work(&mut self, lead: &str, mia: &str) {
        let test = &self.test;
        for (who, agent, plan) in [
            (lead, "bot", json!([{ "ask": { "text": "which?" } }])),
            (
                lead,
                "qzxbot",
                json!([{ "delegate": { "agent": "bot", "text": "do", "plan": { "steps": [{ "ask": { "text": "?" } }] } } }]),
            ),
            (
                mia,
                "bot",
                json!([{ "call": { "tool": "actor.read", "with": { "id": NAME } } }, { "wait": { "seconds": 9 } }]),
            ),
        ] {
            let asked =
                test.post("/ask", who, json!({ "agent": agent, "text": "do", "plan": { "steps": plan } })).await;
            assert_eq!(asked.status, 202, "{}", asked.text());
            let made = |field: &str| asked.json()[field].as_str().unwrap().to_owned();
            self.runs.push(made("run"));
            self.tasks.push(made("task"));
        }
        test.go_on().await;
        let answer = json!({ "text": "this" });
        assert_eq!(test.post(&format!("/runs/{}/answer", self.runs[0]), lead, answer).await.status, 200);
        let given = json!({ "title": "theirs", "owner": "bot" });
        self.tasks.push(id(&test.post("/tasks", lead, given).await));
    }

    async fn others(&mut self, lead: &str, admin: &str, mia: &str) {
        let test = &self.test;
        for holder in [lead, admin] {
            let open = json!({ "scope": ["actor.add"], "reason": "it burns, @eye" });
            self.grants.push(id(&test.post("/policy/break-glass", holder, open).await));
        }
        let used = json!({ "id": "w7", "kind": "agent", "team": "team:ops" });
        assert_eq!(test.post("/actors", lead, used).await.status, 201);
        let handed = |to: &str| json!({ "to": to, "authority": "act", "budget_cents": 100 });
        self.delegations.push(id(&test.post("/delegations", lead, handed("eye")).await));
        let first = id(&test.post("/delegations", lead, handed("mia")).await);
        let json = ("content-type", "application/json");
        let bearer = format!("Bearer {mia}");
        let headers = [json, ("authorization", bearer.as_str()), ("ok-delegation", first.as_str())];
        let on = json!({ "to": "eye", "authority": "inform", "budget_cents": 10 }).to_string();
        self.delegations.push(id(&test.raw("POST", "/delegations", &headers, on).await));
        self.delegations.push(id(&test.post("/delegations", &self.eye, handed("dev")).await));
        for holder in ["bot", "qzxbot", "eye"] {
            self.tokens.push(id(&test.post("/tokens", admin, json!({ "for": holder, "label": "theirs" })).await));
        }
        let hired = json!({ "apiVersion": "ok/v1", "kind": "Agent",
            "metadata": { "name": "hired", "labels": { "team": "team:ops" } }, "spec": { "owner": "qzx" } });
        assert_eq!(test.post("/actors/hire", admin, json!({ "definition": hired })).await.status, 201);
        for scope in ["actor:qzxbot", "actor:bot"] {
            assert_eq!(test.post("/kill", admin, json!({ "scope": scope })).await.status, 200);
        }
        let new = json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"], "agents": ["bot", "qzxbot"] });
        self.webhook = id(&test.post("/v1/webhooks", admin, new).await);
        // A refusal about one of them.
        let refused = test.post("/actors/qzxbot/trust", mia, json!({ "tier": "assist", "reason": "good" })).await;
        assert_eq!(refused.status, 403, "{}", refused.text());
        assert_eq!(test.post(&format!("/v1/webhooks/{}/test", self.webhook), admin, json!({})).await.status, 200);
    }

    /// What an operation is asked: all that could make its answer name somebody.
    async fn inputs(&self, entry: &Entry) -> Vec<Value> {
        let each = |ids: &[String]| ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>();
        let explain = |op: &str, target: &str| json!({ "actor": "mia", "op": op, "target": target });
        let hook = json!({ "id": self.webhook });
        match entry.spec.name {
            "actor.read" => ["team:ops", "team:veil", "bot", "eye", "hired", NAME].map(|id| json!({ "id": id })).into(),
            "actor.add" => vec![json!({ "id": "new", "kind": "agent", "team": "team:ops" })],
            "actor.hire" => vec![crate::harness::hiring("newer", Some("team:ops"))],
            "actor.trust" => vec![json!({ "id": "bot", "tier": "assist", "reason": "good" })],
            "actor.update" => vec![
                json!({ "id": "bot", "name": "Bot", "team": "team:ops" }),
                json!({ "id": "team:ops", "lead": "mia" }),
                json!({ "id": "team:ops", "name": "Ops" }),
            ],
            "actor.offboard" => vec![json!({ "id": "dev", "reason": "left", "successor": "mia" })],
            "approval.read" | "approval.explain" => each(&[self.waiting.clone(), self.decided.clone()].concat()),
            "approval.decide" => [0, 4]
                .map(|number: usize| json!({ "id": self.waiting[number], "decision": "approve", "note": "yes" }))
                .into(),
            "approval.withdraw" => each(&self.waiting[1..2]),
            "change.read" => each(&self.changes),
            "change.evals" => each(&[self.changes[0].clone(), self.changes[2].clone()]),
            "change.review" => vec![json!({ "id": self.changes[0], "verdict": "approve" })],
            "change.canary" => vec![json!({ "id": self.changes[0], "percent": 100, "min_decisions": 1000 })],
            "change.reject" => each(&self.changes[1..2]),
            "change.promote" => each(&self.changes[2..]),
            "change.propose" => {
                vec![json!({ "target": "policy", "content": { "files": policies("no. 1") }, "reason": "a test" })]
            }
            "policy.propose" => vec![json!({ "files": policies("no. 0"), "reason": "a test" })],
            "policy.check" => vec![json!({ "files": policies("no. 0") })],
            "policy.diff" => vec![json!({ "files": policies("no. 0"), "impact": true })],
            "policy.source" => vec![json!({ "kind": "workspace" })],
            "policy.who_can" => vec![json!({ "op": "actor.trust", "target": "bot" }), json!({ "op": "tick" })],
            "policy.explain" => vec![
                json!({}),
                explain("actor.trust", "bot"),
                explain("actor.offboard", "dev"),
                explain("approval.decide", &self.waiting[2]),
                explain("change.review", &self.changes[1]),
                explain("delegation.revoke", &self.delegations[1]),
                json!({ "actor": "eye", "op": "actor.trust", "target": "bot", "under": self.delegations[1] }),
                json!({ "actor": "mia", "op": "actor.offboard", "input": { "id": "dev", "reason": "left" } }),
            ],
            "break_glass.open" => vec![json!({ "scope": ["tick"], "reason": "a test" })],
            "break_glass.review" => vec![json!({ "id": self.grants[0], "verdict": "justified" })],
            "break_glass.end" => each(&self.grants[1..]),
            "delegation.read" => each(&self.delegations),
            "delegation.grant" => vec![json!({ "to": "mia", "authority": "inform" })],
            "delegation.reserve" => vec![json!({ "id": self.delegations[0], "cents": 5, "purpose": "a test" })],
            "delegation.settle" => vec![json!({ "id": self.delegations[0], "reservation": "rsv_0", "cents": 5 })],
            "delegation.revoke" => each(&self.delegations[2..]),
            "token.read" => each(&self.tokens),
            "token.revoke" => each(&self.tokens[..1]),
            "token.narrow" => vec![json!({ "id": self.tokens[2], "scopes": ["read"] })],
            "token.revoke_all" => vec![json!({ "actor": "mia" })],
            "token.list" => vec![json!({}), json!({ "actor": "bot" }), json!({ "actor": NAME })],
            "actor.list" => vec![json!({}), json!({ "team": "team:ops" })],
            "event.list" => vec![json!({ "limit": 1000 }), json!({ "actor": NAME })],
            "directory.find" => vec![json!({}), json!({ "text": NAME })],
            "inbox.list" => vec![json!({ "all": true })],
            "inbox.read" => {
                let items = self.test.get("/inbox?all=true", &self.eye).await.json();
                items.as_array().unwrap().iter().map(|item| json!({ "id": item["id"] })).collect()
            }
            "kill" => vec![json!({ "scope": "actor:bot", "off": true })],
            "agent.ask" => vec![json!({ "agent": "bot", "text": "x", "plan": { "steps": [{ "say": "x" }] } })],
            "task.create" => vec![json!({ "title": "x", "owner": "bot" })],
            "task.read" => each(&self.tasks),
            "task.update" => {
                vec![json!({ "id": self.tasks[3], "collection": "url", "thing": "https://example.org/x" })]
            }
            "task.run" => vec![json!({ "id": self.tasks[3], "plan": { "steps": [{ "say": "x" }] } })],
            "task.assign" => vec![json!({ "id": self.tasks[3], "to": "mia" })],
            "task.complete" => vec![json!({ "id": self.tasks[0], "outcome": "done" })],
            "run.read" | "run.stream" => each(&self.runs),
            "run.answer" => vec![json!({ "id": self.runs[1], "text": "x" })],
            "budget.raise" => vec![json!({ "id": self.runs[2], "budget_cents": 50 })],
            "run.cancel" => each(&self.runs[2..]),
            name if ["collection", "knowledge", "record", "schema", "search", "semantics", "view"]
                .contains(&name.split('.').next().unwrap()) =>
            {
                self.brain(name)
            }
            "context.forget" => vec![json!({ "events": [self.test.last_seq().await], "reason": "a test" })],
            "company.update" => vec![json!({ "name": "Acme" })],
            "company.replace" => vec![self.test.get("/company", &self.eye).await.json()],
            "blueprint.install" => vec![json!({ "id": "solo-founder" })],
            "webhook.create" => {
                vec![json!({ "url": "https://hooks.example.com/on", "events": ["agent.gate.pending"] })]
            }
            "webhook.update" => vec![json!({ "id": self.webhook, "description": "theirs" })],
            "webhook.redeliver" => {
                let path = format!("/v1/webhooks/{}/deliveries", self.webhook);
                let sent = self.test.get(&path, &self.test.admin).await.json();
                vec![json!({ "id": self.webhook, "message": sent["data"][0]["id"] })]
            }
            "webhook.read" | "webhook.rotate" | "webhook.test" | "webhook.deliveries" | "webhook.delete" => vec![hook],
            "access.evaluate.batch" => vec![json!({ "evaluations": [{}] })],
            "audit.proof" => vec![json!({ "seq": 1 })],
            "audit.consistency" => vec![json!({ "from": 1 })],
            name if name.starts_with("access.") || name.starts_with("entity.") => vec![json!({})],
            // What needs to be told nothing is asked just so.
            _ if entry.input_schema().get("required").is_none() => vec![json!({})],
            name => panic!("say in `inputs` what {name} is asked, so that its answers name nobody who is hidden"),
        }
    }

    async fn ask(&self, entry: &Entry, input: &Value) -> Answer {
        let (path, rest) = fill(entry.spec.route.path, input);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match entry.spec.route.method.name() {
            method @ ("GET" | "DELETE") => {
                let query: Vec<String> = rest.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
                let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
                self.test.call(method, &format!("{path}{query}"), &self.eye, None).await
            }
            method => self.test.call(method, &path, &self.eye, Some(Value::Object(rest))).await,
        }
    }
}

/// An answer without the files that people wrote themselves: views, whose filters name whom they like.
fn said(entry: &Entry, answer: &Answer) -> String {
    if entry.spec.name != "policy.export" || !answer.status.is_success() {
        return answer.text();
    }
    let mut bundle = answer.json();
    bundle["files"].as_object_mut().unwrap().retain(|path, _| !path.starts_with("views/"));
    bundle.to_string()
}

#[tokio::test]
async fn no_answer_names_anybody_whom_its_reader_may_not_see() {
    let stage = Stage::new().await;
    let served = ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served());
    let (reads, mut changes): (Vec<&Entry>, Vec<&Entry>) = served.partition(|entry| entry.effect != Effect::Change);
    // What makes an end of something comes last.
    changes.sort_by_key(|entry| {
        let last = ["change.promote", "token.revoke_all", "blueprint.install"];
        (entry.spec.route.method.name() == "DELETE", last.contains(&entry.spec.name))
    });
    let (mut named, mut done) = (Vec::new(), 0);
    let again = reads.iter().filter(|entry| !entry.spec.route.slow.is_some_and(Lane::is_long));
    for entry in reads.iter().chain(&changes).chain(again) {
        for input in stage.inputs(entry).await {
            let answer = stage.ask(entry, &input).await;
            assert!(answer.status.as_u16() < 500, "{} {}", entry.spec.name, answer.text());
            done += usize::from(answer.status.is_success());
            let head = answer.headers.values().any(|value| value.to_str().unwrap_or_default().contains(NAME));
            let text = said(entry, &answer);
            if let Some(at) = text.find(NAME).or(head.then_some(0)) {
                named.push(format!(
                    "{} {input}: {}",
                    entry.spec.name,
                    &text[at.saturating_sub(120)..text.len().min(at + 60)]
                ));
            }
        }
    }
    assert!(named.is_empty(), "{}", named.join("\n"));
    assert!(done > 100, "{done} answers are too few to tell anything");
    // The same company has much to say of them.
    let events = stage.test.get("/events?limit=1000", &stage.test.admin).await.text();
    assert!(events.matches(NAME).count() > 50);
}
