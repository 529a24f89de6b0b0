//! The real server with the ground pulled away from under it.

mod disk;
mod rekey;
mod work;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{Place, Server};

/// A company, and its admin's token.
fn company() -> (Place, String) {
    let place = Place::with_company();
    let token = token(&place, "ana");
    (place, token)
}

fn token(place: &Place, holder: &str) -> String {
    let issued = place.ana(&format!("token issue --for {holder} --format json"));
    let issued: Value = serde_json::from_str(&issued.stdout).unwrap();
    issued["token"].as_str().unwrap().to_owned()
}

/// One request on a connection of its own: status and body. `None` if the server was gone before it answered.
fn request(address: &str, token: &str, method: &str, path: &str, key: &str, body: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!(
        "{method} /api{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         idempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).ok()?))
}

fn issue(server: &Server, token: &str, key: &str) -> Option<(u16, Value)> {
    request(server.address(), token, "POST", "/tokens", key, &format!("{{\"label\":\"{key}\"}}"))
}

/// Label by token id of every token that the company has.
fn issued(place: &Place) -> BTreeMap<String, String> {
    let listed = place.ana("token list --format json");
    let tokens: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    tokens.iter().map(|token| (text(&token["id"]), text(&token["label"]))).collect()
}

#[test]
fn what_was_acknowledged_survives_kill_9_and_a_retry_adds_nothing() {
    let (place, token) = company();
    let acknowledged = Mutex::new(BTreeMap::new());
    let keys = AtomicU64::new(0);
    for cycle in 0..6 {
        let server = place.serve();
        let killed = AtomicBool::new(false);
        std::thread::scope(|clients| {
            for _ in 0..4 {
                clients.spawn(|| {
                    while !killed.load(Ordering::SeqCst) {
                        let key = format!("key-{}", keys.fetch_add(1, Ordering::SeqCst));
                        if let Some((201, answer)) = issue(&server, &token, &key) {
                            let id = answer["id"].as_str().unwrap().to_owned();
                            acknowledged.lock().unwrap().insert(id, key);
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(60 + 37 * cycle));
            server.signal("-KILL");
            killed.store(true, Ordering::SeqCst);
        });
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 20, "only {} were acknowledged", acknowledged.len());
    let found = issued(&place);
    for (id, key) in &acknowledged {
        assert_eq!(found.get(id), Some(key), "an acknowledged token is lost");
    }
    assert_eq!(place.ok("audit verify").code, 0);

    // Whoever got no answer asks again; nobody gets a second token.
    let server = place.serve();
    let keys = keys.into_inner();
    for key in 0..keys {
        let (status, _) = issue(&server, &token, &format!("key-{key}")).unwrap();
        assert_eq!(status, 201);
    }
    server.stop();
    let labels: Vec<String> = issued(&place).into_values().filter(|label| label.starts_with("key-")).collect();
    assert_eq!(labels.len() as u64, keys);
    assert_eq!(labels.iter().collect::<std::collections::BTreeSet<_>>().len() as u64, keys);
}

/// Sets the largest size that a file of the process may have: beyond it, writes fail as on a full disk.
fn limit(pid: u32, bytes: &str) {
    let set = Command::new("prlimit").args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:")]).status();
    assert!(set.unwrap().success());
}

#[test]
fn a_full_disk_is_told_nothing_happens_and_the_server_recovers() {
    let (place, token) = company();
    place.ana("actor add-human bob --role member");
    let bob = self::token(&place, "bob");
    // A write beyond the limit must fail, not kill.
    let ok = assert_cmd::cargo::cargo_bin!("ok").to_str().unwrap().to_owned();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' XFSZ; exec {ok} serve --bind 127.0.0.1:0")]);
    command.current_dir(place.path()).env("OK_STATE", place.state());
    let server = Server::start(command);
    assert_eq!(issue(&server, &token, "before").unwrap().0, 201);

    limit(server.pid(), "4096");
    let begun = Instant::now();
    let (status, answer) = issue(&server, &token, "full").unwrap();
    assert_eq!((status, answer["error"].as_str()), (503, Some("audit_unavailable")), "{answer}");
    assert!(begun.elapsed() < Duration::from_millis(2_500));
    let refused = request(server.address(), &bob, "POST", "/tick", "refused", "{}").unwrap();
    assert_eq!(refused.0, 503, "a refusal without a record: {}", refused.1);
    assert_eq!(request(server.address(), &token, "GET", "/me", "", "").unwrap().0, 200, "reads go on");

    limit(server.pid(), "unlimited");
    let begun = Instant::now();
    while issue(&server, &token, "after").unwrap().0 != 201 {
        assert!(begun.elapsed() < Duration::from_secs(5), "the server did not recover");
    }
    assert_eq!(server.stop().code, 0);
    let labels: Vec<String> = issued(&place).into_values().collect();
    assert!(!labels.contains(&"full".to_owned()), "what was answered 503 happened");
    assert!(labels.contains(&"before".to_owned()) && labels.contains(&"after".to_owned()));
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn on_a_nearly_full_disk_only_what_stops_or_revokes_is_accepted() {
    let (place, token) = company();
    place.ana("actor add-human bob --role member");
    let bob = self::token(&place, "bob");
    let more_than_any_disk = (1_u64 << 40).to_string();
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0"]);
    command.env("OK_DISK_LOW_WATER", &more_than_any_disk);
    let server = Server::start(command);

    let (status, answer) = issue(&server, &token, "more").unwrap();
    assert_eq!((status, answer["error"].as_str()), (503, Some("audit_unavailable")), "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("nearly full"), "{answer}");
    let refused = request(server.address(), &bob, "POST", "/kill", "no", r#"{"scope":"global"}"#).unwrap();
    assert_eq!(refused.0, 503, "whoever is refused fills the log: {}", refused.1);
    assert_eq!(request(server.address(), &token, "GET", "/me", "", "").unwrap().0, 200, "reads go on");

    let killed =
        request(server.address(), &token, "POST", "/kill", "yes", r#"{"scope":"tool:mail.send","reason":"now"}"#);
    let killed = killed.unwrap();
    assert_eq!(killed.0, 200, "{}", killed.1);
    let revoked = request(server.address(), &token, "DELETE", "/tokens/bob", "out", "").unwrap();
    assert_eq!(revoked.0, 200, "{}", revoked.1);
    assert_eq!(request(server.address(), &bob, "GET", "/me", "", "").unwrap().0, 401);

    assert_eq!(server.stop().code, 0);
    assert!(!issued(&place).into_values().any(|label| label == "more"), "what was answered 503 happened");
    assert_eq!(place.ok("audit verify").code, 0);
    let wrong = place.ok_with("--as ana tick", &[("OK_DISK_LOW_WATER", "5%")]);
    assert_eq!(wrong.code, 64, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("OK_DISK_LOW_WATER must be a whole number of MiB"), "{}", wrong.stderr);
}

#[test]
fn two_servers_started_at_once_never_both_write() {
    let (place, _) = company();
    let place = Arc::new(place);
    let serving: usize = std::thread::scope(|threads| {
        let starts: Vec<_> = (0..4)
            .map(|_| {
                let place = Arc::clone(&place);
                threads.spawn(move || {
                    let mut child = place.command(&["serve", "--bind", "127.0.0.1:0"]).spawn().unwrap();
                    std::thread::sleep(Duration::from_millis(1_500));
                    let serves = child.try_wait().unwrap().is_none();
                    let _ = child.kill();
                    let code = child.wait().unwrap().code();
                    assert!(serves || code == Some(75), "{code:?}");
                    usize::from(serves)
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).sum()
    });
    assert_eq!(serving, 1);
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn a_file_that_somebody_else_holds_is_told_in_time_and_nothing_happens() {
    let (place, token) = company();
    let server = place.serve();
    // Another program that locks the file, as a careless backup would.
    let intruder = rusqlite::Connection::open(place.state()).unwrap();
    intruder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    std::thread::scope(|clients| {
        for client in 0..8 {
            let (server, token) = (&server, &token);
            clients.spawn(move || {
                let (status, answer) = issue(server, token, &format!("held-{client}")).unwrap();
                assert_eq!((status, answer["error"].as_str()), (503, Some("audit_unavailable")), "{answer}");
            });
        }
    });
    assert!(begun.elapsed() < Duration::from_millis(4_500), "{:?}", begun.elapsed());
    assert_eq!(request(server.address(), &token, "GET", "/me", "", "").unwrap().0, 200, "reads go on");
    intruder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(issue(&server, &token, "free").unwrap().0, 201);
    assert_eq!(server.stop().code, 0);
    let labels: Vec<String> = issued(&place).into_values().collect();
    assert!(!labels.iter().any(|label| label.starts_with("held-")), "what was answered 503 happened: {labels:?}");
}

#[test]
fn a_file_that_was_moved_is_noticed_and_its_key_is_never_overwritten() {
    let (place, token) = company();
    let server = place.serve();
    assert_eq!(issue(&server, &token, "before").unwrap().0, 201);
    let away = place.path().join("moved.db");
    std::fs::rename(place.state(), &away).unwrap();
    let (status, answer) = issue(&server, &token, "moved").unwrap();
    assert_eq!((status, answer["error"].as_str()), (503, Some("audit_unavailable")), "{answer}");
    server.signal("-KILL");
    server.ended();
    // A command in the meantime begins no other company there: it would take the key that it finds.
    let refused = place.ok("log");
    assert!(refused.code == 1 && refused.stderr.contains("the state file was lost, or moved away"), "{refused}");
    assert!(!place.state().exists());
    std::fs::rename(&away, place.state()).unwrap();
    let verified = place.ok("audit verify");
    assert_eq!(verified.code, 0, "{verified}");
    assert_eq!(place.ana("actor list").code, 0);
}
