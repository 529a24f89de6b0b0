//! State files that cannot be used: said in a sentence, and left as they are.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;

use super::{Place, assert_snapshot, ran, session};

/// A user without rights over others' files.
const NOBODY: u32 = 65_534;

fn all(place: &Place) -> String {
    session(
        ["log", "init --admin bob", "serve --bind 127.0.0.1:0", "audit verify", "backup copy.db"]
            .map(|line| place.ok(line)),
    )
}

#[test]
fn what_is_not_a_database_is_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path().join(".ok")).unwrap();
    let text = "This is a letter, and no database at all.\n".repeat(100);
    std::fs::write(place.state(), &text).unwrap();
    assert_snapshot("what_is_not_a_database_is_left_alone", all(&place));
    assert_eq!(std::fs::read_to_string(place.state()).unwrap(), text);
}

#[test]
fn another_programs_database_is_left_alone() {
    let place = Place::new();
    let other = rusqlite::Connection::open(place.path().join("other.db")).unwrap();
    other.execute_batch("CREATE TABLE mine (a)").unwrap();
    let before = std::fs::read(place.path().join("other.db")).unwrap();
    let runs = ["--state other.db log", "--state other.db audit verify"].map(|line| place.ok(line));
    assert_snapshot("another_programs_database_is_left_alone", session(runs));
    assert_eq!(
        rusqlite::Connection::query_row(&other, "SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0)),
        Ok(1)
    );
    assert!(!before.is_empty());
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let place = Place::with_company();
    rusqlite::Connection::open(place.state()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    assert_snapshot("a_file_of_a_newer_version_is_left_alone", all(&place));
}

#[test]
fn a_truncated_file_is_damaged() {
    let place = Place::with_company();
    let bytes = std::fs::read(place.state()).unwrap();
    std::fs::write(place.state(), &bytes[..bytes.len() / 2]).unwrap();
    for name in ["state.db-wal", "state.db-shm"] {
        let _ = std::fs::remove_file(place.path().join(".ok").join(name));
    }
    assert_snapshot("a_truncated_file_is_damaged", all(&place));
}

#[test]
fn a_missing_key_is_told() {
    let place = Place::with_company();
    std::fs::remove_file(place.path().join(".ok/state.db.key")).unwrap();
    assert_snapshot("a_missing_key_is_told", all(&place));
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let place = Place::new();
    std::fs::write(place.path().join("file"), "").unwrap();
    assert_snapshot("a_folder_that_cannot_be_made_is_told", place.ok("--state file/state.db log"));
}

#[test]
fn a_file_that_only_may_be_read_is_told() {
    let place = Place::with_company();
    let open = |name: &str, mode| {
        std::fs::set_permissions(place.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    for (name, mode) in [
        ("", 0o755),
        (".ok", 0o777),
        (".ok/state.db", 0o444),
        (".ok/state.db.key", 0o444),
        (".ok/state.db.lock", 0o666),
    ] {
        open(name, mode);
    }
    for name in [".ok/state.db-wal", ".ok/state.db-shm"] {
        let _ = std::fs::remove_file(place.path().join(name));
    }
    let unprivileged = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        let mut command = place.command(&args);
        if nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        ran(format!("ok {line}"), &command.output().unwrap())
    };
    let runs = ["--as ana tick", "--as ana actor list", "audit verify"].map(unprivileged);
    assert_snapshot("a_file_that_only_may_be_read_is_told", session(runs));
}
