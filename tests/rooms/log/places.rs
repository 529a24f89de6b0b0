//! State files and exports that are not what they should be, and what the auditor brings along.

use super::sample::{Event, Pieces, key, note, root, vkey};
use ok::log::verify::{Ask, Report, Unreadable, verify_export, verify_sqlite};
use rusqlite::Connection;

const NOTHING: Ask<'static> = Ask { vkey: None, since: None, from: None, to: None };

fn after(sql: &str) -> Report {
    let db = Pieces::plain(300, 100).sqlite();
    db.execute_batch(sql).unwrap();
    verify_sqlite(&db, &NOTHING).unwrap()
}

#[test]
fn values_of_another_type_are_findings() {
    let cases = [
        ("UPDATE log_entry SET leaf = NULL WHERE seq = 20", Some(20)),
        ("UPDATE log_entry SET leaf = CAST(leaf AS TEXT) WHERE seq = 20", Some(20)),
        ("UPDATE log_entry SET leaf = 1.5 WHERE seq = 20", Some(20)),
        ("UPDATE log_entry SET seq = -20 WHERE seq = 20", Some(1)),
        ("UPDATE log_entry SET seq = 9223372036854775807 WHERE seq = 20", Some(20)),
        ("DELETE FROM log_entry", Some(1)),
        ("UPDATE log_entry SET salt = NULL WHERE seq = 20", Some(20)),
        ("UPDATE log_entry SET body = 7 WHERE seq = 20", Some(20)),
        ("UPDATE log_entry SET salt = zeroblob(31) WHERE seq = 20", Some(20)),
        ("UPDATE log_tile SET hashes = NULL", None),
        ("UPDATE log_tile SET hashes = substr(hashes, 1, 8191)", None),
        ("UPDATE log_tile SET idx = 1", None),
        ("DELETE FROM log_tile", None),
        ("INSERT INTO log_tile VALUES (0, 1, zeroblob(8192))", None),
        ("INSERT INTO log_tile VALUES ('x', NULL, 1)", None),
        ("UPDATE log_head SET size = 299", None),
        ("UPDATE log_head SET size = 'x', root = 3", None),
        ("UPDATE log_head SET origin = NULL", None),
        ("UPDATE log_head SET note = NULL", None),
        ("UPDATE log_head SET vkey = 5", None),
        ("DELETE FROM log_head", None),
        ("INSERT INTO log_head SELECT 2, origin, vkey, size, root, ts, note, epoch FROM log_head", None),
        ("UPDATE log_checkpoint SET size = 150 WHERE size = 100", None),
        ("UPDATE log_checkpoint SET root = NULL WHERE size = 100", None),
        ("UPDATE log_checkpoint SET note = 5 WHERE size = 100", None),
    ];
    for (sql, seq) in cases {
        let report = after(sql);
        assert!(!report.ok, "{sql}");
        assert_eq!(report.first_bad_seq, seq, "{sql}: {report:#?}");
    }
}

#[test]
fn problems_are_capped_and_in_order() {
    let report = after("UPDATE log_entry SET salt = NULL, body = NULL");
    assert_eq!((report.problems.len(), report.first_bad_seq), (100, Some(1)));
    assert!(report.problems.is_sorted());
}

#[test]
fn a_range_limits_which_payloads_are_checked() {
    let db = Pieces::plain(300, 100).sqlite();
    db.execute_batch("UPDATE log_entry SET body = x'00' WHERE seq = 20").unwrap();
    let check = |from, to| {
        let report = verify_sqlite(&db, &Ask { from: Some(from), to: Some(to), ..NOTHING }).unwrap();
        (report.ok, report.checked, report.size)
    };
    assert_eq!(check(20, 20), (false, 1, 300));
    assert_eq!(check(21, 300), (true, 280, 300));
    assert_eq!(check(1, 19), (true, 19, 300));
    db.execute_batch("UPDATE log_entry SET leaf = x'00' WHERE seq = 5").unwrap();
    assert!(!check(21, 300).0);
}

