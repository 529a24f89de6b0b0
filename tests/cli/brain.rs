//! The company's own data on the command line.

use std::fs;

use serde_json::Value;

use super::Place;

const OPS: &str = r#"[{"create": {"spec": {
    "key": ["number"],
    "fields": {"number": {"type": "text", "required": true}, "due": {"type": "date"}, "total": {"type": "money"}}
}}}]"#;

fn with_invoices() -> Place {
    let place = Place::with_company();
    fs::write(place.path().join("ops.json"), OPS).unwrap();
    let proposed = place.ana("--format json schema propose invoices --ops ops.json --reason bills");
    let proposed: Value = serde_json::from_str(&proposed.stdout).unwrap();
    let applied = place.ana(&format!("schema apply {}", proposed["id"].as_str().unwrap()));
    assert_eq!(applied.code, 0, "{applied}");
    place
}

#[test]
fn what_is_wrong_with_a_file_is_told_by_its_lines_and_nothing_of_it_is_written() {
    let place = with_invoices();
    for (file, text, told) in [
        (
            "rows.csv",
            "number,due,total\n1,2026-01-31,5\n\"2\n2\",soon,6\n3,2026-01-31,much\n",
            ["line 3: fields.due: must be a day", "line 5: fields.total: must be a"],
        ),
        (
            "rows.csv",
            "number,due,total\r\n1,soon,5\r\n\r\n2,2026-01-31,much\r\n",
            ["line 2: fields.due: must be a day", "line 4: fields.total: must be a"],
        ),
        (
            "rows.jsonl",
            "{\"number\": \"1\"}\n\n{\"number\": \"2\", \"due\": \"soon\"}\n{\"number\": \"1\"}\n",
            ["line 3: fields.due: must be a day", "line 4: has the same number as line 1"],
        ),
    ] {
        fs::write(place.path().join(file), text).unwrap();
        let ran = place.ana(&format!("brain import invoices {file}"));
        assert_eq!(ran.code, 1, "{ran}");
        told.iter().for_each(|told| assert!(ran.stderr.contains(told), "{told} in {ran}"));
        let ran = place.ana(&format!("--format json brain import invoices {file}"));
        told.iter().for_each(|told| assert!(ran.stderr.contains(told) || ran.stdout.contains(told), "{told} in {ran}"));
        assert!(place.ana("brain query invoices").stdout.contains("no records"));
    }
}

#[test]
fn figures_that_are_too_large_say_so() {
    let place = with_invoices();
    fs::write(place.path().join("rows.csv"), "number,total\n1,922337203685477\n2,922337203685477\n").unwrap();
    place.ana("brain import invoices rows.csv");
    let ran = place.ana("brain aggregate invoices --measures count,sum:total");
    assert!(ran.stdout.contains("too large"), "{ran}");
}

#[test]
fn a_preview_that_is_cut_short_says_so() {
    let place = with_invoices();
    fs::write(place.path().join("rows.csv"), "number\n1\n2\n3\n").unwrap();
    place.ana("brain import invoices rows.csv");
    let view = "apiVersion: ok/v1\nkind: View\nmetadata: {name: all}\nspec: {query: {collection: invoices}}\n";
    fs::write(place.path().join("view.yaml"), view).unwrap();
    let ran = place.ana("view preview view.yaml --limit 2");
    assert!(ran.stderr.contains("The first 2 are shown; --limit shows up to 1000."), "{ran}");
    assert!(!place.ana("view preview view.yaml").stderr.contains("are shown"));
}

#[test]
fn a_comparison_names_what_a_folder_leaves_out_without_removing_it() {
    let place = with_invoices();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    fs::remove_file(place.path().join("policies/collections/invoices.yaml")).unwrap();
    let ran = place.ana("policy diff policies --no-answers --no-impact");
    assert!(ran.stdout.contains("stay in force, though not among the files: collections/invoices.yaml ("), "{ran}");
    assert_eq!(ran.code, 0, "nothing differs: {ran}");
}

#[test]
fn a_folder_that_leaves_something_out_is_applied_again_and_again() {
    let place = with_invoices();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    fs::remove_file(place.path().join("policies/collections/invoices.yaml")).unwrap();
    let policy = |id: &str| {
        let text = format!(
            "@id(\"{id}\")\npermit (\n  principal == Ok::Actor::\"zed\",\n  action == Ok::Action::\"tick\",\n  resource\n);\n"
        );
        fs::write(place.path().join(format!("policies/{id}.cedar")), text).unwrap();
    };
    for id in ["one", "two"] {
        policy(id);
        let ran = place.ana("policy apply policies --reason more");
        assert_eq!(ran.code, 0, "{ran}");
        assert!(ran.stderr.contains("left out, which removes nothing: collections/invoices.yaml ("), "{ran}");
    }
    assert!(place.ana("brain query invoices").code == 0);
    // What somebody else brought into force meanwhile is found out all the same.
    assert_eq!(place.ana("policy export --dir other").code, 0);
    let text = fs::read_to_string(place.path().join("policies/two.cedar")).unwrap().replace("two", "three");
    fs::write(place.path().join("other/three.cedar"), text).unwrap();
    assert_eq!(place.ana("policy apply other --reason theirs").code, 0);
    policy("four");
    let ran = place.ana("policy apply policies --reason late");
    assert!(ran.code == 1 && ran.stderr.contains("was made from version"), "{ran}");
}

#[test]
fn a_definition_that_was_edited_until_it_cannot_be_read_is_told_with_its_table() {
    let place = with_invoices();
    let conn = rusqlite::Connection::open(place.state()).unwrap();
    conn.execute_batch("UPDATE collection SET definition = definition || 'x'").unwrap();
    drop(conn);
    let ran = place.ok("audit verify");
    assert!(ran.code == 2 && ran.to_string().contains("collection"), "{ran}");
}
