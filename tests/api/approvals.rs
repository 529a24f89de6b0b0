use serde_json::{Value, json};

use crate::harness::{Answer, Test, together};
use ok::policy::Bundle;
use ok::types::time::DAY;

/// A company with the team `team:ops`, its lead `lea`, the second admin `ben` and the member `max`; and a call of lea's
/// that waits for an admin.
struct Waiting {
    test: Test,
    lea: String,
    ben: String,
    max: String,
    id: String,
}

fn newcomer() -> Value {
    json!({ "id": "new", "kind": "person", "team": "team:ops" })
}

impl Waiting {
    async fn new() -> Waiting {
        let test = Test::new().await;
        let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
        test.add("team:ops", "team", json!({ "lead": "lea" })).await;
        let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
        let max = test.add("max", "person", json!({ "team": "team:ops" })).await;
        let asked = test.post("/actors", &lea, newcomer()).await;
        let id = asked.json()["approval"].as_str().unwrap().to_owned();
        Waiting { test, lea, ben, max, id }
    }

    async fn decide(&self, token: &str, decision: &str) -> Answer {
        self.test.post(&format!("/approvals/{}", self.id), token, json!({ "decision": decision, "note": "n" })).await
    }

    async fn status(&self) -> String {
        let shown = self.test.get(&format!("/approvals/{}", self.id), &self.ben).await.json();
        shown["status"].as_str().unwrap().to_owned()
    }

    async fn newcomer_exists(&self) -> bool {
        self.test.get("/actors/new", &self.test.admin).await.status == 200
    }
}

#[tokio::test]
async fn whoever_decides_is_told_where_approving_leads_to_nothing() {
    let waiting = Waiting::new().await;
    let Waiting { test, ben, id, .. } = &waiting;
    let told = async || test.get(&format!("/approvals/{id}/explain"), ben).await.json();
    let before = told().await["what_happens"]["on_approve"].as_str().unwrap().to_owned();
    assert!(before.starts_with("once everybody needed has approved"), "{before}");
    let stopped = test.post("/kill", &test.admin, json!({ "scope": "actor:lea", "reason": "lost" })).await;
    assert_eq!(stopped.status, 200, "{}", stopped.text());
    let after = told().await;
    assert_eq!(after["decision"], "deny", "{after}");
    let nobody = "nobody can approve it until the switch is released: the kill switch actor:lea freezes it";
    assert_eq!(after["what_happens"]["on_approve"], nobody);
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea", "off": true })).await;
    test.call("PATCH", "/actors/lea", &test.admin, Some(json!({ "role": "member" }))).await;
    let on_approve = told().await["what_happens"]["on_approve"].clone();
    let on_approve = on_approve.as_str().unwrap();
    assert!(on_approve.starts_with("nothing is done, because the policies now answer: "), "{on_approve}");
    // Of what is decided, nothing more is told than that.
    waiting.decide(ben, "reject").await;
    let after = told().await;
    assert_eq!(after["what_happens"]["on_approve"], "nothing: it is rejected already");
    assert_eq!(after["diff"], json!({}));
}

#[tokio::test]
async fn a_call_that_needs_approval_waits_and_says_for_whom() {
    let waiting = Waiting::new().await;
    let Waiting { test, lea, id, .. } = &waiting;
    let again = test.post("/actors", lea, newcomer()).await;
    assert_eq!(again.status, 202);
    assert_eq!(
        again.json(),
        json!({
            "error": "needs_approval",
            "message": "actor.add needs approval (admin): adding to a team needs an admin's approval",
            "approval": id,
        }),
        "asked twice, it waits once"
    );
    let shown = test.get(&format!("/approvals/{id}"), lea).await.json();
    assert_eq!(shown["status"], "pending");
    assert_eq!(shown["approvers"], json!([{ "kind": "admin", "threshold": 1, "held": [], "any_of": ["ana", "ben"] }]));
    assert_eq!(shown["args"]["id"], "new");
    assert!(!waiting.newcomer_exists().await);
}

