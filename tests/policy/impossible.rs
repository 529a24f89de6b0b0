//! Comparisons with a value that never occurs: what validates, and forbids nothing.

use ok::policy::Bundle;

use super::check;

const INVOICES: &str = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: invoices}\nspec:\n  fields:\n    note: {type: text}\n    status: {type: choice, options: [open, paid]}\n    marks: {type: choices, options: [late, big]}\n";

/// What is told of a forbid with this scope and condition: the value, and what is proposed.
fn proposals(scope: &str, condition: &str) -> Vec<String> {
    let text =
        format!("@id(\"a\")\n@reason(\"r\")\nforbid (principal is Ok::Actor, {scope})\nwhen {{ {condition} }};\n");
    let report = check(&Bundle::new([("a.cedar", text.as_str()), ("collections/invoices.yaml", INVOICES)]));
    let wrong = report.findings.iter().filter(|finding| finding.severity.name() == "error").collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{condition}: {wrong:?}");
    let never = report.findings.into_iter().filter(|finding| finding.code == "value_never_occurs");
    never.map(|finding| finding.help.unwrap_or_default()).collect()
}

fn on(operation: &str) -> String {
    format!("action == Ok::Action::\"{operation}\", resource")
}

const INVOICE: &str = "action == Ok::Action::\"record.read\", resource is Brain::invoices";

#[test]
fn a_value_that_never_occurs_is_told_with_the_one_that_was_meant() {
    let wrong = [
        (on("tick"), "principal.kind == \"agnt\"", "did you mean `agent`? It can be agent, outside_agent, person"),
        (
            on("tick"),
            "principal has owner && principal.owner.kind == \"human\"",
            "it can be agent, outside_agent, person",
        ),
        (on("tick"), "\"team\" == principal.kind", "it can be agent, outside_agent, person"),
        (on("tick"), "[\"person\", \"bot\"].contains(principal.kind)", "it can be agent, outside_agent, person"),
        (on("tick"), "!(principal.kind != \"human\")", "it can be agent, outside_agent, person"),
        (
            on("tick"),
            "principal.admin || (if principal.active then principal.kind like \"rob*\" else false)",
            "it can be",
        ),
        (on("tick"), "context.channel == \"htttp\"", "did you mean `http`?"),
        (on("actor.trust"), "context.input.tier == \"standart\"", "did you mean `standard`?"),
        (on("tick"), "context has run && context.run.labels.contains(\"untrustd\")", "did you mean `untrusted`?"),
        (on("tick"), "context has run && context.run.labels.containsAny([\"personal\", \"secret\"])", "it can be"),
        (on("task.complete"), "resource.status == \"opn\"", "did you mean `open`?"),
        (on("kill"), "resource.scope == \"company\"", "it can be actor, global, team, tool"),
        (on("approval.read"), "resource.operation == \"task.creat\"", "did you mean `task.create`?"),
        (on("tick"), "principal.trust > 4", "it can be 0 to 4"),
        (on("tick"), "principal.trust == 5", "it can be 0 to 4"),
        (on("tick"), "principal.admin || -1 >= principal.trust", "it can be 0 to 4"),
        (on("tick"), "principal has owner && !(principal.owner.trust < 5)", "it can be 0 to 4"),
        (on("tick"), "context has delegation && context.delegation.depth < 1", "it can be 1 to 3"),
        (on("tick"), "context has run && 5 < context.run.depth", "it can be 0 to 5"),
        (on("tick"), "context has run && context.run.cost_cents >= 0", "it is at least 0"),
        (on("tick"), "context.hist[\"task.create\"].day < 0", "it is at least 0"),
        (
            INVOICE.into(),
            "resource has status && resource.status == \"payed\"",
            "did you mean `paid`? It can be open, paid",
        ),
        (INVOICE.into(), "resource has marks && resource.marks.contains(\"huge\")", "it can be big, late"),
        (
            on("record.read"),
            "resource is Brain::invoices && resource has status && resource.status == \"payed\"",
            "did you mean `paid`?",
        ),
    ];
    for (scope, condition, help) in wrong {
        let told = proposals(&scope, condition);
        assert!(told.len() == 1 && told[0].starts_with(help), "{condition}: {told:?}");
    }
}

