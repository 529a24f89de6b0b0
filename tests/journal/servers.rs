//! Servers that continue one log together, each with a state file of its own. Whoever commits second has decided by what
//! was no longer so, and decides again.

use std::sync::Arc;

use ok::gate::state::refold;
use ok::log::head;
use serde_json::{Value, json};

use crate::harness::journal::{Memory, Trouble, Way};
use crate::harness::{Answer, Test};

/// Two servers of one company, and the ways to their log.
struct Pair {
    one: Arc<Test>,
    other: Test,
    /// The other's.
    way: Arc<Way>,
}

async fn pair() -> Pair {
    let log = Arc::new(Memory::default());
    let one = Test::with_journal(Way::to(&log)).await;
    one.add("mia", "person", json!({})).await;
    let way = Way::to(&log);
    let other = one.beside(way.clone());
    Pair { one: Arc::new(one), other, way }
}

impl Pair {
    /// Lets the first server do something just before the other's next commit.
    fn meanwhile(&self, act: impl AsyncFnOnce(&Test) + Send + 'static) {
        let one = Arc::clone(&self.one);
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.way.expect([Trouble::First(Box::new(move || runtime().block_on(act(&one))))]);
    }

    /// Both have the same log and the same tables, and nothing is left that was to happen.
    async fn assert_one(&self) {
        assert!(self.way.is_clear());
        // Each commits once more, after all that the other did.
        let mut sizes = Vec::new();
        for (server, name) in [(&*self.one, "Once"), (&self.other, "Twice"), (&*self.one, "Thrice")] {
            let settings = server.call("PATCH", "/company", &server.admin, Some(json!({ "name": name }))).await;
            assert_eq!(settings.status, 200, "{}", settings.text());
            sizes.push(server.last_seq().await);
        }
        let first = sizes[0];
        assert_eq!(sizes, [first, first + 1, first + 2], "each has all that was there when it committed, and its own");
        for server in [&*self.one, &self.other] {
            let report = server.verdict();
            assert!(report.ok, "{report:#?}");
            assert_eq!(refold::compare(&server.file()).unwrap(), []);
        }
        let note = "SELECT note FROM log_head";
        assert!(self.one.file().query_row(note, [], |row| row.get::<_, String>(0)).unwrap().contains("ok.local"));
    }
}

fn person(id: &str) -> Value {
    json!({ "id": id, "kind": "person" })
}

async fn add(server: &Test, id: &str) -> Answer {
    server.post("/actors", &server.admin, person(id)).await
}

