//! Kill switches.

use serde_json::{Value, json};

use crate::harness::{Answer, Test};

async fn engage(test: &Test, token: &str, scope: &str) -> Answer {
    test.post("/kill", token, json!({ "scope": scope, "reason": "drill" })).await
}

async fn release(test: &Test, token: &str, scope: &str) -> Answer {
    test.post("/kill", token, json!({ "scope": scope, "off": true })).await
}

fn new_actor() -> Value {
    json!({ "id": "new", "kind": "person" })
}

#[tokio::test]
async fn a_switch_is_recorded_with_who_and_why() {
    let test = Test::new().await;
    test.cast().await;
    assert_eq!(
        engage(&test, &test.admin, "actor:bot").await.json(),
        json!({ "scope": "actor:bot", "engaged": true, "by": "ana", "at": "2026-11-20T09:00:00Z", "runs": 0, "tokens": 0, "stops_caller": false })
    );
    let event = test.event().await;
    assert_eq!(
        event["event"],
        json!({ "type": "kill_switch", "scope": "actor:bot", "engaged": true, "reason": "drill" })
    );
    assert_eq!(event["actor"], "ana");
    let before = json!({ "by": "ana", "at": "2026-11-20T09:00:00Z", "reason": "drill" });
    assert_eq!(engage(&test, &test.admin, "actor:bot").await.json()["before"], before, "what it replaces is told");
    let released = release(&test, &test.admin, "actor:bot").await.json();
    assert_eq!((&released["engaged"], &released["before"]), (&json!(false), &before));
    assert_eq!(release(&test, &test.admin, "actor:bot").await.json().get("before"), None);
}

#[tokio::test]
async fn the_global_switch_stops_every_change_but_its_own_release_and_survives_a_restart() {
    let test = Test::new().await;
    engage(&test, &test.admin, "global").await;
    let stopped = "403 denied policy denied actor.add: a kill switch stops every change";
    assert_eq!(test.post("/actors", &test.admin, new_actor()).await.error(), stopped);
    let test = test.reopened().await;
    assert_eq!(test.post("/actors", &test.admin, new_actor()).await.error(), stopped);
    assert_eq!(test.get("/company", &test.admin).await.status, 200, "reading goes on");
    assert_eq!(release(&test, &test.admin, "global").await.status, 200);
    assert_eq!(test.post("/actors", &test.admin, new_actor()).await.status, 201);
}

#[tokio::test]
async fn who_stops_themselves_is_told_and_that_others_release_it() {
    let test = Test::new().await;
    let len = test.add("len", "person", json!({ "role": "lead" })).await;
    test.add("team:own", "team", json!({ "lead": "len" })).await;
    assert_eq!(test.call("PATCH", "/actors/len", &test.admin, Some(json!({ "team": "team:own" }))).await.status, 200);
    assert_eq!(engage(&test, &len, "team:own").await.json()["stops_caller"], true);
    let refused = release(&test, &len, "team:own").await.error();
    assert_eq!(refused, "403 denied policy denied kill: a kill switch stops this actor's team (len: drill)");
}

#[tokio::test]
async fn an_actor_s_switch_stops_all_that_it_asks_and_survives_a_restart() {
    let test = Test::new().await;
    let cast = test.cast().await;
    engage(&test, &test.admin, "actor:bot").await;
    let stopped = "403 denied policy denied company.read: a kill switch stops this actor (ana: drill)";
    assert_eq!(test.get("/company", &cast.bot).await.error(), stopped);
    let test = test.reopened().await;
    assert_eq!(test.get("/company", &cast.bot).await.error(), stopped);
    assert_eq!(test.get("/company", &cast.mia).await.status, 200, "nobody else is stopped");
    release(&test, &test.admin, "actor:bot").await;
    assert_eq!(test.get("/company", &cast.bot).await.status, 200);
}

