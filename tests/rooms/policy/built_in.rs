//! The default policies, which were validated before.

use cedar_policy::{PolicySet, Schema};
use ok::policy::Bundle;
use ok::policy::bundle::is_policy;
use ok::policy::engine::built_in::{DEFAULTS, Passed, SCHEMA};
use ok::policy::engine::validated;
use ok::policy::{Finding, Snapshot};

fn defaults_and(files: &[(&str, &str)]) -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    bundle
}

/// What is wrong with a bundle, whether or not the default policies are spared.
fn wrong(files: &[(&str, &str)]) -> String {
    let bundle = defaults_and(files);
    let always: Vec<Finding> = validated(SCHEMA, &bundle).err().unwrap_or_default();
    assert_eq!(Snapshot::load(SCHEMA, &bundle).err().unwrap_or_default(), always, "{files:?}");
    always.iter().map(|finding| format!("{}: {}\n", finding.file, finding.message)).collect()
}

const NOTES: &str =
    "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: notes}\nspec: {fields: {text: {type: text}}}\n";
const BOARD: &str = "kinds: {board: {eligible: [{role: admin}]}}";
const CHANGES: &str = "@id(\"x\") permit (principal, action == Ok::Action::\"task.update\", resource)";

#[test]
fn default_policies_are_spared_only_where_nothing_new_concerns_them() {
    assert_eq!(wrong(&[]), "");
    assert_eq!(wrong(&[("collections/notes.yaml", NOTES), ("approvals.yaml", BOARD)]), "");
    assert_eq!(wrong(&[("x.cedar", &format!("{CHANGES} when {{ resource.status == \"x\" }};"))]), "");
    assert!(wrong(&[("x.cedar", &format!("{CHANGES} when {{ resource.none == 1 }};"))]).contains("x.cedar: "));
    // The same file, edited.
    let edited = format!("{}\n{CHANGES} when {{ resource.none == 1 }};", Bundle::built_in().files["base/work.cedar"]);
    assert!(wrong(&[("base/work.cedar", &edited)]).contains("base/work.cedar: "));
    // What they say about all actions, or about a group, is wrong about an action that is new in it.
    let own = "namespace Own { entity Thing; action all appliesTo { principal: Ok::Actor, resource: Thing }; }";
    assert!(wrong(&[("schema.cedarschema", own)]).contains("base/kill.cedar: "));
    let grouped = own.replace("action all", "action all in [Ok::Action::\"change\"]").replace("Ok::Actor", "Thing");
    assert!(wrong(&[("schema.cedarschema", &grouped)]).contains("base/kill.cedar: "));
    // Among the product's own names everything is validated.
    assert_eq!(wrong(&[("schema.cedarschema", "namespace Ok { entity Thing; }")]), "");
}

#[test]
fn what_passed_is_what_is_built_in() {
    assert!(DEFAULTS.is_some(), "write it anew: OK_UPDATE_REFERENCE=1 cargo test --test main reference");
    let bundle = Bundle::built_in();
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).unwrap();
    let passed = Passed::under(&schema).unwrap();
    for (file, text) in bundle.files.iter().filter(|(path, _)| is_policy(path)) {
        let policies: PolicySet = text.parse().unwrap();
        assert!(policies.policies().all(|policy| passed.has(file, Some(text), policy.as_ref())), "{file}");
    }
}
