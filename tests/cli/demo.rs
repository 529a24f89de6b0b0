//! `ok demo` and `ok demo serve`.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Place, Server, assert_snapshot, session};

/// A demo, made once.
static DEMO: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    let made = in_sight(&place, &["demo"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    place
});

/// Runs `ok` where it finds git.
fn in_sight(place: &Place, args: &[&str]) -> std::process::Output {
    place.command(args).env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap()
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to)
        } else {
            drop(std::fs::copy(entry.path(), to))
        }
    }
}

/// A folder with a copy of it.
fn demo() -> Place {
    let place = Place::new();
    copied(&DEMO.path().join("demo"), &place.path().join("demo"));
    place
}

fn rows(place: &Place, line: &str) -> Vec<Value> {
    let ran = place.ok(&format!("--state demo/state.db --as ana --format json {line}"));
    assert_eq!(ran.code, 0, "{ran}");
    match serde_json::from_str(&ran.stdout).unwrap() {
        Value::Array(rows) => rows,
        // The log tells beside its events which the newest is.
        mut answer => serde_json::from_value(answer["events"].take()).unwrap(),
    }
}

fn of<'a>(rows: &'a [Value], field: &str) -> BTreeSet<&'a str> {
    rows.iter().filter_map(|row| row[field].as_str()).collect()
}

#[test]
fn the_demo_was_made_through_the_gate_and_has_something_of_everything() {
    let place = demo();
    let verified = place.ok("--state demo/state.db audit verify");
    assert_eq!(verified.code, 0, "{verified}");
    let actors = rows(&place, "actor list");
    let count = |kind: &str| actors.iter().filter(|actor| actor["kind"] == kind && actor["status"] == "active").count();
    assert_eq!([count("person"), count("agent"), count("team")], [12, 6, 3]);

    let runs = rows(&place, "runs");
    let stands = ["queued", "running", "waiting_approval", "waiting_input", "held", "completed", "failed", "cancelled"];
    assert_eq!(of(&runs, "status"), BTreeSet::from(stands));
    let tasks = rows(&place, "tasks");
    let stands = ["open", "assigned", "running", "waiting", "completed", "failed", "cancelled"];
    assert_eq!(of(&tasks, "status"), BTreeSet::from(stands));
    assert_eq!(
        of(&rows(&place, "changes list"), "state"),
        BTreeSet::from(["promoted", "canary", "proposed", "withdrawn"])
    );
    let delegations = rows(&place, "delegation list");
    assert_eq!(of(&delegations, "status"), BTreeSet::from(["active", "revoked", "expired"]));

    let approvals = rows(&place, "approval list");
    let stands = of(&approvals, "status");
    assert!(["pending", "used", "rejected", "cancelled"].iter().all(|one| stands.contains(one)), "{stands:?}");
    let kinds = |approval: &Value| approval["approvers"].as_array().map_or(0, Vec::len);
    assert!(approvals.iter().any(|one| one["status"] == "pending" && kinds(one) == 2), "one takes two teams");
    let switches = rows(&place, "log --type kill_switch");
    assert_eq!(
        switches.iter().map(|one| one["event"]["engaged"].as_bool()).collect::<Vec<_>>(),
        [Some(true), Some(false)]
    );

    let canary = rows(&place, "changes list").into_iter().find(|change| change["state"] == "canary").unwrap();
    let samples = canary["canary"]["samples"].as_array().unwrap();
    assert!(samples.iter().any(|one| one["before"] == "deny" && one["after"] == "allow"), "{canary}");

    let log = rows(&place, "log --limit 1000");
    assert!(log.len() > 400, "{} events", log.len());
    let at = |event: &Value| event["at"].as_str().unwrap()[..10].to_owned();
    assert!(log.iter().map(at).collect::<BTreeSet<_>>().len() > 14, "over some weeks");
}

#[test]
fn its_policies_are_a_folder_in_git_that_is_what_is_in_force() {
    let place = demo();
    let same = place.ok("--state demo/state.db --as ana policy diff demo/policies --no-impact");
    assert_eq!(same.code, 0, "{same}");
    let git = Command::new("git").args(["log", "--oneline"]).current_dir(place.path().join("demo/policies")).output();
    // Where there is no git, the folder is no repository.
    if let Ok(log) = git {
        assert!(String::from_utf8_lossy(&log.stdout).lines().count() >= 4, "{log:?}");
    }
}

#[test]
fn a_folder_that_is_something_elses_is_left_alone() {
    let place = demo();
    std::fs::create_dir(place.path().join("mine")).unwrap();
    std::fs::write(place.path().join("mine/letter.txt"), "dear").unwrap();
    let runs = [
        place.ok("demo"),
        place.ok("demo --dir mine"),
        place.ok("demo --dir mine --force"),
        place.ok("demo --dir mine/letter.txt"),
        place.ok("demo --dir mine/letter.txt/below"),
        place.ok("demo serve --dir mine"),
        place.ok("demo serve --bind nowhere"),
        place.ok("demo --dir other serve"),
        place.ok("demo --force serve"),
    ];
    assert_snapshot("a_folder_that_is_something_elses_is_left_alone", session(runs));
    let left: Vec<_> =
        std::fs::read_dir(place.path().join("mine")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["letter.txt"]);
    assert_eq!(place.ok("--state demo/state.db audit verify").code, 0, "nothing half done");
}