#[tokio::test]
async fn a_team_s_switch_stops_everybody_in_it_and_below() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("team:sub", "team", json!({ "team": "team:ops" })).await;
    let low = test.add("low", "person", json!({ "team": "team:sub" })).await;
    engage(&test, &test.admin, "team:ops").await;
    for (token, status) in [(&cast.mia, 403), (&cast.bot, 403), (&low, 403), (&cast.max, 200), (&cast.lea, 200)] {
        assert_eq!(test.get("/company", token).await.status, status);
    }
}

#[tokio::test]
async fn a_lead_stops_their_own_team_and_an_admin_releases_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(engage(&test, &cast.lea, "team:ops").await.status, 200);
    assert_eq!(engage(&test, &cast.lea, "actor:bot").await.status, 200);
    for scope in ["team:dev", "actor:max", "global", "tool:mail.send"] {
        assert_eq!(
            engage(&test, &cast.lea, scope).await.error(),
            "403 denied policy denied kill: no policy permits it"
        );
    }
    let refused = release(&test, &cast.lea, "team:ops").await;
    assert_eq!(refused.error(), "403 denied policy denied kill: only admins release a kill switch");
    assert_eq!(release(&test, &test.admin, "team:ops").await.status, 200);
}

#[tokio::test]
async fn an_admin_is_always_left_to_release_it() {
    let test = Test::new().await;
    let left = "409 last_admin no admin would be left to release it";
    assert_eq!(engage(&test, &test.admin, "actor:ana").await.error(), left);
    test.add("bea", "person", json!({ "role": "admin" })).await;
    assert_eq!(engage(&test, &test.admin, "actor:bea").await.status, 200);
    assert_eq!(engage(&test, &test.admin, "actor:ana").await.error(), left);
}

#[tokio::test]
async fn a_switch_names_a_scope_that_exists() {
    let test = Test::new().await;
    assert_eq!(
        engage(&test, &test.admin, "actor:nobody").await.error(),
        "404 not_found not found, or not yours to see: scope `actor:nobody`"
    );
    assert_eq!(
        engage(&test, &test.admin, "team:none").await.error(),
        "404 not_found not found, or not yours to see: scope `team:none`"
    );
    assert_eq!(engage(&test, &test.admin, "tool:mail.send").await.status, 200, "it may be another server's");
    let slip = "422 invalid scope: there is no tool `mail.sned`; did you mean `tool:mail.send`?";
    assert_eq!(engage(&test, &test.admin, "tool:mail.sned").await.error(), slip);
    for scope in ["", "everything", "actor:", "tool:", "actor:A", "team:../x"] {
        let answer = engage(&test, &test.admin, scope).await;
        assert_eq!(answer.status, 422, "{scope}");
        assert!(answer.text().contains("scope: "), "{}", answer.text());
    }
}

#[tokio::test]
async fn what_is_engaged_is_listed_to_those_whom_it_concerns() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(test.get("/kill", &test.admin).await.json(), json!([]));
    for scope in ["actor:bot", "team:ops", "tool:mail.send"] {
        assert_eq!(engage(&test, &test.admin, scope).await.status, 200);
    }
    let row = |scope: &str, holds: u64| json!({ "scope": scope, "by": "ana", "at": "2026-11-20T09:00:00Z", "reason": "drill", "holds": holds });
    let all = json!([row("actor:bot", 1), row("tool:mail.send", 0), row("team:ops", 2)]);
    assert_eq!(test.get("/kill", &test.admin).await.json(), all);
    assert_eq!(test.get("/kill", &cast.aud).await.json(), all);
    let of_ops = json!([row("actor:bot", 1), row("team:ops", 2)]);
    assert_eq!(test.get("/kill", &cast.lea).await.json(), of_ops, "a lead is told of their team's");
    assert_eq!(test.get("/kill", &cast.max).await.json(), json!([]), "of nobody in their own");
    let shown = |path: &'static str| test.get(path, &test.admin);
    assert_eq!(shown("/actors/bot").await.json()["stopped_by"], json!(["actor:bot", "team:ops"]));
    assert_eq!(shown("/actors/team:ops").await.json()["stopped_by"], json!(["team:ops"]));
    assert_eq!(shown("/actors/max").await.json().get("stopped_by"), None);
    let bots = test.get("/actors/bot", &cast.max).await.json();
    assert_eq!(bots.get("stopped_by"), None, "whoever is not told of a switch is not told of it here");
    release(&test, &test.admin, "team:ops").await;
    assert_eq!(test.get("/kill", &cast.mia).await.json(), json!([row("actor:bot", 1)]), "an agent's owner is told");
}

