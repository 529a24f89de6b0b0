//! `ok ci`: what is told of each step, how the command ends, and what it leaves for others.

use std::fs;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::{Place, Ran, assert_snapshot, session};

const POLICY: &str = "@id(\"ticks\")\npermit (\n  principal in Ok::Role::\"admin\",\n  action == Ok::Action::\"tick\",\n  resource\n);\n";
const CASES: &str = "actors:\n  - {id: ana, role: admin}\n  - {id: max}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n  - {actor: ana, op: health.read, expect: deny}\n  - {actor: max, op: tick, expect: deny}\n";
const TIGHTER: &str = "@id(\"no-adding\")\n@reason(\"nobody is added for now\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"actor.add\",\n  resource is Ok::Company\n);\n";

pub fn put(place: &Place, path: &str, text: &str) {
    let path = place.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn read(place: &Place, path: &str) -> String {
    fs::read_to_string(place.path().join(path)).unwrap()
}

/// A folder in which all is well.
fn clean() -> Place {
    let place = Place::new();
    put(&place, "policies/a.cedar", POLICY);
    put(&place, "policies/tests/a.yaml", CASES);
    place
}

/// A company, its policies in a folder with one more, and decisions that it concerns.
fn tightened() -> Place {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    for id in ["bob", "cleo"] {
        assert_eq!(place.ana(&format!("actor add-human {id} --role member")).code, 0);
    }
    // Tests of the default policies that add people fail now, and are not what this is about.
    fs::remove_dir_all(place.path().join("policies/tests")).unwrap();
    put(&place, "policies/more.cedar", TIGHTER);
    put(
        &place,
        "policies/tests/more.yaml",
        "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: actor.add, expect: deny}\n",
    );
    place
}

/// The status and the line of a step.
fn step(ran: &Ran, name: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    let step = answer["steps"].as_array().unwrap().iter().find(|step| step["name"] == name).unwrap();
    (step["status"].as_str().unwrap().to_owned(), step["summary"].as_str().unwrap().to_owned())
}

#[test]
fn each_step_is_told_and_the_most_severe_decides_the_end() {
    let place = clean();
    let mut runs = vec![place.ok("ci --min-coverage 100 --min-mutation 100"), place.ok("ci --format json")];
    put(&place, "policies/tests/a.yaml", &CASES.replace("op: tick, expect: deny", "op: tick, expect: allow"));
    runs.push(place.ok("ci --min-mutation 100 --min-coverage 100"));
    put(&place, "policies/b.cedar", "@id(\"all\") permit (principal, action, resource);\n");
    runs.push(place.ok("ci --github"));
    put(&place, "policies/b.cedar", "permit (");
    runs.push(place.ok("ci --mutate"));
    runs.push(place.ok("ci nowhere"));
    runs.push(place.ok("ci --format sarif"));
    runs.push(place.ok("ci --github --format json"));
    assert_eq!(runs.iter().map(|ran| ran.code).collect::<Vec<_>>(), [0, 0, 3, 2, 2, 1, 64, 64]);
    assert_snapshot("ci_steps", session(runs));
}

#[test]
fn what_needs_a_company_fails_where_there_is_none() {
    let place = clean();
    for line in ["ci --max newly_allowed=0", "ci --since 1", "ci --frozen", "ci --state nowhere.db"] {
        let ran = place.ok(&format!("{line} --format json"));
        assert_eq!((ran.code, step(&ran, "diff").0.as_str()), (1, "error"), "{ran}");
        assert!(!place.path().join("nowhere.db").exists() && !place.state().exists());
    }
    let server = [("OK_SERVER", "https://127.0.0.1:1"), ("OK_TOKEN", "ok_x")];
    let ran = place.ok_with("ci --format json", &server);
    assert_eq!((ran.code, step(&ran, "diff").0.as_str(), step(&ran, "tests").0.as_str()), (1, "error", "passed"));
    let ran = place.ok_with("ci --format json", &server[..1]);
    assert!(ran.code == 1 && step(&ran, "diff").1.contains("OK_TOKEN"), "{ran}");
}

#[test]
fn a_difference_is_no_failure_but_a_budget_and_frozen_are() {
    let place = tightened();
    let ran = place.ana("ci --format json --max newly_denied=2,newly_allowed=0");
    assert_eq!(ran.code, 0, "{ran}");
    let (status, told) = step(&ran, "diff");
    assert_eq!(status, "differs");
    assert!(told.starts_with("1 added, other files: ") && told.contains("; tighter for admin on actor.add"), "{told}");
    let ran = place.ana("ci --format json --max newly_denied=1 --summary out/summary.md --junit out/ci.xml");
    let (status, told) = step(&ran, "impact");
    assert_eq!((ran.code, status.as_str()), (3, "failed"), "{ran}");
    assert!(told.ends_with("over budget: newly_denied is 2, at most 1 allowed"), "{told}");
    let summary = read(&place, "out/summary.md");
    for part in ["| added | forbid | no-adding | more.cedar:1 |", "-&gt; deny (no-adding) |", "| allow | 1 | 0 | 2 |"] {
        assert!(summary.contains(part), "{part} is missing:\n{summary}");
    }
    assert!(read(&place, "out/ci.xml").contains("<testcase classname=\"company\" name=\"impact\">\n      <failure"));
    let ran = place.ana("ci --format json --frozen");
    assert_eq!((ran.code, step(&ran, "diff").0.as_str()), (2, "findings"), "{ran}");
    let ran = place.ok("ci --format json");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(step(&ran, "diff").1.contains("unknown actor stranger"));
}

#[test]
fn a_token_for_policies_alone_is_told_that_drift_was_skipped() {
    let place = tightened();
    let token = |scopes: &str| {
        let issued = place.ana(&format!("token issue --for ana {scopes} --format json"));
        serde_json::from_str::<Value>(issued.stdout.trim()).unwrap()["token"].as_str().unwrap().to_owned()
    };
    let (narrow, wide) = (token("--scope policy"), token("--scope policy --scope read"));
    let server = place.serve();
    let address = format!("http://{}", server.address());
    let there = |token: &str| place.ok_with("ci --format json", &[("OK_SERVER", &address), ("OK_TOKEN", token)]);
    let (narrow, wide) = (there(&narrow), there(&wide));
    drop(server);
    assert_eq!((narrow.code, wide.code), (0, 0), "{narrow}{wide}");
    let (status, told) = step(&narrow, "drift");
    assert!(status == "skipped" && told.starts_with("skipped: "), "{told}");
    assert_eq!(step(&narrow, "diff").0, "differs");
    assert_eq!(step(&wide, "drift"), ("passed".to_owned(), "unmanaged".to_owned()));
}

#[test]
fn what_only_a_company_can_find_is_found_as_by_check() {
    let place = tightened();
    let threshold = read(&place, "policies/approvals.yaml").replacen("remind_hours: 4", "threshold: 2", 1);
    put(&place, "policies/approvals.yaml", &threshold);
    put(
        &place,
        "policies/locked.cedar",
        "@id(\"locked\")\n@reason(\"never\")\nforbid (\n  principal,\n  action == Ok::Action::\"policy.propose\",\n  resource\n);\n",
    );
    let ran = place.ana("ci --format json");
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(step(&ran, "approvals"), ("findings".to_owned(), "2 findings".to_owned()));
    for code in ["approvals_unreachable", "locked_out"] {
        assert!(ran.stdout.contains(code), "{ran}");
    }
    // Nobody's company is asked about policies alone.
    let alone = place.ok_with("ci --format json", &[("OK_STATE", "none.db")]);
    assert_eq!(step(&alone, "approvals").0, "passed", "{alone}");
}

#[test]
fn reports_are_written_whatever_was_found() {
    let place = clean();
    put(&place, "policies/tests/a.yaml", &CASES.replace("op: tick, expect: deny", "op: tick, expect: allow"));
    put(&place, "policies/b.cedar", "@id(\"all\") permit (principal, action, resource);\n");
    put(&place, "step.md", "# before");
    let github = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "step.md")];
    let ran = place.ok_with("ci --junit ci.xml --sarif ci.sarif", &github);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stdout.contains("::error file=policies/tests/a.yaml,line=6,"), "{ran}");
    let sarif: Value = serde_json::from_str(&read(&place, "ci.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], true);
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
    let others = place.path().join("ci.xml").metadata().unwrap().permissions().mode() & 0o044;
    let usual = place.path().join("step.md").metadata().unwrap().permissions().mode() & 0o044;
    assert_eq!(others, usual, "whoever uploads it may be another user");
    assert!(read(&place, "step.md").starts_with("# before\n## Policies: failed\n"));
    assert_snapshot("ci_reports", format!("{}\n{}", read(&place, "step.md"), read(&place, "ci.xml")));
}

#[test]
fn a_report_that_cannot_be_written_is_told_and_the_others_are_written() {
    let place = clean();
    put(&place, "file", "");
    let ran = place.ok("ci --junit one --sarif one");
    assert!(ran.code != 0 && ran.stderr.contains("one is named for two reports"), "{ran}");
    assert!(!place.path().join("one").exists());
    let ran = place.ok("ci --junit file/ci.xml --sarif ci.sarif --summary summary.md");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("cannot write file/ci.xml: "), "{ran}");
    assert!(!read(&place, "ci.sarif").is_empty() && read(&place, "summary.md").contains("Policies: passed"));
}

