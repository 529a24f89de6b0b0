//! What a comparison sees of the people and things that a policy's scope names.

use ok::policy::Bundle;
use ok::policy::diff::{Pair, Shift};

use super::diff_found::with;
use super::diff_laws::asked_at_most;

const ALL: &str = "principal is Ok::Actor";
const RED: &str = "principal is Ok::Actor in Ok::Team::\"team:red\"";
const OPS: &str = "principal in Ok::Team::\"team:ops\"";
const ANY: &str = "resource";
const ANYBODY: &str = "resource is Ok::Actor";
const RED_ONES: &str = "resource is Ok::Actor in Ok::Team::\"team:red\"";

fn company(effect: &str, operation: &str, (principal, resource): (&str, &str), conditions: &str) -> Bundle {
    with(&format!(
        "@id(\"it\") @reason(\"r\") {effect} ({principal}, action == Ok::Action::\"{operation}\", {resource}) {conditions};"
    ))
}

fn finds(before: &Bundle, after: &Bundle, operation: &str) -> Result<(), String> {
    let found = asked_at_most(before, after, 8_000);
    let is_looser = |pair: &Pair| pair.operation == operation && matches!(pair.change, Shift::Looser | Shift::Mixed);
    if found.pairs.iter().any(is_looser) { Ok(()) } else { Err(format!("{operation}: {}", found.summary)) }
}

/// Whoever a policy names is asked about in the team that its scope has, and outside of it.
#[test]
fn a_scope_that_lets_go_of_somebody_is_found() {
    let forbids = [
        ("actor.offboard", [(ALL, ANYBODY), (ALL, RED_ONES)], "when { resource == Ok::Actor::\"pam\" }"),
        ("approval.withdraw", [(ALL, ANY), (RED, ANY)], "when { resource.requester == Ok::Actor::\"pam\" }"),
        ("token.issue", [(ALL, ANYBODY), (RED, ANYBODY)], "when { principal == Ok::Actor::\"pam\" }"),
        (
            "task.create",
            [(ALL, ANY), (RED, ANY)],
            "when { principal == Ok::Actor::\"pam\" && context.hist[\"task.create\"].day >= 10 }",
        ),
        (
            "task.complete",
            [(ALL, ANY), (RED, ANY)],
            "when { [Ok::Actor::\"pam\", Ok::Actor::\"tom\"].contains(principal) }",
        ),
        (
            "agent.ask",
            [(ALL, ANY), (RED, ANY)],
            "when { principal == Ok::Actor::\"pam\" && context.now.toTime() < duration(\"6h\") } unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") }",
        ),
        (
            "token.issue",
            [(ALL, ANYBODY), (OPS, ANYBODY)],
            "when { resource == Ok::Actor::\"lea\" && context.input has days && context.input.days > 30 } unless { principal == Ok::Actor::\"ana\" }",
        ),
        (
            "agent.ask",
            [("principal == Ok::Actor::\"pam\"", ANY), ("principal == Ok::Actor::\"tom\"", ANY)],
            "when { resource.trust > 2 }",
        ),
    ];
    let mut missed = Vec::new();
    for (operation, [before, after], conditions) in forbids {
        let [before, after] = [before, after].map(|scope| company("forbid", operation, scope, conditions));
        missed.extend(finds(&before, &after, operation).err());
    }
    let pam = "when { principal == Ok::Actor::\"pam\" }";
    let [before, after] = [RED, ALL].map(|principal| company("permit", "actor.trust", (principal, ANYBODY), pam));
    missed.extend(finds(&before, &after, "actor.trust").err());
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Where another policy decides anyway, the clause of the scope is named that makes the difference.
#[test]
fn a_scope_whose_difference_no_question_shows_is_named() {
    let mask = format!(
        "@id(\"mask\") @reason(\"r\") forbid ({ALL}, action == Ok::Action::\"task.update\", resource) unless {{ principal in Ok::Team::\"team:red\" }};"
    );
    let company = |principal: &str| {
        with(&format!(
            "{mask}\n@id(\"it\") @reason(\"r\") forbid ({principal}, action == Ok::Action::\"task.update\", resource) when {{ resource.status == \"open\" }};"
        ))
    };
    let found = asked_at_most(&company(ALL), &company(RED), 8_000);
    let unmet: Vec<_> = found.unmet.iter().map(|one| (one.policy.as_str(), one.part.as_deref(), one.line)).collect();
    assert_eq!(unmet, [("it", Some(format!("{RED} is false").as_str()), 2)], "{}", found.summary);
    assert!(found.changed().next().is_none(), "{}", found.summary);
}

/// What is like no pattern is asked about, too.
#[test]
fn a_policy_that_lets_through_what_is_like_a_pattern_is_found_to_go() {
    let conditions = "unless { resource.host like \"*.example.com\" }";
    let before = company("forbid", "webhook.create", (ALL, "resource is Ok::Webhook"), conditions);
    finds(&before, &with(""), "webhook.create").unwrap();
}
