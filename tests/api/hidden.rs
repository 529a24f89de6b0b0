//! Somebody whom the caller may not see: no answer names them beside others, and none tells that they are there.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::brain::put_into_force;
use crate::harness::Test;

/// Nobody but admins sees gus, or a token of his.
const UNSEEN: &str = r#"@id("gus-unseen")
@reason("gus is nobody's business")
forbid (principal, action == Ok::Action::"actor.read", resource == Ok::Actor::"gus")
unless { principal in Ok::Role::"admin" };
"#;

async fn company() -> (Test, String) {
    let mut policies = Bundle::built_in();
    policies.files.insert("unseen.cedar".into(), UNSEEN.into());
    let test = Test::with_policies(policies).await;
    test.add("team:ops", "team", json!({})).await;
    let mia = test.add("mia", "person", json!({ "role": "lead", "team": "team:ops" })).await;
    for (id, role) in [("gus", "admin"), ("abe", "admin")] {
        test.add(id, "person", json!({ "role": role, "team": "team:ops" })).await;
    }
    (test, mia)
}

#[tokio::test]
async fn a_reference_names_nobody_whom_the_reader_may_not_see() {
    let (test, mia) = company().await;
    let members = async |token: &str| test.get("/actors/team:ops", token).await.json()["members"].clone();
    assert_eq!(members(&test.admin).await, json!(["abe", "gus", "mia"]));
    assert_eq!(members(&mia).await, json!(["abe", "mia"]));
    let lead = json!({ "id": "team:web", "kind": "team", "lead": "mia" });
    assert_eq!(test.post("/actors", &test.admin, lead).await.status, 201);
    test.add("bob", "person", json!({ "team": "team:web" })).await;
    let waits = test.post("/actors/bob/offboard", &mia, json!({ "reason": "left" })).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let id = waits.json()["approval"].as_str().unwrap().to_owned();
    let pool = async |token: &str| {
        let shown = test.get(&format!("/approvals/{id}"), token).await.json();
        shown["approvers"][0]["any_of"].clone()
    };
    assert_eq!(pool(&test.admin).await, json!(["abe", "ana", "gus"]));
    assert_eq!(pool(&mia).await, json!(["abe", "ana"]));
    let asked = async |token: &str| {
        let events = test.get("/events?type=approval_requested", token).await.json()["events"].clone();
        events[0]["event"]["approvers"].clone()
    };
    assert_eq!(asked(&test.admin).await, json!(["abe", "ana", "gus"]));
    assert_eq!(asked(&mia).await, json!(["abe", "ana"]));
}

#[tokio::test]
async fn what_is_hidden_reads_as_what_is_not_there() {
    let (test, mia) = company().await;
    let token = test.post("/tokens", &test.admin, json!({ "for": "gus" })).await.json()["id"].clone();
    let token = token.as_str().unwrap();
    let told = async |path: &str, body: Value, name: &str| {
        let answer = test.post(path, &mia, body).await;
        answer.error().replace(name, "<id>")
    };
    for field in ["owner", "lead"] {
        let (kind, id) = if field == "lead" { ("team", "team:new") } else { ("agent", "new") };
        let body = |name: &str| json!({ "id": id, "kind": kind, "team": "team:ops", field: name });
        let hidden = told("/actors", body("gus"), "gus").await;
        assert_eq!(hidden, told("/actors", body("nil"), "nil").await, "{field}");
    }
    for (path, field, before, body) in [
        ("/delegations", "to", "", json!({ "authority": "act" })),
        ("/kill", "scope", "actor:", json!({ "reason": "r" })),
        ("/tokens", "for", "", json!({})),
    ] {
        let of = |name: &str| {
            let mut body = body.clone();
            body[field] = format!("{before}{name}").into();
            body
        };
        let hidden = told(path, of("gus"), "gus").await;
        assert_eq!(hidden, told(path, of("nil"), "nil").await, "{path}");
        assert!(hidden.contains("not found") && hidden.contains(&format!("{field} `{before}<id>`")), "{hidden}");
    }
    let made = async |path: &str, body: Value| {
        let answer = test.post(path, &test.admin, body).await;
        answer.json()["id"].as_str().unwrap_or_else(|| panic!("{}", answer.text())).to_owned()
    };
    let lent = made("/delegations", json!({ "to": "abe", "authority": "act" })).await;
    let hook = json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"] });
    let hook = made("/v1/webhooks", hook).await;
    let change = json!({ "files": Bundle::built_in().files, "reason": "as before" });
    let change = made("/policy/proposals", change).await;
    for (op, there, absent) in [
        ("token.revoke", token, "tok_01M7A0000000000000000000AA"),
        ("actor.trust", "gus", "nil"),
        ("kill", "actor:gus", "actor:nil"),
        ("delegation.revoke", &lent, "dlg_01M7A0000000000000000000AA"),
        ("webhook.delete", &hook, "whk_01M7A0000000000000000000AA"),
        ("change.review", &change, "chg_01M7A0000000000000000000AA"),
    ] {
        let question = |target: &str| json!({ "op": op, "target": target });
        let hidden = told("/policy/explain", question(there), there).await;
        assert_eq!(hidden, told("/policy/explain", question(absent), absent).await, "{op}");
    }
}

