//! Erased content is gone, and the log still verifies.

use std::time::{Duration, Instant};

use bstr::ByteSlice as _;
use ok::types::time::DAY;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::Test;

/// Makes a recorded refusal whose content is found in the file, and returns its number.
async fn refusal(test: &Test) -> i64 {
    let mia = test.add("mia", "person", json!({})).await;
    test.post("/kill", &mia, json!({ "scope": "tool:zebra-crossing" })).await;
    test.last_seq().await
}

fn content(test: &Test, seq: i64) -> Option<Vec<u8>> {
    test.file().query_row("SELECT body FROM log_entry WHERE seq = ?", [seq], |row| row.get(0)).unwrap()
}

fn in_file(test: &Test, text: &[u8]) -> bool {
    let files = std::fs::read_dir(test.dir.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.contains_str(text))
}

#[tokio::test]
async fn forgotten_content_is_gone_from_the_file_and_declared() {
    let test = Test::new().await;
    let seq = refusal(&test).await;
    let body = content(&test, seq).unwrap();
    assert!(in_file(&test, &body));
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": [seq], "reason": "a mistake" })).await;
    assert_eq!(forgotten.json(), json!({ "forgotten": 1 }));
    let shown = test.get(&format!("/events?since={}&limit=1", seq - 1), &test.admin).await.json();
    assert_eq!(shown["events"][0]["event"], json!({ "type": "denied", "erased": true }));
    assert_eq!(
        test.event().await["event"],
        json!({ "type": "context_forgotten", "events": [seq], "reason": "a mistake" })
    );
    assert!(!in_file(&test, &body), "the erased content is still in the file or in its journal");
    let test = test.reopened().await;
    assert!(content(&test, seq).is_none());
    let report = test.verdict();
    assert_eq!((report.ok, report.redacted), (true, 1), "{report:#?}");
}

