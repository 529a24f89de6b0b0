//! Edits that change nothing raise no alarm: a comparison written the other way round, another order in a set, another id.

use ok::policy::Bundle;
use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::asked_at_most;

const RULES: &str = "@id(\"final\") @reason(\"r\") forbid (principal is Ok::Actor, action in [Ok::Action::\"record.change\", Ok::Action::\"record.delete\"], resource is Brain::invoices) when { resource has status && resource.status == \"paid\" };\n\
                     @id(\"big\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"record.write\", resource is Brain::invoices) when { resource has total && resource.total.greaterThan(decimal(\"10000.00\")) };\n\
                     @id(\"tasks\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.update\", resource) when { !(principal.trust <= 3) && [\"open\", \"running\"].contains(resource.status) };\n";

fn edited(from: &str, to: &str) -> Bundle {
    assert!(RULES.contains(from), "{from}");
    with(&RULES.replacen(from, to, 1))
}

#[test]
fn what_is_written_otherwise_and_says_the_same_is_not_asked_about() {
    for (from, to) in [
        ("resource.status == \"paid\"", "\"paid\" == resource.status"),
        ("[\"open\", \"running\"]", "[\"running\", \"open\"]"),
        ("!(principal.trust <= 3)", "3 < principal.trust"),
        (
            "[Ok::Action::\"record.change\", Ok::Action::\"record.delete\"]",
            "[Ok::Action::\"record.delete\", Ok::Action::\"record.change\"]",
        ),
    ] {
        let found = asked_at_most(&with(RULES), &edited(from, to), 20_000);
        assert_eq!((found.questions, found.unmet), (0, vec![]), "{to}: {}", found.summary);
        assert_eq!(found.summary, "the policies of every operation are the same", "{to}");
    }
}

#[test]
fn a_policy_under_another_id_was_seen_to_be_the_same() {
    let found = asked_at_most(&with(RULES), &edited("@id(\"final\")", "@id(\"paid-invoices-are-final\")"), 20_000);
    assert!(found.changed().next().is_none() && found.questions > 0, "{}", found.summary);
    assert_eq!(found.unmet, [], "{}", found.summary);
}

#[test]
fn what_is_only_nearly_the_same_is_found() {
    for (from, to, shift) in [
        ("[\"open\", \"running\"]", "[\"open\"]", Shift::Looser),
        ("decimal(\"10000.00\")", "decimal(\"9999.99\")", Shift::Tighter),
        ("@id(\"final\") @reason(\"r\") forbid", "@id(\"finally\") @reason(\"r\") permit", Shift::Looser),
    ] {
        let found = asked_at_most(&with(RULES), &edited(from, to), 20_000);
        let shifts: Vec<Shift> = found.changed().map(|pair| pair.change).collect();
        assert!(!shifts.is_empty(), "{to}: {}", found.summary);
        assert!(shifts.iter().all(|one| *one == shift), "{to}: {shifts:?}");
        assert_eq!(found.unmet, [], "{to}: {}", found.summary);
    }
}
