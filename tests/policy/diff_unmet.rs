//! What a comparison names where no question showed it: policies, alternatives, exceptions.

use ok::policy::Bundle;
use ok::policy::diff::Shift;

use super::diff_found::with;
use super::diff_laws::asked_at_most;

/// What was not seen is said: no question that was compared is one for which the policy holds.
#[test]
fn a_policy_that_no_question_meets_is_named() {
    let policy = "@id(\"more\") permit (principal is Ok::Actor, action == Ok::Action::\"task.complete\", resource is Ok::Task) when { context has run && context.run.asker == principal && principal.kind == \"agent\" && principal.trust == 4 && context.run.steps == 7 };";
    for (before, after) in [(with(""), with(policy)), (with(policy), with(""))] {
        let found = asked_at_most(&before, &after, 5_000);
        assert_eq!(found.unmet.iter().map(|unmet| unmet.policy.as_str()).collect::<Vec<_>>(), ["more"]);
        assert!(
            found.summary.ends_with("; `more` decided none of them: its effect was not observed"),
            "{}",
            found.summary
        );
    }
    // It holds, and what it forbids is denied anyway.
    let masked = "@id(\"more\") @reason(\"x\") forbid (principal is Ok::Actor, action == Ok::Action::\"tick\", resource) when { principal.kind == \"agent\" };";
    let found = asked_at_most(&with(""), &with(masked), 5_000);
    assert_eq!(
        found.unmet.iter().map(|unmet| unmet.policy.as_str()).collect::<Vec<_>>(),
        ["more"],
        "{}",
        found.summary
    );
    let plain =
        "@id(\"more\") permit (principal is Ok::Actor, action == Ok::Action::\"task.complete\", resource is Ok::Task);";
    assert!(asked_at_most(&with(""), &with(plain), 5_000).unmet.is_empty());
}

/// The default policies, one by which everybody sees every task, and one more.
fn seeing(more: &str) -> Bundle {
    with(&format!(
        "{more}\n@id(\"seen\") permit (principal is Ok::Actor, action == Ok::Action::\"task.read\", resource is Ok::Task);"
    ))
}

/// The same, where the one more is about who completes tasks.
fn completing(condition: &str) -> Bundle {
    seeing(&format!(
        "@id(\"more\") permit (principal is Ok::Actor, action == Ok::Action::\"task.complete\", resource is Ok::Task)\nwhen {{\n  {condition}\n}};"
    ))
}

/// Of a policy that holds in some questions, the alternative that decided none is named; one that was there before is not.
#[test]
fn an_alternative_that_no_question_meets_is_named() {
    let never = "context has run && context.run.asker == principal && principal.kind == \"agent\" && principal.trust == 4 && context.run.steps == 7";
    let policy = completing;
    let whole = "principal.kind == \"person\"";
    let both = policy(&format!("{whole} ||\n  ({never})"));
    let compare = |before: &Bundle, after: &Bundle| {
        let found = asked_at_most(before, after, 5_000);
        let unmet = found.unmet.into_iter().map(|one| (one.policy, one.line, one.part)).collect::<Vec<_>>();
        (unmet, found.summary)
    };
    let named = vec![("more".to_owned(), 4, Some(never.to_owned()))];
    for (before, after) in [(&seeing(""), &both), (&policy(whole), &both), (&both, &policy(whole))] {
        let (unmet, said) = compare(before, after);
        assert_eq!(unmet, named, "{said}");
        assert!(said.ends_with("; a part of `more` decided none of them: its effect was not observed"), "{said}");
    }
    let twice = policy(&format!("{whole} || ({never}) || ({})", never.replace("== 7", "== 8")));
    let (unmet, said) = compare(&policy(whole), &twice);
    assert_eq!(unmet.len(), 2);
    assert!(said.ends_with("; 2 parts of `more` decided none of them: their effect was not observed"), "{said}");
    // What it adds is met; what it has as before is not asked about.
    let third = policy(&format!("{whole} ||\n  ({never}) || resource.status == \"open\""));
    assert_eq!(compare(&both, &third).0, []);
    // What stands before it lets the policy hold without it.
    let (unmet, _) = compare(&policy(whole), &policy(&format!("{whole} || ({whole} && resource.status == \"open\")")));
    assert_eq!(unmet.len(), 1);
    let (unmet, _) = compare(&seeing(""), &policy(&format!("{whole} && !(context has run && context.run.steps == 1)")));
    assert_eq!(unmet, []);
}

