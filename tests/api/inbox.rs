use serde_json::{Value, json};

use crate::harness::Test;

async fn items(test: &Test, token: &str, query: &str) -> Vec<Value> {
    test.get(&format!("/inbox{query}"), token).await.json().as_array().unwrap().clone()
}

/// The kinds and titles of items.
fn titles(items: &[Value]) -> Vec<(String, String)> {
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    items.iter().map(|item| (text(item, "kind"), text(item, "title"))).collect()
}

fn pair(kind: &str, title: &str) -> (String, String) {
    (kind.to_owned(), title.to_owned())
}

#[tokio::test]
async fn who_may_decide_is_told_and_then_who_asked() {
    let test = Test::new().await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let asked = test.post("/actors", &lea, json!({ "id": "new", "kind": "person", "team": "team:ops" })).await;
    let approval = asked.json()["approval"].as_str().unwrap().to_owned();

    let waiting = pair("approval", "lea adds new as person to team:ops: waits for you");
    for admin in [&test.admin, &ben] {
        let items = items(&test, admin, "").await;
        assert_eq!((titles(&items), items[0]["subject"].as_str()), (vec![waiting.clone()], Some(approval.as_str())));
    }
    let leads = pair("assignment", "you lead team:ops now");
    assert_eq!(titles(&items(&test, &lea, "").await), std::slice::from_ref(&leads));

    test.post(&format!("/approvals/{approval}"), &ben, json!({ "decision": "approve" })).await;
    assert!(items(&test, &test.admin, "").await.is_empty(), "what is decided waits for nobody");
    assert_eq!(titles(&items(&test, &test.admin, "?all=true").await), [waiting]);
    assert_eq!(
        titles(&items(&test, &lea, "").await),
        [leads, pair("decision", "your request was carried out: adds new as person to team:ops")]
    );
}

#[tokio::test]
async fn what_is_read_first_counts_and_is_an_event() {
    let test = Test::new().await;
    let max = test.add("max", "person", json!({})).await;
    test.add("bot", "agent", json!({ "owner": "max" })).await;
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot" })).await;
    let before = test.last_seq().await;
    let item = items(&test, &max, "").await.remove(0);
    assert_eq!((item["kind"].as_str(), &item["read_at"]), (Some("alert"), &Value::Null));
    let path = format!("/inbox/{}/read", item["id"].as_str().unwrap());
    assert_eq!(test.post(&path, &test.admin, json!({})).await.error(), "404 not_found not found");
    let read = test.post(&path, &max, json!({})).await.json();
    assert_eq!(read["read_at"], "2026-11-20T09:00:00Z");
    test.clock.advance(1_000);
    assert_eq!(test.post(&path, &max, json!({})).await.json()["read_at"], read["read_at"], "the first time counts");
    assert_eq!(test.last_seq().await, before + 1, "the second time changes nothing");
    assert_eq!(test.event().await["event"]["type"], "inbox_item_read");
    assert!(test.verdict().ok);

    let test = test.reopened().await;
    assert_eq!(items(&test, &max, "").await[0]["read_at"], read["read_at"]);
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "off": true })).await;
    assert_eq!(titles(&items(&test, &max, "").await), [pair("assignment", "you answer for bot now")]);
}

#[tokio::test]
async fn who_answers_for_somebody_from_now_on_is_told_until_they_have_read_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    assert_eq!(titles(&items(&test, &cast.lea, "").await), [pair("assignment", "you lead team:ops now")]);
    assert_eq!(titles(&items(&test, &cast.mia, "").await), [pair("assignment", "you answer for bot now")]);
    assert!(items(&test, &test.admin, "").await.is_empty(), "nobody is told of what they did themselves");

    let leaving = json!({ "reason": "moved on", "successor": "max" });
    assert_eq!(test.post("/actors/mia/offboard", &test.admin, leaving).await.status, 200);
    let now = items(&test, &cast.max, "").await;
    assert_eq!(titles(&now), [pair("assignment", "you answer for bot now")]);
    let path = format!("/inbox/{}/read", now[0]["id"].as_str().unwrap());
    assert_eq!(test.post(&path, &cast.max, json!({})).await.status, 200);
    assert!(items(&test, &cast.max, "").await.is_empty(), "what only tells something is over when it is read");
    assert_eq!(items(&test, &cast.max, "?all=true").await.len(), 1);
}

#[tokio::test]
async fn who_is_named_in_a_note_is_told() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let asked = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    let approval = asked.json()["approval"].as_str().unwrap().to_owned();
    let note = json!({ "decision": "reject", "note": "ask @max first, @ana and @nobody know (max@example.org)" });
    test.post(&format!("/approvals/{approval}"), &test.admin, note).await;
    assert_eq!(
        titles(&items(&test, &cast.max, "").await),
        [pair("mention", &format!("ana mentions you in {approval}"))]
    );
    assert!(items(&test, &test.admin, "").await.is_empty(), "nobody mentions themselves");
}

#[tokio::test]
async fn who_may_act_on_somebodys_behalf_is_told_as_long_as_they_may() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let granted = test.post("/delegations", &cast.lea, json!({ "to": "bot", "authority": "inform" })).await.json();
    assert_eq!(titles(&items(&test, &cast.bot, "").await), [pair("assignment", "lea lets you act on their behalf")]);
    let path = format!("/delegations/{}", granted["id"].as_str().unwrap());
    assert_eq!(test.call("DELETE", &path, &cast.lea, None).await.status, 200);
    assert!(items(&test, &cast.bot, "").await.is_empty());
}

/// The types of the events that somebody sees, of those after `since`.
async fn seen(test: &Test, token: &str, since: i64) -> Vec<String> {
    let told = test.get(&format!("/events?since={since}"), token).await.json();
    let kind = |record: &Value| record["event"]["type"].as_str().unwrap().to_owned();
    told["events"].as_array().unwrap().iter().map(kind).collect()
}

#[tokio::test]
async fn what_comes_into_an_inbox_or_is_settled_there_is_seen_in_the_events() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let since = test.last_seq().await;
    let tick = || test.clock.advance(1_000);
    tick();
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot" })).await;
    tick();
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "off": true })).await;
    tick();
    test.post("/actors/bot/trust", &test.admin, json!({ "tier": "trusted", "reason": "does well" })).await;
    assert_eq!(
        seen(&test, &cast.mia, since).await,
        ["kill_switch", "kill_switch"],
        "not all about what one answers for"
    );
    assert_eq!(seen(&test, &cast.max, since).await, [""; 0]);

    let since = test.last_seq().await;
    tick();
    let asked = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    let approval = asked.json()["approval"].as_str().unwrap().to_owned();
    tick();
    let note = json!({ "decision": "reject", "note": "@max would know" });
    test.post(&format!("/approvals/{approval}"), &test.admin, note).await;
    assert_eq!(seen(&test, &cast.max, since).await, ["approval_decided"], "a name in a text shows that text alone");
    assert_eq!(seen(&test, &cast.mia, since).await, [""; 0]);
}
