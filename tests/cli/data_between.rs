//! Policies are edited in git while the company's data gets another schema: neither holds up the other.

use serde_json::Value;

use super::ci::{put, read};
use super::{Place, Ran};

const INVOICES: &str = r#"[{"create": {"spec": {"key": ["number"], "fields": {
    "number": {"type": "text", "required": true}, "total": {"type": "money"}
}}}}]"#;
const LIMIT: &str = "@id(\"x-limit\")\n@reason(\"too much\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"record.write\",\n  resource is Brain::invoices\n)\nwhen { resource has total && resource.total.greaterThan(decimal(\"500.0\")) };\n";

/// A company with two admins and a collection, whose policies are in a folder.
fn company() -> Place {
    let place = Place::with_company();
    assert_eq!(place.ana("actor add-human ben --role admin").code, 0);
    altered(&place, INVOICES);
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    place
}

/// The collection gets another schema.
fn altered(place: &Place, ops: &str) {
    put(place, "ops.json", ops);
    let proposed = place.ana("--format json schema propose invoices --ops ops.json --reason r");
    let proposed: Value = serde_json::from_str(&proposed.stdout).unwrap_or_else(|_| panic!("{proposed}"));
    let applied = place.ana(&format!("schema apply {}", proposed["id"].as_str().unwrap()));
    assert_eq!(applied.code, 0, "{applied}");
}

fn field(name: &str) -> String {
    format!("[{{\"add_field\": {{\"name\": \"{name}\", \"field\": {{\"type\": \"text\"}}}}}}]")
}

/// The request that it waits for.
fn request(waits: &Ran) -> String {
    assert_eq!(waits.code, 4, "{waits}");
    let text = format!("{}{}", waits.stdout, waits.stderr);
    text.split_whitespace().find(|word| word.starts_with("apr_")).unwrap_or_else(|| panic!("{waits}")).to_owned()
}

#[test]
fn what_waits_comes_into_force_about_the_data_as_it_is_then_and_is_told_as_it_was_made() {
    let place = company();
    put(&place, "policies/base/x.cedar", LIMIT);
    let waits = request(&place.ana("policy apply --reason limit"));
    let told = |id: &str| place.ok(&format!("--as ben approval explain {id}")).stdout;
    let before = told(&waits);
    assert!(before.contains("base/x.cedar") && !before.contains("collections/"), "{before}");

    altered(&place, &field("iban"));
    let since = told(&waits);
    assert!(since.contains("base/x.cedar") && !since.contains("collections/"), "{since}");
    let approved = place.ok(&format!("--as ben approve {waits}"));
    assert!(approved.code == 0 && approved.stdout.contains("used"), "{approved}");
    assert!(told(&waits).contains("base/x.cedar"), "also once it is in force");
    assert_eq!(place.ana("policy export --dir after").code, 0);
    assert!(read(&place, "after/collections/invoices.yaml").contains("iban"), "the data stays as it is");
    assert!(read(&place, "after/base/x.cedar").contains("x-limit"));
    assert_eq!(place.ana("audit verify").code, 0);
}

#[test]
fn a_change_whose_tests_no_longer_hold_does_not_come_into_force() {
    let place = company();
    put(&place, "policies/base/x.cedar", LIMIT);
    let waits = request(&place.ana("policy apply --reason limit"));
    altered(&place, r#"[{"rename_field": {"name": "total", "to": "sum"}}]"#);
    let change = place.ok("--as ben changes list --format json").stdout;
    let change: Value = serde_json::from_str(&change).unwrap();
    let change = format!("--as ben changes show {}", change[0]["id"].as_str().unwrap());
    let shown = place.ok(&change);
    assert!(shown.code == 0 && shown.stdout.contains("x-limit"), "whoever decides sees it: {shown}");
    assert!(shown.stdout.contains("it does not fit the collections in force"), "{shown}");
    let approved = place.ok(&format!("--as ben approve {waits}"));
    assert!(approved.code == 1 && approved.stdout.contains("stale"), "{approved}");
    assert!(approved.stdout.contains("x-limit"), "it says why: {approved}");
}

#[test]
fn a_folder_with_an_older_collection_is_compared_checked_and_applied() {
    let place = company();
    altered(&place, &field("iban"));
    let same = place.ana("policy diff");
    assert!(same.code == 0, "nothing of it was edited: {same}");
    put(&place, "policies/base/x.cedar", LIMIT);
    let differs = place.ana("policy diff --no-impact");
    assert!(differs.code == 2 && differs.stdout.contains("x-limit"), "{differs}");
    assert!(!differs.stdout.contains("collections/"), "{differs}");
    let checked = place.ana("ci policies");
    assert!(!checked.stdout.contains("not as in force"), "{checked}");
    let waits = request(&place.ana("policy apply --reason limit"));
    assert_eq!(place.ok(&format!("--as ben approve {waits}")).code, 0);
    altered(&place, &field("bic"));
    put(&place, "policies/base/x.cedar", &LIMIT.replace("500.0", "400.0"));
    let waits = request(&place.ana("policy apply --reason lower"));
    assert_eq!(place.ok(&format!("--as ben approve {waits}")).code, 0);

    // An export takes over the data, and keeps what is edited.
    put(&place, "policies/base/x.cedar", &LIMIT.replace("500.0", "300.0"));
    let exported = place.ana("policy export --dir policies");
    assert!(exported.code == 0 && exported.stderr.contains("kept as edited here"), "{exported}");
    assert!(read(&place, "policies/collections/invoices.yaml").contains("bic"));
    assert!(read(&place, "policies/base/x.cedar").contains("300.0"));
}

#[test]
fn what_is_in_force_no_more_leaves_the_folder_unless_somebody_has_edited_it() {
    let place = company();
    put(&place, "policies/base/y.cedar", "// Of this folder.\n");
    altered(&place, r#"[{"retire": {}}]"#);
    assert_eq!(place.ana("policy diff --no-impact --no-answers").code, 2, "it holds up no comparison");
    let exported = place.ana("policy export --dir policies");
    assert!(exported.stderr.contains("removed policies/collections/invoices.yaml"), "{exported}");
    assert!(exported.stderr.contains("policies/base/y.cedar is not in force; remove it, or apply it"), "{exported}");
    let differs = place.ana("policy diff --no-impact --no-answers");
    assert!(differs.code == 2 && differs.stdout.contains("y.cedar"), "{differs}");
}

#[test]
fn an_edited_collection_is_refused() {
    let place = company();
    let edited = read(&place, "policies/collections/invoices.yaml").replace("text", "date");
    put(&place, "policies/collections/invoices.yaml", &edited);
    let refused = place.ana("policy apply --reason r");
    assert!(refused.code == 1 && refused.stderr.contains("collections change by proposals"), "{refused}");
}
