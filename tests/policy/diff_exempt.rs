//! What a comparison finds of exemptions: somebody of a role, of a team or by name whom a policy no longer keeps from their own
//! records, beside the other policies of the company.

use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::asked_at_most;
use crate::harness::prove::some_of;

const OF_ONES_TEAM: &str = "@id(\"of-ones-team\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices) unless { resource has unit && principal in resource.unit };\n";

/// A forbid of what is paid, with an exemption: in `unless`, or beside the condition.
fn final_unless(exempt: &str, is_inside: bool) -> String {
    let paid = "resource has status && resource.status == \"paid\"";
    let conditions = match (exempt, is_inside) {
        ("", _) => format!("when {{ {paid} }}"),
        (exempt, true) => format!("when {{ {paid} && !({exempt}) }}"),
        (exempt, false) => format!("when {{ {paid} }} unless {{ {exempt} }}"),
    };
    format!(
        "@id(\"final\") @reason(\"r\") forbid (principal is Ok::Actor, action in [Ok::Action::\"record.change\", Ok::Action::\"record.delete\"], resource is Brain::invoices) {conditions};\n"
    )
}

#[test]
fn an_exemption_from_what_keeps_people_from_their_own_records_is_found() {
    let exemptions = [
        "principal in Ok::Role::\"lead\"",
        "principal in Ok::Role::\"member\"",
        "principal in Ok::Team::\"team:lab\"",
        "principal in Ok::Team::\"team:finance\"",
        "principal has team && principal.team == Ok::Team::\"team:lab\"",
        "principal == Ok::Actor::\"kai\"",
        "resource has unit && resource.unit == Ok::Team::\"team:lab\"",
        "principal in Ok::Role::\"lead\" && resource has total && resource.total.lessThan(decimal(\"50.0\"))",
        "principal in Ok::Team::\"team:lab\" && resource has ref && resource.ref == \"xyz\"",
    ];
    let all = exemptions.iter().flat_map(|exempt| [(exempt, "", false), (exempt, OF_ONES_TEAM, true)]);
    for (exempt, beside, is_inside) in some_of(all.collect::<Vec<_>>(), 10) {
        let of = |exempt| with(&format!("{beside}{}", final_unless(exempt, is_inside)));
        let found = asked_at_most(&of(""), &of(exempt), 60_000);
        let is_found = |operation: &str| {
            found.pairs.iter().any(|pair| pair.operation == operation && pair.change == Shift::Looser)
        };
        assert!(is_found("record.change") && is_found("record.delete"), "{exempt} {is_inside}: {}", found.summary);
        assert_eq!(found.unmet, [], "{exempt} {is_inside}");
    }
}

/// Nothing lets an auditor change what is not theirs anyway, whether it is paid or not: no question shows the exemption.
#[test]
fn an_exemption_of_those_whom_another_policy_keeps_from_it_anyway_is_named() {
    let exempt = "principal in Ok::Role::\"auditor\"";
    let found = asked_at_most(&with(&final_unless("", false)), &with(&final_unless(exempt, false)), 30_000);
    let parts: Vec<&str> = found.unmet.iter().filter_map(|unmet| unmet.part.as_deref()).collect();
    assert_eq!((found.changed().count(), parts), (0, vec![exempt]), "{}", found.summary);
}

/// The same of everything else that somebody can own.
#[test]
fn an_exemption_of_leads_is_found_where_only_their_own_things_show_it() {
    let rules = [
        ("task.update", "Ok::Task", "resource.status == \"running\""),
        ("run.cancel", "Ok::Run", "resource.status == \"held\""),
        ("knowledge.read", "Ok::Knowledge", "resource.kind == \"warning\""),
        ("webhook.read", "Ok::Webhook", "resource.host like \"*.example.net\""),
        ("view.read", "Ok::View", "resource.collection == \"invoices\""),
    ];
    let of = |exempt: &str| {
        let policies = rules.iter().enumerate().map(|(number, (operation, about, condition))| {
            format!(
                "@id(\"more-{number}\") @reason(\"r\") forbid (principal, action == Ok::Action::\"{operation}\", resource is {about}) when {{ {condition} }} {exempt};\n"
            )
        });
        with(&policies.collect::<String>())
    };
    let found = asked_at_most(&of(""), &of("unless { principal in Ok::Role::\"lead\" }"), 60_000);
    for (operation, ..) in rules {
        let is_found = found.pairs.iter().any(|pair| pair.operation == operation && pair.change == Shift::Looser);
        assert!(is_found, "{operation}: {}", found.summary);
    }
}