#[tokio::test]
async fn a_reader_delays_neither_the_answer_nor_for_long_the_erasing() {
    let test = Test::new().await;
    let seq = refusal(&test).await;
    let body = content(&test, seq).unwrap();
    let reader = test.file();
    reader.execute_batch("BEGIN; SELECT count(*) FROM log_entry").unwrap();
    let begun = Instant::now();
    test.post("/context/forget", &test.admin, json!({ "events": [seq], "reason": "a mistake" })).await;
    assert!(begun.elapsed() < Duration::from_millis(1_900), "the reader held the writer up");
    assert!(in_file(&test, &body), "the reader still reads it");
    drop(reader);
    while in_file(&test, &body) {
        assert!(begun.elapsed() < Duration::from_secs(15), "the erased content stays");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn content_that_is_gone_without_a_word_is_tampering() {
    let test = Test::new().await;
    let seq = refusal(&test).await;
    let path = test.path();
    let test = test.reopened().await;
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute("UPDATE log_entry SET salt = NULL, body = NULL WHERE seq = ?", [seq]).unwrap();
    let report = test.verdict();
    assert_eq!((report.ok, report.first_bad_seq), (false, Some(seq as u64)), "{report:#?}");
    let asked = test.post("/audit/verify", &test.admin, json!({})).await.json();
    assert_eq!((&asked["ok"], &asked["first_bad_seq"]), (&json!(false), &json!(seq)));
}

#[tokio::test]
async fn what_the_company_rests_on_cannot_be_forgotten() {
    let test = Test::new().await;
    let seq = refusal(&test).await;
    let forget = |events: serde_json::Value| json!({ "events": events, "reason": "tidying" });
    let answer = test.post("/context/forget", &test.admin, forget(json!([1, seq, 999]))).await;
    assert_eq!(
        answer.json()["problems"],
        json!(["events: the company's state depends on 1 (company_created)", "events: there is no event 999"])
    );
    assert!(content(&test, seq).is_some(), "all or nothing");
    test.post("/context/forget", &test.admin, forget(json!([seq]))).await;
    let twice = test.post("/context/forget", &test.admin, forget(json!([seq]))).await;
    assert_eq!(twice.error(), format!("422 invalid events: the content of {seq} is erased already"));
    assert_eq!(test.post("/context/forget", &test.admin, forget(json!([]))).await.status, 422);
}

#[tokio::test]
async fn after_erasing_the_tables_are_still_what_the_log_says() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let parked = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    assert_eq!(parked.status, 202);
    test.clock.advance(3 * DAY);
    test.post("/tick", &test.admin, json!({})).await;
    test.post("/kill", &cast.mia, json!({ "scope": "tool:mail.send" })).await;
    for seq in 1..=test.last_seq().await {
        test.post("/context/forget", &test.admin, json!({ "events": [seq], "reason": "all that can be" })).await;
    }
    assert_eq!(test.newest(1).await, ["context_forgotten"]);
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn only_admins_erase() {
    let test = Test::new().await;
    let seq = refusal(&test).await;
    let cast = test.add("lea", "person", json!({ "role": "lead" })).await;
    let answer = test.post("/context/forget", &cast, json!({ "events": [seq], "reason": "mine" })).await;
    assert_eq!(answer.error(), "403 denied policy denied context.forget: only admins erase content");
}

#[tokio::test]
async fn the_answer_that_was_kept_with_it_goes_too() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let bearer = format!("Bearer {mia}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", "key-1")];
    let asked = json!({ "scope": "tool:zebra-crossing" }).to_string();
    let answer = test.raw("POST", "/kill", &headers, asked.clone()).await;
    let seq = test.last_seq().await;
    // What the log keeps of it is no way to try out what was asked.
    let digest = |request: &[u8]| {
        let answered = Sha256::new().chain_update(b"ok/answer/v1\0").chain_update(request);
        hex::encode(answered.chain_update(answer.status.as_u16().to_be_bytes()).chain_update(answer.text()).finalize())
    };
    let entry: Value = serde_json::from_slice(&content(&test, seq).unwrap()).unwrap();
    let request: Vec<u8> = test.file().query_row("SELECT request FROM idem", [], |row| row.get(0)).unwrap();
    assert_eq!(entry["gate"]["answer"], digest(&request), "{entry}");
    assert_ne!(entry["gate"]["answer"], digest(&Sha256::digest(&asked)));
    let zebras = || {
        let sql = "SELECT count(*) FROM idem WHERE instr(body, 'zebra') OR request = ?";
        test.file().query_row(sql, [&request], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(zebras(), 1);
    test.post("/context/forget", &test.admin, json!({ "events": [seq], "reason": "a mistake" })).await;
    assert_eq!(zebras(), 0);
    // The key stays used: a retry of what was done would do it again, and bring back what was erased.
    for body in [asked, json!({ "scope": "tool:other" }).to_string()] {
        let again = test.raw("POST", "/kill", &headers, body).await;
        let gone = "this Idempotency-Key was used, and the answer has been erased since; use another key";
        assert_eq!(again.error(), format!("409 conflict {gone}"));
    }
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
    test.clock.advance(DAY);
    assert_ne!(test.raw("POST", "/kill", &headers, json!({ "scope": "tool:other" }).to_string()).await.status, 409);
}

#[tokio::test]
async fn an_answer_outlives_the_erasure_of_an_earlier_one_under_its_key() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let bearer = format!("Bearer {mia}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", "key-1")];
    let asks = async |scope: &str| test.raw("POST", "/kill", &headers, json!({ "scope": scope }).to_string()).await;
    asks("tool:first").await;
    let first = test.last_seq().await;
    test.clock.advance(DAY);
    let second = asks("tool:second").await;
    test.post("/context/forget", &test.admin, json!({ "events": [first], "reason": "a mistake" })).await;
    let again = asks("tool:second").await;
    assert_eq!((again.text(), again.header("idempotent-replayed")), (second.text(), "true"));
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}
