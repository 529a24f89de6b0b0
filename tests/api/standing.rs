//! Roles, teams, names and leads change; teams are removed.

use serde_json::{Value, json};

use super::approvals::two_admins;
use crate::harness::{Answer, Test};

async fn set(test: &Test, token: &str, id: &str, change: Value) -> Answer {
    test.call("PATCH", &format!("/actors/{id}"), token, Some(change)).await
}

/// The titles in an inbox.
async fn inbox(test: &Test, token: &str) -> Vec<String> {
    let items = test.get("/inbox", token).await.json();
    items.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn another_role_holds_at_once_and_after_a_restart_and_its_holder_is_told() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(test.post("/tick", &cast.mia, json!({})).await.status, 403);
    let changed = set(&test, &test.admin, "mia", json!({ "role": "admin", "name": "Mia M" })).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(
        (&changed.json()["role"], &changed.json()["admin"], &changed.json()["name"]),
        (&json!("admin"), &json!(true), &json!("Mia M"))
    );
    assert_eq!(test.newest(2).await, ["role_changed", "actor_renamed"]);
    assert!(inbox(&test, &cast.mia).await.contains(&"your role is admin now".into()));
    assert_eq!(test.post("/tick", &cast.mia, json!({})).await.status, 200);
    let before = test.last_seq().await;
    assert_eq!(set(&test, &test.admin, "mia", json!({ "role": "admin" })).await.status, 200);
    assert_eq!(test.last_seq().await, before, "nothing became otherwise");
    let test = test.reopened().await;
    assert_eq!(test.get("/actors/mia", &cast.mia).await.json()["name"], "Mia M");
    assert_eq!(test.post("/tick", &cast.mia, json!({})).await.status, 200);
    assert!(test.verdict().ok, "the tables are what the log folds to");
}

#[tokio::test]
async fn leads_change_names_alone_and_teams_with_approval_but_no_roles() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(set(&test, &cast.lea, "mia", json!({ "name": "Mia" })).await.status, 200);
    let role = set(&test, &cast.lea, "mia", json!({ "role": "admin" })).await;
    assert_eq!(role.error(), "403 denied policy denied actor.update: only admins change roles");
    assert_eq!(set(&test, &cast.lea, "max", json!({ "name": "Max" })).await.status, 403, "of another team");
    let asked = set(&test, &cast.lea, "mia", json!({ "team": "team:dev" })).await;
    let why =
        "202 needs_approval actor.update needs approval (admin): another team, lead or owner needs an admin's approval";
    assert_eq!(asked.error(), why);
    assert!(inbox(&test, &test.admin).await.contains(&"lea changes mia: team team:dev: waits for you".into()));
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!((&decided["status"], &decided["result"]["team"]), (&json!("used"), &json!("team:dev")));
    assert!(inbox(&test, &cast.mia).await.contains(&"you are in team:dev now".into()));
    assert_eq!(set(&test, &cast.lea, "mia", json!({ "name": "M" })).await.status, 403, "no longer of their team");
    assert_eq!(set(&test, &cast.liv, "mia", json!({ "name": "M" })).await.status, 200);
}

#[tokio::test]
async fn what_was_asked_about_somebody_is_stale_once_they_are_in_another_team() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let asked = test.post("/actors/mia/offboard", &cast.lea, json!({})).await;
    assert_eq!(set(&test, &test.admin, "mia", json!({ "team": "team:dev" })).await.status, 200);
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "stale", "{decided}");
}

#[tokio::test]
async fn nobody_else_has_to_look_at_what_has_changed_since_it_was_asked_for() {
    let test = Test::with_policies(two_admins()).await;
    let cast = test.cast().await;
    let asked = test.post("/actors/mia/offboard", &cast.lea, json!({})).await;
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    assert_eq!(set(&test, &test.admin, "mia", json!({ "team": "team:dev" })).await.json()["team"], "team:dev");
    let happens = test.get(&format!("{path}/explain"), &test.admin).await.json()["what_happens"]["on_approve"].clone();
    assert!(happens.as_str().unwrap().starts_with("nothing is done"), "{happens}");
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!((&decided["status"], &decided["stale"]), (&json!("stale"), &json!("mia has changed since the request")));
}

#[tokio::test]
async fn a_team_gets_another_lead_and_both_are_told() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(set(&test, &test.admin, "team:ops", json!({ "lead": "liv" })).await.json()["lead"], "liv");
    assert!(inbox(&test, &cast.liv).await.contains(&"you lead team:ops now".into()));
    assert!(inbox(&test, &cast.lea).await.contains(&"you no longer lead team:ops".into()));
    assert_eq!(test.post("/kill", &cast.lea, json!({ "scope": "actor:mia" })).await.status, 403);
    // Who has the role no longer leads on: whoever took it is told.
    let demoted = set(&test, &test.admin, "liv", json!({ "role": "member" })).await.json();
    assert!(demoted["still_leads"].as_array().is_some_and(|teams| teams.contains(&json!("team:ops"))), "{demoted}");
    assert_eq!(set(&test, &test.admin, "lea", json!({ "role": "member" })).await.json()["still_leads"], Value::Null);
    assert_eq!(set(&test, &test.admin, "team:ops", json!({ "no_lead": true })).await.json()["lead"], Value::Null);
}

