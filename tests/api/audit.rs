//! Evidence for outsiders.

use ok::log::verify::note::VerifierKey;
use ok::log::verify::proof::{check_consistency, check_inclusion, check_proof};
use serde_json::json;

use crate::harness::Test;

async fn key(test: &Test) -> VerifierKey {
    VerifierKey::parse(test.get("/audit/key", &test.admin).await.text().trim_end()).unwrap()
}

fn leaf(test: &Test, seq: i64) -> Vec<u8> {
    test.file().query_row("SELECT leaf FROM log_entry WHERE seq = ?", [seq], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn every_entry_is_proven_with_the_key_alone() {
    let test = Test::new().await;
    test.cast().await;
    let key = key(&test).await;
    let last = test.last_seq().await;
    for seq in 1..=last {
        let proof = test.get(&format!("/audit/proof/{seq}"), &test.admin).await;
        assert_eq!(proof.header("content-type"), "text/plain; charset=utf-8");
        let note = check_inclusion(&proof.text(), &leaf(&test, seq), &key).unwrap();
        assert_eq!(note.size, last as u64);
        assert_eq!(check_proof(&proof.text(), &key).unwrap().leaf, leaf(&test, seq), "it holds the leaf");
        let other = leaf(&test, seq % last + 1);
        assert!(check_inclusion(&proof.text(), &other, &key).is_err(), "it proves this entry only");
    }
    for seq in ["0", "-1", "x", &(last + 1).to_string()] {
        let absent = test.get(&format!("/audit/proof/{seq}"), &test.admin).await;
        assert_eq!(absent.error(), "404 not_found not found");
    }
}

#[tokio::test]
async fn the_log_of_now_is_proven_to_continue_every_earlier_one() {
    let test = Test::new().await;
    let key = key(&test).await;
    let mut heads = Vec::new();
    for number in 0..12 {
        let head = test.get("/audit/head", &test.admin).await.json();
        heads.push((head["size"].as_u64().unwrap(), head["signed_note"].as_str().unwrap().to_owned()));
        test.post("/actors", &test.admin, json!({ "id": format!("p{number}"), "kind": "person" })).await;
    }
    for (size, note) in &heads {
        let proof = test.get(&format!("/audit/consistency?from={size}"), &test.admin).await.text();
        let newer = check_consistency(&proof, note, &key).unwrap();
        assert_eq!(newer.size, test.last_seq().await as u64);
        let forged = proof.replace(&format!("from {size}\n"), &format!("from {}\n", size - 1));
        assert!(check_consistency(&forged, note, &key).is_err());
    }
    let beyond = test.get("/audit/consistency?from=1&to=99", &test.admin).await;
    assert_eq!(beyond.error(), "400 bad_request to: no checkpoint of 99 entries was published");
    let backwards = test.get("/audit/consistency?from=3&to=2", &test.admin).await;
    assert_eq!(backwards.error(), "400 bad_request from: must be at most 2");
}

#[tokio::test]
async fn the_head_is_the_newest_signed_state() {
    let test = Test::new().await;
    let answer = test.get("/audit/head", &test.admin).await;
    assert_eq!(answer.fields(), ["at", "key_id", "prev", "root", "seq", "signed_note", "size"]);
    let head = answer.json();
    assert_eq!((&head["seq"], &head["size"]), (&json!(test.last_seq().await), &json!(test.last_seq().await)));
    let note = ok::log::verify::note::Note::parse(head["signed_note"].as_str().unwrap()).unwrap();
    note.verify(&key(&test).await).unwrap();
    assert_eq!(json!(note.size), head["size"]);
}

#[tokio::test]
async fn the_whole_log_is_checked_and_against_what_was_seen_before() {
    let test = Test::new().await;
    let note = test.get("/audit/head", &test.admin).await.json()["signed_note"].clone();
    test.cast().await;
    let report = test.post("/audit/verify", &test.admin, json!({ "checkpoint": note })).await.json();
    let last = test.last_seq().await;
    assert_eq!((&report["ok"], &report["checked"], &report["vouched"]), (&json!(true), &json!(last), &json!(last)));
    let part = test.post("/audit/verify", &test.admin, json!({ "from": 2, "to": 4 })).await.json();
    assert_eq!((&part["ok"], &part["checked"]), (&json!(true), &json!(3)));
    let other = Test::new().await;
    let foreign = other.post("/audit/verify", &other.admin, json!({ "checkpoint": "nonsense" })).await;
    assert_eq!(foreign.status, 422, "{}", foreign.text());
    let forged = note.as_str().unwrap().replace("\n4\n", "\n5\n");
    let fork = test.post("/audit/verify", &test.admin, json!({ "checkpoint": forged })).await;
    assert_eq!((fork.status.as_u16(), &fork.json()["ok"]), (200, &json!(false)), "{}", fork.text());
}

#[tokio::test]
async fn published_checkpoints_are_paged_newest_first() {
    let test = Test::new().await;
    for number in 0..6 {
        test.clock.advance(1_000);
        test.post("/actors", &test.admin, json!({ "id": format!("p{number}"), "kind": "person" })).await;
    }
    let all = test.get("/audit/checkpoints", &test.admin).await.json();
    let all: Vec<_> = all.as_array().unwrap().iter().map(|one| one["size"].as_u64().unwrap()).collect();
    assert!(all.len() >= 6 && all.is_sorted_by(|a, b| a > b), "{all:?}");
    let (mut paged, mut path) = (Vec::new(), "/audit/checkpoints?limit=2".to_owned());
    loop {
        let page = test.get(&path, &test.admin).await;
        paged.extend(page.json().as_array().unwrap().iter().map(|one| one["size"].as_u64().unwrap()));
        if page.header("x-next-cursor").is_empty() {
            break;
        }
        path = format!("/audit/checkpoints?limit=2&cursor={}", page.header("x-next-cursor"));
    }
    assert_eq!(paged, all);
}

#[tokio::test]
async fn the_audit_is_for_admins_and_auditors_and_for_no_scope() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let scoped = test.token("ana", json!({ "scopes": ["read", "changes", "policy"] })).await;
    for (method, path, name) in [
        ("GET", "/audit/head", "head"),
        ("GET", "/audit/key", "key"),
        ("GET", "/audit/checkpoints", "checkpoints"),
        ("GET", "/audit/consistency?from=1", "consistency"),
        ("POST", "/audit/verify", "verify"),
    ] {
        let body = || (method == "POST").then(|| json!({}));
        assert_eq!(test.call(method, path, &cast.aud, body()).await.status, 200, "{path}");
        let member = test.call(method, path, &cast.mia, body()).await;
        let refused = format!("403 denied policy denied audit.{name}: only admins and auditors read the audit");
        assert_eq!(member.error(), refused);
        let out = test.call(method, path, &scoped, body()).await;
        let route = path.split('?').next().unwrap();
        assert_eq!(out.error(), format!("403 token_scope this token's scopes do not reach {method} {route}"));
    }
}