#[test]
fn a_report_goes_to_what_its_path_leads_to() {
    let place = clean();
    put(&place, "kept.xml", "old");
    std::os::unix::fs::symlink("kept.xml", place.path().join("link.xml")).unwrap();
    let ran = place.ok("ci --junit link.xml --sarif /dev/null --summary /dev/stderr");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(place.path().join("link.xml").is_symlink());
    assert!(read(&place, "kept.xml").contains("<testsuites"));
    assert!(std::os::unix::fs::FileTypeExt::is_char_device(&std::fs::metadata("/dev/null").unwrap().file_type()));
    assert!(ran.stderr.contains("Policies: passed"), "{ran}");
    // But never over a company; with none here, nothing is compared.
    std::fs::create_dir(place.path().join("other")).unwrap();
    assert_eq!(place.ok("--state other/state.db init --admin ana").code, 0);
    for file in ["state.db", "state.db.key", "state.db.secrets", "state.db.key.part", "state.db-journal"] {
        let ran = place.ok(&format!("ci --junit other/{file}"));
        assert!(ran.code == 1 && ran.stderr.contains("it is a state file, or belongs to one"), "{ran}");
    }
    let through = format!("/proc/self/cwd/other/{}", "state.db.key");
    assert!(place.ok(&format!("ci --junit {through}")).stderr.contains("it is a state file"));
    std::fs::copy(place.path().join("other/state.db"), place.path().join("other/copy.new")).unwrap();
    assert!(place.ok("ci --junit other/copy").stderr.contains("it is a state file"), "what it would write first");
    // What only begins like one is not one.
    for _ in 0..2 {
        assert_eq!(place.ok("ci --junit other/state.db.xml").code, 0);
    }
    assert_eq!(place.ok("--state other/state.db audit verify").code, 0);
}

#[test]
fn a_summary_is_bounded_and_nobody_shapes_it() {
    let place = clean();
    let cases: String = (0..300).map(|_| "  - {actor: \"<img src=x>|`@all\", op: tick, expect: deny}\n").collect();
    put(&place, "policies/tests/b.yaml", &format!("cases:\n{cases}"));
    put(&place, "full.md", &"x".repeat(999_000));
    assert_eq!(place.ok("ci --summary summary.md").code, 3);
    let summary = read(&place, "summary.md");
    assert!(summary.contains("100 more are omitted here") && !summary.contains("<img"), "{}", summary.len());
    assert_eq!(place.ok_with("ci", &[("GITHUB_STEP_SUMMARY", "full.md")]).code, 3);
    let full = read(&place, "full.md");
    assert!(full.len() < 1 << 20 && full.contains("300 more are omitted here"), "{}", full.len());
}
