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
fn a_file_of_the_version_before_is_brought_up_to_date_with_the_runs_in_it() {
    let place = Place::with_company();
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent bot --owner ben --trust standard");
    std::fs::write(place.path().join("plan.yaml"), "steps: [{wait: {seconds: 60}}, {say: hello}]\n").unwrap();
    assert_eq!(place.ana("ask --agent bot hello --plan plan.yaml").code, 4);
    let token = place.ana("--format json token issue --label older");
    let token: serde_json::Value = serde_json::from_str(&token.stdout).unwrap();
    let token = token["id"].as_str().unwrap().to_owned();
    let back = "DROP INDEX run_due_of; DROP INDEX run_held; DROP INDEX step_under_way; DROP INDEX run_held_beside;
        DROP INDEX run_running; DROP INDEX task_listed_by_status; DROP INDEX approval_open_of; ALTER TABLE policy DROP COLUMN proposal;
        DROP INDEX token_ended; DROP INDEX approval_open_with; ALTER TABLE approval DROP COLUMN token_id;
        DROP INDEX approval_decided_with; ALTER TABLE approval_decision DROP COLUMN token_id;
        DROP INDEX run_live_with; ALTER TABLE run DROP COLUMN token_id; DROP INDEX approval_open_under;
        DROP INDEX run_waits_under; ALTER TABLE run DROP COLUMN delegation;
        DROP INDEX change_rejected; DROP INDEX change_open_with; ALTER TABLE change DROP COLUMN token_id;
        DROP INDEX change_reviewed_with; ALTER TABLE change_review DROP COLUMN token_id;
        ALTER TABLE instance DROP COLUMN tokens_named_since;
        ALTER TABLE webhook DROP COLUMN made_from; ALTER TABLE run DROP COLUMN origin;
        CREATE INDEX run_due_for ON run (asker, due_at, id) WHERE due_at IS NOT NULL; PRAGMA user_version = 2;
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '-- not written any more', '-- written');";
    rusqlite::Connection::open(place.state()).unwrap().execute_batch(back).unwrap();
    // Who only reads it changes nothing, and finds nothing wrong.
    assert_eq!(place.ana("audit verify").code, 0, "{}", place.ana("audit verify"));
    let later = ok::types::time::Clock::now(&ok::types::time::SystemClock).plus_ms(ok::types::time::HOUR);
    let ticked = place.ana(&format!("tick --now {later}"));
    assert_eq!(ticked.code, 0, "{ticked}");
    let runs = place.ana("runs");
    assert!(runs.stdout.contains("completed"), "{runs}");
    assert_eq!(place.ana("audit verify").code, 0);
    // What was done with a token in that version is not found by it, and whoever looks is told.
    let logged = place.ana(&format!("log --token {token} --since 0"));
    assert!(logged.code == 0 && logged.stderr.contains("do not name the token"), "{logged}");
    let revoked = place.ana(&format!("token revoke {token}"));
    assert!(revoked.stdout.contains("1") && revoked.stderr.contains("do not name the token"), "{revoked}");
    let newer = place.ana("--format json token issue --label newer");
    let newer: serde_json::Value = serde_json::from_str(&newer.stdout).unwrap();
    let logged = place.ana(&format!("log --token {}", newer["id"].as_str().unwrap()));
    assert!(logged.code == 0 && logged.stderr.is_empty(), "{logged}");
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
fn a_key_of_another_log_is_told_by_its_name_and_changes_nothing() {
    let (place, other) = (Place::with_company(), Place::new());
    assert_eq!(other.ok("init --admin ana").code, 0);
    let key = |place: &Place| place.path().join(".ok/state.db.key");
    let own = std::fs::read(key(&place)).unwrap();
    std::fs::copy(key(&other), key(&place)).unwrap();
    let ran = place.ok("--as ana kill global --reason x");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("the key beside the state file is not the one"), "{}", ran.stderr);
    std::fs::write(key(&place), own).unwrap();
    assert_eq!(place.ok("--as ana kill global --reason x").code, 0);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let place = Place::new();
    std::fs::write(place.path().join("file"), "").unwrap();
    assert_snapshot("a_folder_that_cannot_be_made_is_told", place.ok("--state file/state.db log"));
}

