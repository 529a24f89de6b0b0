//! People, agents and teams; who can do something.

use serde_json::json;

use crate::harness::Test;

#[tokio::test]
async fn an_added_actor_is_listed_and_shown_with_what_hangs_on_it() {
    let test = Test::new().await;
    test.cast().await;
    let shown = test.get("/actors/team:ops", &test.admin).await.json();
    assert_eq!((&shown["lead"], &shown["members"]), (&json!("lea"), &json!(["bot", "mia"])));
    assert_eq!(test.get("/actors/lea", &test.admin).await.json()["leads"], json!(["team:ops"]));
    assert_eq!(test.get("/actors/mia", &test.admin).await.json()["agents"], json!(["bot"]));
    let of = |list: serde_json::Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of(test.get("/actors?kind=team", &test.admin).await.json()), ["team:dev", "team:ops"]);
    assert_eq!(of(test.get("/actors?team=team:ops", &test.admin).await.json()), ["bot", "mia"]);
    assert_eq!(test.get("/actors?kind=robot", &test.admin).await.status, 400);
}

#[tokio::test]
async fn an_id_is_taken_once() {
    let test = Test::new().await;
    let again = test.post("/actors", &test.admin, json!({ "id": "ana", "kind": "person" })).await;
    assert_eq!(again.error(), "409 conflict id: ana is taken");
}

#[tokio::test]
async fn what_is_wrong_with_a_new_actor_is_told_at_once() {
    let test = Test::new().await;
    let wrong = json!({ "id": "team:x", "kind": "person", "role": "agent", "lead": "ana", "team": "team:none" });
    let answer = test.post("/actors", &test.admin, wrong).await;
    assert_eq!(
        answer.json()["problems"],
        json!([
            "id: team ids, and no others, begin with `team:`",
            "role: people have any role but an agent's, agents only their own, teams none",
            "team: there is no such team",
            "lead: only a team has a lead",
        ])
    );
    assert_eq!(answer.fields(), ["error", "message", "problems"]);
    let server = test.post("/actors", &test.admin, json!({ "id": "ok", "kind": "person" })).await;
    assert_eq!(
        server.error(),
        "422 invalid id: `ok`, `company`, `global`, `hidden`, `hire`, `server` and `visitor` are reserved"
    );
}

#[tokio::test]
async fn a_lead_adds_to_their_team_only_with_approval() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let new = json!({ "id": "new", "kind": "agent", "team": "team:ops" });
    let answer = test.post("/actors", &cast.lea, new.clone()).await;
    assert_eq!(
        answer.error(),
        "202 needs_approval actor.add needs approval (admin): adding to a team needs an admin's approval"
    );
    let event = test.event().await;
    assert_eq!(event["event"]["id"], answer.json()["approval"]);
    assert_eq!((&event["actor"], &event["decision"]), (&json!("lea"), &json!("needs_approval")));
    assert_eq!((&event["event"]["input"], &event["event"]["kinds"]), (&new, &json!(["admin"])));
    assert_eq!(test.get("/actors/new", &test.admin).await.status, 404, "nothing was done");
    let elsewhere = test.post("/actors", &cast.liv, new).await;
    assert_eq!(elsewhere.status, 403, "{}", elsewhere.text());
}

#[tokio::test]
async fn trust_is_set_with_a_reason_and_only_lowered_by_the_owner() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let tier = |tier: &str| json!({ "tier": tier, "reason": "it has earned it" });
    let set = test.post("/actors/bot/trust", &cast.lea, tier("trusted")).await;
    assert_eq!((set.status.as_u16(), &set.json()["trust"]), (200, &json!("trusted")));
    let event = test.event().await["event"].clone();
    assert_eq!(
        event,
        json!({ "type": "trust_changed", "id": "bot", "from": "standard", "to": "trusted", "reason": "it has earned it" })
    );
    let owner = test.post("/actors/bot/trust", &cast.mia, tier("autonomous")).await;
    assert_eq!(owner.error(), "403 denied policy denied actor.trust: an agent's owner only lowers its trust");
    let lowered = test.post("/actors/bot/trust", &cast.mia, tier("observe")).await;
    assert_eq!((lowered.status.as_u16(), &lowered.json()["trust"]), (200, &json!("observe")), "at once");
    let own = json!({ "id": "own", "kind": "agent", "owner": "ana", "trust": "assist" });
    assert_eq!(
        test.post("/actors", &test.admin, own).await.error(),
        "422 invalid trust: you may not give own this trust tier: an agent's owner only lowers its trust"
    );
    test.add("own", "agent", json!({ "owner": "ana" })).await;
    let admin = test.post("/actors/own/trust", &test.admin, tier("autonomous")).await;
    assert_eq!(admin.status, 403, "not even by an admin who owns it");
    let person = test.post("/actors/mia/trust", &test.admin, tier("assist")).await;
    assert_eq!(person.error(), "422 invalid id: mia is not an agent; only agents have a trust tier");
    assert_eq!(test.post("/actors/bot/trust", &test.admin, tier("boundless")).await.status, 422);
    let mute = test.post("/actors/bot/trust", &test.admin, json!({ "tier": "assist", "reason": " " })).await;
    assert_eq!(mute.error(), "422 invalid reason: must have 1 to 1000 characters");
}

#[tokio::test]
async fn the_directory_finds_by_skill_best_match_first() {
    let test = Test::new().await;
    test.add("one", "agent", json!({ "skills": ["tax"] })).await;
    test.add("two", "person", json!({ "skills": ["Tax", "law"] })).await;
    let found = test.get("/directory/find?skills=tax,law", &test.admin).await.json();
    assert_eq!((&found[0]["actor"], &found[1]["actor"]), (&json!("two"), &json!("one")));
    assert_eq!((&found[0]["matched"], &found[0]["why"]), (&json!(["tax", "law"]), &json!("skills: tax, law")));
    let humans = test.get("/directory/find?skills=tax&humans=true", &test.admin).await.json();
    assert_eq!(humans.as_array().unwrap().len(), 1);
    let cards = test.get("/directory/cards", &test.admin).await.json();
    assert_eq!((cards.as_array().unwrap().len(), &cards[0]["name"]), (1, &json!("one")), "agents have cards");
}
