//! `ok policy diff`: what people read, what a plan holds, and how the command ends.

use ok::policy::plan::Plan;
use serde_json::Value;

use super::assert_snapshot;
use crate::cli::Place;

/// A company, and its default policies in a folder.
fn place() -> Place {
    let place = Place::with_company();
    for (path, text) in &ok::policy::Bundle::built_in().files {
        let path = place.path().join("policies").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

const TIGHTER: &str = "@id(\"no-agents\")\n@reason(\"no agents for now\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"actor.add\",\n  resource is Ok::Company\n);\n";

/// Adds a policy, and decisions that it concerns.
fn tightened() -> Place {
    let place = place();
    for id in ["bob", "cleo"] {
        assert_eq!(place.ana(&format!("actor add-human {id} --role member")).code, 0);
    }
    std::fs::write(place.path().join("policies/more.cedar"), TIGHTER).unwrap();
    place
}

#[test]
fn the_report_tells_texts_answers_and_decisions() {
    let place = tightened();
    let ran = place.ana("policy diff --max newly_denied=1");
    assert_eq!(ran.code, 3, "{}", ran.shown);
    // What depends on the default policies and on how many operations there are is not what this is about.
    let lines = ran.stdout.lines().filter(|line| !line.starts_with("version "));
    let shown: String = lines.map(|line| format!("{}\n", line.split("; ").next().unwrap())).collect();
    assert_snapshot("diff", &shown);
}

#[test]
fn the_exit_code_tells_same_different_and_over_budget() {
    let place = place();
    let same = place.ana("policy diff");
    assert_eq!(
        (same.code, same.stdout.lines().next().unwrap().starts_with("Nothing differs from version 1")),
        (0, true)
    );
    let place = tightened();
    let texts = place.ana("policy diff --no-answers");
    let is_told = texts.stdout.contains("answers: the answers were not compared, as asked");
    assert!(texts.code == 2 && is_told && texts.stdout.contains("added "), "{}", texts.shown);
    for (line, code) in [
        ("policy diff", 2),
        ("policy diff policies --no-impact", 2),
        ("policy diff --max newly_allowed=0,newly_denied=2", 2),
        ("policy diff --max newly_allowed=0,newly_denied=1", 3),
        ("policy diff --since 9999", 1),
        ("policy diff nowhere", 1),
        ("policy diff --change chg_00000000000000000000000000", 1),
        ("policy diff policies --change chg_00000000000000000000000000", 64),
        ("policy diff --max newly_refused=1", 64),
        ("policy diff --max newly_denied=-1", 64),
        ("policy diff --max newly_denied=1,newly_denied=2", 64),
        ("policy diff --max newly_denied", 64),
        ("policy diff --no-impact --since 1", 64),
        ("policy diff --no-impact --max looser=0,unobserved=0", 2),
        ("policy diff --no-impact --max newly_denied=0", 1),
        ("policy diff --no-answers --max looser=0", 1),
    ] {
        let ran = place.ana(line);
        assert_eq!(ran.code, code, "{}", ran.shown);
    }
    let over = place.ana("policy diff --max newly_allowed=0,newly_denied=1 --save over.json");
    let is_told = over.stderr.contains("over.json is not written");
    assert!(over.code == 3 && is_told && !place.path().join("over.json").exists(), "{}", over.shown);
    // One that lets members add actors, and one that no question meets.
    let looser = "@id(\"more\") permit (principal in Ok::Role::\"member\", action == Ok::Action::\"actor.add\", resource);\n@id(\"never\") permit (principal in Ok::Role::\"lead\", action == Ok::Action::\"tick\", resource) when { context.hist[\"tick\"].day * context.hist[\"tick\"].month == 77 };\n";
    std::fs::write(place.path().join("policies/more.cedar"), looser).unwrap();
    for (ceilings, told) in [
        ("looser=0", "over budget: looser is 1, at most 0 allowed"),
        ("looser=1,unobserved=0", "over budget: unobserved is 1, at most 0 allowed"),
    ] {
        let ran = place.ana(&format!("policy diff --no-impact --max {ceilings}"));
        assert!(ran.code == 3 && ran.stdout.contains(told), "{}", ran.shown);
    }
    assert_eq!(place.ana("policy diff --no-impact --max looser=1,unobserved=1").code, 2);
    let ci = place.ana("ci --max looser=0");
    assert!(ci.code == 2 && ci.stdout.contains("over budget: looser is 1, at most 0 allowed"), "{}", ci.shown);
    std::fs::write(place.path().join("policies/more.cedar"), "permit (").unwrap();
    let broken = place.ana("policy diff");
    assert_eq!((broken.code, broken.stderr.contains("more.cedar:1: ")), (1, true), "{}", broken.shown);
}

#[test]
fn a_saved_plan_holds_what_was_compared_and_is_the_same_again() {
    let place = tightened();
    let ran = place.ana("policy diff --save plan.json --format json");
    assert_eq!(ran.code, 2, "{}", ran.shown);
    let text = std::fs::read_to_string(place.path().join("plan.json")).unwrap();
    let plan = Plan::parse(&text).unwrap();
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(plan.report, answer);
    assert_eq!((plan.base.version, Value::from(plan.hash.clone())), (1, answer["hash"].clone()));
    assert_eq!(plan.bundle().files["more.cedar"], TIGHTER);
    assert!(answer["company"].as_str().unwrap().contains(&plan.company));
    let again = place.ana("policy diff --save again.json");
    assert_eq!(again.code, 2);
    assert_eq!(std::fs::read_to_string(place.path().join("again.json")).unwrap(), text);
    assert_eq!(place.ana("policy diff --save plan.json/plan.json").code, 1);
}

/// Whoever reviews has the change, not its folder.
#[test]
fn a_change_is_compared_by_its_id() {
    let place = tightened();
    let folder = place.ana("--format json policy diff --no-answers --no-impact");
    let proposed = place.ana("--format json policy propose --reason tighter");
    let id = serde_json::from_str::<Value>(&proposed.stdout).unwrap()["id"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(place.path().join("policies")).unwrap();
    let change = place.ana(&format!("--format json policy diff --change {id} --no-answers --no-impact"));
    assert_eq!((change.code, change.stdout), (2, folder.stdout), "{}", change.stderr);
}

#[test]
fn a_running_server_is_asked() {
    let place = tightened();
    let alone = place.ana("policy diff --format json");
    let server = place.serve();
    let asked = place.ana("policy diff --format json");
    assert_eq!((asked.code, asked.stdout), (alone.code, alone.stdout));
    drop(server);
}