/// Who is there, as a server sees it.
async fn ids(server: &Test) -> Vec<String> {
    let listed = server.get("/actors", &server.admin).await.json();
    let mut ids: Vec<String> =
        listed.as_array().unwrap().iter().map(|actor| actor["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn what_another_server_did_meanwhile_is_taken_over_before_a_change_is_decided() {
    let pair = pair().await;
    pair.meanwhile(async |one| assert_eq!(add(one, "max").await.status, 201));
    assert_eq!(add(&pair.other, "eva").await.status, 201);
    assert_eq!(ids(&pair.other).await, ["ana", "eva", "max", "mia"]);
    // Decided by what was, both would be there.
    pair.meanwhile(async |one| assert_eq!(add(one, "zoe").await.status, 201));
    assert_eq!(add(&pair.other, "zoe").await.error(), "409 conflict id: zoe is taken");
    pair.assert_one().await;
}

#[tokio::test]
async fn a_token_that_was_revoked_at_another_server_does_nothing() {
    let pair = pair().await;
    let token = pair.one.token("ana", json!({})).await;
    let id = pair.one.event().await["event"]["id"].as_str().unwrap().to_owned();
    // The other learns of the token.
    assert_eq!(add(&pair.other, "eva").await.status, 201);
    pair.meanwhile(async move |one| {
        let revoked = one.call("DELETE", &format!("/tokens/id/{id}"), &one.admin, None).await;
        assert_eq!(revoked.status, 200, "{}", revoked.text());
    });
    let late = pair.other.post("/actors", &token, person("zoe")).await;
    assert_eq!(late.status, 401, "{}", late.text());
    assert!(!ids(&pair.other).await.contains(&"zoe".to_owned()));
    pair.assert_one().await;
}

#[tokio::test]
async fn a_retry_at_another_server_is_given_the_answer_and_done_once() {
    let pair = pair().await;
    let first = Arc::new(std::sync::Mutex::new(String::new()));
    let answered = Arc::clone(&first);
    pair.meanwhile(async move |one| {
        let done = one.once("/actors", "key", person("max")).await;
        assert_eq!(done.status, 201);
        *answered.lock().unwrap() = done.text();
    });
    let again = pair.other.once("/actors", "key", person("max")).await;
    assert_eq!((again.status.as_u16(), again.header("idempotent-replayed")), (201, "true"), "{}", again.text());
    assert_eq!(again.text(), *first.lock().unwrap());
    pair.assert_one().await;
}

#[tokio::test]
async fn all_who_share_a_batch_are_decided_again_and_each_is_answered_once() {
    let pair = pair().await;
    pair.meanwhile(async |one| assert_eq!(add(one, "p2").await.status, 201));
    let add = |id| add(&pair.other, id);
    let (first, second, third, fourth) = tokio::join!(add("p0"), add("p1"), add("p2"), add("p3"));
    let answers = [first, second, third, fourth].map(|answer| answer.status.as_u16());
    assert_eq!(answers, [201, 201, 409, 201]);
    pair.assert_one().await;
}

#[tokio::test]
async fn equal_refusals_are_counted_once_however_often_the_head_has_moved() {
    let pair = pair().await;
    let mia = pair.one.token("mia", json!({})).await;
    assert_eq!(add(&pair.other, "eva").await.status, 201);
    let refused = async || {
        let refused = pair.other.post("/kill", &mia, json!({ "scope": "global" })).await;
        assert_eq!(refused.status, 403);
    };
    refused().await;
    refused().await;
    refused().await;
    pair.other.clock.advance(2_000);
    // The count is recorded in a transaction that is tried twice.
    pair.meanwhile(async |one| assert_eq!(add(one, "max").await.status, 201));
    assert_eq!(add(&pair.other, "zoe").await.status, 201);
    let events = pair.other.get("/events?type=denied", &pair.other.admin).await.json();
    let counts: Vec<&Value> =
        events["events"].as_array().unwrap().iter().map(|event| &event["event"]["count"]).collect();
    assert_eq!(counts, [&Value::Null, &json!(2)], "{events}");
    pair.assert_one().await;
}

#[tokio::test]
async fn a_server_that_is_always_too_late_gives_up_and_nothing_has_happened() {
    let pair = pair().await;
    for number in 0..8 {
        pair.meanwhile(async move |one| assert_eq!(add(one, &format!("p{number}")).await.status, 201));
    }
    let late = add(&pair.other, "zoe").await;
    assert_eq!(late.error(), "503 audit_unavailable the log cannot be written: nothing was done");
    assert!(pair.way.is_clear());
    assert!(ids(&pair.other).await.contains(&"p7".to_owned()));
    assert_eq!(add(&pair.other, "zoe").await.status, 201);
    pair.assert_one().await;
}

#[tokio::test]
async fn a_log_that_is_away_is_told_as_it_is_known() {
    let pair = pair().await;
    let nothing = "503 audit_unavailable the log cannot be written: nothing was done";
    pair.way.expect([Trouble::Unreachable]);
    assert_eq!(add(&pair.other, "max").await.error(), nothing);
    assert_eq!(pair.other.once("/actors", "key", person("max")).await.status, 201);
    // What broke off and is found in the log was done.
    pair.way.expect([Trouble::Unanswered]);
    assert_eq!(add(&pair.other, "eva").await.status, 201);
    // What is not found may still arrive.
    pair.way.expect([Trouble::BrokenOff]);
    let unknown = add(&pair.other, "zoe").await.error();
    assert!(unknown.starts_with("503 audit_unavailable") && unknown.contains("outcome is not known"), "{unknown}");
    assert_eq!(add(&pair.other, "zoe").await.status, 201);
    assert_eq!(ids(&pair.other).await, ["ana", "eva", "max", "mia", "zoe"]);
    pair.assert_one().await;
}

#[tokio::test]
async fn a_server_that_starts_takes_over_what_it_missed_and_forgets_what_was_erased() {
    let Pair { one, other, way } = pair().await;
    let mia = one.token("mia", json!({})).await;
    one.post("/kill", &mia, json!({ "scope": "tool:zebra-crossing" })).await;
    let seq = one.last_seq().await;
    // The other has the content by now.
    assert_eq!(add(&other, "eva").await.status, 201);
    let body = "SELECT body FROM log_entry WHERE seq = ?";
    let content = |server: &Test| server.file().query_row(body, [seq], |row| row.get::<_, Option<Vec<u8>>>(0)).unwrap();
    assert!(content(&other).is_some());
    let dir = other.closed().await;
    assert_eq!(add(&one, "max").await.status, 201);
    let erased = one.post("/context/forget", &one.admin, json!({ "events": [seq], "reason": "a mistake" })).await;
    assert_eq!(erased.json(), json!({ "forgotten": 1 }));
    let other = one.beside_in(dir, way.clone());
    assert!(content(&other).is_none());
    assert_eq!(head::head(&other.file()).unwrap(), head::head(&one.file()).unwrap());
    assert_eq!(ids(&other).await, ["ana", "eva", "max", "mia"]);
    Pair { one, other, way }.assert_one().await;
}
