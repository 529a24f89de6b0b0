//! Plans that are read back.

use ok::policy::Bundle;
use ok::policy::plan::{Base, File, Plan, sha256};

fn plan() -> Plan {
    let bundle = Bundle::new([("a.cedar", "permit (principal, action, resource);\n"), ("tests/a.yaml", "")]);
    let base = Base { version: 3, hash: "ab".into() };
    Plan::new("log.example/1".into(), base, &bundle, serde_json::json!({ "same": false }))
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let text = plan().text().unwrap();
    assert_eq!(Plan::parse(&text).unwrap(), plan());
    assert_eq!(Plan::parse(&text).unwrap().text().unwrap(), text);
}

#[test]
fn a_plan_that_was_touched_is_no_plan() {
    let touched = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        Plan::parse(&plan.text().unwrap()).unwrap_err().to_string()
    };
    let file = |text: &str| File { sha256: sha256(text), text: text.into() };
    assert_eq!(
        touched(&|plan| plan.files.get_mut("a.cedar").unwrap().text.push(' ')),
        "files: `a.cedar` is not what was compared: its sha256 differs"
    );
    let hash = "hash: does not match the files; they are not what was compared";
    assert_eq!(touched(&|plan| drop(plan.files.insert("b.cedar".into(), file("")))), hash);
    assert_eq!(touched(&|plan| drop(plan.files.remove("tests/a.yaml"))), hash);
    assert_eq!(
        touched(&|plan| drop(plan.files.insert("../a.cedar".into(), file("")))),
        "files: `../a.cedar` must not contain `..`, hidden or empty parts"
    );
    assert_eq!(
        touched(&|plan| plan.format = "ok/plan/v2".into()),
        "it is a plan of another form: `ok/plan/v2` is not `ok/plan/v1`"
    );
    assert!(Plan::parse("{}").unwrap_err().to_string().starts_with("it is no plan: missing field"));
}
