//! What a comparison finds where the company's own schema changes, too: each side is asked as its own schema takes it.

use ok::policy::Bundle;
use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::{alone, asked_at_most};

const READ: &str = "@id(\"read\") permit (principal is Docs::User, action == Docs::Action::\"purge\", resource);\n";
const FORBID: &str = "@id(\"no-purge\") @reason(\"r\") forbid (principal is Docs::User, action == Docs::Action::\"purge\", resource) when { resource.open };\n";

fn bundle((user, doc, context): (&str, &str, &str), policies: &str) -> Bundle {
    let mut bundle = with("");
    let schema = format!(
        "namespace Docs {{ entity User = {{ {user} }}; entity Doc = {{ {doc} }}; action purge appliesTo {{ principal: [User], resource: [Doc], context: {{ {context} }} }}; }}"
    );
    bundle.files.insert("schema.cedarschema".into(), schema);
    bundle.files.insert("docs.cedar".into(), policies.into());
    bundle
}

#[test]
fn a_policy_that_goes_while_the_schema_asks_for_more_is_seen_to_go() {
    let schemas = [
        ("level: Long", "open: Bool, size: Long", ""),
        ("level: Long, email: String", "open: Bool", ""),
        ("level: Long", "open: Bool", "at: datetime"),
        ("level: Long", "open: Bool, place: { land: String }", ""),
        ("level: Long", "public: Bool", ""),
        ("", "size: Long", ""),
        ("level: Long", "open: Bool, size: Long", "approvals: Set<Ok::ApprovalKind>"),
    ];
    for schema in schemas {
        let granted = if schema.2.starts_with("approvals") { schema.2 } else { "" };
        let before = bundle(("level: Long", "open: Bool", granted), &format!("{READ}{FORBID}"));
        let after = bundle(schema, READ);
        let found = asked_at_most(&before, &after, 5_000);
        let looser = found.pairs.iter().find(|pair| pair.change == Shift::Looser);
        let looser = looser.unwrap_or_else(|| panic!("{schema:?}: {}", found.summary));
        assert_eq!((found.cut.len(), found.unmet.len()), (0, 0), "{schema:?}: {}", found.summary);
        let witness = &looser.witnesses[0];
        assert_eq!(alone(&after, &witness.test), (1, 0, 0), "{}", witness.test);
        let was_open = |given: &String| given.ends_with("open: true") || given.ends_with("public: true");
        assert!(witness.given.iter().any(was_open), "{:?}", witness.given);
        let back = asked_at_most(&after, &before, 5_000);
        assert!(back.pairs.iter().any(|pair| pair.change == Shift::Tighter), "{schema:?}: {}", back.summary);
    }
}

#[test]
fn an_attribute_under_another_name_is_no_difference() {
    let before = bundle(("level: Long", "open: Bool, size?: Long", ""), &format!("{READ}{FORBID}"));
    let renamed = FORBID.replace("resource.open", "resource.public");
    let after = bundle(("level: Long", "public: Bool, size?: Long", ""), &format!("{READ}{renamed}"));
    let permit = "@id(\"view\") permit (principal is Docs::User, action == Docs::Action::\"purge\", resource) when { resource.open };\n";
    let (open, public) = (permit.to_owned(), permit.replace("open", "public"));
    let test = "records:\n  - {type: Docs::User, id: ann, properties: {level: 2}}\n  - {type: Docs::Doc, id: plan, properties: {open: true}}\nevaluations:\n  - {subject: ann, action: purge, resource: plan, expect: allow}\n";
    let tested = |(user, doc, context): (&str, &str, &str), policies: &str, test: String| {
        let mut bundle = bundle((user, doc, context), policies);
        bundle.files.insert("tests/docs.yaml".into(), test);
        bundle
    };
    let (old, new) = (("level: Long", "open: Bool", ""), ("level: Long", "public: Bool", ""));
    for (before, after) in
        [(before, after), (tested(old, &open, test.to_owned()), tested(new, &public, test.replace("open", "public")))]
    {
        let found = asked_at_most(&before, &after, 5_000);
        assert!(found.changed().next().is_none() && found.questions > 30, "{}", found.summary);
        assert_eq!((found.cut.len(), &found.unmet), (0, &vec![]), "{}", found.summary);
    }
}

#[test]
fn a_number_of_another_type_is_the_same_number() {
    let limited = |ty: &str, more: &str| {
        let large = format!(
            "@id(\"large\") @reason(\"r\") forbid (principal is Docs::User, action == Docs::Action::\"purge\", resource) when {{ resource.size{more} }};\n"
        );
        bundle(("level: Long", &format!("size: {ty}"), ""), &format!("{READ}{large}"))
    };
    let before = limited("Long", " > 100");
    let same = limited("decimal", ".greaterThan(decimal(\"100.0\"))");
    let looser = limited("decimal", ".greaterThan(decimal(\"900.0\"))");
    for (one, other) in [(&before, &same), (&same, &before)] {
        let found = asked_at_most(one, other, 5_000);
        assert!(found.changed().next().is_none() && found.questions > 30, "{}", found.summary);
    }
    let found = asked_at_most(&before, &looser, 5_000);
    assert!(found.pairs.iter().any(|pair| pair.change == Shift::Looser), "{}", found.summary);
}

#[test]
fn an_attribute_of_another_type_hides_no_loosening() {
    let limited = |more: &str, most: i64| {
        let large = format!(
            "@id(\"large\") @reason(\"r\") forbid (principal is Docs::User, action == Docs::Action::\"purge\", resource) when {{ resource.size > {most} }};\n"
        );
        bundle(("level: Long", &format!("size: Long, {more}"), ""), &format!("{READ}{large}"))
    };
    for (was, is) in
        [("tags: Set<String>", "tags: String"), ("open?: Bool", "open?: Set<Long>"), ("owner: User", "owner: Long")]
    {
        let before = limited(was, 100);
        let found = asked_at_most(&before, &limited(is, 100), 5_000);
        assert!(found.changed().next().is_none() && found.questions > 30, "{is}: {}", found.summary);
        let found = asked_at_most(&before, &limited(is, 900), 5_000);
        assert!(found.pairs.iter().any(|pair| pair.change == Shift::Looser), "{is}: {}", found.summary);
    }
}

/// What an entity can be in no longer, it is in no longer where the new schema is asked.
#[test]
fn a_forbid_of_members_is_seen_to_go_with_what_they_are_members_of() {
    let bundle = |user: &str| {
        let mut bundle = with("");
        let schema = format!(
            "namespace Docs {{ entity Team; entity User{user} = {{ level: Long }}; entity Doc; action purge appliesTo {{ principal: [User], resource: [Doc] }}; }}"
        );
        let banned = "@id(\"banned\") @reason(\"r\") forbid (principal, action == Docs::Action::\"purge\", resource) when { principal.level == 9 || principal in Docs::Team::\"banned\" };\n";
        bundle.files.insert("schema.cedarschema".into(), schema);
        bundle.files.insert("docs.cedar".into(), format!("{READ}{banned}"));
        bundle
    };
    let (before, after) = (bundle(" in [Team]"), bundle(""));
    let found = asked_at_most(&before, &after, 5_000);
    assert!(found.pairs.iter().any(|pair| pair.change == Shift::Looser), "{}", found.summary);
    let found = asked_at_most(&after, &before, 5_000);
    assert!(found.pairs.iter().any(|pair| pair.change == Shift::Tighter), "{}", found.summary);
}
