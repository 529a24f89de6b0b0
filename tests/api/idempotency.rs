//! The same request again: one effect, the same answer.

use serde_json::json;

use super::brain;
use crate::harness::Test;
use ok::types::time::DAY;

#[tokio::test]
async fn the_same_key_gives_the_same_answer_and_one_effect_even_after_a_restart() {
    let test = Test::new().await;
    let new = || json!({ "id": "new", "kind": "person" });
    let first = test.once("/actors", "key-1", new()).await;
    assert_eq!((first.status.as_u16(), first.header("idempotent-replayed")), (201, ""));
    let seq = test.last_seq().await;
    let again = test.once("/actors", "\"key-1\"", new()).await;
    assert_eq!((again.status, again.text(), again.header("idempotent-replayed")), (first.status, first.text(), "true"));
    let test = test.reopened().await;
    let later = test.once("/actors", "key-1", json!({ "kind": "person", "id": "new" })).await;
    assert_eq!((later.status, later.text(), later.header("idempotent-replayed")), (first.status, first.text(), "true"));
    assert_eq!(test.last_seq().await, seq);
    test.clock.advance(DAY);
    assert_eq!(test.once("/actors", "key-1", new()).await.status, 409, "after a day the key is forgotten");
}

#[tokio::test]
async fn whom_a_kill_switch_stops_is_refused_whatever_they_were_answered_before_and_that_is_recorded() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let with = |key: &str| {
        let bearer = format!("Bearer {}", cast.mia);
        let headers = [
            ("authorization", bearer),
            ("idempotency-key", key.to_owned()),
            ("content-type", "application/json".into()),
        ];
        let test = &test;
        async move {
            let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            test.raw("POST", "/tasks", &headers, json!({ "title": "write" }).to_string()).await
        }
    };
    let first = with("key-1").await;
    assert_eq!(first.status, 201, "{}", first.text());
    test.post("/kill", &test.admin, json!({ "scope": "actor:mia", "reason": "stolen" })).await;
    for key in ["key-1", "key-2"] {
        let before = test.last_seq().await;
        let stopped = with(key).await;
        let why = "403 denied policy denied task.create: a kill switch stops this actor (ana: stolen)";
        assert_eq!((stopped.error().as_str(), stopped.header("idempotent-replayed")), (why, ""), "{key}");
        assert!(!stopped.header("ok-decision").is_empty(), "{key}");
        assert!(key == "key-2" || test.last_seq().await == before + 1, "it is in the log");
    }
    // Released, they are told what was done, and what was refused is done.
    test.post("/kill", &test.admin, json!({ "scope": "actor:mia", "off": true })).await;
    let (again, new) = (with("key-1").await, with("key-2").await);
    assert_eq!((again.text(), again.header("idempotent-replayed")), (first.text(), "true"));
    assert_eq!((new.status.as_u16(), new.header("idempotent-replayed")), (201, ""), "{}", new.text());
    // The refusal has no part in that: erased, it takes no answer with it.
    let refusals = test.get("/events?type=denied", &test.admin).await.json();
    let seqs: Vec<_> = refusals["events"].as_array().unwrap().iter().map(|event| event["seq"].clone()).collect();
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": seqs, "reason": "asked for" })).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    assert_eq!(with("key-2").await.text(), new.text());
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let test = Test::new().await;
    test.once("/actors", "key-1", json!({ "id": "new", "kind": "person" })).await;
    let other = test.once("/actors", "key-1", json!({ "id": "other", "kind": "person" })).await;
    assert_eq!(other.error(), "422 idempotency_mismatch this Idempotency-Key was used for another request");
    assert_eq!(test.once("/tokens", "key-1", json!({})).await.status, 201, "on another address it is another key");
    let bea = test.add("bea", "person", json!({ "role": "admin" })).await;
    let headers = [
        ("authorization", &*format!("Bearer {bea}")),
        ("content-type", "application/json"),
        ("idempotency-key", "key-1"),
    ];
    let twice: Vec<_> = headers.iter().copied().chain([("idempotency-key", "key-2")]).collect();
    let which = test.raw("POST", "/actors", &twice, json!({ "id": "third", "kind": "person" }).to_string()).await;
    assert_eq!(which.error(), "400 bad_request Idempotency-Key: must be given once");
    let under: Vec<_> =
        headers.iter().copied().chain([("ok-delegation", "dlg_1"), ("ok-delegation", "dlg_2")]).collect();
    let which = test.raw("POST", "/actors", &under, json!({ "id": "third", "kind": "person" }).to_string()).await;
    assert_eq!(which.error(), "400 bad_request ok-delegation: must be given once");
    let hers = test.raw("POST", "/actors", &headers, json!({ "id": "third", "kind": "person" }).to_string()).await;
    assert_eq!(hers.status, 201, "for another actor too");
}

