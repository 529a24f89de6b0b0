//! What an auditor does with the state file or an export.

use super::{Place, assert_snapshot, session};

#[test]
fn an_auditor_checks_the_file_and_an_export() {
    let place = Place::with_company();
    let lines = [
        "audit head",
        "--format json audit head",
        "audit key",
        "audit checkpoints",
        "audit checkpoints --limit 1",
        "audit proof 2",
        "audit proof 9",
        "audit verify",
        "--format json audit verify --from 2 --to 3",
        "audit export out",
        "audit export out",
        "audit verify --export out --checkpoint out/checkpoint",
        "audit verify --export nowhere",
        "audit verify --vkey nonsense",
        "audit verify --checkpoint absent",
    ];
    assert_snapshot("audit", session(lines.map(|line| place.ok(line))));
}

#[test]
fn a_proof_is_checked_with_the_key_alone_wherever_it_is_carried() {
    let (place, elsewhere) = (Place::with_company(), Place::new());
    let carry = |name: &str, text: &str| std::fs::write(elsewhere.path().join(name), text).unwrap();
    carry("older", &place.ok("audit head").stdout);
    let size = place.ok("audit head").stdout.lines().nth(1).unwrap().to_owned();
    place.ana("actor add-human max --role member");
    let (key, proof) = (place.ok("audit key").stdout, place.ok("audit proof 2").stdout);
    carry("proof", &proof);
    carry("grown", &place.ok(&format!("audit consistency {size}")).stdout);
    let check = |line: &str| elsewhere.ok(&format!("audit verify --key {} {line}", key.trim()));
    let checked = check("--proof proof");
    assert!(checked.code == 0 && checked.stdout.contains("ok    event 2 is in the log"), "{checked}");
    assert!(checked.stdout.contains("\"seq\":2"), "it shows what was recorded: {checked}");
    let checked = check("--proof grown --checkpoint older");
    assert!(checked.code == 0 && checked.stdout.contains("continues the checkpoint that you hold"), "{checked}");
    assert_eq!(check("--proof grown").code, 64);
    assert_eq!(elsewhere.ok("audit verify --proof proof").code, 64);
    // Another leaf, another log, and what is no proof.
    let (head, rest) = proof.split_once("extra ").unwrap();
    carry("forged", &format!("{head}extra e30=\n{}", rest.split_once('\n').unwrap().1));
    carry("torn", proof.get(..40).unwrap());
    for file in ["forged", "torn"] {
        let found = check(&format!("--proof {file}"));
        assert!(found.code == 2 && found.stdout.starts_with("FAIL"), "{found}");
    }
    let other = Place::with_another_company().ok("audit key").stdout;
    assert_eq!(elsewhere.ok(&format!("audit verify --key {} --proof proof", other.trim())).code, 2);
    assert!(!elsewhere.path().join(".ok").exists());
}

#[test]
fn the_audit_makes_no_company() {
    let place = Place::new();
    let runs = ["audit verify", "audit key", "backup copy.db"].map(|line| place.ok(line));
    assert!(!place.path().join(".ok").exists() && !place.path().join("copy.db").exists());
    assert_snapshot("the_audit_makes_no_company", session(runs));
}

#[test]
fn a_changed_event_is_found() {
    let place = Place::with_company();
    place.ok("audit export out");
    let leaves = place.path().join("out/leaves.jsonl");
    let text = std::fs::read_to_string(&leaves).unwrap();
    std::fs::write(&leaves, text.replacen("actor_added", "actor_adder", 1)).unwrap();
    let found = place.ok("audit verify --export out");
    assert_eq!(found.code, 2);
    assert_snapshot("a_changed_event_is_found", found);
}

#[test]
fn a_kept_key_and_checkpoint_show_another_log() {
    let (place, other) = (Place::with_company(), Place::with_another_company());
    place.ok("audit export out");
    let key = std::fs::read_to_string(place.path().join("out/vkey")).unwrap();
    let mut swapped = other.ok(&format!("audit verify --vkey {}", key.trim()));
    swapped.shown = "ok audit verify --vkey <of another log>".into();
    assert_eq!(swapped.code, 2);
    assert_eq!(place.ok(&format!("audit verify --vkey {}", key.trim())).code, 0);
    assert_snapshot("a_kept_key_shows_another_log", swapped);
}

/// More events than stand in one tile of the log's index.
async fn fill(place: &Place) {
    let issued: serde_json::Value =
        serde_json::from_str(&place.ana("--format json token issue").stdout).expect("a token");
    let token = issued["token"].as_str().expect("its value");
    let (server, client) = (place.serve(), reqwest::Client::new());
    for number in 0..260 {
        let switch = serde_json::json!({ "scope": "tool:mail.send", "off": number % 2 == 1 });
        let url = format!("http://{}/api/kill", server.address());
        assert_eq!(client.post(url).bearer_auth(token).json(&switch).send().await.unwrap().status(), 200);
    }
    server.stop();
}

