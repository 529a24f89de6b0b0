use serde_json::{Value, json};

use super::approvals::two_admins;
use super::runs::{go_on, run};
use crate::harness::Test;

/// The team ops with its lead lea, the member max who owns the agent bot, and the second admin ben.
async fn firm() -> (Test, String, String) {
    let test = Test::new().await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let max = test.add("max", "person", json!({ "team": "team:ops" })).await;
    test.add("bot", "agent", json!({ "owner": "max", "team": "team:ops" })).await;
    (test, lea, max)
}

#[tokio::test]
async fn who_leaves_acts_no_more_and_the_lead_takes_over() {
    let (test, lea, max) = firm().await;
    let task = async || test.post("/tasks", &max, json!({ "title": "t", "owner": "max" })).await.json()["id"].clone();
    let (open, done) = (task().await.as_str().unwrap().to_owned(), task().await.as_str().unwrap().to_owned());
    test.post(&format!("/tasks/{done}/complete"), &max, json!({ "result": "so", "outcome": "done" })).await;
    let left = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "moved on" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    assert_eq!(
        left.json(),
        json!({
            "tokens_revoked": 1, "issued_revoked": [], "approvals_cancelled": 0, "delegations_revoked": 0, "agents_handed_on": ["bot"], "agents_stopped": [],
            "webhooks_handed_on": [], "webhooks_disabled": [],
            "teams_handed_on": [], "teams_without_lead": [], "tasks_reassigned": [open], "tasks_left": [], "successor": "lea",
        })
    );
    let task = test.get(&format!("/tasks/{open}"), &lea).await.json();
    assert_eq!((&task["owner"], &task["status"]), (&json!("lea"), &json!("assigned")));
    assert_eq!(test.get("/me", &max).await.error(), "401 unauthorized invalid token");
    assert_eq!(test.get("/actors/max", &test.admin).await.json()["status"], "offboarded");
    assert_eq!(test.get("/actors/bot", &test.admin).await.json()["owner"], "lea");
    assert_eq!(test.newest(3).await, ["owner_changed", "task_assigned", "actor_offboarded"]);
    let again = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "again" })).await;
    assert_eq!(again.error(), "409 conflict max has left already");
    let explained = test.post("/policy/explain", &test.admin, json!({ "actor": "max", "op": "me.read" })).await;
    assert_eq!(explained.error(), "409 conflict max has left, and may do nothing");
    let issued = test.post("/tokens", &test.admin, json!({ "for": "max" })).await;
    assert_eq!(issued.error(), "409 conflict max has left");
    assert_eq!(test.post("/actors/bot/offboard", &test.admin, json!({ "reason": "replaced" })).await.status, 200);
    let raised = json!({ "tier": "standard", "reason": "late" });
    assert_eq!(test.post("/actors/bot/trust", &test.admin, raised).await.error(), "409 conflict bot has left");
    // Nobody hands a token to somebody who left, and no restart brings them back.
    let test = test.reopened().await;
    assert_eq!(test.get("/me", &max).await.error(), "401 unauthorized invalid token");
}

#[tokio::test]
async fn a_lead_waits_for_an_admin_and_the_approved_call_is_carried_out() {
    let (test, lea, max) = firm().await;
    let asked = test.post("/actors/max/offboard", &lea, json!({ "reason": "left" })).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    assert_eq!(test.get("/me", &max).await.status, 200);
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let about = test.get(&format!("{path}/explain"), &test.admin).await.json()["about"].clone();
    assert_eq!(
        about,
        json!([
            { "what": "is", "said": "person, member" },
            { "what": "team", "said": "team:ops" },
            { "what": "answers for", "said": "bot (standard)" },
        ])
    );
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!((decided["status"].as_str(), decided["result"]["tokens_revoked"].as_i64()), (Some("used"), Some(1)));
    assert_eq!(test.get("/me", &max).await.status, 401);
}