#[tokio::test]
async fn a_secret_is_not_given_again() {
    let test = Test::new().await;
    let first = test.once("/tokens", "key-1", json!({ "label": "ci" })).await.json();
    let again = test.once("/tokens", "key-1", json!({ "label": "ci" })).await.json();
    assert_eq!((&again["id"], again.get("token")), (&first["id"], None));
    let seq = test.last_seq().await;
    let kept = test.file().query_row("SELECT body FROM idem", [], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    assert!(!String::from_utf8(kept).unwrap().contains(first["token"].as_str().unwrap()));
    assert_eq!(test.last_seq().await, seq);
}

#[tokio::test]
async fn a_refusal_and_a_wait_are_answered_again_a_bad_request_is_asked_again() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let as_lea = [
        ("authorization", &*format!("Bearer {}", cast.lea)),
        ("content-type", "application/json"),
        ("idempotency-key", "key-1"),
    ];
    let wait = json!({ "id": "new", "kind": "agent", "team": "team:ops" }).to_string();
    let first = test.raw("POST", "/actors", &as_lea, wait.clone()).await;
    let seq = test.last_seq().await;
    let again = test.raw("POST", "/actors", &as_lea, wait).await;
    assert_eq!((again.status.as_u16(), again.text()), (202, first.text()), "the same approval");
    let denied = test.raw("POST", "/tick", &as_lea, "{}").await;
    assert_eq!(denied.status, 403);
    let denied = test.raw("POST", "/tick", &as_lea, "{}").await;
    assert_eq!((denied.status.as_u16(), denied.header("idempotent-replayed")), (403, "true"));
    assert_eq!(test.last_seq().await, seq + 1, "one refusal was recorded");
    let bad = json!({ "id": "new", "kind": "person", "name": "" });
    assert_eq!(test.once("/actors", "key-2", bad).await.status, 422);
    let good = json!({ "id": "new", "kind": "person" });
    assert_eq!(test.once("/actors", "key-2", good).await.status, 201, "nothing had happened under this key");
}

#[tokio::test]
async fn who_was_stopped_meanwhile_gets_no_stored_answer() {
    let test = Test::new().await;
    let bea = test.add("bea", "person", json!({ "role": "admin" })).await;
    let bearer = format!("Bearer {bea}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", "key-1")];
    let body = json!({ "id": "new", "kind": "person" }).to_string();
    assert_eq!(test.raw("POST", "/actors", &headers, body.clone()).await.status, 201);
    test.post("/kill", &test.admin, json!({ "scope": "actor:bea" })).await;
    let stopped = test.raw("POST", "/actors", &headers, body).await;
    assert_eq!((stopped.status.as_u16(), stopped.header("idempotent-replayed")), (403, ""));
}

#[tokio::test]
async fn a_key_has_1_to_255_characters() {
    let test = Test::new().await;
    let bad = "400 bad_request Idempotency-Key: must have 1 to 255 visible ASCII characters";
    for key in ["", "\"\"", &"k".repeat(256)] {
        assert_eq!(test.once("/tokens", key, json!({})).await.error(), bad, "{key}");
    }
    assert_eq!(test.once("/tokens", &"k".repeat(255), json!({})).await.status, 201);
}

#[tokio::test]
async fn a_kept_answer_that_was_changed_added_or_removed_is_found() {
    let test = Test::new().await;
    test.once("/actors", "key-1", json!({ "id": "new", "kind": "person" })).await;
    let compared = |sql: &str| {
        let file = ok::store::open::connect(&test.path(), ok::store::open::Mode::Write).unwrap();
        file.execute_batch(&format!("SAVEPOINT edit; {sql}")).unwrap();
        let found = ok::gate::state::refold::compare(&file).unwrap();
        file.execute_batch("ROLLBACK TO edit").unwrap();
        found.into_iter().map(|difference| difference.message).collect::<Vec<_>>()
    };
    assert_eq!(compared(""), Vec::<String>::new());
    for sql in [
        "UPDATE idem SET body = x'7b7d'",
        "UPDATE idem SET status = 200",
        "UPDATE idem SET request = zeroblob(32)",
        "UPDATE idem SET expires_at = expires_at + 1",
    ] {
        assert_eq!(compared(sql), ["is not the answer that was recorded"], "{sql}");
    }
    let missing = "is missing: a retry would be carried out";
    assert_eq!(compared("DELETE FROM idem"), [missing]);
    assert_eq!(compared("UPDATE idem SET key = zeroblob(32)"), ["is an answer that no entry was given", missing]);
}

#[tokio::test]
async fn what_changes_nothing_keeps_no_answer() {
    let test = Test::new().await;
    let kill = || json!({ "scope": "tool:mail.send", "engage": false, "reason": "r" });
    test.once("/kill", "key-1", kill()).await;
    test.once("/kill", "key-2", kill()).await;
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn an_answer_that_is_repeated_shows_what_its_reader_may_read_by_now() {
    let (test, cast) = brain::company().await;
    let as_lea = [
        ("authorization", &*format!("Bearer {}", cast.lea)),
        ("content-type", "application/json"),
        ("idempotency-key", "1"),
    ];
    let fields = json!({ "fields": { "number": "1", "total": "9", "iban": "DE00" } }).to_string();
    let records = format!("{}/records", brain::INVOICES);
    let write = || test.raw("POST", &records, &as_lea, fields.clone());
    let first = write().await;
    assert_eq!(first.json()["fields"]["total"], "9.00");
    assert_eq!(write().await.text(), first.text());
    let member = test.call("PATCH", "/actors/lea", &test.admin, Some(json!({ "role": "member" }))).await;
    assert_eq!(member.status, 200, "{}", member.text());
    let again = write().await;
    assert_eq!((again.status.as_u16(), again.header("idempotent-replayed")), (200, "true"));
    assert_eq!(again.json()["fields"], json!({ "number": "1", "status": "new" }));
    assert_eq!(again.json()["withheld"], json!(["iban", "total"]));
    // Nothing of it where the record itself is out of sight.
    let hidden = "@id(\"hidden\") @reason(\"no\") forbid (principal == Ok::Actor::\"lea\", action == Ok::Action::\"record.read\", resource is Brain::invoices);";
    let refused = brain::apply(&test, hidden).await;
    assert_eq!(refused.status, 200, "{}", refused.text());
    let message = "403 denied this request was carried out before, and its answer is no longer for you to read";
    let hidden = write().await;
    assert_eq!((hidden.error().as_str(), hidden.header("idempotent-replayed")), (message, "true"));
}
