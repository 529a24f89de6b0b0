//! What a comparison finds, where only a question made up for it shows the difference.

use ok::policy::Bundle;
use ok::policy::diff::{Pair, Shift};

use super::diff_laws::{alone, asked_at_most};
use crate::harness::prove::some_of;

/// The default policies with a collection and one policy more.
pub(super) fn with(policy: &str) -> Bundle {
    const COLLECTION: &str = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: invoices}\nspec:\n  fields:\n    total: {type: money}\n    unit: {type: team}\n    ref: {type: text}\n    status: {type: choice, options: [new, paid]}\n    due: {type: date}\n    buyer: {type: actor}\n";
    let mut bundle = Bundle::built_in();
    bundle.files.retain(|path, _| !path.starts_with("tests/"));
    bundle.files.insert("collections/invoices.yaml".into(), COLLECTION.into());
    bundle.files.insert("more.cedar".into(), policy.into());
    bundle
}

/// A policy that looks at several things at once differs only where all of them are so.
#[test]
fn a_change_is_found_where_only_several_things_together_show_it() {
    for (effect, operation, about, condition) in some_of(
        vec![
            ("forbid", "task.create", "", "context has run && context.run.calls >= 40"),
            ("forbid", "task.create", "", "principal.trust < 2 && context has run && context.run.calls >= 10"),
            ("forbid", "task.create", "", "context has run && context.run.cost_cents + context.run.calls > 500"),
            (
                "forbid",
                "model.call",
                "",
                "principal.kind == \"agent\" && context.hist[\"model.call\"].day_cents + context.input.cost_cents > 500",
            ),
            ("forbid", "run.ask", "", "principal.kind == \"agent\" && context.hist[\"run.ask\"].hour >= 3"),
            (
                "forbid",
                "task.create",
                "",
                "context has run && context.run.depth == 4 && context.hist[\"task.create\"].day > 7",
            ),
            ("permit", "token.issue", "", "context has run && context.run.steps >= 3"),
            ("permit", "token.issue", "", "context has run && context.run.asker == Ok::Actor::\"kai\""),
            (
                "permit",
                "token.issue",
                "",
                "context has run && !(context.run.depth < 4 || context.run.labels.contains(\"personal\"))",
            ),
            (
                "forbid",
                "record.read",
                "is Brain::invoices",
                "resource has status && resource has total && resource.status == \"paid\" && resource.total.greaterThan(decimal(\"100.0\"))",
            ),
            (
                "forbid",
                "record.read",
                "is Brain::invoices",
                "resource has due && resource has total && resource.due < datetime(\"2020-05-05\") && resource.total.greaterThanOrEqual(decimal(\"7.5\"))",
            ),
        ],
        2,
    ) {
        let who = if effect == "permit" { "principal == Ok::Actor::\"bot\"" } else { "principal is Ok::Actor" };
        let policy = format!(
            "@id(\"more\") @reason(\"r\") {effect} ({who}, action == Ok::Action::\"{operation}\", resource {about}) when {{ {condition} }};"
        );
        let found = asked_at_most(&with(""), &with(&policy), 8_000);
        let wanted = if effect == "permit" { Shift::Looser } else { Shift::Tighter };
        let is_found = |pair: &Pair| pair.operation == operation && pair.change == wanted;
        assert!(found.pairs.iter().any(is_found), "{operation} {condition}: {}", found.summary);
    }
}