#[tokio::test]
async fn an_approval_carries_the_call_out_once_in_the_requesters_name() {
    let waiting = Waiting::new().await;
    let decided = waiting.decide(&waiting.ben, "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    let decided = decided.json();
    assert_eq!((decided["status"].as_str(), decided["result"]["id"].as_str()), (Some("used"), Some("new")));
    assert!(waiting.newcomer_exists().await);
    let events = waiting.test.get("/events?limit=3", &waiting.test.admin).await.json();
    let told: Vec<(String, String)> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["event"]["type"].as_str().unwrap().to_owned(), event["actor"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [("approval_decided", "ben"), ("actor_added", "lea"), ("approval_used", "ben")];
    assert_eq!(told, expected.map(|(kind, actor)| (kind.to_owned(), actor.to_owned())));
    let again = waiting.decide(&waiting.test.admin, "approve").await;
    assert_eq!(again.error(), "409 conflict the approval is used already, by ben");
}

#[tokio::test]
async fn only_its_approvers_decide() {
    let waiting = Waiting::new().await;
    let refused = "403 not_approver policy denied approval.decide: only its approvers decide; \
                   nobody decides their own request";
    assert_eq!(waiting.decide(&waiting.lea, "approve").await.error(), refused);
    // Who may not see it learns nothing of it.
    assert_eq!(waiting.decide(&waiting.max, "approve").await.error(), "404 not_found not found");
    assert_eq!(waiting.status().await, "pending");
}

#[tokio::test]
async fn a_rejection_and_the_end_of_its_time_both_end_it() {
    let waiting = Waiting::new().await;
    assert_eq!(waiting.decide(&waiting.ben, "reject").await.json()["status"], "rejected");
    assert_eq!(
        waiting.decide(&waiting.ben, "approve").await.error(),
        "409 conflict the approval is rejected already, by ben"
    );
    assert!(!waiting.newcomer_exists().await);

    let waiting = Waiting::new().await;
    waiting.test.clock.advance(3 * DAY);
    assert_eq!(waiting.decide(&waiting.ben, "approve").await.error(), "409 conflict the approval is expired already");
    let ticked = waiting.test.post("/tick", &waiting.test.admin, json!({})).await.json();
    assert!(ticked["expired"].as_array().unwrap().contains(&json!(waiting.id)));
    assert_eq!(waiting.status().await, "expired");
    assert!(!waiting.newcomer_exists().await);
}

#[tokio::test]
async fn what_changed_meanwhile_is_not_carried_out() {
    let waiting = Waiting::new().await;
    let taken = waiting.test.add("new", "person", json!({})).await;
    let decided = waiting.decide(&waiting.ben, "approve").await.json();
    assert_eq!((decided["status"].as_str(), decided["stale"].as_str()), (Some("stale"), Some("id: new is taken")));
    assert_eq!(waiting.test.newest(2).await, ["approval_decided", "approval_stale"]);
    drop(taken);
}

#[tokio::test]
async fn a_kill_switch_freezes_what_waits() {
    let waiting = Waiting::new().await;
    let Waiting { test, ben, .. } = &waiting;
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea" })).await;
    assert_eq!(waiting.decide(ben, "approve").await.error(), "409 conflict the kill switch actor:lea freezes it");
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea", "off": true })).await;
    assert_eq!(waiting.decide(ben, "approve").await.json()["status"], "used");
    // A no gives nobody anything: it waits for no release.
    let waiting = Waiting::new().await;
    waiting.test.post("/kill", &waiting.test.admin, json!({ "scope": "actor:lea" })).await;
    assert_eq!(waiting.decide(&waiting.ben, "reject").await.json()["status"], "rejected");
}

#[tokio::test]
async fn two_hundred_decisions_at_once_have_one_effect() {
    let waiting = Waiting::new().await;
    let mut decisions = Vec::new();
    for number in 0..200 {
        let token = if number % 2 == 0 { &waiting.ben } else { &waiting.test.admin };
        decisions.push(waiting.decide(token, "approve"));
    }
    let mut used = 0;
    for decided in together(decisions).await {
        match decided.status.as_u16() {
            200 => used += 1,
            409 => {}
            other => panic!("{other}: {}", decided.text()),
        }
    }
    assert_eq!(used, 1);
    let added = waiting.test.get("/events?type=actor_added&limit=1000", &waiting.test.admin).await.json();
    let new = added["events"].as_array().unwrap().iter().filter(|event| event["event"]["id"] == "new").count();
    assert_eq!(new, 1);
}

#[tokio::test]
async fn a_wait_survives_a_restart() {
    let waiting = Waiting::new().await;
    let Waiting { test, lea, ben, max, id } = waiting;
    let waiting = Waiting { test: test.reopened().await, lea, ben, max, id };
    assert_eq!(waiting.decide(&waiting.ben, "approve").await.json()["status"], "used");
    assert!(waiting.newcomer_exists().await);
}

#[tokio::test]
async fn lists_show_what_waits_for_whom() {
    let waiting = Waiting::new().await;
    let Waiting { test, lea, ben, max, id } = &waiting;
    let ids = async |token: &str, query: &str| -> Vec<String> {
        let rows = test.get(&format!("/approvals{query}"), token).await.json();
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(ben, "?mine=true").await, std::slice::from_ref(id));
    assert_eq!(ids(lea, "").await, std::slice::from_ref(id));
    assert!(ids(lea, "?mine=true").await.is_empty());
    assert_eq!(ids(lea, "?asked=true").await, std::slice::from_ref(id));
    assert!(ids(ben, "?asked=true").await.is_empty());
    assert!(ids(max, "").await.is_empty());
    assert_eq!(ids(ben, "?actor=lea&operation=actor.add").await, std::slice::from_ref(id));
    assert!(ids(ben, "?actor=max").await.is_empty());
    assert!(ids(ben, "?operation=actor.update").await.is_empty());
    let unknown = test.get("/approvals?operation=actor.ad", ben).await.error();
    assert_eq!(unknown, "422 invalid operation: there is no operation `actor.ad`; did you mean `actor.add`?");
    waiting.decide(ben, "reject").await;
    assert!(ids(ben, "?status=pending").await.is_empty());
    assert_eq!(ids(ben, "?status=rejected").await, std::slice::from_ref(id));
}

#[tokio::test]
async fn explain_tells_why_who_and_what_then() {
    let waiting = Waiting::new().await;
    let explained = waiting.test.get(&format!("/approvals/{}/explain", waiting.id), &waiting.lea).await.json();
    assert_eq!(explained["reason"], "adding to a team needs an admin's approval");
    assert_eq!(explained["who_may_decide"][0]["any_of"], json!(["ana", "ben"]));
    assert_eq!(explained["what_happens"]["on_reject"], "one rejection ends it; nothing is done");
    assert_eq!(explained["diff"], json!({}));
}

#[tokio::test]
async fn what_could_never_be_carried_out_is_refused_and_not_parked() {
    let waiting = Waiting::new().await;
    let Waiting { test, lea, .. } = &waiting;
    let before = test.last_seq().await;
    let refused = test.post("/actors/max/offboard", lea, json!({ "reason": "x".repeat(1001) })).await;
    assert_eq!(refused.error(), "422 invalid reason: must have at most 1000 characters");
    assert_eq!(test.last_seq().await, before);
}

#[tokio::test]
async fn a_request_is_shown_to_those_concerned_alone() {
    let waiting = Waiting::new().await;
    let Waiting { test, lea, max, .. } = &waiting;
    let asked = test.post("/actors/max/offboard", lea, json!({ "reason": "slow" })).await;
    assert_eq!(asked.status, 202);
    let types = async |token: &str| -> Vec<Value> {
        let seen = test.get("/events?since=0&type=approval_requested", token).await.json();
        seen["events"].as_array().unwrap().iter().map(|event| event["event"]["operation"].clone()).collect()
    };
    assert_eq!(types(lea).await, [json!("actor.add"), json!("actor.offboard")]);
    assert!(types(max).await.is_empty());
}

/// The default policies, where two admins give each of their approvals.
pub fn two_admins() -> Bundle {
    let mut policies = Bundle::built_in();
    policies.files.insert("approvals.yaml".into(), "kinds: {admin: {eligible: [{role: admin}], threshold: 2}}".into());
    policies
}

#[tokio::test]
async fn a_voice_counts_as_long_as_its_owner_may_decide_and_no_kill_switch_stops_them() {
    let test = Test::with_policies(two_admins()).await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let mut admins = Vec::new();
    for admin in ["ben", "cleo", "dan", "eve"] {
        admins.push(test.add(admin, "person", json!({ "role": "admin" })).await);
    }
    let asked = test.post("/actors", &lea, newcomer()).await;
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let approve = json!({ "decision": "approve" });
    assert_eq!(test.post(&path, &admins[0], approve.clone()).await.json()["status"], "pending");
    assert_eq!(test.post("/actors/ben/offboard", &test.admin, json!({ "reason": "left" })).await.status, 200);
    let pending = test.post(&path, &admins[1], approve.clone()).await.json();
    assert_eq!(pending["status"], "pending", "ben's voice left with ben");
    let needed =
        json!([{ "kind": "admin", "threshold": 2, "held": ["cleo"], "any_of": ["ana", "cleo", "dan", "eve"] }]);
    assert_eq!(pending["approvers"], needed);
    // Whoever has decided is waited for no more; the others are.
    let waits = async |token: &str| test.get("/inbox", token).await.text().contains("waits for you");
    assert!(!waits(&admins[1]).await && waits(&admins[2]).await);
    assert_eq!(test.post("/kill", &test.admin, json!({ "scope": "actor:cleo", "reason": "stolen" })).await.status, 200);
    let pending = test.post(&path, &admins[2], approve.clone()).await.json();
    assert_eq!(pending["status"], "pending", "a stolen account has no voice");
    assert_eq!(pending["approvers"][0]["held"], json!(["dan"]));
    // Released, she agrees once more to what has all its voices, and has one of them.
    test.post("/kill", &test.admin, json!({ "scope": "actor:cleo", "off": true })).await;
    let to_decide = test.get("/approvals?mine=true&status=pending", &admins[1]).await.json();
    assert_eq!(to_decide.as_array().unwrap().len(), 1, "{to_decide}");
    let again = test.post(&path, &lea, approve.clone()).await;
    assert_eq!(again.status, 403, "whoever may not decide does not complete it");
    assert_eq!(test.post(&path, &admins[1], approve.clone()).await.json()["status"], "used");
    assert_eq!(
        test.post(&path, &admins[3], approve).await.error(),
        "409 conflict the approval is used already, by dan"
    );
    let held = test.get(&path, &admins[2]).await.json()["approvers"][0]["held"].clone();
    assert_eq!(held, json!(["ben", "cleo", "dan"]), "of what is done, everybody who agreed is told");
}

/// The default policies, and one that has the company changed only with the word of somebody who leads `team:legal`.
fn with_legal(kind: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    let policy = format!(
        "@id(\"company-with-legal\")\n@reason(\"legal must agree\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"company.update\",\n  resource\n)\nunless {{ context.approvals.contains(Ok::ApprovalKind::\"{kind}\") }};\n"
    );
    bundle.files.insert("legal.cedar".into(), policy);
    let kinds = bundle.files.get_mut("approvals.yaml").unwrap();
    kinds.push_str(&format!("  {kind}:\n    eligible:\n      - {{team: team:legal, role: lead}}\n"));
    // These expect the company to be changed without it.
    bundle.files.retain(|path, _| !path.starts_with("tests/"));
    bundle
}

#[tokio::test]
async fn a_company_has_kinds_of_its_own() {
    let test = Test::with_policies(with_legal("legal")).await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:legal", "team", json!({ "lead": "lea" })).await;
    test.add("max", "person", json!({ "team": "team:legal" })).await;
    let asked = test.call("PATCH", "/company", &test.admin, Some(json!({ "name": "Acme" }))).await;
    assert_eq!(asked.status, 202);
    assert_eq!(asked.json()["message"], "company.update needs approval (legal): legal must agree");
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let shown = test.get(&path, &lea).await.json();
    assert_eq!(shown["approvers"], json!([{ "kind": "legal", "threshold": 1, "held": [], "any_of": ["lea"] }]));
    let exported = test.get("/policy/export", &test.admin).await.json();
    let kinds = "entity ApprovalKind enum [\"admin\", \"finance\", \"lead\", \"legal\", \"security\"];";
    assert!(exported["schema"].as_str().unwrap().contains(kinds));
    // A candidate that calls it otherwise is checked and compared like any other.
    let other = json!({ "files": with_legal("counsel").files, "reason": "another name" });
    let checked = test.post("/policy/check", &test.admin, json!({ "files": other["files"] })).await.json();
    assert_eq!(checked["problems"][0]["code"], "policies_untested");
    assert_eq!(checked["problems"].as_array().unwrap().len(), 1, "{checked}");
    let compared = test.post("/policy/diff", &test.admin, json!({ "files": other["files"] })).await;
    assert_eq!(compared.status, 200, "{}", compared.text());
    let done = test.post(&path, &lea, json!({ "decision": "approve", "note": "" })).await.json();
    assert_eq!((&done["status"], &done["result"]["name"]), (&json!("used"), &json!("Acme")), "{done}");
}