#[tokio::test]
async fn an_agent_whose_owner_left_gets_another_one() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("own", "person", json!({})).await;
    let bot = test.add("helper", "agent", json!({ "owner": "own" })).await;
    test.post("/actors/own/offboard", &test.admin, json!({})).await;
    assert_eq!(test.get("/me", &bot).await.status, 403, "nobody answers for it");
    let nobody = set(&test, &test.admin, "helper", json!({ "owner": "own" })).await;
    assert_eq!(nobody.error(), "422 invalid owner: there is no such person");
    let owned = set(&test, &test.admin, "helper", json!({ "owner": "mia" })).await;
    assert_eq!(owned.json()["owner"], "mia", "{}", owned.text());
    assert!(inbox(&test, &cast.mia).await.contains(&"you answer for helper now".into()));
    test.post("/kill", &test.admin, json!({ "scope": "actor:helper", "off": true })).await;
    assert_eq!(test.get("/me", &bot).await.status, 200);
    // The same for one that runs elsewhere; one's own takes another admin.
    test.add("ext", "outside_agent", json!({ "owner": "mia" })).await;
    assert_eq!(set(&test, &test.admin, "ext", json!({ "owner": "ana" })).await.json()["owner"], "ana");
    let back = set(&test, &test.admin, "ext", json!({ "owner": "mia" })).await;
    let why = "202 needs_approval actor.update needs approval (admin): handing on an agent of one's own needs an admin's approval";
    assert_eq!(back.error(), why);
}

#[tokio::test]
async fn who_is_below_a_team_that_moves_is_below_its_new_one_at_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("team:sub", "team", json!({ "team": "team:ops" })).await;
    let low = test.add("low", "person", json!({ "team": "team:sub" })).await;
    assert_eq!(set(&test, &test.admin, "team:sub", json!({ "team": "team:dev" })).await.status, 200);
    let loop_ = set(&test, &test.admin, "team:dev", json!({ "team": "team:sub" })).await;
    assert_eq!(loop_.error(), "422 invalid team: a team cannot be below itself");
    let stop = |scope: &'static str, off: bool| test.post("/kill", &test.admin, json!({ "scope": scope, "off": off }));
    stop("team:ops", false).await;
    assert_eq!(test.get("/company", &low).await.status, 200, "it left that team");
    stop("team:dev", false).await;
    assert_eq!(test.get("/company", &low).await.status, 403);
    assert_eq!(test.get("/company", &cast.max).await.status, 403);
    let test = test.reopened().await;
    assert_eq!(test.get("/company", &low).await.status, 403);
}

#[tokio::test]
async fn who_is_needed_keeps_their_role() {
    let test = Test::with_policies(two_admins()).await;
    let last = set(&test, &test.admin, "ana", json!({ "role": "member" })).await;
    assert_eq!(last.error(), "409 last_admin no admin would be left");
    test.add("team:ops", "team", json!({})).await;
    assert_eq!(test.post("/kill", &test.admin, json!({ "scope": "team:ops" })).await.status, 200);
    let stopped = set(&test, &test.admin, "ana", json!({ "team": "team:ops" })).await;
    assert_eq!(stopped.error(), "409 last_admin no admin would be left", "a kill switch would stop the last one");
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let approver = set(&test, &test.admin, "ben", json!({ "role": "auditor" })).await;
    assert_eq!(approver.error(), "409 last_approver too few people would be left to give the approval `admin`");
}

#[tokio::test]
async fn what_is_wrong_with_a_change_is_told_at_once() {
    let test = Test::new().await;
    test.cast().await;
    let wrong =
        json!({ "role": "agent", "team": "team:none", "no_team": true, "name": "", "lead": "lea", "owner": "lea" });
    assert_eq!(
        set(&test, &test.admin, "mia", wrong).await.json()["problems"],
        json!([
            "role: people have any role but an agent's, agents only their own, teams none",
            "team: there is no such team",
            "no_team: name a team or none, not both",
            "name: must have 1 to 100 characters, on one line, not all of them blank or invisible",
            "lead: only a team has a lead",
            "owner: only an agent has an owner",
        ])
    );
    for name in [" ", "\u{3000}\t", "\u{200b}", "\u{feff} \u{ad}", "Mia\nadmin: ben", "Mia\u{1b}[2J", "Mia\u{85}"] {
        let refused = set(&test, &test.admin, "mia", json!({ "name": name })).await;
        assert!(refused.error().starts_with("422 invalid name: must have 1 to 100"), "{name:?} {}", refused.text());
    }
    let nothing = set(&test, &test.admin, "mia", json!({})).await;
    assert_eq!(nothing.error(), "422 invalid specify at least one change: role, team, name, lead or owner");
    let null = set(&test, &test.admin, "mia", json!({ "name": "Mia", "team": null })).await;
    assert_eq!(null.status, 422, "{}: `null` is no way around the approval that leaving a team takes", null.text());
    assert_eq!(set(&test, &test.admin, "nobody", json!({ "name": "x" })).await.error(), "404 not_found not found");
    test.post("/actors/mia/offboard", &test.admin, json!({})).await;
    assert_eq!(set(&test, &test.admin, "mia", json!({ "name": "x" })).await.error(), "409 conflict mia has left");
}

