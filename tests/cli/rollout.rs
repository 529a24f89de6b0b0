//! `ok policy apply` by those who do not bring into force alone: what fails its tests, or was refused, waits for nobody.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ci::put;
use super::{Place, Ran, Server, ran};

const WRONG: &str = "actors:\n  - {id: zoe}\ncases:\n  - {actor: zoe, op: inbox.list, expect: deny}\n";

/// A company with two admins, ana and abe, the steward sue, and a folder of policies with one file more.
fn company() -> Place {
    let place = Place::with_company();
    for line in ["abe --role admin", "sue --role steward"] {
        assert_eq!(place.ana(&format!("actor add-human {line}")).code, 0);
    }
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    put(&place, "policies/more.cedar", "// More.\n");
    place
}

/// Begins to apply as somebody, and finds what it waits for.
fn waiting(place: &Place, who: &str, list: &str) -> (Child, String) {
    let mut apply = place.command(&["--as", who, "policy", "apply", "--wait", "300"]);
    let mut apply = apply.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing waits");
        assert!(apply.try_wait().unwrap().is_none(), "it does not wait");
        let listed = place.ok(&format!("--as abe --format json {list}"));
        let rows: Value = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed}"));
        if let Some(id) = rows[0]["id"].as_str() {
            return (apply, id.to_owned());
        }
    }
}

/// How it ended, long before it would have given up.
fn ended(apply: Child) -> Ran {
    let begun = Instant::now();
    let ran = ran("policy apply --wait 300".to_owned(), &apply.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(60), "{ran}");
    ran
}

#[test]
fn failing_tests_are_told_whoever_may_promote() {
    let place = company();
    put(&place, "policies/tests/wrong.yaml", WRONG);
    // A steward runs them and promotes nothing; an admin would have to ask another one.
    for who in ["sue", "ana"] {
        let failing = place.ok(&format!("--as {who} policy apply"));
        assert!(failing.code == 3 && failing.stderr.contains("its tests fail: tests/wrong.yaml\n  "), "{failing}");
        assert!(failing.stderr.contains("inbox.list"), "which case it is: {failing}");
    }
    let waits = place.ana("approval list --status pending");
    assert!(waits.code == 0 && waits.stdout.contains("no approvals"), "{waits}");
}

#[test]
fn a_pipeline_that_runs_no_tests_is_told_what_they_came_to() {
    let place = company();
    put(&place, "policies/tests/wrong.yaml", WRONG);
    let issued = place.ana("token issue --for ana --scope policy --format json");
    let token = serde_json::from_str::<Value>(&issued.stdout).unwrap()["token"].as_str().unwrap().to_owned();
    let server = place.serve();
    let address = format!("http://{}", server.address());
    let apply = |line: &str| place.ok_with(line, &[("OK_SERVER", &address), ("OK_TOKEN", &token)]);
    let waits = apply("policy apply --format json");
    let told: Value = serde_json::from_str(&waits.stdout).unwrap_or_else(|_| panic!("{waits}"));
    assert_eq!(waits.code, 4, "nobody has run them: {waits}");
    assert_eq!(place.ana(&format!("changes evals {}", told["change"].as_str().unwrap())).code, 3);
    let failing = apply("policy apply");
    assert!(failing.code == 3 && failing.stderr.contains("its tests fail: tests/wrong.yaml"), "{failing}");
    // What comes into force by itself is tested by the server.
    assert_eq!(place.ana("policy source repo https://git.example.org/acme/policies --auto").code, 0);
    put(&place, "policies/more.cedar", "// Once more.\n");
    let failing = apply("policy apply --commit 4f2a5b");
    assert!(failing.code == 3 && failing.stderr.contains("its tests fail: tests/wrong.yaml"), "{failing}");
    server.stop();
}