#[tokio::test]
async fn tables_and_index_that_were_edited_by_hand_are_told() {
    let place = Place::with_company();
    place.ana("actor add-human p100 --role member");
    fill(&place).await;
    assert_eq!(place.ok("audit verify").code, 0);
    let edit = |sql: &str| {
        let conn = rusqlite::Connection::open(place.state()).unwrap();
        assert_eq!(conn.execute(sql, []).unwrap(), 1, "{sql}");
    };
    for (edited, undone) in [
        ("UPDATE actor SET role = 'admin' WHERE id = 'p100'", "UPDATE actor SET role = 'member' WHERE id = 'p100'"),
        (
            "UPDATE log_index SET tile = 9 WHERE key = (SELECT min(key) FROM log_index)",
            "UPDATE log_index SET tile = 0 WHERE tile = 9",
        ),
        // Neither can be read: what is no text, and what is none of the words of its column.
        (
            "UPDATE actor SET name = CAST(x'41ff42' AS TEXT) WHERE id = 'p100'",
            "UPDATE actor SET name = 'p100' WHERE id = 'p100'",
        ),
        ("UPDATE actor SET role = 'rolf' WHERE id = 'p100'", "UPDATE actor SET role = 'member' WHERE id = 'p100'"),
    ] {
        edit(edited);
        let told = place.ok("audit verify");
        assert_eq!(told.code, 2, "{told}");
        assert!(told.stdout.contains("FAIL  table") && told.stdout.starts_with("ok "), "{told}");
        edit(undone);
    }
    let told = place.ok("audit verify");
    assert_eq!(told.code, 0);
    for table in ["knowledge_words_config", "knowledge_words_content", "knowledge_words_idx", "search", "search_data"] {
        assert!(told.stdout.contains(&format!(" {table},")), "{table}: {told}");
    }
    // No signature covers when a checkpoint was published, nor how many were; the entries' times do.
    let conn = rusqlite::Connection::open(place.state()).unwrap();
    conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM log_checkpoint").unwrap();
    for edited in [
        "UPDATE log_checkpoint SET ts = 0",
        "UPDATE log_checkpoint SET ts = ts + 86400000",
        "DELETE FROM log_checkpoint WHERE size < (SELECT max(size) FROM log_checkpoint)",
        "DELETE FROM log_checkpoint",
    ] {
        conn.execute_batch(edited).unwrap();
        let told = place.ok("audit verify");
        assert!(told.code == 2 && told.stdout.contains("FAIL  table log_checkpoint: "), "{edited}: {told}");
        conn.execute_batch("DELETE FROM log_checkpoint; INSERT INTO log_checkpoint SELECT * FROM kept").unwrap();
    }
    drop(conn);
    assert_eq!(place.ok("audit verify").code, 0);
    // One that is missing leaves the log what it is.
    rusqlite::Connection::open(place.state()).unwrap().execute_batch("DROP TABLE kill").unwrap();
    let told = place.ok("audit verify");
    assert_eq!(told.code, 2, "{told}");
    assert!(told.stdout.contains("FAIL  table sqlite_schema: - the table `kill` is missing"), "{told}");
    assert!(
        told.stdout.starts_with("ok    ") && told.stdout.contains("not checked: whether the other tables"),
        "{told}"
    );
    rusqlite::Connection::open(place.state()).unwrap().execute_batch("DROP TABLE log_entry").unwrap();
    let told = place.ok("audit verify");
    assert!(
        told.code == 1
            && told.stderr.contains("cannot be verified: ")
            && told.stderr.contains("the table `log_entry` is missing"),
        "{told}"
    );
}

#[test]
fn a_part_is_checked_although_what_stands_before_it_is_broken() {
    let place = Place::with_company();
    let conn = rusqlite::Connection::open(place.state()).unwrap();
    conn.execute("UPDATE log_entry SET body = x'7b7d' WHERE seq = 2", []).unwrap();
    drop(conn);
    let part = place.ok("audit verify --from 3");
    assert!(part.code == 0 && part.stdout.contains("not checked: the payloads of the entries before 3"), "{part}");
    assert!(part.stdout.contains("not all payloads were checked"), "{part}");
    let whole = place.ok("audit verify --format json");
    let told: serde_json::Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!((whole.code, &told["log"]["first_bad_seq"], &told["log"]["vouched"]), (2, &2.into(), &1.into()));
    assert!(told["tables"].is_null(), "they were not compared: {told}");
}

/// A company whose state file was moved without its key, with what an auditor kept of it.
fn moved() -> (Place, String) {
    let place = Place::with_company();
    std::fs::write(place.path().join("held"), place.ok("audit head").stdout).unwrap();
    let key = place.ok("audit key").stdout.trim().to_owned();
    std::fs::remove_file(place.path().join(".ok/state.db.key")).unwrap();
    (place, key)
}