#[test]
fn nothing_is_told_of_what_can_be_or_can_be_anything() {
    let right = [
        (on("tick"), "principal.kind == \"outside_agent\" || context.channel like \"c*\""),
        (on("actor.trust"), "[\"observe\", \"assist\"].contains(context.input.tier)"),
        (on("tick"), "context has run && context.run.labels.containsAll([\"personal\", \"confidential\"])"),
        (on("actor.update"), "context.input has name && context.input.name == \"anything\""),
        (on("task.complete"), "resource.status == \"running\""),
        (on("tick"), "principal.trust < 4 && principal.trust >= 1 && 0 != principal.trust && principal.trust == 4"),
        (on("tick"), "context has delegation && context.delegation.depth >= 3"),
        (on("approval.read"), "resource.operation == \"task.create\" || resource.operation like \"knowledge.*\""),
        (on("tick"), "context has run && (context.run.depth > 0 || context.run.steps < 1)"),
        (on("tick"), "context.hist[\"task.create\"].day > 20"),
        (INVOICE.into(), "resource has status && resource.status == \"paid\""),
        (INVOICE.into(), "resource has note && resource.note == \"payed\""),
        // One of the two knows no such list.
        (
            "action in [Ok::Action::\"actor.update\", Ok::Action::\"actor.add\"], resource".into(),
            "context.input has name && context.input.name like \"x*\"",
        ),
    ];
    for (scope, condition) in right {
        assert_eq!(proposals(&scope, condition), [""; 0], "{condition}");
    }
}

#[test]
fn what_a_namespace_of_the_companys_own_declares_can_be_anything() {
    let schema = "namespace Docs {\n  entity User, Doc;\n  action view appliesTo { principal: [User], resource: [Doc], context: {\n    channel: String, run?: { labels: Set<String> } } };\n}\n";
    let policy = "@id(\"a\")\n@reason(\"r\")\npermit (principal is Docs::User, action == Docs::Action::\"view\", resource)\n\
                  when { context.channel == \"web\" || (context has run && context.run.labels.contains(\"batch\")) };\n";
    let report = check(&Bundle::new([("docs.cedar", policy), ("schema.cedarschema", schema)]));
    let never = report.findings.iter().filter(|finding| finding.code == "value_never_occurs");
    assert_eq!(never.count(), 0, "{:?}", report.findings);
    assert!(report.findings.iter().all(|finding| finding.severity.name() != "error"), "{:?}", report.findings);
}

#[test]
fn an_entity_or_an_attribute_that_nothing_is_or_has_is_told() {
    let wrong = [
        ("principal in Ok::Actor::\"team:lab\"", "did you mean `Ok::Team::\"team:lab\"`?"),
        ("principal in Ok::Team::\"lab\"", "did you mean `Ok::Team::\"team:lab\"`?"),
        ("principal.admin || principal == Ok::Team::\"team:lab\"", "its type can be Ok::Actor"),
        ("principal.admin || principal has ownr", "did you mean `owner`?"),
        ("principal.admin || principal has name", ""),
    ];
    for (condition, help) in wrong {
        assert_eq!(proposals(&on("tick"), condition), [help], "{condition}");
    }
    let in_scope = "@id(\"a\")\n@reason(\"r\")\nforbid (principal in Ok::Actor::\"team:lab\", action == Ok::Action::\"tick\", resource);\n";
    let report = check(&Bundle::new([("a.cedar", in_scope)]));
    let told: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    let message = "the policy `a` names `Ok::Actor::\"team:lab\"`, and no actor has the id of a team";
    assert!(told.contains(&message), "{told:?}");
    for right in [
        "principal in Ok::Team::\"team:lab\"",
        "principal == Ok::Actor::\"kai\"",
        "principal has team && principal.team == Ok::Team::\"team:lab\"",
        "principal has owner && principal.owner == Ok::Actor::\"kai\"",
    ] {
        assert_eq!(proposals(&on("tick"), right), Vec::<String>::new(), "{right}");
    }
}
