//! `ok policy` from a folder in git to policies in force, on the state file and on a server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;

use super::{Place, Ran, assert_snapshot, session};

const CLOSED: &str = "@id(\"closed\")\n@reason(\"closed for now\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"inbox.list\",\n  resource\n);\n";
const CASE: &str = "cases:\n  - {actor: zoe, op: inbox.list, expect: deny}\nactors:\n  - {id: zoe}\n";

/// The policies in force in a folder, with one more that closes the inbox.
fn closed(place: &Place) {
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let policies = place.path().join("policies");
    fs::write(policies.join("closed.cedar"), CLOSED).unwrap();
    fs::write(policies.join("tests/closed.yaml"), CASE).unwrap();
    // It says that the inbox is open.
    fs::remove_file(policies.join("tests/approvals.yaml")).unwrap();
}

fn shown(name: &str, runs: impl IntoIterator<Item = Ran>) {
    assert_snapshot(name, session(runs));
}

#[test]
fn a_folder_is_exported_changed_compared_and_applied() {
    let place = Place::with_company();
    closed(&place);
    let diff = place.ana("policy diff --no-impact --save plan.json");
    assert_eq!(diff.code, 2, "{diff}");
    let applied = place.ana("policy apply --reason 'the inbox rests'");
    let lock = fs::read_to_string(place.path().join("policies/policy.lock")).unwrap();
    assert!(lock.contains("version: 2\n"), "{lock}");
    shown(
        "a_folder_is_exported_changed_compared_and_applied",
        [
            applied,
            place.ana("inbox"),
            place.ana("policy apply"),
            place.ana("policy apply plan.json"),
            place.ana("policy list"),
            place.ana("policy rollback"),
            place.ana("policy rollback 9"),
            place.ana("changes list"),
            place.ana("policy apply"),
            place.ok("audit verify"),
        ],
    );
}

#[test]
fn what_an_export_prints_is_checked_compared_proposed_and_applied() {
    let place = Place::with_company();
    for (name, line) in [("printed", "policy export"), ("printed.json", "policy export --format json")] {
        let path = place.path().join(name);
        fs::write(&path, place.ana(line).stdout).unwrap();
        for line in ["policy check", "policy diff --no-impact", "policy apply"] {
            assert_eq!(place.ana(&format!("{line} {name}")).code, 0, "{line} {name}");
            let mut command = place.command(&["--as", "ana"]);
            command.args(line.split(' ')).arg("-").stdin(fs::File::open(&path).unwrap());
            assert_eq!(command.output().unwrap().status.code(), Some(0), "{line} - {name}");
        }
    }
    // Edited, it is what was edited, made from what was printed.
    let printed = fs::read_to_string(place.path().join("printed")).unwrap();
    let edited =
        printed.replacen("==> approvals.yaml <==", &format!("==> a.cedar <==\n{CLOSED}==> approvals.yaml <=="), 1);
    fs::write(
        place.path().join("printed"),
        edited.replace("op: inbox.list, expect: allow", "op: inbox.list, expect: deny"),
    )
    .unwrap();
    let found = place.ana("policy check printed");
    assert!(found.code == 3 && found.stdout.contains("[tests/"), "{found}");
    assert_eq!(place.ana("policy check printed --fix").code, 64);
    let proposed = place.ana("policy propose printed --reason closed");
    assert_eq!((proposed.code, proposed.stderr.as_str()), (0, ""), "{proposed}");
    closed(&place);
    assert_eq!(place.ana("policy apply policies").code, 0);
    let late = place.ana("policy apply printed");
    assert!(late.code == 1 && late.stderr.contains("what was exported was made from version 1;"), "{late}");
    fs::write(place.path().join("other.txt"), "permit (principal, action, resource);\n").unwrap();
    let other = place.ana("policy apply other.txt");
    assert!(
        other.stderr.contains("other.txt: line 1 belongs neither to a plan nor to what `ok policy export` prints"),
        "{other}"
    );
}