#[test]
fn a_demo_is_replaced_by_force_unless_it_is_in_use() {
    let place = demo();
    let printed = place.path().join("printed");
    let mut command = place.command(&["demo", "serve", "--dev-auth", "--bind", "127.0.0.1:0"]);
    command.stdout(Stdio::from(std::fs::File::create(&printed).unwrap()));
    let server = Server::begin(command);
    assert_snapshot("the_demo_prints_a_link_for_each_of_its_people", std::fs::read_to_string(printed).unwrap());
    assert!(asked(&server, "/api/health", "").contains(r#""dev_auth":true"#));
    let refused = place.ok("demo --force");
    assert_eq!(refused.code, 75, "{refused}");
    assert!(refused.stderr.contains("is in use by process"), "{refused}");
    assert_eq!(server.stop().code, 0);
    // As a command that was killed leaves it.
    std::fs::create_dir(place.path().join("demo/.building")).unwrap();
    std::fs::write(place.path().join("demo/.building/state.db"), "").unwrap();
    let before = rows(&place, "runs")[0]["id"].clone();
    let again = place.ok("--format json demo --force");
    assert_eq!(again.code, 0, "{again}");
    assert_ne!(rows(&place, "runs")[0]["id"], before);
    let left = std::fs::read_dir(place.path().join("demo")).unwrap().map(|one| one.unwrap().file_name());
    assert!(!left.map(|name| name.into_string().unwrap()).any(|name| name == ".building"));
}

/// Starts the demo; what it printed is beside it.
fn served(place: &Place, times: usize) -> (Server, Value) {
    let printed = place.path().join(format!("printed{times}"));
    let mut command = place.command(&["--format", "json", "demo", "serve", "--bind", "127.0.0.1:0"]);
    command.stdout(Stdio::from(std::fs::File::create(&printed).unwrap()));
    let server = Server::begin(command);
    let printed = std::fs::read_to_string(printed).unwrap();
    (server, serde_json::from_str(&printed).unwrap())
}

fn token_of(printed: &Value, who: &str) -> String {
    let people = printed["people"].as_array().unwrap();
    people.iter().find(|person| person["id"] == who).unwrap()["token"].as_str().unwrap().to_owned()
}

/// The status of `GET /api/me` with a token.
fn me(server: &Server, token: &str) -> String {
    asked(server, "/api/me", token).split(' ').nth(1).unwrap().to_owned()
}

fn asked(server: &Server, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let credential = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    let host = server.address();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\n{credential}connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn each_start_prints_new_tokens_and_ends_those_that_the_last_one_printed() {
    let place = demo();
    let other = place.ok("--state demo/state.db --as mia --format json token issue --label mine");
    let other: Value = serde_json::from_str(&other.stdout).unwrap();
    let other = other["token"].as_str().unwrap();

    let (server, printed) = served(&place, 1);
    assert_eq!(printed["people"].as_array().unwrap().len(), 12);
    let link = format!("http://{}/#token={}", server.address(), token_of(&printed, "mia"));
    assert_eq!(printed["people"][8]["link"], link.as_str());
    assert_eq!(me(&server, &token_of(&printed, "mia")), "200");
    assert_eq!(server.stop().code, 0);

    let (server, again) = served(&place, 2);
    let stands = [&token_of(&printed, "mia"), &token_of(&again, "mia"), other].map(|token| me(&server, token));
    assert_eq!(stands, ["401", "200", "200"]);
    let taken = place.ok_with(&format!("demo serve --bind {}", server.address()), &[]);
    assert_eq!(taken.code, 75, "{taken}");
    assert_eq!(me(&server, &token_of(&again, "mia")), "200", "one that does not start ends nothing");
    assert_eq!(server.stop().code, 0);
}

#[test]
fn agents_of_the_demo_can_be_asked_and_their_mail_arrives_once_it_is_approved() {
    let place = demo();
    let (server, printed) = served(&place, 1);
    let fakes: Vec<&str> =
        printed["fakes"].as_array().unwrap().iter().map(|fake| fake["name"].as_str().unwrap()).collect();
    assert_eq!(fakes, ["webhook receiver", "mail box", "model"]);
    let asked = place.ok("--state demo/state.db --as mia ask --agent scribe 'Which parcels are on their way?'");
    assert_eq!(asked.code, 0, "{asked}");
    assert!(asked.stdout.contains("tool collection.query") && asked.stdout.ends_with("above.\n"), "{asked}");
    let writes = place.ok("--state demo/state.db --as mia ask --agent scribe 'Write to Nordlicht'");
    assert_eq!(writes.code, 4, "an assisting agent sends nothing by itself: {writes}");
    let waiting = rows(&place, "approval list --status pending");
    let mail = waiting.iter().find(|approval| approval["action"] == "mail.send").unwrap();
    let approved = place.ok(&format!("--state demo/state.db --as lea approve {}", mail["id"].as_str().unwrap()));
    assert_eq!(approved.code, 0, "{approved}");
    let is_done =
        || rows(&place, "runs").iter().any(|run| run["id"] == mail["resource"] && run["status"] == "completed");
    let until = Instant::now() + Duration::from_secs(20);
    while !is_done() {
        assert!(Instant::now() < until, "the run does not go on");
    }
    let told = server.stop();
    assert!(told.stderr.contains("mail: to hello@nordlicht.example, «News from Fern Hill»"), "{told}");
}

#[test]
fn a_port_that_is_taken_is_told_before_any_token_ends() {
    let place = demo();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let events = rows(&place, "log --limit 1000").len();
    let refused = place.ok(&format!("demo serve --bind {}", busy.local_addr().unwrap()));
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("cannot listen on"), "{refused}");
    assert_eq!(rows(&place, "log --limit 1000").len(), events);
}