#[test]
fn a_payload_has_the_form_that_a_gate_gives_it() {
    let verdict = |body: &str| {
        let mut events: Vec<Event> = (1..=30).map(Event::new).collect();
        events[9].holds(body);
        let [report, _] = Pieces::of(&events, 10).verdicts(&NOTHING);
        (report.ok, report.first_bad_seq, report.vouched)
    };
    assert_eq!(
        verdict("{\"event\":{\"n\":[1,-0.5,1e+21,null,{}],\"type\":\"run_started\"},\"gate\":{}}"),
        (true, None, 30)
    );
    for body in [
        "",
        "no JSON",
        "{}",
        "{\"event\":{\"type\":\"run_started\"}}",
        "{\"event\":{\"type\":\"run_stopped\"},\"gate\":{}}",
        "{\"event\":{\"a\":1,\"a\":1,\"type\":\"run_started\"},\"gate\":{}}",
        "{\"event\":{\"type\":\"run_started\",\"a\":1},\"gate\":{}}",
        "{\"event\": {\"type\":\"run_started\"},\"gate\":{}}",
        "{\"event\":{\"type\":\"run_started\"},\"gate\":{}}\n",
        "{\"event\":{\"type\":\"run_started\"},\"gate\":{},\"more\":1}",
        "{\"event\":{\"a\":\"\\u0041\",\"type\":\"run_started\"},\"gate\":{}}",
    ] {
        assert_eq!(verdict(body), (false, Some(10), 9), "{body}");
    }
    let deep = format!(
        "{{\"event\":{{\"a\":{}{},\"type\":\"run_started\"}},\"gate\":{{}}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    assert_eq!(verdict(&deep).1, Some(10));
}

#[test]
fn a_verdict_says_what_it_did_not_look_at() {
    let db = Pieces::plain(30, 10).sqlite();
    let said = |ask: Ask<'_>| verify_sqlite(&db, &ask).unwrap().not_checked;
    assert_eq!(
        said(Ask { vkey: Some(&vkey(&key())), since: Some(&note(&key(), 0, &root(&[]))), ..NOTHING }),
        Vec::<String>::new()
    );
    assert!(said(Ask { from: Some(11), to: Some(20), ..NOTHING })[0].contains("before 11 and after 20"));
    assert_eq!(said(NOTHING).len(), 2);
}

#[test]
fn a_damaged_page_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    Pieces::plain(300, 100).sqlite().execute("VACUUM INTO ?", [path.to_str().unwrap()]).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.windows(9).position(|window| window == b"\"seq\":200").unwrap() / 4096 * 4096;
    bytes[middle..middle + 100].fill(0xee);
    std::fs::write(&path, bytes).unwrap();
    let db = Connection::open_in_memory().unwrap();
    db.execute("ATTACH ? AS damaged", [path.to_str().unwrap()]).unwrap();
    let report = verify_sqlite(&db, &NOTHING).unwrap();
    assert!(!report.ok);
    assert!(report.first_bad_seq.is_some_and(|seq| (150..=200).contains(&seq)), "{report:#?}");
    assert!(matches!(verify_sqlite(&Connection::open_in_memory().unwrap(), &NOTHING), Err(Unreadable::Tables(_))));
}

#[test]
fn verification_works_within_a_transaction_of_the_caller() {
    let db = Pieces::plain(3, 1).sqlite();
    db.execute_batch("BEGIN").unwrap();
    assert!(verify_sqlite(&db, &NOTHING).unwrap().ok);
    db.execute_batch("COMMIT").unwrap();
}

#[test]
fn a_foreign_key_or_checkpoint_is_found() {
    let db = Pieces::plain(30, 10).sqlite();
    let stranger = ed25519_dalek::SigningKey::from_bytes(&[8; 32]);
    let report = verify_sqlite(&db, &Ask { vkey: Some(&vkey(&stranger)), ..NOTHING }).unwrap();
    assert!(!report.ok && report.vouched == 0);
    let foreign = note(&stranger, 10, &[1; 32]);
    let report = verify_sqlite(&db, &Ask { since: Some(&foreign), ..NOTHING }).unwrap();
    assert_eq!((report.ok, report.first_bad_seq), (false, None));
    let unusable = |ask: Ask<'_>| verify_sqlite(&db, &ask).unwrap_err();
    assert!(matches!(unusable(Ask { vkey: Some("x"), ..NOTHING }), Unreadable::GivenKey(_)));
    assert!(matches!(unusable(Ask { since: Some("x"), ..NOTHING }), Unreadable::GivenCheckpoint(_)));
}

/// The verdict on an export of which one file was changed.
fn export_with(name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Report {
    let dir = tempfile::tempdir().unwrap();
    Pieces::plain(30, 10).export(dir.path());
    std::fs::write(dir.path().join("README"), "ignored").unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, change(std::fs::read(&path).unwrap())).unwrap();
    verify_export(dir.path(), &NOTHING).unwrap()
}

#[test]
fn broken_export_files_are_findings() {
    let add = |text: &'static [u8]| move |bytes: Vec<u8>| [&bytes, text].concat();
    let shorten = |by: usize| move |bytes: Vec<u8>| bytes[..bytes.len() - by].to_vec();
    assert!(export_with("vkey", add(b"")).ok);
    let bad = [
        (export_with("leaves.jsonl", add(b"\n")), Some(31)),
        (export_with("leaves.jsonl", shorten(1)), Some(30)),
        (export_with("leaves.jsonl", |_| vec![b'x'; 70_000]), Some(1)),
        (export_with("leaves.jsonl", |_| vec![]), Some(1)),
        (export_with("payloads.jsonl", add(b"{\"seq\":31}\n")), Some(31)),
        (export_with("payloads.jsonl", shorten(1)), Some(30)),
        (export_with("payloads.jsonl", |_| b"{}\n\xff\n{\"seq\":3,\"x\":1}\n".to_vec()), Some(1)),
        (export_with("checkpoint", add(b"\xff")), None),
        (export_with("checkpoint", shorten(1)), None),
        (export_with("checkpoints", add(b"--\n")), None),
        (export_with("checkpoints", shorten(3)), None),
        (export_with("checkpoints", |bytes| bytes.repeat(2)), None),
        (export_with("checkpoints", |_| vec![b'\n'; 100_000]), None),
        (export_with("vkey", add(b"\n")), None),
        (export_with("vkey", |_| vec![b'x'; 70_000]), None),
    ];
    for (case, (report, seq)) in bad.iter().enumerate() {
        assert!(!report.ok, "case {case}");
        assert_eq!(report.first_bad_seq, *seq, "case {case}: {report:#?}");
    }
    let missing = verify_export(tempfile::tempdir().unwrap().path(), &NOTHING).unwrap_err();
    assert!(matches!(missing, Unreadable::File { .. }));
}