/// An alternative is one however it is written: as an arm of an `if`, or as a part of a value.
#[test]
fn an_alternative_that_is_written_without_an_or_is_named() {
    let never = "context.hist[\"task.create\"].day * 3 == context.hist[\"token.issue\"].month + 17";
    let policy = completing;
    let before = policy("principal.trust == 2 && resource.status == \"open\"");
    for (condition, told) in [
        (format!("if principal.trust == 2 then resource.status == \"open\" else ({never})"), vec![never.to_owned()]),
        (format!("if !(principal.trust == 2) then {never} else resource.status == \"open\""), vec![never.to_owned()]),
        (format!("if {never} then true else principal.trust == 2"), vec![never.to_owned()]),
        (
            format!("[principal.kind == \"person\", {never}].contains(true)"),
            vec![never.to_owned(), "principal.kind == \"person\" is false".to_owned()],
        ),
        (format!("(if {never} then 1 else principal.trust) == 1"), vec![never.to_owned()]),
        (
            "if principal.trust == 2 then resource.status == \"open\" else principal.kind == \"agent\"".to_owned(),
            vec![],
        ),
        ("if principal.trust == 2 then true else false".to_owned(), vec![]),
    ] {
        let found = asked_at_most(&before, &policy(&condition), 5_000);
        let unmet: Vec<String> = found.unmet.iter().filter_map(|one| one.part.clone()).collect();
        assert_eq!(unmet, told, "{condition}: {}", found.summary);
        let unmet: Vec<_> = asked_at_most(&policy(&condition), &before, 5_000).unmet;
        assert_eq!(unmet.iter().filter_map(|one| one.part.clone()).collect::<Vec<_>>(), told, "from {condition}");
    }
}

/// A condition that stands in the place of another is seen only where the two differ.
#[test]
fn a_condition_that_differs_in_no_question_from_the_one_before_is_named() {
    let before = with("");
    let text = before.files["base/trust.cedar"].clone();
    let old = "resource.trust > 3";
    for (new, is_seen) in [
        ("resource.trust > 2", true),
        ("resource.trust + context.hist[\"task.create\"].day * context.hist[\"task.update\"].day > 3", false),
        ("3 < resource.trust + context.hist[\"task.create\"].day * context.hist[\"task.update\"].day", false),
    ] {
        assert!(text.contains(old));
        let mut after = before.clone();
        after.files.insert("base/trust.cedar".into(), text.replacen(old, new, 1));
        let found = asked_at_most(&before, &after, 20_000);
        let unmet: Vec<_> = found.unmet.iter().map(|one| (one.policy.as_str(), one.part.as_deref())).collect();
        let named = vec![("trust-not-raised-by-the-owner", Some(new))];
        assert_eq!(unmet, if is_seen { vec![] } else { named }, "{new}: {}", found.summary);
    }
}

/// More alternatives than are told apart hide none of them: what is not looked at is named.
#[test]
fn an_alternative_among_very_many_is_named() {
    let never = "context.run.steps == 7 && principal.trust == 4 && principal.kind == \"agent\" && context has run";
    let many = |name: &str| (0..70).map(|number| format!("resource.status == \"{name}{number}\"")).collect::<Vec<_>>();
    let before = completing("principal.trust == 2");
    for condition in [
        format!("(context has run && {never}) || principal.kind == \"person\" || {}", many("a").join(" || ")),
        format!("[{}, context has run && {never}].contains(true) || principal.trust == 2", many("a").join(", ")),
    ] {
        let found = asked_at_most(&before, &completing(&condition), 5_000);
        let cut =
            found.unmet.iter().filter_map(|one| one.part.as_deref()).any(|part| part.contains("context.run.steps"));
        assert!(cut, "{}", found.summary);
    }
}