/// An operation, the type of what it is about, and a condition.
type Rule = (&'static str, &'static str, &'static str);

/// The rules in as few rounds as can be, in each of them one for an operation: a comparison takes as long for one as for some.
fn rounds(rules: &[Rule]) -> Vec<Vec<Rule>> {
    let mut rounds: Vec<Vec<Rule>> = Vec::new();
    for rule in rules {
        match rounds.iter_mut().find(|round| round.iter().all(|(operation, ..)| *operation != rule.0)) {
            Some(round) => round.push(*rule),
            None => rounds.push(vec![*rule]),
        }
    }
    rounds
}

/// Who something belongs to, and whom they belong to, is looked at as roles, teams, owners and leads are.
#[test]
fn a_rule_about_other_people_or_one_thing_is_found() {
    let rules = [
        ("run.read", "Ok::Run", "resource.asker in Ok::Role::\"admin\""),
        ("run.read", "Ok::Run", "resource.agent has owner && resource.agent.owner == Ok::Actor::\"nora\""),
        ("run.read", "Ok::Run", "resource.agent.trust == 4 && resource.agent.kind == \"agent\""),
        ("kill", "Ok::KillSwitch", "resource has actor && resource.actor.kind == \"outside_agent\""),
        ("kill", "Ok::KillSwitch", "resource has actor && resource.actor in Ok::Role::\"auditor\""),
        ("task.read", "Ok::Task", "resource.creator in Ok::Role::\"admin\""),
        ("task.read", "Ok::Task", "resource.creator.admin"),
        ("task.read", "Ok::Task", "resource.creator.kind == \"agent\""),
        ("task.read", "Ok::Task", "resource.creator has team && resource.creator.team == Ok::Team::\"team:finance\""),
        ("knowledge.retract", "Ok::Knowledge", "resource.proposer in Ok::Role::\"steward\""),
        ("event.list", "Ok::Event", "resource has actor && resource.actor in Ok::Role::\"auditor\""),
        ("event.list", "Ok::Event", "resource.subjects.contains(Ok::Actor::\"nora\") && resource.kind like \"token*\""),
        (
            "policy.export",
            "Ok::Company",
            "principal has team && principal.team has lead && principal.team.lead == Ok::Actor::\"ivy\"",
        ),
        (
            "policy.export",
            "Ok::Company",
            "principal.kind == \"agent\" && principal.trust == 4 && principal in Ok::Team::\"team:finance\"",
        ),
        ("token.revoke", "Ok::Token", "resource.holder has owner && resource.holder.owner == Ok::Actor::\"nora\""),
        ("task.read", "Ok::Task", "resource == Ok::Task::\"tsk_01M0000000000000000000000A\""),
        ("token.revoke", "Ok::Token", "resource == Ok::Token::\"tok_01M0000000000000000000000A\""),
        ("record.delete", "Brain::invoices", "resource == Brain::invoices::\"rec_01M0000000000000000000000A\""),
        ("token.revoke", "Ok::Token", "resource.holder in Ok::Role::\"steward\""),
        ("webhook.read", "Ok::Webhook", "resource.owner in Ok::Role::\"auditor\""),
        ("schema.read", "Ok::SchemaProposal", "resource.proposer in Ok::Role::\"steward\""),
        ("record.delete", "Brain::invoices", "resource.created_by in Ok::Role::\"lead\""),
        ("record.delete", "Brain::invoices", "resource.updated_by == principal"),
        ("record.delete", "Brain::invoices", "resource has buyer && resource.buyer in Ok::Role::\"lead\""),
        ("knowledge.retract", "Ok::Knowledge", "resource has team && resource.team == Ok::Team::\"team:finance\""),
        (
            "knowledge.retract",
            "Ok::Knowledge",
            "resource has team && resource.team in Ok::Team::\"team:finance\" && resource.status == \"accepted\"",
        ),
        ("record.delete", "Brain::invoices", "resource has unit && resource.unit == Ok::Team::\"team:finance\""),
        (
            "record.delete",
            "Brain::invoices",
            "resource has ref && resource has status && resource.ref == \"team:ops\" && resource.status == \"paid\"",
        ),
        ("run.cancel", "Ok::Run", "!(resource.asked.contains(principal)) && !resource.agent.active"),
        ("task.complete", "Ok::Task", "!resource.creator.active"),
        ("record.delete", "Brain::invoices", "!resource.created_by.active"),
        ("webhook.read", "Ok::Webhook", "!resource.owner.active"),
        ("task.complete", "Ok::Task", "resource has owner && resource.owner == resource.creator"),
        ("knowledge.retract", "Ok::Knowledge", "resource has person && resource.person == resource.proposer"),
        (
            "record.delete",
            "Brain::invoices",
            "resource.created_by has team && resource.updated_by has team && resource.created_by.team != resource.updated_by.team",
        ),
        ("task.complete", "Ok::Task", "resource.status != \"open\" && resource.status != \"assigned\""),
        ("knowledge.retract", "Ok::Knowledge", "resource.kind != \"fact\" && resource.kind != \"preference\""),
        ("schema.read", "Ok::SchemaProposal", "resource.status != \"proposed\""),
        ("record.delete", "Brain::invoices", "resource.updated_by == principal && principal in Ok::Role::\"lead\""),
        ("webhook.update", "Ok::Webhook", "resource.owner == principal && principal in Ok::Role::\"lead\""),
        ("policy.export", "Ok::Company", "context has run && context.run.asker in Ok::Role::\"steward\""),
        ("policy.export", "Ok::Company", "context has run && context.run.asker in Ok::Team::\"team:finance\""),
        (
            "policy.export",
            "Ok::Company",
            "context has token && context.token has issuer && context.token.issuer in Ok::Role::\"steward\"",
        ),
        ("policy.export", "Ok::Company", "context.channel == \"run\""),
        (
            "task.complete",
            "Ok::Task",
            "resource == Ok::Task::\"tsk_01M0000000000000000000000A\" && resource.status == \"running\"",
        ),
    ];
    let before = with("");
    let mut missed = Vec::new();
    for round in some_of(rounds(&rules), 3) {
        let policy = |(number, (operation, about, condition)): (usize, &Rule)| {
            format!(
                "@id(\"more-{number}\") permit (principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource is {about}) when {{ {condition} }};\n"
            )
        };
        let after = with(&round.iter().enumerate().map(policy).collect::<String>());
        let found = asked_at_most(&before, &after, 6_000 * round.len());
        for (operation, _, condition) in round {
            let is_found = |pair: &&Pair| pair.operation == operation && pair.change == Shift::Looser;
            match found.pairs.iter().find(is_found) {
                // Whoever stands behind the thing is in the test that shows it.
                Some(pair) => {
                    assert_eq!(alone(&after, &pair.witnesses[0].test), (1, 0, 0), "{}", pair.witnesses[0].test)
                }
                None => missed.push(format!("{operation} {condition}: {}", found.summary)),
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// One more on a list is looked for before those that were there.
#[test]
fn one_more_name_on_a_long_list_is_found() {
    let mut missed = Vec::new();
    for (operation, about, kind, place, one_more) in [
        ("policy.export", "Ok::Company", "Ok::Actor", "principal", "zoe"),
        ("task.complete", "Ok::Task", "Ok::Task", "resource", "tsk_01M0000000000000000000000Z"),
        ("webhook.read", "Ok::Webhook", "", "resource.host", "z.evil.com"),
    ] {
        let listed = |ids: &[&str]| {
            let literal = |id: &&str| if kind.is_empty() { format!("{id:?}") } else { format!("{kind}::{id:?}") };
            let list = ids.iter().map(literal).collect::<Vec<_>>().join(", ");
            let policy = format!(
                "@id(\"more\") permit (principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource is {about}) when {{ [{list}].contains({place}) }};"
            );
            with(&policy)
        };
        let known = ["aa.b", "ab.b", "ac.b", "ad.b", "ae.b", "af.b", "ag.b", "ah.b", "ai.b", "aj.b"];
        let known = if kind == "Ok::Actor" { known.map(|id| &id[..2]) } else { known };
        let found = asked_at_most(&listed(&known), &listed(&[known.as_slice(), &[one_more]].concat()), 20_000);
        if !found.pairs.iter().any(|pair| pair.operation == operation && pair.change == Shift::Looser) {
            missed.push(format!("{operation}: {}", found.summary));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A long list takes nobody's place: whom another policy, or another alternative of the same, names is asked about.
#[test]
fn a_grant_beside_a_long_list_is_found() {
    let names: Vec<String> = (0..61).map(|number| format!("Ok::Actor::\"a{number:02}\"")).collect();
    let list = format!("[{}].contains(principal)", names.join(", "));
    let policy = |id: &str, operation: &str, condition: &str| {
        format!(
            "@id(\"{id}\") permit (principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource) when {{ {condition} }};\n"
        )
    };
    let pair = "principal == Ok::Actor::\"mia\" && resource == Ok::Actor::\"kai\"";
    for pair in
        [pair, "principal == Ok::Actor::\"mia\" && resource == Ok::Actor::\"bot\" && context.channel == \"cli\""]
    {
        let before = with(&policy("list", "actor.trust", &list));
        let together = format!("({list}) || ({pair})");
        let beside = [policy("list", "actor.trust", &list), policy("pair", "actor.trust", pair)].concat();
        for after in [policy("list", "actor.trust", &together), beside] {
            let found = asked_at_most(&before, &with(&after), 6_000);
            let is_found = |one: &Pair| one.operation == "actor.trust" && one.change == Shift::Looser;
            assert!(found.pairs.iter().any(is_found) && found.unmet.is_empty(), "{pair}: {}", found.summary);
        }
        let none = asked_at_most(&with(""), &before, 6_000);
        assert!(none.unmet.is_empty(), "{:?}", none.unmet);
    }
}

/// In a part of a run an agent asks, and others asked before it.
#[test]
fn who_asked_for_the_whole_is_told_from_who_asks() {
    for (effect, operation, target, before, after) in some_of(
        vec![
            (
                "forbid",
                "task.create",
                "",
                "context has run && principal has owner && !context.run.askers.contains(principal.owner)",
                "context has run && principal has owner && context.run.asker != principal.owner",
            ),
            (
                "forbid",
                "task.create",
                "",
                "context has run && principal has owner && context.run.calls >= 5 && context.run.asker != principal.owner",
                "context has run && principal has owner && context.run.calls >= 5 && !context.run.askers.contains(principal.owner)",
            ),
            (
                "permit",
                "run.answer",
                "is Ok::Run",
                "resource.askers.contains(principal)",
                "resource.asker == principal",
            ),
            (
                "permit",
                "run.answer",
                "is Ok::Run",
                "resource.asked == [principal]",
                "resource.asked.contains(principal)",
            ),
            (
                "permit",
                "task.update",
                "is Ok::Task",
                "context has run && context.run.asker == resource.creator",
                "context has run && context.run.askers.contains(resource.creator)",
            ),
            (
                "permit",
                "agent.ask",
                "is Ok::Actor",
                "context has run && resource has owner && resource.owner == context.run.asker",
                "context has run && resource has owner && context.run.askers.contains(resource.owner)",
            ),
            (
                "permit",
                "task.create",
                "",
                "context has run && context.run.asker has team && principal has team && context.run.asker.team == principal.team",
                "context has run && principal has team && context.run.asker in principal.team",
            ),
        ],
        2,
    ) {
        let of = |condition: &str| {
            let policy =
                format!("{effect} (principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource {target})");
            with(&format!("@id(\"more\") @reason(\"so\") {policy} when {{ {condition} }};"))
        };
        let found = asked_at_most(&of(before), &of(after), 10_000);
        assert!(found.pairs.iter().any(|pair| pair.operation == operation), "{operation}: {after}: {}", found.summary);
    }
}

#[test]
fn a_change_of_one_constant_is_found() {
    let mut missed = Vec::new();
    let hist = "context.hist[\"model.call\"]";
    for (operation, about, before, after) in some_of(
        vec![
            (
                "task.create",
                "",
                "context.now.toTime() >= duration(\"18h\")",
                "context.now.toTime() >= duration(\"19h\")",
            ),
            (
                "task.create",
                "",
                "context.now.durationSince(datetime(\"2026-01-01\")) > duration(\"30d\")",
                "context.now.durationSince(datetime(\"2026-01-01\")) > duration(\"31d\")",
            ),
            (
                "task.create",
                "",
                "context has delegation && context.delegation.depth > 2",
                "context has delegation && context.delegation.depth > 1",
            ),
            (
                "model.call",
                "",
                &format!("{hist}.day * 3 + {hist}.hour_cents > 60"),
                &format!("{hist}.day * 3 + {hist}.hour_cents > 61"),
            ),
            (
                "model.call",
                "",
                &format!("{hist}.month_cents + context.input.cost_cents > 500"),
                &format!("{hist}.day_cents + context.input.cost_cents > 500"),
            ),
            (
                "model.call",
                "",
                &format!("10 * {hist}.hour - {hist}.day > 50"),
                &format!("11 * {hist}.hour - {hist}.day > 50"),
            ),
            (
                "model.call",
                "",
                &format!(
                    "context has run && context.run.steps > 20 && {hist}.hour > 7 && context.input.cost_cents >= 3"
                ),
                &format!(
                    "context has run && context.run.steps > 20 && {hist}.hour > 8 && context.input.cost_cents >= 3"
                ),
            ),
            ("record.read", "is Brain::invoices", "resource.version > 3", "resource.version > 4"),
            (
                "record.read",
                "is Brain::invoices",
                "resource has due && context.now.durationSince(resource.due) > duration(\"30d\")",
                "resource has due && context.now.durationSince(resource.due) > duration(\"60d\")",
            ),
            ("task.assign", "", "resource.status == \"running\"", "resource.status == \"waiting\""),
        ],
        2,
    ) {
        let policy = |condition: &str| {
            let scope = format!("principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource {about}");
            format!("@id(\"more\") @reason(\"r\") forbid ({scope}) when {{ {condition} }};")
        };
        let most = if about.contains("Brain") { 16_000 } else { 6_000 };
        let found = asked_at_most(&with(&policy(before)), &with(&policy(after)), most);
        let is_found = |pair: &Pair| pair.operation == operation && pair.change != Shift::Same;
        if !found.pairs.iter().any(is_found) {
            missed.push(format!("{operation} {before} → {after}: {}", found.summary));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