#[test]
fn a_plan_is_for_one_company_and_one_version() {
    let (place, other) = (Place::with_company(), Place::with_another_company());
    closed(&place);
    place.ana("policy diff --no-impact --save plan.json");
    fs::copy(place.path().join("plan.json"), other.path().join("plan.json")).unwrap();
    let refused = other.ana("policy apply plan.json");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("the plan was made for the company"), "{refused}");
    fs::write(other.path().join("plan.json"), "{}").unwrap();
    assert!(other.ana("policy apply plan.json").stderr.contains("it is neither a plan nor an export"));
}

#[test]
fn where_another_admin_comes_first_apply_ends_with_4() {
    let place = Place::with_company();
    place.ana("actor add-human abe --role admin");
    closed(&place);
    let waits = place.ana("policy apply --format json");
    assert_eq!(waits.code, 4, "{waits}");
    let answer: serde_json::Value = serde_json::from_str(waits.stdout.trim()).unwrap();
    let change = answer["change"].as_str().unwrap();
    // The same once more is the same proposal, which keeps what it was proposed for.
    let again = place.ana("policy apply --reason 'another one'");
    assert!(again.stderr.contains(&format!("{change} already proposes the same, with the reason «")), "{again}");
    let review = place.ok(&format!("--as abe changes review {change} --approve --note 'fine'"));
    assert_eq!(review.code, 0, "{review}");
    let promoted = place.ana(&format!("changes promote {change}"));
    assert_eq!(promoted.code, 0, "{promoted}");
    assert!(place.ana("policy apply").stderr.contains("version 2 is exactly this already"));
}

#[test]
fn while_apply_waits_for_somebody_they_use_the_same_state_file() {
    let place = Place::with_company();
    place.ana("actor add-human abe --role admin");
    closed(&place);
    let mut apply = place.command(&["--as", "ana", "policy", "apply", "--wait", "120"]);
    let mut apply = apply.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = std::time::Instant::now();
    let approval = loop {
        assert!(begun.elapsed().as_secs() < 60, "nothing waits");
        let listed = place.ok("--as abe approval list --status pending --format json");
        assert_eq!(listed.code, 0, "{listed}");
        let rows: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
        if let Some(id) = rows[0]["id"].as_str() {
            break id.to_owned();
        }
    };
    let approved = place.ok(&format!("--as abe approve {approval}"));
    assert_eq!(approved.code, 0, "{approved}");
    assert!(apply.wait().unwrap().success());
}

#[test]
fn ci_proposes_to_a_server_with_a_token_for_policy_alone() {
    let place = Place::with_company();
    closed(&place);
    let issued = place.ana("token issue --for ana --scope policy --format json");
    let token: serde_json::Value = serde_json::from_str(issued.stdout.trim()).unwrap();
    let token = token["token"].as_str().unwrap();
    let server = place.serve();
    let address = format!("http://{}", server.address());
    let there = |line: &str| place.ok_with(line, &[("OK_SERVER", &address), ("OK_TOKEN", token)]);
    let told = |ran: Ran| Ran { shown: ran.shown.replace(token, "<token>").replace(&address, "<server>"), ..ran };
    let runs = [
        told(there("policy check")),
        told(there("policy diff --no-impact")),
        told(there("policy apply --commit 4f2a --reason 'from git'")),
        told(there("policy apply")),
        told(there("policy list")),
        place.ok("policy apply --server http://example.org"),
        place.ok("policy apply --server https://127.0.0.1:1"),
        place.ok("policy apply --server http://127.0.0.1:1 --state .ok/state.db"),
        told(place.ok_with("policy apply --server http://127.0.0.1:1", &[("OK_TOKEN", token)])),
        place.ana("policy drift"),
    ];
    server.stop();
    shown("ci_proposes_to_a_server_with_a_token_for_policy_alone", runs);
}

