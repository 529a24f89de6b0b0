//! What a comparison finds of those who are near one another: in a team below another's, in the middle of a chain of delegations.

use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::asked_at_most;

#[test]
fn a_rule_about_teams_below_or_the_middle_of_a_chain_is_found() {
    let below = |of: &str| {
        format!(
            "principal has team && resource{of} has team && principal in resource{of}.team && principal.team != resource{of}.team"
        )
    };
    let ana = "Ok::Actor::\"ana\"";
    let rules = [
        ("change.review", "is Ok::Change", below(".author")),
        ("task.read", "is Ok::Task", below(".creator")),
        ("approval.decide", "is Ok::Approval", below(".requester")),
        ("view.read", "is Ok::View", below("")),
        (
            "task.create",
            "",
            format!(
                "context has delegation && context.delegation.chain.contains({ana}) && context.delegation.root != {ana}"
            ),
        ),
    ];
    for round in [&rules[..4], &rules[4..]] {
        let policies = round.iter().enumerate().map(|(number, (operation, about, condition))| {
            format!(
                "@id(\"more-{number}\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"{operation}\", resource {about}) when {{ {condition} }};\n"
            )
        });
        let found = asked_at_most(&with(""), &with(&policies.collect::<String>()), 30_000);
        for (operation, ..) in round {
            let is_found = found.pairs.iter().any(|pair| pair.operation == *operation && pair.change == Shift::Tighter);
            assert!(is_found, "{operation}: {}", found.summary);
        }
    }
}