#[tokio::test]
async fn who_is_stopped_learns_which_switch_does_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    engage(&test, &test.admin, "team:ops").await;
    let refused = test.get("/company", &cast.mia).await;
    assert_eq!(
        refused.error(),
        "403 denied policy denied company.read: a kill switch stops this actor's team (ana: drill)"
    );
}

#[tokio::test]
async fn who_is_stopped_is_told_so_whatever_they_ask_about_and_the_attempt_is_recorded() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let own = test.get("/me", &cast.mia).await.json()["token_id"].as_str().unwrap().to_owned();
    engage(&test, &test.admin, "actor:mia").await;
    let calls = [
        test.post("/ask", &cast.mia, json!({ "agent": "bot", "text": "hello" })).await,
        test.post("/ask", &cast.mia, json!({ "agent": "nobody", "text": "hello" })).await,
        test.post("/kill", &cast.mia, json!({ "scope": "actor:bot" })).await,
        test.get("/actors/bot", &cast.mia).await,
        test.get("/actors/nobody", &cast.mia).await,
        test.get("/approvals/apr_nothing", &cast.mia).await,
        test.get(&format!("/events?token_id={own}"), &cast.mia).await,
        test.get("/events?token_id=tok_nothing", &cast.mia).await,
        test.get("/actors/team:none", &cast.mia).await,
        // A token that was pasted where none belongs is not kept in the log.
        test.get(&format!("/approvals/apr_{}", cast.mia), &cast.mia).await,
    ];
    for answer in &calls {
        assert!(answer.error().ends_with("a kill switch stops this actor (ana: drill)"), "{}", answer.error());
    }
    let events = test.get(&format!("/events?type=denied&limit={}", calls.len()), &test.admin).await.json();
    let events = events["events"].as_array().unwrap().iter();
    let about: Vec<&str> = events.map(|record| record["event"]["target"].as_str().unwrap()).collect();
    assert_eq!(
        about,
        ["bot", "nobody", "actor:bot", "bot", "nobody", "apr_nothing", &own, "tok_nothing", "team:none", "absent"]
    );
}

#[tokio::test]
async fn a_switch_stops_the_tokens_that_its_actor_issued_for_others_too() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let own = test.post("/tokens", &test.admin, json!({})).await.json()["token"].as_str().unwrap().to_owned();
    let kept = test.post("/tokens", &ben, json!({ "for": "ana" })).await.json()["token"].as_str().unwrap().to_owned();
    let engaged = engage(&test, &own, "actor:ben").await.json();
    assert_eq!((&engaged["tokens"], &engaged["stops_caller"]), (&json!(1), &json!(false)));
    let stopped = "403 denied policy denied kill: a kill switch stops who issued this token (ana: drill)";
    assert_eq!(release(&test, &kept, "actor:ben").await.error(), stopped, "not by a token that they may have kept");
    assert_eq!(test.get("/actors", &kept).await.status, 403);
    assert_eq!(test.get("/actors", &cast.lea).await.status, 200);
    assert_eq!(release(&test, &own, "actor:ben").await.status, 200);
    assert_eq!(test.get("/actors", &kept).await.status, 200);
}
