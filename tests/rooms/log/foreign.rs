//! The Python verifier, which shares nothing with this one, comes to the same verdicts.

use super::sample::{Event, Pieces, key, note};
use ok::log::verify::{Ask, verify_export};
use std::process::Command;

#[allow(clippy::print_stderr, reason = "a skipped check is told")]
fn assert_both_say(pieces: &Pieces, since: Option<&str>) {
    let dir = tempfile::tempdir().unwrap();
    pieces.export(dir.path());
    let mut python = Command::new("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/verify.py")).arg(dir.path());
    if let Some(since) = since {
        let file = dir.path().join("held");
        std::fs::write(&file, since).unwrap();
        python.arg("--since").arg(file);
    }
    let report = verify_export(dir.path(), &Ask { since, ..Ask::default() }).unwrap();
    let verdict = match (report.ok, report.first_bad_seq) {
        (true, _) => format!("ok {} {}\n", report.size, report.root),
        (false, Some(seq)) => format!("bad {seq} "),
        (false, None) => "bad ".into(),
    };
    let Ok(output) = python.output() else { return eprintln!("SKIPPED: there is no python3 here") };
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(&verdict), "{verdict:?} or {said:?}");
    assert_eq!(output.status.code(), Some(i32::from(!report.ok)));
}

#[test]
fn the_python_verifier_agrees() {
    let events: Vec<Event> = (1..=40).map(Event::new).collect();
    let fresh = || Pieces::of(&events, 16);
    assert_both_say(&Pieces::plain(0, 16), None);
    assert_both_say(&fresh(), None);
    for seq in [1, 17, 39, 40] {
        let mut edited = fresh();
        let leaf = edited.leaf(seq);
        *leaf = String::from_utf8(leaf.clone()).unwrap().replace("run_started", "run_stopped").into_bytes();
        assert_both_say(&edited, None);
        let mut deleted = fresh();
        deleted.entries.remove(seq as usize - 1);
        deleted.payloads.remove(seq as usize - 1);
        deleted.renumber();
        assert_both_say(&deleted, None);
    }
    for kind in ["context_forgotten", "context_kept"] {
        let mut erased = events.clone();
        (erased[4].salt, erased[4].body) = (None, None);
        erased[20] = Event::of(21, kind);
        erased[20].refs = vec!["event:5".into()];
        assert_both_say(&Pieces::of(&erased, 16), None);
    }
    for body in [
        "",
        "{}",
        "{\"event\":{\"a\":1,\"a\":1,\"type\":\"run_started\"},\"gate\":{}}",
        "{\"event\":{\"type\":\"x\"},\"gate\":{}}",
    ] {
        let mut forged = events.clone();
        forged[4].holds(body);
        assert_both_say(&Pieces::of(&forged, 16), None);
    }
    let root: [u8; 32] = fresh().head.root.try_into().unwrap();
    assert_both_say(&fresh(), Some(&note(&key(), 40, &root)));
    assert_both_say(&fresh(), Some(&note(&key(), 30, &root)));
    assert_both_say(&fresh(), Some(&note(&key(), 41, &root)));
}
