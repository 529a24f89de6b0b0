//! Everything that keeps a bundle from loading, each with its code and its line.

use super::SCHEMA;
use ok::policy::{Bundle, Finding, Snapshot};

/// Loads policies from line 2 of `p.cedar` and tells each finding as `line code`.
fn codes(policies: &str) -> Vec<String> {
    findings(policies).iter().map(|finding| format!("{} {}", finding.line, finding.code)).collect()
}

fn findings(policies: &str) -> Vec<Finding> {
    let bundle = Bundle::new([("p.cedar", format!("\n{policies}"))]);
    Snapshot::load(SCHEMA, &bundle).err().unwrap_or_default()
}

fn forbid(conditions: &str) -> String {
    format!(
        "@id(\"f\") @reason(\"r\")\nforbid (principal, action == Ok::Action::\"token.issue\", resource)\n{conditions};"
    )
}

const LEAD: &str = "context.approvals.contains(Ok::ApprovalKind::\"lead\")";
const ADMIN: &str = "context.approvals.contains(Ok::ApprovalKind::\"admin\")";

#[test]
fn a_file_that_does_not_parse_names_its_place() {
    assert_eq!(codes("permit (principal, action, resource)\nwhen {"), ["3 policy_parse"]);
}

#[test]
fn a_policy_needs_an_id_and_a_forbid_a_reason() {
    assert_eq!(codes("permit (principal, action, resource);"), ["2 policy_without_id"]);
    assert_eq!(codes("@id(\"\") permit (principal, action, resource);"), ["2 policy_without_id"]);
    assert_eq!(codes("@id(\"a\") forbid (principal, action, resource);"), ["2 forbid_without_reason"]);
}

#[test]
fn an_id_is_unique_over_files() {
    let policy = "@id(\"a\") permit (principal, action, resource);";
    let bundle = Bundle::new([("a.cedar", policy), ("b/b.cedar", policy)]);
    let findings = Snapshot::load(SCHEMA, &bundle).expect_err("a duplicate");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].to_string(), "b/b.cedar:1: the @id `a` is taken by a.cedar:1 [policy_duplicate_id]");
}

#[test]
fn templates_are_refused() {
    assert_eq!(codes("@id(\"t\") permit (principal == ?principal, action, resource);"), ["2 policy_template"]);
}

#[test]
fn strict_validation_and_its_warnings_are_findings() {
    assert_eq!(codes(&forbid("when { principal.rank > 3 }")), ["4 policy_invalid"]);
    // Both attributes may be missing: what is wrong in one place is told once.
    assert_eq!(codes(&forbid("when { principal.team.lead == resource }")), ["4 policy_invalid"]);
    assert_eq!(codes(&forbid("when { principal is Ok::Token }")), ["2 policy_never_matches"]);
}

#[test]
fn a_misspelt_kind_names_its_place_and_the_kinds_there_are() {
    let findings = findings(&forbid("unless { context.approvals.contains(Ok::ApprovalKind::\"laed\") }"));
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = &findings[0];
    assert_eq!((finding.file.as_str(), finding.line, finding.code), ("p.cedar", 4, "policy_invalid"));
    assert!(format!("{} {:?}", finding.message, finding.help).contains("security"), "{finding:?}");
}

#[test]
fn a_third_hop_is_a_finding() {
    let hops = |path: &str| {
        codes(&forbid(&format!("when {{ principal has owner && principal.owner has owner && {path} == \"x\" }}")))
    };
    assert!(hops("principal.owner.kind").is_empty());
    assert_eq!(hops("principal.owner.owner.kind"), ["4 policy_too_many_hops"]);
}

#[test]
fn a_literal_is_never_opened() {
    let found = codes(&forbid("when { Ok::Actor::\"boss\".admin }"));
    assert_eq!(found, ["4 policy_too_many_hops"]);
    let found = codes(&forbid("when { Ok::Actor::\"boss\" in Ok::Team::\"core\" }"));
    assert_eq!(found, ["4 policy_too_many_hops"]);
}

#[test]
fn a_policy_has_a_size() {
    let sum = |terms: usize| forbid(&format!("when {{ {} > 0 }}", vec!["principal.trust"; terms].join(" + ")));
    assert!(codes(&sum(50)).is_empty());
    assert_eq!(codes(&sum(400)), ["2 policy_too_large"]);
}

#[test]
fn approvals_release_a_forbid_and_do_nothing_else() {
    let fine = [
        format!("unless {{ {LEAD} }}"),
        format!("unless {{ {LEAD} && {ADMIN} }}"),
        format!("unless {{ principal.admin || {LEAD} }}"),
        format!("when {{ context has channel && !principal.admin }} unless {{ {LEAD} }}"),
    ];
    for conditions in fine {
        assert!(codes(&forbid(&conditions)).is_empty(), "{conditions}");
    }
    let wrong = [
        format!("when {{ {LEAD} }}"),
        format!("unless {{ !{LEAD} }}"),
        format!("unless {{ {LEAD} == true }}"),
        format!("unless {{ if principal.admin then {LEAD} else {ADMIN} }}"),
        "unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") == principal.admin }".to_owned(),
        "unless { context.approvals.isEmpty() }".to_owned(),
        "unless { context.approvals.containsAll([Ok::ApprovalKind::\"lead\"]) }".to_owned(),
        "when { context == context }".to_owned(),
    ];
    for conditions in wrong {
        let found = codes(&forbid(&conditions));
        assert!(
            !found.is_empty() && found.iter().all(|line| line.ends_with("policy_approvals")),
            "{conditions}: {found:?}"
        );
    }
    let permit = format!(
        "@id(\"p\")\npermit (principal, action == Ok::Action::\"token.issue\", resource)\nunless {{ {LEAD} }};"
    );
    assert!(!codes(&permit).is_empty());
}

#[test]
fn kinds_are_never_alternatives() {
    assert_eq!(codes(&forbid(&format!("unless {{ {LEAD} || {ADMIN} }}"))), ["4 policy_approvals"]);
    assert_eq!(codes(&forbid(&format!("unless {{ {LEAD} }}\nunless {{ {ADMIN} }}"))), ["5 policy_approvals"]);
}

#[test]
fn every_problem_is_told_at_once_in_the_order_of_the_file() {
    let text = format!(
        "permit (principal, action, resource);\n{}\n@id(\"f\") permit (principal, action, resource);",
        forbid("when { 1 }")
    );
    assert_eq!(codes(&text), ["2 policy_without_id", "5 policy_invalid", "6 policy_duplicate_id"]);
}

#[test]
fn a_schema_that_does_not_parse_is_a_finding() {
    let finding = |schema: &str| Snapshot::load(schema, &Bundle::default()).expect_err("no schema").remove(0);
    assert_eq!(finding("entity A;\nentity {").line, 2);
    assert_eq!(finding("entity A;").code, "schema_invalid");
}