#[test]
fn a_file_that_only_may_be_read_is_told() {
    let place = Place::with_another_company();
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

#[test]
fn what_lies_where_nothing_may_be_written_is_read() {
    let place = Place::with_another_company();
    let folder = place.path().join(".ok");
    let rights = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["state.db-wal", "state.db-shm"] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    std::fs::read_dir(&folder).unwrap().for_each(|file| rights(&file.unwrap().path(), 0o444));
    rights(&folder, 0o555);
    rights(place.path(), 0o755);
    let unprivileged = |line: &str| {
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        if nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        ran(format!("ok {line}"), &command.output().unwrap())
    };
    for line in ["audit verify", "audit head", "log"] {
        let ran = unprivileged(line);
        assert!(ran.code == 0 && !ran.stdout.is_empty(), "{ran}");
    }
    let refused = unprivileged("--as ana actor list");
    assert!(refused.code == 1 && refused.stderr.contains("`ok log`"), "{refused}");
    // What a server has written and not yet put into the file is not passed over.
    rights(&folder, 0o755);
    std::fs::write(folder.join("state.db-wal"), "x").unwrap();
    rights(&folder, 0o555);
    let refused = unprivileged("audit verify");
    assert!(refused.code == 1 && refused.stderr.contains("state.db-wal"), "{refused}");
    rights(&folder, 0o755);
}

/// Edits a state file as somebody would who holds it, behind the program's back.
fn edit(place: &Place, sql: &str) {
    let conn = rusqlite::Connection::open(place.state()).unwrap();
    conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    conn.execute_batch(sql).unwrap();
}

#[test]
fn what_is_added_to_the_schema_is_found_and_no_server_starts() {
    for (sql, told) in [
        (
            "CREATE TRIGGER hidden AFTER INSERT ON token BEGIN UPDATE token SET scopes = '[]' WHERE id = new.id; END",
            "the trigger `hidden` is none of this version",
        ),
        ("CREATE VIEW hidden AS SELECT 1", "the view `hidden` is none of this version"),
        ("DROP INDEX token_by_holder", "the index `token_by_holder` is missing"),
        (
            "DROP INDEX token_by_holder; CREATE INDEX token_by_holder ON token (holder) WHERE holder <> 'mia'",
            "the index `token_by_holder` is not as this version makes it",
        ),
    ] {
        let place = Place::with_company();
        edit(&place, sql);
        let verified = place.ok("audit verify");
        assert_eq!(verified.code, 2, "{verified}");
        assert!(verified.to_string().contains(told), "{}", verified);
        let refused = place.ok("serve --bind 127.0.0.1:0");
        assert_eq!(refused.code, 1, "{}", refused);
        assert!(refused.to_string().contains(told), "{}", refused);
    }
}

#[test]
fn what_the_log_does_not_account_for_is_found() {
    let hidden = "DROP INDEX token_by_holder; CREATE INDEX token_by_holder ON token (holder, created_at DESC, id DESC) WHERE holder <> 'ana'; \
                  PRAGMA writable_schema = ON; \
                  UPDATE sqlite_schema SET sql = 'CREATE INDEX token_by_holder ON token (holder, created_at DESC, id DESC)' WHERE name = 'token_by_holder'; \
                  PRAGMA writable_schema = RESET";
    for (sql, told) in [
        (hidden, "missing from index token_by_holder"),
        ("UPDATE instance SET sealing = zeroblob(32)", "contains another sealing key"),
        ("UPDATE instance SET ulid = 'another'", "names another company than the log"),
        (
            "INSERT INTO idem VALUES (x'00', x'00', 200, x'7b7d', 9223372036854775807)",
            "is an answer that no entry was given",
        ),
        ("UPDATE log_head SET ts = ts + 1000", "is not the time of the newest entry"),
        ("UPDATE log_head SET epoch = epoch + 1", "is not signed with the log's key"),
        ("UPDATE log_head SET owner = randomblob(64)", "is not signed with the log's key"),
    ] {
        let place = Place::with_company();
        edit(&place, sql);
        let verified = place.ok("audit verify");
        assert_eq!(verified.code, 2, "{sql}: {}", verified);
        assert!(verified.to_string().contains(told), "{sql}: {}", verified);
    }
}

#[test]
fn where_a_state_file_was_lost_no_other_company_begins() {
    let place = Place::with_company();
    std::fs::remove_file(place.state()).unwrap();
    let key = std::fs::read(place.path().join(".ok/state.db.key")).unwrap();
    for line in ["init --admin bob", "serve --bind 127.0.0.1:0", "--as ana inbox"] {
        let ran = place.ok(line);
        assert!(ran.code == 1 && ran.stderr.contains("state.db.key is there: the state file was lost"), "{ran}");
    }
    assert_eq!(std::fs::read(place.path().join(".ok/state.db.key")).unwrap(), key);
    assert!(!place.state().exists());
    // An empty file is no state either.
    std::fs::write(place.state(), "").unwrap();
    for line in ["init --admin bob", "--as ana inbox", "audit verify"] {
        let ran = place.ok(line);
        assert!(ran.code != 0 && !ran.stderr.is_empty(), "{ran}");
    }
    assert_eq!(std::fs::metadata(place.state()).unwrap().len(), 0);
    assert_eq!(std::fs::read(place.path().join(".ok/state.db.key")).unwrap(), key);
    std::fs::remove_file(place.state()).unwrap();
    // Whoever means it begins another.
    std::fs::remove_file(place.path().join(".ok/state.db.key")).unwrap();
    assert_eq!(place.ok("init --admin bob").code, 0);
}