#[test]
fn a_server_killed_while_it_applies_has_the_old_policies_or_the_new_ones() {
    let place = Place::with_company();
    closed(&place);
    for round in 0..4 {
        let server = place.serve();
        let mut apply = place.command(&["--as", "ana", "policy", "apply"]);
        let mut apply = apply.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150 * round));
        server.signal("-KILL");
        server.ended();
        let _ = apply.wait();
        let verified = place.ok("audit verify");
        assert_eq!(verified.code, 0, "{verified}");
    }
    let applied = place.ana("policy apply");
    assert_eq!(applied.code, 0, "{applied}");
    assert!(place.ana("inbox").stderr.contains("closed for now"));
}

#[test]
fn of_two_folders_applied_at_once_one_comes_into_force_and_the_other_is_told() {
    let place = Place::with_company();
    for name in ["one", "two"] {
        assert_eq!(place.ana(&format!("policy export --dir {name}")).code, 0);
        std::fs::write(place.path().join(format!("{name}/{name}.cedar")), format!("// {name}\n")).unwrap();
    }
    let mut runs = std::thread::scope(|scope| {
        let place = &place;
        let apply = |name: &'static str| scope.spawn(move || place.ana(&format!("policy apply {name}")));
        [apply("one"), apply("two")].map(|run| run.join().unwrap())
    });
    runs.sort_by_key(|run| run.code);
    assert_eq!((runs[0].code, runs[1].code), (0, 1), "{}{}", runs[0].shown, runs[1].shown);
    assert!(runs[1].stderr.contains("version 2 is in force, applied by ana"), "{}", runs[1].shown);
    assert_eq!(place.ana("policy list --format json").stdout.matches("\"version\"").count(), 2);
}

#[test]
fn a_folder_of_too_many_files_is_refused() {
    let place = Place::with_company();
    std::fs::create_dir(place.path().join("many")).unwrap();
    for number in 0..=20_000 {
        std::fs::write(place.path().join(format!("many/{number}.cedar")), "").unwrap();
    }
    for line in ["policy apply many", "policy check many", "policy diff many"] {
        let ran = place.ana(line);
        assert_eq!((ran.code, ran.stderr.contains("more than 20000 policy files")), (1, true), "{}", ran.shown);
    }
}

const DOCS: &str = "namespace Docs {\n  entity User;\n  entity Doc = { open: Bool };\n  action view appliesTo { principal: [User], resource: [Doc], context: {} };\n}\n";
const READERS: &str = "@id(\"open-docs\")\npermit (\n  principal is Docs::User,\n  action == Docs::Action::\"view\",\n  resource is Docs::Doc\n)\nwhen { resource.open };\n";
const EVALUATION: &str = "{\"subject\": {\"type\": \"Docs::User\", \"id\": \"ann\"}, \"action\": {\"name\": \"view\"}, \"resource\": {\"type\": \"Docs::Doc\", \"id\": \"7\", \"properties\": {\"open\": false}}}";

#[test]
fn a_question_about_the_companys_own_types_is_explained_and_a_change_of_them_is_told() {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let policies = place.path().join("policies");
    fs::write(policies.join("schema.cedarschema"), DOCS).unwrap();
    fs::write(policies.join("docs.cedar"), READERS).unwrap();
    assert_eq!(place.ana("policy apply").code, 0);
    fs::write(place.path().join("question.json"), EVALUATION).unwrap();
    let explained = place.ana("policy explain --evaluation question.json --tree");
    fs::write(policies.join("docs.cedar"), READERS.replace("\nwhen { resource.open }", "")).unwrap();
    let diff = place.ana("policy diff --no-impact");
    shown("own_types", [explained, place.ana("policy explain tick --evaluation question.json"), diff]);
}

/// A server that answers everything with these files.
fn server_with(files: serde_json::Value) -> String {
    server_busy_for(0, files)
}

