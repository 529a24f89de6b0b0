//! `ok entity`.

use std::fmt::Write as _;
use std::fs;

use super::Place;

/// A company whose policies know `Docs::User`.
fn place() -> Place {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let schema = place.path().join("policies/schema.cedarschema");
    let own = "namespace Docs {\n  entity User = { level: Long };\n  action view appliesTo { principal: [User], resource: [User], context: {} };\n}\n";
    fs::write(&schema, own).unwrap();
    let applied = place.ana("policy apply policies");
    assert!([0, 2].contains(&applied.code), "{}", applied.shown);
    place
}

#[test]
fn a_large_file_is_kept_whole_and_sent_again_changes_nothing() {
    let place = place();
    let (mut yaml, mut lines) = (String::new(), String::new());
    for number in 0..3_000 {
        writeln!(yaml, "- {{type: \"Docs::User\", id: \"u{number}\", properties: {{level: {number}}}}}").unwrap();
        writeln!(lines, "{{\"type\": \"Docs::User\", \"id\": \"u{number}\", \"properties\": {{\"level\": {number}}}}}")
            .unwrap();
    }
    fs::write(place.path().join("users.yaml"), &yaml).unwrap();
    fs::write(place.path().join("users.jsonl"), &lines).unwrap();
    assert_eq!(place.ana("entity keep users.jsonl").stdout, "kept       3000\nunchanged  0\n");
    assert_eq!(place.ana("entity keep users.yaml").stdout, "kept       0\nunchanged  3000\n");
    // What is wrong is told by its place in the file, with what is kept by then.
    let wrong = lines
        .replace("\"u1500\", \"properties\": {\"level\": 1500}", "\"u1500\", \"properties\": {\"level\": \"high\"}");
    fs::write(place.path().join("users.jsonl"), wrong.replace("\"level\": 7}", "\"level\": 8}")).unwrap();
    let refused = place.ana("entity keep users.jsonl");
    assert_eq!(refused.code, 1, "{}", refused.shown);
    let told = "1000 entities are kept; of those after them, counted from 0:";
    assert!(
        refused.stderr.contains(told) && refused.stderr.contains("entities.500.properties.level"),
        "{}",
        refused.stderr
    );
    fs::write(place.path().join("twice.yaml"), format!("{yaml}- {{type: \"Docs::User\", id: u7}}\n")).unwrap();
    let twice = place.ana("entity keep twice.yaml");
    assert!(twice.stderr.contains("`Docs::User::u7` is described twice"), "{}", twice.stderr);
    fs::write(place.path().join("bad.yaml"), format!("{yaml}- {{type: \"Docs::User\", ids: u7}}\n")).unwrap();
    let bad = place.ana("entity keep bad.yaml");
    assert!(bad.stderr.contains("line 3001: "), "{}", bad.stderr);
}