/// What loosens is named, though what tightens beside it was seen.
#[test]
fn a_condition_that_was_only_seen_to_tighten_is_named() {
    let later = "principal.trust + context.hist[\"task.create\"].day * context.hist[\"task.update\"].day < 9";
    for after in
        [format!("principal.kind == \"person\" && {later}"), format!("{later} && principal.kind == \"person\"")]
    {
        let unmet = asked_at_most(&completing("principal.trust < 9"), &completing(&after), 5_000).unmet;
        assert!(unmet.iter().any(|one| one.part.as_deref() == Some(later)), "{after}: {unmet:?}");
    }
}

/// An exception is looked for where the policy had none, and where its scope is another or in another order, too.
#[test]
fn an_exception_of_a_policy_without_any_is_named() {
    let never = "context.hist[\"task.create\"].day * 3 == context.hist[\"token.issue\"].month + 17";
    let (one, other) = ("Ok::Action::\"task.create\"", "Ok::Action::\"task.complete\"");
    let policy = |operations: [&str; 2], conditions: &str| {
        with(&format!(
            "@id(\"more\") @reason(\"x\") forbid (principal is Ok::Actor, action in [{}], resource) {conditions};",
            operations.join(", ")
        ))
    };
    let (plain, agents) = ("", "when { principal.kind == \"agent\" }");
    for (before, after, told) in [
        (policy([one, other], plain), policy([one, other], &format!("unless {{ {never} }}")), never.to_owned()),
        (
            policy([one, other], agents),
            policy([other, one], &format!("{agents} unless {{ {never} }}")),
            never.to_owned(),
        ),
        (
            policy([one, other], agents),
            policy([other, one], &format!("{agents} when {{ !({never}) }}")),
            format!("!({never}) is false"),
        ),
    ] {
        let unmet = asked_at_most(&before, &after, 5_000).unmet;
        assert!(unmet.iter().any(|one| one.part.as_ref() == Some(&told)), "{unmet:?}");
    }
}

/// That another policy was worded anew shows nothing of one that forbids what is denied anyway.
#[test]
fn a_policy_is_not_shown_by_another_that_both_sides_have() {
    let masked = "@id(\"more\") @reason(\"x\") forbid (principal is Ok::Actor, action == Ok::Action::\"tick\", resource) when { principal.kind == \"agent\" };";
    let (before, mut after) = (with(""), with(masked));
    let text = before.files["base/admins.cedar"].clone();
    let at = text.find("@id(\"tick-by-admins\")").unwrap();
    let reason = text[at..].find("@reason(\"").unwrap() + at + "@reason(\"".len();
    after.files.insert("base/admins.cedar".into(), format!("{}Now: {}", &text[..reason], &text[reason..]));
    let found = asked_at_most(&before, &after, 5_000);
    assert!(found.unmet.iter().any(|one| one.policy == "more"), "{}", found.summary);
}

/// Of the operations that a policy lists, the one that it decided in no question is named; what it listed before is not.
#[test]
fn an_operation_of_a_list_that_no_question_meets_is_named() {
    let policy = |operations: &str, kind: &str| {
        with(&format!(
            "@id(\"more\") @reason(\"x\") forbid (principal is Ok::Actor, action in [{operations}], resource) when {{ principal.kind == \"{kind}\" }};"
        ))
    };
    let (one, all) = ("Ok::Action::\"task.create\"", "Ok::Action::\"task.create\", Ok::Action::\"tick\"");
    let tick = vec![("more".to_owned(), Some("Ok::Action::\"tick\"".to_owned()))];
    let compare = |before: &Bundle, after: &Bundle| {
        let unmet = asked_at_most(before, after, 5_000).unmet;
        unmet.into_iter().map(|one| (one.policy, one.part)).collect::<Vec<_>>()
    };
    // Nobody but the server and admins may tick.
    let agents = policy(all, "agent");
    assert_eq!(compare(&with(""), &agents), tick);
    assert_eq!(compare(&policy(one, "agent"), &agents), tick);
    assert_eq!(compare(&policy("Ok::Action::\"tick\"", "agent"), &agents), []);
    assert_eq!(compare(&policy(all, "person"), &agents), tick);
    assert_eq!(compare(&with(""), &policy(all, "person")), []);
}

