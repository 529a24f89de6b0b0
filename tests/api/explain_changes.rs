//! What would change an answer, and how near it was: every change that is told is one that helps.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::approvals::two_admins;
use crate::harness::Test;

/// The default policies and one file more.
pub fn with(policies: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.insert("extra.cedar".into(), policies.into());
    bundle
}

impl Test {
    pub async fn why(&self, token: &str, question: Value) -> Value {
        let answer = self.post("/policy/explain", token, question).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }
}

/// Each set of changes as one line.
pub fn sets(explained: &Value) -> Vec<String> {
    let text = |change: &Value| change["text"].as_str().unwrap().to_owned();
    let set = |set: &Value| set.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" + ");
    explained["what_would_change"].as_array().unwrap().iter().map(set).collect()
}

fn ids(policies: &Value) -> Vec<&str> {
    policies.as_array().unwrap().iter().map(|policy| policy["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_changes_that_are_told_turn_the_answer_when_they_are_made() {
    let test = Test::with_policies(with(
        r#"@id("mail") @reason("mail needs a trusted agent") forbid (principal, action == Ok::Action::"company.read", resource)
when { principal.kind == "agent" } unless { principal.trust > 2 };"#,
    ))
    .await;
    test.cast().await;
    test.post("/kill", &test.admin, json!({ "scope": "team:ops" })).await;
    let question = json!({ "op": "company.read", "actor": "bot" });
    let why = test.why(&test.admin, question.clone()).await;
    let (killed, trusted) = ("the kill switch team:ops is released", "the trust of bot is trusted");
    assert!(sets(&why).contains(&format!("{killed} + {trusted}")), "{:?}", sets(&why));
    let first = json!({ "change": "trust", "of": "bot", "from": "standard", "to": "trusted", "text": trusted });
    assert_eq!(why["what_would_change"][0][1], first);
    test.post("/kill", &test.admin, json!({ "scope": "team:ops", "off": true })).await;
    let why = test.why(&test.admin, question.clone()).await;
    assert_eq!((&why["decision"], sets(&why)), (&json!("deny"), vec![trusted.to_owned()]));
    test.post("/actors/bot/trust", &test.admin, json!({ "tier": "trusted", "reason": "it would change it" })).await;
    let why = test.why(&test.admin, question).await;
    assert_eq!((&why["decision"], sets(&why)), (&json!("allow"), Vec::<String>::new()));
}

#[tokio::test]
async fn an_approval_is_a_change_and_roles_and_teams_are() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let by_lead = test.why(&cast.lea, json!({ "op": "actor.add", "target": "team:ops" })).await;
    assert_eq!(sets(&by_lead), ["there is an approval of the kind `admin`", "the role of lea is admin"]);
    let by_member = test.why(&cast.mia, json!({ "op": "actor.add", "target": "team:ops" })).await;
    assert!(sets(&by_member).contains(
        &"there is an approval of the kind `admin` + mia leads team:ops + the role of mia is lead".to_owned()
    ));
    let teamless = json!({ "op": "actor.trust", "target": "sambot", "actor": "lea" });
    test.add("sambot", "agent", json!({ "owner": "sam" })).await;
    let teamless = test.why(&test.admin, teamless).await;
    assert!(sets(&teamless).contains(&"sambot is in team:ops".to_owned()), "{:?}", sets(&teamless));
}

#[tokio::test]
async fn near_misses_come_in_the_order_of_how_little_they_lack() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let question = json!({ "op": "actor.trust", "target": "bot", "actor": "liv" });
    let why = test.why(&cast.aud, question).await;
    assert_eq!((&why["decision"], &why["reason"]), (&json!("deny"), &json!("no policy permits it")));
    assert_eq!(
        ids(&why["near_misses"]),
        ["admins-do-everything", "leads-trust-their-team", "owners-trust-their-agents"]
    );
    let parts = why["near_misses"][1]["observed"].as_array().unwrap().iter();
    let failing: Vec<&Value> = parts.filter(|part| part["state"] == "fail").collect();
    let expected = json!({
        "part": "condition", "text": "resource.team.lead == principal", "line": 0, "wanted": true, "state": "fail",
        "observed": [
            { "what": "resource.team.lead", "value": { "type": "Ok::Actor", "id": "lea" } },
            { "what": "principal", "value": { "type": "Ok::Actor", "id": "liv" } },
        ],
    });
    let mut found = failing[0].clone();
    found["line"] = json!(0);
    assert_eq!((failing.len(), found), (1, expected));
    // No person ever becomes the server, which ticks too.
    let tick = test.why(&cast.aud, json!({ "op": "tick", "actor": "mia" })).await;
    assert_eq!(ids(&tick["near_misses"]), ["admins-do-everything"]);
}

#[tokio::test]
async fn what_policies_say_is_told_to_whoever_may_read_them() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for (token, tells) in [(&test.admin, true), (&cast.aud, true), (&cast.lea, false), (&cast.mia, false)] {
        let why = test.why(token, json!({ "op": "token.issue", "target": "max", "actor": "mia" })).await;
        let refused = &why["because"][0];
        assert_eq!(refused["id"], "tokens-for-others-by-admins");
        assert_eq!(refused["reason"], "only admins issue tokens for others");
        assert!(!why["near_misses"].as_array().unwrap().is_empty());
        for policy in why["because"].as_array().unwrap().iter().chain(why["near_misses"].as_array().unwrap()) {
            for field in ["file", "line", "text", "failing", "observed"] {
                assert_eq!(policy.get(field).is_some(), tells, "{field} of {policy}");
            }
        }
    }
}