/// The same, too busy for the first calls.
fn server_busy_for(mut calls: usize, files: serde_json::Value) -> String {
    let body = serde_json::json!({
        "files": files, "schema": "", "company": "ok", "version": 1, "event": 1, "hash": "", "by": "ana",
        "at": "2026-11-20T09:00:00Z", "earlier": [],
    });
    answering(move || {
        let busy = r#"{"error":"unavailable","message":"too many questions at once; try again"}"#;
        let now = calls;
        calls = calls.saturating_sub(1);
        if now > 0 { ("503 Service Unavailable", busy.to_owned()) } else { ("200 OK", body.to_string()) }
    })
}

fn answering(mut answer: impl FnMut() -> (&'static str, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for line in listener.incoming() {
            let mut line = line.unwrap();
            let _ = line.read(&mut [0; 4096]);
            let (status, body) = answer();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
            );
            let _ = write!(line, "{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

#[test]
fn what_a_proxy_answers_is_told_with_its_status_and_not_taken_for_an_answer_of_the_server() {
    let place = Place::new();
    for (status, body, told) in [
        ("401 Unauthorized", r#"{"error":"invalid_token","error_description":"expired"}"#, "answers 401: expired"),
        ("502 Bad Gateway", r#"{"message":"upstream gone"}"#, "answers 502: upstream gone"),
        ("429 Too Many Requests", r#"{"message":"","detail":"slow down"}"#, "answers 429: slow down"),
        ("503 Service Unavailable", r#"{"error":"unauthorized","message":"no"}"#, "answers 503: no"),
        ("422 Unprocessable Entity", "id: `A!` is no id", "Error: id: `A!` is no id"),
    ] {
        let address = answering(move || (status, body.to_owned()));
        let ran = place.ok_with(&format!("policy export --dir out --server {address}"), &[("OK_TOKEN", "ok_x")]);
        assert!(ran.code == 1 && ran.stderr.contains(told) && !ran.stderr.contains("trying again"), "{ran}");
    }
}

#[test]
fn a_server_that_is_too_busy_is_asked_again() {
    let place = Place::new();
    let address = server_busy_for(1, serde_json::json!({ "a.cedar": "// a\n" }));
    let ran = place.ok_with(&format!("policy export --dir out --server {address}"), &[("OK_TOKEN", "ok_x")]);
    assert!(ran.code == 0 && ran.stderr.contains("The server is busy; trying again in 1 s."), "{ran}");
}

#[test]
fn what_a_server_names_is_written_into_the_folder_or_not_at_all() {
    let place = Place::new();
    for path in
        ["../evil.cedar", "/tmp/evil.cedar", "a/../../evil.cedar", ".git/hooks/pre-commit", "evil.sh", "a\nb.cedar"]
    {
        let address = server_with(serde_json::json!({ "a.cedar": "", path: "evil" }));
        let ran = place.ok_with(&format!("policy export --dir out --server {address}"), &[("OK_TOKEN", "ok_x")]);
        assert!(ran.code == 1 && ran.stderr.contains("the server sent an invalid bundle"), "{ran}");
        assert!(!place.path().join("out").exists() && !place.path().join("evil.cedar").exists(), "{path}");
    }
    let address = server_with(serde_json::json!({ "a.cedar": "// a\n" }));
    let ran = place.ok_with(&format!("policy export --dir out --server {address}"), &[("OK_TOKEN", "ok_x")]);
    assert_eq!(
        (ran.code, fs::read_to_string(place.path().join("out/a.cedar")).unwrap()),
        (0, "// a\n".into()),
        "{ran}"
    );
}

#[test]
fn what_is_exported_is_its_owners_alone_and_no_link_is_followed() {
    let place = Place::with_company();
    let (lock, elsewhere) = (place.path().join("policies/policy.lock"), place.path().join("elsewhere"));
    fs::create_dir(place.path().join("policies")).unwrap();
    fs::write(&elsewhere, "precious").unwrap();
    symlink(&elsewhere, place.path().join("policies/policy.lock.new")).unwrap();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    assert_eq!(place.ok("audit export log").code, 0);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    let mode = |path: &std::path::Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&lock), mode(&place.path().join("log/payloads.jsonl"))), (0o600, 0o600));
    // What its owner has opened to others stays so.
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    assert_eq!(mode(&lock), 0o644);
}

#[test]
fn export_writes_nothing_through_a_folder_that_is_a_link() {
    let place = Place::with_company();
    fs::create_dir_all(place.path().join("policies")).unwrap();
    fs::create_dir_all(place.path().join("elsewhere")).unwrap();
    symlink(place.path().join("elsewhere"), place.path().join("policies/base")).unwrap();
    let refused = place.ana("policy export --dir policies");
    assert!(refused.code == 1 && refused.stderr.contains("policies/base is a link; nothing is written"), "{refused}");
    assert_eq!(fs::read_dir(place.path().join("elsewhere")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(place.path().join("policies")).unwrap().count(), 1);
}

#[test]
fn export_keeps_what_was_edited_and_takes_over_the_rest() {
    let place = Place::with_company();
    let file = |name: &str| place.path().join("policies").join(name);
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let limits = read("limits.yaml");
    std::fs::write(file("limits.yaml"), "rates: {}\n").unwrap();
    std::fs::remove_file(file("base/kill.cedar")).unwrap();
    let kept = place.ana("policy export --dir policies");
    let told = "kept as edited here, since nothing else has changed in them: base/kill.cedar, limits.yaml";
    assert!(kept.code == 0 && kept.stderr.contains(told), "{kept}");
    assert!(!file("base/kill.cedar").exists() && read("limits.yaml") == "rates: {}\n");
    // Somebody else changes the same file.
    let theirs = format!("{limits}# By somebody else.\n");
    std::fs::create_dir(place.path().join("theirs")).unwrap();
    assert_eq!(place.ana("policy export --dir theirs").code, 0);
    std::fs::write(place.path().join("theirs/limits.yaml"), &theirs).unwrap();
    assert_eq!(place.ana("policy apply theirs --reason comment").code, 0);
    let refused = place.ana("policy export --dir policies");
    let told = "in policies these files were edited or deleted, and what is in force has changed, too: limits.yaml; --force overwrites what was done here";
    assert!(refused.code == 1 && refused.stderr.contains(told), "{refused}");
    assert!(read("limits.yaml") == "rates: {}\n", "nothing is written");
    std::fs::remove_file(file("policy.lock")).unwrap();
    assert_eq!(place.ana("policy export --dir policies").code, 1, "whatever is unknown is an edit");
    assert_eq!(place.ana("policy export --dir policies --force").code, 0);
    assert!(file("base/kill.cedar").exists() && read("limits.yaml") == theirs);
}

#[test]
fn a_draft_from_approvals_says_what_else_it_allows() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role lead");
    place.ana("actor add-team team:ops --lead bob");
    let waits = place.ok("--as bob actor add-human eve --role member --team team:ops");
    let approval = waits.stderr.split_whitespace().find(|word| word.starts_with("apr_")).unwrap().to_owned();
    assert_eq!(place.ana(&format!("approve {approval}")).code, 0);
    let drafted = place.ana(&format!("policy propose --from-approvals {approval}"));
    assert_eq!(drafted.code, 0, "{drafted}");
    let json = place.ana(&format!("policy propose --from-approvals {approval} --format json"));
    let also: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let also = also["also_allows"].as_array().unwrap();
    assert!(!also.is_empty(), "another time at least: {json}");
    for one in also {
        assert!(drafted.stdout.contains(&format!("also allows: {}", one.as_str().unwrap())), "{drafted}");
    }
}