/// What lifts a forbid is looked for, and named where no question shows it.
#[test]
fn an_exception_that_is_added_is_found_or_named() {
    let company = |exception: &str| {
        let mut bundle =
            with("@id(\"all\") permit (principal is Ok::Actor, action == Ok::Action::\"tick\", resource);");
        let admins = &bundle.files["base/admins.cedar"];
        let (one, kept) = ("principal in Ok::Role::\"admin\" }", admins.clone());
        let at = kept.find("@id(\"tick-by-admins\")").unwrap();
        let changed = kept[at..].replacen(one, &format!("principal in Ok::Role::\"admin\"{exception} }}"), 1);
        assert!(exception.is_empty() || changed != kept[at..], "{}", &kept[at..]);
        bundle.files.insert("base/admins.cedar".into(), format!("{}{changed}", &kept[..at]));
        bundle
    };
    let before = company("");
    for (exception, is_found) in [
        ("context.channel == \"run\"", true),
        ("context has run && context.run.depth == 2", true),
        ("context has run && context.run.calls > 3", true),
        ("context.now.toTime() > duration(\"22h\")", true),
        (
            "principal.kind == \"agent\" && principal.trust == 4 && context has run && context.run.asker == principal && context.run.steps == 7",
            false,
        ),
    ] {
        let after = company(&format!(" || ({exception})"));
        let found = asked_at_most(&before, &after, 5_000);
        let seen = found.pairs.iter().any(|pair| pair.operation == "tick" && pair.change == Shift::Looser);
        let unmet: Vec<_> = found.unmet.iter().map(|one| (one.policy.as_str(), one.part.as_deref())).collect();
        assert_eq!(seen, is_found, "{exception}: {} {unmet:?}", found.summary);
        assert_eq!(unmet, if is_found { vec![] } else { vec![("tick-by-admins", Some(exception))] }, "{exception}");
    }
}

/// The same of the company's own types: what a policy permits where another forbids it anyway was not seen.
#[test]
fn a_policy_about_ones_own_types_that_is_masked_is_named() {
    let schema = "namespace Shop { entity Clerk; entity Bill = { paid: Bool }; action refund appliesTo { principal: [Clerk], resource: [Bill] }; }";
    let before = "@id(\"paid\") permit (principal is Shop::Clerk, action == Shop::Action::\"refund\", resource) when { resource.paid };\n\
                  @id(\"no\") @reason(\"r\") forbid (principal is Shop::Clerk, action == Shop::Action::\"refund\", resource) unless { resource.paid };\n";
    let more = "@id(\"more\") permit (principal is Shop::Clerk, action == Shop::Action::\"refund\", resource) when { !resource.paid };\n";
    let bundle = |text: &str| {
        let mut bundle = with("");
        bundle.files.insert("schema.cedarschema".into(), schema.into());
        bundle.files.insert("shop.cedar".into(), text.into());
        bundle
    };
    let found = asked_at_most(&bundle(before), &bundle(&format!("{before}{more}")), 5_000);
    assert_eq!(
        found.unmet.iter().map(|unmet| unmet.policy.as_str()).collect::<Vec<_>>(),
        ["more"],
        "{}",
        found.summary
    );
    let lifted = before.lines().next().unwrap();
    let found = asked_at_most(&bundle(before), &bundle(&format!("{lifted}\n{more}")), 5_000);
    assert_eq!(found.unmet, [], "{}", found.summary);
}

/// What another policy decides anyway, of the same effect or with the same approval, was not seen, though it holds.
#[test]
fn what_another_policy_decides_anyway_is_named() {
    let forbid = |id: &str, condition: &str| {
        format!(
            "@id(\"{id}\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.update\", resource is Ok::Task) when {{ {condition} }} unless {{ context.approvals.contains(Ok::ApprovalKind::\"lead\") }};\n"
        )
    };
    let permit = |id: &str, condition: &str| {
        format!(
            "@id(\"{id}\") permit (principal is Ok::Actor, action == Ok::Action::\"task.update\", resource is Ok::Task) when {{ {condition} }};\n"
        )
    };
    // What lets it through is nothing that a question is made of.
    let never = "context.hist[\"task.create\"].day * 3 == context.hist[\"token.issue\"].month + 17";
    let mask = format!("!({never})");
    for (rest, before, after) in [
        (forbid("mask", &mask), forbid("it", "principal.trust < 3"), String::new()),
        (forbid("mask", &mask), forbid("it", "principal.trust < 3"), forbid("it", "principal.trust < 2")),
        (
            forbid("mask", &mask),
            forbid("it", "principal.trust < 3"),
            forbid("it", "principal.trust < 3 && context.channel != \"cli\""),
        ),
        (permit("mask", &mask), permit("it", "principal.trust > 2"), permit("it", "principal.trust > 1")),
        (permit("mask", &mask), String::new(), permit("it", "principal.trust > 1")),
    ] {
        let found = asked_at_most(&with(&format!("{rest}{before}")), &with(&format!("{rest}{after}")), 5_000);
        assert!(found.changed().next().is_none(), "{after}: {}", found.summary);
        assert!(found.unmet.iter().any(|one| one.policy == "it"), "{before} {after}: {}", found.summary);
    }
}