#[tokio::test]
async fn an_empty_team_is_removed_and_one_with_somebody_in_it_stays() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("team:sub", "team", json!({ "team": "team:dev", "lead": "lea" })).await;
    let full = test.post("/actors/team:dev/offboard", &test.admin, json!({})).await;
    let why = "409 conflict team:dev is not empty: move or offboard its members and the teams below it first";
    assert_eq!(full.error(), why);
    assert_eq!(test.post("/actors/team:sub/offboard", &cast.lea, json!({})).await.status, 403, "for admins alone");
    assert_eq!(test.post("/actors/team:sub/offboard", &test.admin, json!({})).await.status, 200);
    assert_eq!(test.get("/actors/lea", &test.admin).await.json()["leads"], json!(["team:ops"]));
    assert!(inbox(&test, &cast.lea).await.contains(&"you no longer lead team:sub".into()));
    assert_eq!(test.get("/actors/team:sub", &test.admin).await.json()["status"], "offboarded");
    let joins = set(&test, &test.admin, "mia", json!({ "team": "team:sub" })).await;
    assert_eq!(joins.error(), "422 invalid team: there is no such team");
    assert_eq!(set(&test, &test.admin, "max", json!({ "no_team": true })).await.json()["team"], Value::Null);
    assert_eq!(test.post("/actors/team:dev/offboard", &test.admin, json!({})).await.status, 200, "empty by now");
    let again = test.post("/actors/team:dev/offboard", &test.admin, json!({})).await;
    assert_eq!(again.error(), "409 conflict team:dev has left already");
}

#[tokio::test]
async fn explain_answers_for_a_role_as_it_was() {
    let test = Test::new().await;
    test.cast().await;
    let then = test.last_seq().await;
    set(&test, &test.admin, "mia", json!({ "role": "auditor" })).await;
    let ask = |at: Value| {
        test.post("/policy/explain", &test.admin, json!({ "actor": "mia", "op": "audit.verify", "at": at }))
    };
    assert_eq!(ask(Value::Null).await.json()["decision"], "allow");
    assert_eq!(ask(json!(then)).await.json()["decision"], "deny");
}

#[tokio::test]
async fn nobody_gets_a_role_back_by_a_token_that_they_issued_for_somebody_else() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let kept = test.post("/tokens", &test.admin, json!({ "for": "ben" })).await.json()["token"].clone();
    let role = async |token: &str, role: &str| {
        let change = json!({ "role": role, "keep_issued": role != "admin" });
        test.call("PATCH", "/actors/ana", token, Some(change)).await
    };
    assert_eq!(role(&ben, "member").await.status, 200);
    let refused = "403 denied policy denied actor.update: who issued this token gets no role by it";
    assert_eq!(role(kept.as_str().unwrap(), "admin").await.error(), refused);
    assert_eq!(role(&ben, "admin").await.status, 200);
}

#[tokio::test]
async fn an_admin_who_is_one_no_longer_has_no_power_left_in_what_they_issued_for_others() {
    for keep in [false, true] {
        let test = Test::new().await;
        let eve = test.add("eve", "person", json!({ "role": "admin" })).await;
        test.add("bot", "agent", json!({ "owner": "eve" })).await;
        let issue = async |holder: &str| {
            let issued = test.post("/tokens", &eve, json!({ "for": holder })).await.json();
            issued["token"].as_str().unwrap().to_owned()
        };
        let (anas, bots) = (issue("ana").await, issue("bot").await);
        let change = json!({ "role": "member", "keep_issued": keep });
        let demoted = set(&test, &test.admin, "eve", change).await;
        let revoked = demoted.json()["issued_revoked"].clone();
        assert_eq!(revoked, if keep { Value::Null } else { json!(["ana"]) }, "{}", demoted.text());
        let new = json!({ "kind": "person", "id": "x1", "role": "admin" });
        assert_eq!(test.post("/actors", &anas, new).await.status, if keep { 201 } else { 401 });
        let idle = set(&test, &test.admin, "eve", json!({ "name": "Eve", "keep_issued": true })).await;
        let message = "422 invalid keep_issued: only for an admin's new role, which would revoke these tokens";
        assert_eq!(idle.error(), message);
        // Owners issue for their agents whatever their role is.
        assert_eq!(test.get("/me", &bots).await.status, 200);
    }
}