#[tokio::test]
async fn who_may_not_be_seen_is_not_told_of() {
    let test = Test::with_policies(with(
        r#"@id("zoe-is-a-secret") @reason("r") forbid (principal == Ok::Actor::"aud", action == Ok::Action::"actor.read", resource == Ok::Actor::"zoe");
@id("owners") permit (principal, action == Ok::Action::"actor.trust", resource) when { resource has owner && resource.owner == principal };
@id("by-team") permit (principal, action == Ok::Action::"actor.trust", resource)
when { resource has owner && resource.owner has team && resource.owner.team == Ok::Team::"team:dev" };
@id("in-secret") permit (principal, action == Ok::Action::"actor.trust", resource) when { principal == Ok::Actor::"zoe" };"#,
    ))
    .await;
    let cast = test.cast().await;
    test.add("zoe", "person", json!({ "role": "admin", "team": "team:ops" })).await;
    test.add("pet", "agent", json!({ "owner": "zoe" })).await;
    let question = json!({ "op": "actor.trust", "target": "pet", "actor": "mia" });
    let seen = test.why(&test.admin, question.clone()).await.to_string();
    assert!(seen.contains(r#""id":"zoe""#), "{seen}");
    let why = test.why(&cast.aud, question).await;
    // What a policy itself says is read by whoever may read policies.
    let mut told = why.clone();
    for policy in told["near_misses"].as_array_mut().unwrap() {
        policy.as_object_mut().unwrap().remove("text");
        for part in policy["observed"].as_array_mut().unwrap() {
            part.as_object_mut().unwrap().remove("text");
        }
    }
    assert!(!told.to_string().contains("zoe"), "{told}");
    assert!(!ids(&why["near_misses"]).contains(&"by-team"), "{why}");
    let approvers = test.why(&cast.aud, json!({ "op": "actor.add", "actor": "lea", "target": "team:ops" })).await;
    assert_eq!(approvers["approvals"][0]["who_may_decide"], json!(["ana"]));
}

#[tokio::test]
async fn what_is_held_already_is_told_with_its_request() {
    let test = Test::with_policies(two_admins()).await;
    let cast = test.cast().await;
    test.add("ada", "person", json!({ "role": "admin" })).await;
    let new = json!({ "id": "new", "kind": "person", "team": "team:ops" });
    let id = test.post("/actors", &cast.lea, new.clone()).await.json()["approval"].clone();
    let path = format!("/approvals/{}", id.as_str().unwrap());
    assert_eq!(test.post(&path, &test.admin, json!({ "decision": "approve" })).await.status, 200);
    let asked = test.why(&cast.lea, json!({ "op": "actor.add", "input": new })).await;
    let needed =
        json!([{ "kind": "admin", "who_may_decide": ["ada", "ana"], "threshold": 2, "held": ["ana"], "request": id }]);
    assert_eq!(asked["approvals"], needed);
    let other = json!({ "id": "other", "kind": "person", "team": "team:ops" });
    let other = test.why(&cast.lea, json!({ "op": "actor.add", "input": other })).await;
    assert_eq!((&other["approvals"][0]["held"], &other["approvals"][0]["request"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn what_the_actor_cannot_see_is_not_found_for_them() {
    let test = Test::with_policies(with(
        r#"@id("stray") permit (principal, action == Ok::Action::"token.revoke", resource);"#,
    ))
    .await;
    let cast = test.cast().await;
    let issued = test.post("/tokens", &test.admin, json!({ "for": "max" })).await.json();
    let why = test.why(&test.admin, json!({ "op": "token.revoke", "target": issued["id"], "actor": "mia" })).await;
    let expected = ("deny", "its target is hidden from them: not found");
    assert_eq!((why["decision"].as_str().unwrap(), why["reason"].as_str().unwrap()), expected);
    let path = format!("/tokens/id/{}", issued["id"].as_str().unwrap());
    assert_eq!(test.call("DELETE", &path, &cast.mia, None).await.status, 404);
}

#[tokio::test]
async fn without_an_operation_all_of_them_are_answered_at_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let table = test.why(&test.admin, json!({ "actor": "lea" })).await;
    let rows = table["operations"].as_array().unwrap();
    let served = ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served());
    let names: Vec<&str> = rows.iter().map(|row| row["operation"].as_str().unwrap()).collect();
    assert_eq!(names, served.map(|entry| entry.spec.name).collect::<Vec<_>>());
    let of = |name: &str| rows.iter().find(|row| row["operation"] == name).unwrap();
    assert_eq!(of("token.issue")["decision"], "allow");
    assert_eq!(of("tick")["reason"], "admins only");
    assert_eq!(of("kill")["decision"], "depends");
    for row in rows.iter().filter(|row| row["decision"] != "depends") {
        let one = test.why(&test.admin, json!({ "actor": "lea", "op": row["operation"] })).await;
        assert_eq!((&one["decision"], &one["reason"]), (&row["decision"], &row["reason"]), "{row}");
    }
    assert_eq!(test.post("/policy/explain", &cast.mia, json!({ "actor": "lea" })).await.status, 403);
}