/// What keeps the other policies from deciding anyway is looked for.
#[test]
fn what_shows_only_where_another_policy_does_not_hold_is_found() {
    let mask = "@id(\"mask\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.update\", resource is Ok::Task) unless { context.channel == \"run\" && context has run && context.run.depth == 2 };\n";
    let it = "@id(\"it\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.update\", resource is Ok::Task) when { resource.status == \"open\" };\n";
    let found = asked_at_most(&with(&format!("{mask}{it}")), &with(mask), 20_000);
    assert!(found.pairs.iter().any(|pair| pair.operation == "task.update" && pair.change == Shift::Looser));
    assert_eq!(found.unmet, [], "{}", found.summary);
}

/// Operands that can fail are not evaluated where another decides first: in another order, a policy decides otherwise where one
/// of them fails, which no question may show.
#[test]
fn operands_that_can_fail_in_another_order_are_found_or_named() {
    let forbid = |about: &str, conditions: &str| {
        with(&format!(
            "@id(\"it\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::{about}) when {{ {conditions} }};"
        ))
    };
    let (delete, ask) = ("\"record.delete\", resource is Brain::invoices", "\"agent.ask\", resource");
    let [small, large] = ["resource.version * 1000 > 5", "context.input.budget_cents * 10000000000 > 5"];
    let given = "context.input has budget_cents";
    for (about, before, after, is_found) in [
        (delete, format!("{small} && principal.trust > 3"), format!("principal.trust > 3 && {small}"), false),
        (delete, format!("principal.trust > 3 || {small}"), format!("{small} || principal.trust > 3"), false),
        (
            ask,
            format!("{given} && ({large} && principal.trust < 3)"),
            format!("{given} && (principal.trust < 3 && {large})"),
            true,
        ),
    ] {
        let found = asked_at_most(&forbid(about, &before), &forbid(about, &after), 8_000);
        let named: Vec<_> = found.unmet.iter().map(|one| (one.policy.as_str(), one.part.as_deref())).collect();
        assert_eq!(found.changed().next().is_some(), is_found, "{after}: {}", found.summary);
        // A policy that cannot be evaluated shows nothing of itself, also where that makes the difference.
        assert_eq!(named, [("it", None)], "{after}: {}", found.summary);
    }
}

/// What is taken away under one id and comes back under another, or in two halves, hides no exception.
#[test]
fn an_exception_in_what_stands_in_for_a_policy_is_named() {
    let forbid = |id: &str, rest: &str| {
        seeing(&format!(
            "@id(\"{id}\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.complete\", resource is Ok::Task) {rest};"
        ))
    };
    let never = "context.hist[\"task.create\"].day * 3 == context.hist[\"token.issue\"].month + 17";
    let approved = "unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") }";
    for unless in ["", approved] {
        let before = forbid("it", &format!("when {{ principal.trust > 1 }} {unless}"));
        let other = forbid("other", &format!("when {{ principal.trust > 1 }} {unless} unless {{ {never} }}"));
        let halves = format!(
            "when {{ principal.kind == \"agent\" && principal.trust > 1 }} {unless};\n@id(\"half\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"task.complete\", resource is Ok::Task) when {{ principal.kind != \"agent\" && principal.trust > 1 && !({never}) }} {unless}"
        );
        for after in [other, forbid("it", &halves)] {
            let found = asked_at_most(&before, &after, 5_000);
            assert!(found.changed().next().is_none() && !found.unmet.is_empty(), "{unless}: {}", found.summary);
        }
    }
}