#[tokio::test]
async fn an_agent_without_an_owner_is_stopped_and_requests_end() {
    let (test, lea, _) = firm().await;
    let asked = test.post("/actors", &lea, json!({ "id": "new", "kind": "person", "team": "team:ops" })).await;
    let approval = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    test.add("pet", "agent", json!({ "owner": "lea" })).await;
    let task = test.post("/tasks", &lea, json!({ "title": "t", "owner": "lea" })).await.json()["id"].clone();
    let left = test.post("/actors/lea/offboard", &test.admin, json!({ "reason": "left" })).await.json();
    assert_eq!((left["approvals_cancelled"].as_i64(), &left["agents_stopped"]), (Some(1), &json!(["pet"])));
    assert_eq!((&left["teams_handed_on"], &left["teams_without_lead"]), (&json!([]), &json!(["team:ops"])));
    assert_eq!((&left["tasks_left"], &left["tasks_reassigned"]), (&json!([task]), &json!([])));
    let ops = test.get("/actors/team:ops", &test.admin).await.json();
    assert_eq!((&ops["lead"], &ops["members"]), (&Value::Null, &json!(["bot", "max"])), "who has left is no member");
    assert_eq!(test.get(&approval, &test.admin).await.json()["status"], "cancelled");
    let decided = test.post(&approval, &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.error(), "409 conflict the approval is cancelled already");
    let explained = test.post("/policy/explain", &test.admin, json!({ "actor": "pet", "op": "me.read" })).await.json();
    assert_eq!((explained["decision"].as_str(), &explained["kill"]), (Some("deny"), &json!(["actor:pet"])));
}

#[tokio::test]
async fn who_is_needed_stays() {
    let test = Test::new().await;
    test.add("max", "person", json!({})).await;
    let reason = json!({ "reason": "left" });
    let themselves = test.post("/actors/ana/offboard", &test.admin, reason.clone()).await;
    assert_eq!(themselves.error(), "403 denied policy denied actor.offboard: nobody offboards themselves");
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    assert_eq!(test.post("/actors/ana/offboard", &ben, json!({})).await.status, 200, "no reason is needed");
    let unnamed = test.post("/actors/max/offboard", &ben, json!({ "reason": "x".repeat(1001) })).await;
    assert_eq!(unnamed.error(), "422 invalid reason: must have at most 1000 characters");
    let nobody = test.post("/actors/max/offboard", &ben, json!({ "reason": "left", "successor": "max" })).await;
    assert_eq!(nobody.error(), "422 invalid successor: max is not a person who could take over");
    assert_eq!(test.post("/actors/nobody/offboard", &ben, reason).await.error(), "404 not_found not found");
}

#[tokio::test]
async fn after_a_lead_comes_the_lead_of_the_team_above() {
    let test = Test::new().await;
    test.add("eve", "person", json!({ "role": "lead" })).await;
    test.add("team:all", "team", json!({ "lead": "eve" })).await;
    test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea", "team": "team:all" })).await;
    let joined = test.call("PATCH", "/actors/lea", &test.admin, Some(json!({ "team": "team:ops" }))).await;
    assert_eq!(joined.status, 200, "{}", joined.text());
    // Whoever is in no team themselves, by the teams that they lead.
    test.add("leo", "person", json!({ "role": "lead" })).await;
    test.add("team:lab", "team", json!({ "lead": "leo", "team": "team:ops" })).await;
    let left = test.post("/actors/leo/offboard", &test.admin, json!({})).await.json();
    assert_eq!((&left["successor"], &left["teams_handed_on"]), (&json!("lea"), &json!(["team:lab"])));
    let left = test.post("/actors/lea/offboard", &test.admin, json!({})).await.json();
    assert_eq!((&left["successor"], &left["teams_handed_on"]), (&json!("eve"), &json!(["team:lab", "team:ops"])));
}

#[tokio::test]
async fn the_last_admin_who_can_act_stays() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin", "team": "team:ops" })).await;
    assert_eq!(test.post("/kill", &ben, json!({ "scope": "actor:ana" })).await.status, 200);
    let refused = test.post("/actors/ben/offboard", &cast.lea, json!({ "reason": "left" })).await;
    assert_eq!(refused.error(), "409 last_admin no admin would be left");
    assert_eq!(test.get("/actors/ben", &ben).await.json()["status"], "active");
}

#[tokio::test]
async fn whoever_an_approval_cannot_do_without_stays() {
    let test = Test::with_policies(two_admins()).await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let refused = test.post("/actors/ben/offboard", &test.admin, json!({ "reason": "left" })).await;
    let message = "409 last_approver too few people would be left to give the approval `admin`";
    assert_eq!(refused.error(), message);
    test.add("cleo", "person", json!({ "role": "admin" })).await;
    assert_eq!(test.post("/actors/ben/offboard", &test.admin, json!({ "reason": "left" })).await.status, 200);
}