#[tokio::test]
async fn nobody_learns_what_somebody_hidden_did_by_asking_for_it() {
    let (test, mia) = company().await;
    let gus = test.token("gus", json!({})).await;
    let renamed = test.call("PATCH", "/actors/mia", &gus, Some(json!({ "name": "Mia" }))).await;
    assert_eq!(renamed.status, 200, "{}", renamed.text());
    let asked = async |query: &str| {
        let mut answer = test.get(&format!("/events?type=actor_renamed{query}"), &mia).await.json();
        answer["events"].as_array_mut().unwrap().drain(..).map(|event| event["actor"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked("").await, ["hidden"], "what concerns oneself is told, without the name");
    assert_eq!(asked("&actor=gus").await, asked("&actor=nil").await);
    assert_eq!(asked("&actor=gus").await, Vec::<Value>::new());
}

#[tokio::test]
async fn whether_a_hidden_id_is_taken_shows_only_to_who_approves() {
    let (test, mia) = company().await;
    let lead = json!({ "id": "team:web", "kind": "team", "lead": "mia" });
    assert_eq!(test.post("/actors", &test.admin, lead).await.status, 201);
    let add = async |id: &str| {
        let new = json!({ "id": id, "kind": "person", "team": "team:web", "role": "member" });
        test.post("/actors", &mia, new).await
    };
    let (hidden, absent) = (add("gus").await, add("nil").await);
    assert_eq!(hidden.status, 202, "{}", hidden.text());
    assert_eq!(absent.status, 202, "{}", absent.text());
    let id = hidden.json()["approval"].as_str().unwrap().to_owned();
    let approved = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    assert!(approved.text().contains("gus is taken"), "{} {}", approved.status, approved.text());
    assert_eq!(test.get("/actors/gus", &test.admin).await.json()["role"], "admin", "nothing came of it");
}

/// What a caller was found to see holds no longer than the policies that let them: in changes, too.
#[tokio::test]
async fn whoever_is_hidden_by_a_new_policy_is_named_no_more() {
    let test = Test::new().await;
    test.add("team:ops", "team", json!({})).await;
    let mia = test.add("mia", "person", json!({ "role": "lead", "team": "team:ops" })).await;
    assert_eq!(test.call("PATCH", "/actors/team:ops", &test.admin, Some(json!({ "lead": "mia" }))).await.status, 200);
    test.add("gus", "person", json!({ "team": "team:ops" })).await;
    let task = async |owner: &str| test.post("/tasks", &mia, json!({ "title": "t", "owner": owner })).await;
    for _ in 0..2 {
        let seen = task("gus").await;
        assert_eq!(seen.json()["owner"], "gus", "{}", seen.text());
        assert_eq!(test.get("/actors/team:ops", &mia).await.json()["members"], json!(["gus", "mia"]));
    }
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].as_object().unwrap().clone();
    files.insert("unseen.cedar".into(), UNSEEN.into());
    assert_eq!(put_into_force(&test, json!(files)).await.status, 200);
    let (hidden, absent) = (task("gus").await, task("nil").await);
    assert_eq!(hidden.error(), absent.error().replace("nil", "gus"));
    // Nor are their tasks found by their id, and what people write says nothing of who is there.
    for owner in ["gus", "nil"] {
        assert_eq!(test.get(&format!("/tasks?owner={owner}"), &mia).await.json(), json!([]), "{owner}");
    }
    let title = "who of gus and nil is there";
    assert_eq!(test.post("/tasks", &mia, json!({ "title": title })).await.json()["title"], title);
    for title in ["asked of gus", "asked of nil"] {
        let refused = test.post("/tasks", &mia, json!({ "title": title })).await.error();
        assert!(
            refused.starts_with("422 invalid title: `asked of` and an id name what an agent was asked"),
            "{refused}"
        );
    }
    let entry = json!({ "kind": "fact", "statement": "gus or nil", "reference": "gus said so" });
    let learnt = test.post("/knowledge", &mia, entry).await;
    assert_eq!(learnt.status, 201, "{}", learnt.text());
    assert_eq!([&learnt.json()["statement"], &learnt.json()["reference"]], ["gus or nil", "gus said so"]);
    assert_ne!(hidden.status, 201);
    assert_eq!(test.get("/actors/team:ops", &mia).await.json()["members"], json!(["mia"]));
}

#[tokio::test]
async fn what_people_write_is_shown_as_written_and_so_tells_nobody_who_is_there() {
    let (test, mia) = company().await;
    let ops = test.add("ops", "agent", json!({ "owner": "mia", "team": "team:ops" })).await;
    let words = "gus nix";
    let task = json!({ "title": words, "owner": "mia" });
    assert_eq!(test.post("/tasks", &ops, task).await.status, 201);
    let told = async |kind: &str| {
        let events = test.get(&format!("/events?type={kind}"), &mia).await.json()["events"].clone();
        events[0]["event"].clone()
    };
    assert_eq!(told("task_created").await["title"], words);
    let inbox = test.get("/inbox", &mia).await.json();
    assert!(inbox.to_string().contains("\"ops gave you a task: gus nix\""), "{inbox}");
    let plan = json!({ "steps": [{ "fail": words }] });
    let asked = test.post("/ask", &mia, json!({ "agent": "ops", "text": "t", "plan": plan })).await;
    assert!(asked.status.is_success(), "{}", asked.text());
    test.go_on().await;
    let run = test.get(&format!("/runs/{}", asked.json()["run"].as_str().unwrap()), &mia).await.json();
    assert_eq!(run["error"]["message"], words, "{run}");
    // Whoever does not see all is told no number.
    let files = json!({
        "approvals.yaml": "kinds:\n  zz: {eligible: [{team: \"team:ops\"}], threshold: 9}\n",
        "zz.cedar": "@id(\"zz\") @reason(\"zz\") forbid (principal, action, resource) unless { context.approvals.contains(Ok::ApprovalKind::\"zz\") };",
    });
    let counted = async |token: &str| test.post("/policy/check", token, json!({ "files": files })).await.text();
    assert!(counted(&test.admin).await.contains("takes 9, and the directory has 3"), "{}", counted(&test.admin).await);
    assert!(!counted(&mia).await.contains("takes 9"), "{}", counted(&mia).await);
}
