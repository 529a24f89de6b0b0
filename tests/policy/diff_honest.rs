//! Edits that change no decision raise no alarm: conditions in another order, De Morgan's laws, another id or reason.

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
        ("!(principal.trust <= 3)", "principal.trust >= 4"),
        (
            "!(principal.trust <= 3) && [\"open\", \"running\"].contains(resource.status)",
            "[\"running\", \"open\"].contains(resource.status) && !(!(principal.trust > 3)) && true",
        ),
        (
            "when { !(principal.trust <= 3) && [\"open\", \"running\"].contains(resource.status) }",
            "unless { !([\"open\", \"running\"].contains(resource.status)) || principal.trust <= 3 }",
        ),
        ("@id(\"final\")", "@id(\"paid-invoices-are-final\")"),
        ("@reason(\"r\")", "@reason(\"paid invoices stay as they are\") @title(\"Paid\")"),
        (
            "[Ok::Action::\"record.change\", Ok::Action::\"record.delete\"]",
            "[Ok::Action::\"record.delete\", Ok::Action::\"record.change\"]",
        ),
    ] {
        let found = asked_at_most(&with(RULES), &edited(from, to), 20_000);
        assert_eq!((found.questions, found.unmet), (0, vec![]), "{to}: {}", found.summary);
        assert_eq!(found.summary, "the policies for every operation are the same", "{to}");
    }
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