#[test]
fn apply_waits_no_longer_for_what_was_refused() {
    let place = company();
    let (apply, change) = waiting(&place, "sue", "changes list --in proposed");
    assert_eq!(place.ok(&format!("--as abe changes reject {change} --reason 'not this quarter'")).code, 0);
    let rejected = ended(apply);
    // That sue may not promote it herself is asked, not tried.
    let denied = place.ana("log --type denied --since 0");
    assert!(!denied.stdout.contains("change.promote"), "{denied}");
    let told = format!("{change} was rejected by abe: not this quarter");
    assert!(rejected.code == 1 && rejected.stderr.contains(&told), "{rejected}");
    let shown = place.ana(&format!("changes show {change}"));
    assert!(shown.stdout.contains("abe") && shown.stdout.contains("not this quarter"), "{shown}");

    let before = format!("abe rejected exactly this before ({change}): not this quarter");
    let (apply, change) = waiting(&place, "sue", "changes list --in proposed");
    let shown = place.ana(&format!("changes show {change}"));
    assert!(shown.stderr.contains(&before), "{shown}");
    assert_eq!(place.ok(&format!("--as sue changes reject {change}")).code, 0);
    let withdrawn = ended(apply);
    assert!(
        withdrawn.code == 1 && withdrawn.stderr.contains(&format!("{change} was taken back by sue")),
        "{withdrawn}"
    );
    assert!(withdrawn.stderr.contains(&before), "{withdrawn}");

    let (apply, change) = waiting(&place, "sue", "changes list --in proposed");
    assert_eq!(place.ana("policy export --dir other").code, 0);
    put(&place, "other/other.cedar", "// Other.\n");
    let asked = place.ana("policy apply other --format json");
    let asked: Value = serde_json::from_str(&asked.stdout).unwrap_or_else(|_| panic!("{asked}"));
    assert_eq!(place.ok(&format!("--as abe approve {}", asked["approval"].as_str().unwrap())).code, 0);
    let superseded = ended(apply);
    let told = format!("{change} was superseded: version 2 is in force, applied by ana");
    assert!(superseded.code == 1 && superseded.stderr.contains(&told), "{superseded}");
    assert!(superseded.stderr.contains(&before), "what sue took back was rejected by nobody: {superseded}");
}

#[test]
fn apply_waits_no_longer_for_an_approval_that_was_refused() {
    let place = company();
    let (apply, approval) = waiting(&place, "ana", "approval list --status pending");
    let rejected = place.ok(&format!("--as abe approve {approval} --reject --note 'ask me on Monday'"));
    assert_eq!(rejected.code, 0, "{rejected}");
    let ended = ended(apply);
    let told = format!("approval {approval} was rejected by abe: ask me on Monday");
    assert!(ended.code == 1 && ended.stderr.contains(&told), "{ended}");
}

#[test]
fn a_steward_who_may_not_read_the_audit_is_told_what_is_compared_all_the_same() {
    let place = company();
    let refused = place.ok("--as sue policy diff --since 1 --max newly_allowed=0");
    assert!(
        refused.code == 1 && refused.stderr.contains("audit.head") && refused.stderr.contains("`--no-impact`"),
        "{refused}"
    );
    let compared = place.ok("--as sue policy diff");
    assert!(
        compared.code == 2 && compared.stdout.contains("decisions: not replayed; that needs audit.head"),
        "{compared}"
    );
    let json = place.ok("--as sue --format json policy diff");
    let told: Value = serde_json::from_str(&json.stdout).unwrap_or_else(|_| panic!("{json}"));
    assert_eq!((&told["impact"], &told["impact_needs"]), (&Value::Null, &"audit.head".into()));
    let wanted = place.ok("--as sue policy diff --no-impact");
    assert!(wanted.code == 2 && !wanted.stdout.contains("decisions:"), "{wanted}");
}

#[test]
fn apply_waits_through_a_restart_and_no_longer_for_what_a_restored_backup_does_not_have() {
    let place = company();
    let token = place.ok("--as sue token issue").stdout.trim().to_owned();
    assert_eq!(place.ana("backup before.db").code, 0);
    let server = place.serve();
    let address = server.address().to_owned();
    let mut apply = place.command(&["policy", "apply", "--server", &format!("http://{address}"), "--wait", "300"]);
    let mut apply = apply.env("OK_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(apply.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut says =
        |what: &str| said.find(|line| line.contains(what)).unwrap_or_else(|| panic!("it does not say: {what}"));
    let serve = || {
        let bind = format!("--bind={address}");
        Server::start(place.command(&["serve", &bind]))
    };
    says("waiting for 300 s");
    assert_eq!(server.stop().code, 0);
    says("still waiting");
    let server = serve();
    says("The server answers again");
    assert_eq!(server.stop().code, 0);
    for rest in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{rest}", place.state().display()));
    }
    std::fs::copy(place.path().join("before.db"), place.state()).unwrap();
    let _server = serve();
    says("is not there any more, as after a restored backup: propose the change again");
    assert_eq!(apply.wait().unwrap().code(), Some(1));
}
