//! Who can do something, as far as the asker may know.

use serde_json::{Value, json};

use crate::harness::Test;

fn names(rows: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["actor"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn everybody_who_can_is_listed_with_what_they_need() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("gone", "person", json!({ "role": "admin" })).await;
    test.post("/actors/gone/offboard", &test.admin, json!({ "reason": "left" })).await;
    let rows = test.get("/policy/who-can?op=actor.add&target=team:ops", &cast.aud).await.json();
    assert_eq!(names(&rows), ["ana", "lea"]);
    let lea = rows.as_array().unwrap().iter().find(|row| row["actor"] == "lea").unwrap();
    assert_eq!((&lea["decision"], &lea["approvals"]), (&json!("needs_approval"), &json!(["admin"])));
    assert_eq!(lea["because"][0]["id"], "add-with-approval");
    for actor in names(&rows) {
        let question = json!({ "op": "actor.add", "target": "team:ops", "actor": actor });
        let explained = test.post("/policy/explain", &test.admin, question).await.json();
        let row = rows.as_array().unwrap().iter().find(|row| row["actor"] == actor).unwrap();
        assert_eq!(explained["decision"], row["decision"]);
    }
}

#[tokio::test]
async fn a_lead_is_told_of_the_own_team_alone() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let all = test.get("/policy/who-can?op=company.read", &test.admin).await.json();
    assert_eq!(names(&all), ["ana", "aud", "bot", "lea", "liv", "max", "mia", "sam"]);
    let of_ops = test.get("/policy/who-can?op=company.read", &cast.lea).await.json();
    assert_eq!(names(&of_ops), ["bot", "lea", "mia"]);
    assert_eq!(test.get("/policy/who-can?op=company.read", &cast.mia).await.status, 403);
}

#[tokio::test]
async fn the_list_comes_in_pages() {
    let test = Test::new().await;
    test.cast().await;
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = test.get(&format!("/policy/who-can?op=company.read&limit=3{cursor}"), &test.admin).await;
        let rows = page.json();
        assert!(rows.as_array().unwrap().len() <= 3);
        found.extend(names(&rows).into_iter().map(str::to_owned));
        match page.header("x-next-cursor") {
            "" => break,
            next => cursor = format!("&cursor={next}"),
        }
        let elsewhere = test.get(&format!("/policy/who-can?op=tick{cursor}"), &test.admin).await;
        assert_eq!(elsewhere.error(), "400 bad_request invalid cursor");
    }
    found.sort();
    assert_eq!(found, ["ana", "aud", "bot", "lea", "liv", "max", "mia", "sam"]);
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for (query, said) in [
        ("op=fly", "422 invalid op: there is no operation `fly`"),
        ("op=actor.trust", "422 invalid target: name what actor.trust is about"),
        ("op=tick&target=mars", "422 invalid target: tick is about Company, and `mars` is none"),
        ("op=actor.trust&target=bto", "404 not_found not found"),
        ("op=tick&limit=0", "400 bad_request limit: must be 1 to 1000, not 0"),
    ] {
        assert_eq!(test.get(&format!("/policy/who-can?{query}"), &test.admin).await.error(), said);
    }
    let nothing = test.get("/policy/who-can", &test.admin).await;
    assert_eq!(nothing.error(), "400 bad_request missing field `op`");
    let issued = test.post("/tokens", &test.admin, json!({ "for": "max" })).await.json();
    let hidden = format!("/policy/who-can?op=token.revoke&target={}", issued["id"].as_str().unwrap());
    // What is hidden reads as what is absent.
    assert_eq!(test.get(&hidden, &cast.lea).await.status, 422);
}