#[tokio::test]
async fn the_tokens_that_somebody_issued_for_others_end_with_them_unless_they_are_kept() {
    for keep in [false, true] {
        let (test, lea, max) = firm().await;
        let ben = test.token("ben", json!({})).await;
        let kept = test.post("/tokens", &ben, json!({ "for": "ana" })).await.json()["token"].clone();
        let kept = kept.as_str().unwrap();
        let body = json!({ "reason": "fired", "keep_issued": keep });
        let left = test.post("/actors/ben/offboard", &test.admin, body).await.json();
        assert_eq!(left["issued_revoked"], if keep { json!([]) } else { json!(["ana"]) });
        assert_eq!(test.get("/me", kept).await.status, if keep { 200 } else { 401 });
        for token in [&lea, &max, &test.admin] {
            assert_eq!(test.get("/me", token).await.status, 200);
        }
    }
}

#[tokio::test]
async fn nothing_is_handed_on_by_break_glass() {
    let (test, lea, max) = firm().await;
    test.add("team:sub", "team", json!({ "lead": "max" })).await;
    let task = test.post("/tasks", &max, json!({ "title": "t", "owner": "max" })).await.json()["id"].clone();
    let grant = json!({ "scope": ["actor.offboard"], "reason": "the key is stolen" });
    assert_eq!(test.post("/policy/break-glass", &lea, grant).await.status, 201);
    let named = test.post("/actors/max/offboard", &lea, json!({ "reason": "stolen", "successor": "lea" })).await;
    assert_eq!(named.status, 202, "{}", named.text());
    let left = test.post("/actors/max/offboard", &lea, json!({ "reason": "stolen" })).await.json();
    let nobody = (&left["successor"], &left["agents_handed_on"], &left["teams_handed_on"]);
    assert_eq!(nobody, (&Value::Null, &json!([]), &json!([])), "{left}");
    assert_eq!((&left["agents_stopped"], &left["tasks_left"]), (&json!(["bot"]), &json!([task])));
    assert_eq!(test.get("/actors/bot", &test.admin).await.json()["owner"], "max");
}

#[tokio::test]
async fn nobody_ends_the_token_that_they_call_with_by_offboarding_its_issuer() {
    let (test, ..) = firm().await;
    let ben = test.post("/tokens", &test.admin, json!({ "for": "ben" })).await.json()["token"].clone();
    let ben = ben.as_str().unwrap();
    let left = test.post("/actors/ana/offboard", ben, json!({ "reason": "left" })).await;
    let message = "409 conflict the token that you call with was issued by ana and would end with them: call with another, or keep them with `keep_issued`";
    assert_eq!(left.error(), message);
    let own = test.local_as("ben", "token.issue", json!({})).await["token"].as_str().unwrap().to_owned();
    let left = test.post("/actors/ana/offboard", &own, json!({ "reason": "left" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    assert_eq!(test.get("/me", ben).await.status, 401);
}

#[tokio::test]
async fn break_glass_keeps_no_tokens_that_somebody_issued() {
    let (test, lea, _) = firm().await;
    let grant = json!({ "scope": ["actor.offboard"], "reason": "the key is stolen" });
    assert_eq!(test.post("/policy/break-glass", &lea, grant).await.status, 201);
    let kept = json!({ "reason": "stolen", "keep_issued": true });
    let kept = test.post("/actors/max/offboard", &lea, kept).await;
    assert_eq!(
        kept.error(),
        "409 conflict keep_issued: not under break-glass: tokens issued for others are always revoked"
    );
}

#[tokio::test]
async fn the_runs_of_an_agent_that_was_stopped_before_it_left_end() {
    let (test, _, max) = firm().await;
    let wish = json!({ "agent": "bot", "text": "wait", "plan": { "steps": [{ "wait": { "seconds": 3600 } }] } });
    let id = test.post("/ask", &max, wish).await.json()["run"].as_str().unwrap().to_owned();
    go_on(&test).await;
    let stop = |scope: &str| json!({ "scope": scope, "reason": "amiss" });
    test.post("/kill", &test.admin, stop("actor:bot")).await;
    let left = test.post("/actors/bot/offboard", &test.admin, json!({ "reason": "amiss" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    // While everything stands still, nothing ends either.
    test.post("/kill", &test.admin, stop("global")).await;
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "held");
    test.post("/kill", &test.admin, json!({ "scope": "global", "off": true, "reason": "over" })).await;
    go_on(&test).await;
    let ended = run(&test, &id).await;
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!("offboarded")), "{ended}");
}