#[test]
fn a_log_whose_key_is_lost_goes_on_with_another_and_says_so() {
    let (place, lost) = moved();
    let refused = place.ana("actor add-human max --role member");
    assert!(refused.code == 1 && refused.stderr.contains("`ok audit rekey`"), "{refused}");
    assert_eq!(place.ok("log").code, 0, "it is read");
    assert_eq!(place.ok("audit rekey").code, 0);
    assert_eq!(place.ok("audit rekey").code, 1, "only a lost key is replaced");
    assert_eq!(place.ana("actor add-human max --role member").code, 0);
    let key = place.ok("audit key").stdout.trim().to_owned();
    assert_ne!(key, lost);
    let held: u64 =
        std::fs::read_to_string(place.path().join("held")).unwrap().lines().nth(1).unwrap().parse().unwrap();
    // Whoever holds the new key and a checkpoint of the old one is told where one ends; so is who holds only the old key.
    let verified = place.ok(&format!("audit verify --format json --key {key} --checkpoint held"));
    let told: serde_json::Value = serde_json::from_str(&verified.stdout).unwrap();
    let keys = serde_json::json!([
        { "vkey": lost, "from": 1, "to": held }, { "vkey": key, "from": held + 1, "to": null }
    ]);
    assert_eq!((verified.code, &told["ok"], &told["log"]["keys"]), (0, &true.into(), &keys), "{told}");
    assert!(place.ok("audit verify").stdout.contains("with which the machine's owner replaced it"));
    let outdated = place.ok(&format!("audit verify --key {lost}"));
    assert!(outdated.code == 2 && outdated.stdout.contains(&format!("FAIL  {held} of ")), "{outdated}");
    // The checkpoint that hands the log over leads from one key to the other.
    let bridge = place.ok("audit checkpoints --format json").stdout;
    let bridge: Vec<serde_json::Value> = serde_json::from_str(&bridge).unwrap();
    let bridge = bridge.iter().find(|row| row["size"] == held).unwrap()["note"].as_str().unwrap();
    std::fs::write(place.path().join("bridge"), bridge).unwrap();
    std::fs::write(place.path().join("proof"), place.ok(&format!("audit consistency {held}")).stdout).unwrap();
    assert_eq!(place.ok(&format!("audit verify --proof proof --key {key} --checkpoint bridge")).code, 0);
    place.ok("audit export out");
    assert_eq!(place.ok("audit verify --export out --checkpoint held").code, 0);
    agrees(&place, "out");
}

/// The verifier in Python finds it right, too.
#[allow(clippy::print_stderr, reason = "a skipped check is told")]
fn agrees(place: &Place, export: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/verify.py");
    let python = std::process::Command::new("python3").arg(script).arg(place.path().join(export)).output();
    let Ok(output) = python else { return eprintln!("SKIPPED: there is no python3 here") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_key_is_replaced_only_where_the_log_is_whole_and_tells_it() {
    let (place, _) = moved();
    let edit = |sql: &str| {
        let conn = rusqlite::Connection::open(place.state()).unwrap();
        assert_eq!(conn.execute(sql, []).unwrap(), 1, "{sql}");
    };
    edit("UPDATE actor SET role = 'guest' WHERE id = 'ana'");
    let refused = place.ok("audit rekey");
    assert!(refused.code == 2 && refused.stderr.contains("table actor"), "{refused}");
    for made in ["key", "key.part"] {
        assert!(!place.path().join(format!(".ok/state.db.{made}")).exists(), "a {made} that signs nothing");
    }
    edit("UPDATE actor SET role = 'admin' WHERE id = 'ana'");
    assert_eq!(place.ok("audit rekey").code, 0);
    assert_eq!(place.ok("audit verify").code, 0);
    // Whoever hides that the key was replaced, or claims it elsewhere, is found out.
    for hidden in [
        "UPDATE log_head SET vkey = substr(vkey, 1, instr(vkey, char(10)) - 1)",
        "UPDATE log_head SET vkey = replace(vkey, char(10), char(10) || '1')",
        "UPDATE log_checkpoint SET note = rtrim(note, char(10)) WHERE note LIKE '%— %— %'",
        "UPDATE log_checkpoint SET note = substr(note, 1, instr(note, '— ') + 150) WHERE note LIKE '%— %— %'",
        "DELETE FROM log_checkpoint WHERE note LIKE '%— %— %'",
    ] {
        let copy = place.path().join("kept");
        std::fs::copy(place.state(), &copy).unwrap();
        edit(hidden);
        assert_eq!(place.ok("audit verify").code, 2, "{hidden}");
        std::fs::copy(&copy, place.state()).unwrap();
    }
    assert_eq!(place.ok("audit verify").code, 0);
}
