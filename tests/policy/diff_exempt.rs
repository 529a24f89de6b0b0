//! What a comparison finds of exemptions: somebody of a role, of a team or by name whom a policy no longer keeps from their own
//! records, beside the other policies of the company.

use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::asked_at_most;
use crate::harness::prove::some_of;
use ok::policy::Bundle;

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
        // Who is in no team sees no record there, and nobody one of no unit: no question can show that these are not exempt.
        let hidden =
            ["principal has team", "resource has unit"].into_iter().filter(|has| is_inside && exempt.starts_with(has));
        let hidden: Vec<String> = hidden.map(|has| format!("{has} is false")).collect();
        let unmet: Vec<Option<&str>> = found.unmet.iter().map(|unmet| unmet.part.as_deref()).collect();
        assert_eq!(unmet, hidden.iter().map(|part| Some(part.as_str())).collect::<Vec<_>>(), "{exempt} {is_inside}");
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

/// Edits of policies that hide an exception before other conditions, or between two clauses: each is found, or named.
#[test]
fn an_exception_is_found_or_named_wherever_it_stands() {
    let finance = "principal in Ok::Team::\"team:finance\"";
    let by_role = "when { context.input has role }";
    let none = "context.hist[\"model.call\"].day_cents < 777";
    let few = "@id(\"few\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.create\", resource) when { principal.kind == \"agent\" && context.hist[\"task.create\"].hour >= 20 };";
    let late = "@id(\"late\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"approval.decide\", resource) when { context.now < datetime(\"2026-01-01\") };";
    let lead = "principal has team && principal.team has lead && principal.team.lead == Ok::Actor::\"dee\"";
    let asker = "context has run && context.run.asker in Ok::Role::\"auditor\"";
    let edits = [
        ("", by_role, format!("when {{ !({finance}) && context.input has role }}")),
        ("", by_role, format!("when {{ context.input has role && !({finance}) }}")),
        ("", by_role, "when { context.channel != \"cli\" && context.input has role }".to_owned()),
        ("", by_role, format!("when {{ context.input has role }} unless {{ {finance} }}")),
        ("", by_role, format!("when {{ {none} && context.input has role }}")),
        (few, "when { principal", "when { context.channel != \"run\" && principal".to_owned()),
        (few, "when { principal", format!("when {{ !({asker}) && principal")),
        (few, "when { principal", format!("when {{ !({lead}) && principal")),
        (few, "when { principal", format!("when {{ !({lead}) }} when {{ principal")),
        (few, "when { principal", format!("unless {{ {lead} }} when {{ principal")),
        (few, "when { principal", format!("when {{ {none} && principal")),
        (few, ">= 20 }", format!(">= 20 && (if {lead} then false else true) }}")),
        (late, "when { context", "when { context.channel != \"cli\" && context".to_owned()),
        (late, "when { context", format!("when {{ {none} && context")),
    ];
    for (more, from, to) in some_of(edits.to_vec(), 2) {
        let before = with(more);
        let file = if more.is_empty() { "base/leads.cedar" } else { "more.cedar" };
        let text = before.files[file].as_str();
        assert!(text.contains(from), "{from}");
        let files = [(file.to_owned(), text.replacen(from, &to, 1))];
        let after = Bundle { files: before.files.clone().into_iter().chain(files).collect() };
        let found = asked_at_most(&before, &after, 30_000);
        let is_found = found.pairs.iter().any(|pair| pair.change == Shift::Looser);
        assert!(is_found || !found.unmet.is_empty(), "{to}: {}", found.summary);
        assert!(is_found || from != by_role, "{to}: {} {:?}", found.summary, found.unmet);
    }
}

/// What is exempt beside somebody else who is has a witness of its own.
#[test]
fn each_of_two_exceptions_has_a_witness() {
    let of = |exempt: &str| {
        with(&format!(
            "@id(\"few\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.create\", resource) when {{ {exempt} principal.kind == \"agent\" && context.hist[\"task.create\"].hour >= 20 }};"
        ))
    };
    let exempt =
        "!(principal in Ok::Team::\"team:ops\") && !(context has run && context.run.asker in Ok::Role::\"auditor\") &&";
    let found = asked_at_most(&of(""), &of(exempt), 60_000);
    let looser = found.pairs.iter().find(|pair| pair.operation == "task.create" && pair.actor_kind == "agent").unwrap();
    let runs = looser.witnesses.iter().filter(|witness| witness.test.contains("run:")).count();
    assert!(looser.witnesses.len() > 1 && runs > 0, "{} {:#?}", found.summary, looser.witnesses);
    assert_eq!(found.unmet, [], "{}", found.summary);
}
