//! The law of the index, over random policies and requests: it answers as plain Cedar does, errors and all.

use std::sync::Arc;

use proptest::prelude::*;

use super::{SCHEMA, action, actor_uid, facts, person, role, team_uid};
use ok::policy::{
    Bundle, Closed, Effect, PlainAnswer, PolicyMeta, Question, Record, Ruling, Slice, Snapshot, Supposed,
};

pub(super) const ACTORS: [&str; 4] = ["a0", "a1", "a2", "a3"];
pub(super) const TEAMS: [&str; 3] = ["t0", "t1", "t2"];
pub(super) const ROLES: [&str; 3] = ["admin", "lead", "member"];

fn of<T: Clone + std::fmt::Debug + 'static>(items: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(items.to_vec())
}

fn actor() -> impl Strategy<Value = String> {
    of(&ACTORS).prop_map(|name| format!("Ok::Actor::\"{name}\""))
}

fn group() -> impl Strategy<Value = String> {
    prop_oneof![
        of(&TEAMS).prop_map(|name| format!("Ok::Team::\"{name}\"")),
        of(&ROLES).prop_map(|name| format!("Ok::Role::\"{name}\"")),
        actor(),
    ]
}

/// Every form that a scope of a principal or a resource can take.
fn scope(variable: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(variable.to_owned()),
        1 => actor().prop_map(move |uid| format!("{variable} == {uid}")),
        3 => group().prop_map(move |uid| format!("{variable} in {uid}")),
        1 => of(&["Ok::Actor", "Ok::Token"]).prop_map(move |ty| format!("{variable} is {ty}")),
        2 => group().prop_map(move |uid| format!("{variable} is Ok::Actor in {uid}")),
    ]
}

fn action_scope() -> impl Strategy<Value = String> {
    let name = || of(&["query", "change", "token.issue", "actor.offboard", "actor.show"]);
    prop_oneof![
        1 => Just("action".to_owned()),
        1 => name().prop_map(|name| format!("action == Ok::Action::\"{name}\"")),
        2 => name().prop_map(|name| format!("action in Ok::Action::\"{name}\"")),
        1 => (name(), name()).prop_map(|(one, two)| {
            format!("action in [Ok::Action::\"{one}\", Ok::Action::\"{two}\"]")
        }),
    ]
}

/// Conditions that hold, do not hold, or cannot be evaluated (an overflow, an entity that is not there).
fn condition() -> impl Strategy<Value = String> {
    of(&[
        "",
        "when { true }",
        "when { principal.admin }",
        "when { principal.trust > 1 }",
        "when { principal.trust + 9223372036854775807 > 0 }",
        "when { resource.trust * 9223372036854775807 > 0 }",
        "when { principal has owner && principal.owner.admin }",
        "unless { resource.active }",
        "when { principal == resource }",
        "unless { context.channel == \"api\" }",
        "unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") }",
        "unless { principal.admin || context.approvals.contains(Ok::ApprovalKind::\"admin\") }",
        "unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") && context.approvals.contains(Ok::ApprovalKind::\"finance\") }",
    ])
    .prop_map(str::to_owned)
}

pub(super) fn policies() -> impl Strategy<Value = String> {
    let effect = of(&["permit", "forbid"]);
    let policy = (effect, scope("principal"), action_scope(), scope("resource"), condition());
    prop::collection::vec(policy, 1..16).prop_map(|policies| {
        let text =
            policies.into_iter().enumerate().map(|(number, (effect, principal, action, resource, condition))| {
                format!(
                    "@id(\"p{number:02}\") @reason(\"r\") {effect} ({principal}, {action}, {resource}) {condition};\n"
                )
            });
        text.collect()
    })
}

/// An actor's teams (as ancestors, closed), roles, attributes, and an owner who may not be there.
fn entity(name: &'static str) -> impl Strategy<Value = Closed> {
    let groups = (prop::sample::subsequence(TEAMS.to_vec(), 0..=3), prop::sample::subsequence(ROLES.to_vec(), 0..=2));
    (groups, any::<bool>(), 0..3_i64, prop::option::of(of(&["a0", "a3", "gone"]))).prop_map(
        move |((teams, roles), admin, trust, owner)| {
            let ancestors: Vec<_> = teams.into_iter().map(team_uid).chain(roles.into_iter().map(role)).collect();
            let attributes =
                owner.iter().fold(person(admin, trust), |record, owner| record.entity("owner", &actor_uid(owner)));
            Closed::new(&actor_uid(name), ancestors, &attributes)
        },
    )
}

fn entities() -> impl Strategy<Value = Vec<Closed>> {
    let actors = ACTORS.map(entity);
    (actors, prop::collection::vec(prop::bool::weighted(0.9), ACTORS.len())).prop_map(|(actors, there)| {
        let teams = TEAMS.map(|name| Closed::new(&team_uid(name), [], &Record::new()));
        let present = actors.into_iter().zip(there).filter(|(_, there)| *there);
        present.map(|(closed, _)| closed).chain(teams).collect()
    })
}

/// Policies that strict validation refuses cannot be served: they are left out, by their lines.
pub(super) fn loaded(text: &str) -> Snapshot {
    let schema = SCHEMA.replace("[Actor, Visitor]", "[Actor]");
    let load = |text: &str| Snapshot::load(&schema, &Bundle::new([("p.cedar", text)]));
    load(text).unwrap_or_else(|findings| {
        let bad: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        let good = text.lines().enumerate().filter(|(number, _)| !bad.contains(&(number + 1)));
        load(&good.map(|(_, line)| format!("{line}\n")).collect::<String>()).expect("only good policies are left")
    })
}

/// Conditions that can be put together, some of which cannot be evaluated.
fn condition_parts() -> impl Strategy<Value = &'static str> {
    of(&[
        "true",
        "false",
        "principal.admin",
        "principal.trust > 1",
        "principal.trust >= 2",
        "principal.trust + 9223372036854775807 > 0",
        "!(resource.trust * 9223372036854775807 > 0)",
        "principal == resource",
        "(if resource.active then principal.admin else principal.trust + 9223372036854775807 > 0)",
    ])
}

/// The same two conditions put together in one way or another, not all of which come to the same.
fn rewriting() -> impl Strategy<Value = &'static str> {
    of(&[
        "when { ONE && OTHER }",
        "when { OTHER && ONE }",
        "when { ONE } when { OTHER }",
        "when { !(!(ONE) || !(OTHER)) }",
        "unless { !(ONE) || !(OTHER) }",
        "when { true && (OTHER && (ONE && true)) }",
        "when { ONE || OTHER }",
        "when { OTHER || ONE || false }",
        "unless { !(ONE) && !(OTHER) }",
        "when { !(ONE) }",
        "unless { ONE }",
    ])
}

fn is_valid(line: &str) -> bool {
    Snapshot::load(&SCHEMA.replace("[Actor, Visitor]", "[Actor]"), &Bundle::new([("p.cedar", line)])).is_ok()
}

/// A policy as answers name it, and one that holds for everything until it is approved.
fn always(line: &str) -> (Arc<PolicyMeta>, String) {
    let id = line.split('"').nth(1).unwrap_or_default().to_owned();
    let (effect, word) =
        if line.contains(" forbid (") { (Effect::Forbid, "forbid") } else { (Effect::Permit, "permit") };
    let named = |kind: &&&str| line.contains(&format!("Ok::ApprovalKind::\"{kind}\""));
    let kinds: Vec<String> = ["admin", "finance", "lead"].iter().filter(named).map(|kind| (*kind).to_owned()).collect();
    let approved = |kind: &String| format!("context.approvals.contains(Ok::ApprovalKind::\"{kind}\")");
    let unless = match kinds.as_slice() {
        [] => String::new(),
        kinds => format!("unless {{ {} }}", kinds.iter().map(approved).collect::<Vec<_>>().join(" && ")),
    };
    let text = format!("@id(\"{id}\") @reason(\"r\") {word} (principal, action, resource) {unless};");
    let (file, line) = ("p.cedar".to_owned(), 1);
    (
        Arc::new(PolicyMeta {
            id,
            effect,
            reason: None,
            title: None,
            runbook: None,
            file,
            line,
            text: text.clone(),
            kinds,
        }),
        text,
    )
}

/// Asks one question, with these approvals granted.
fn asked<T>(
    snapshot: &Snapshot,
    entities: &[Closed],
    (who, what, whom): Words,
    approvals: &[String],
    answer: impl FnOnce(&Snapshot, &Question<'_>) -> T,
) -> T {
    let (principal, action, resource) = (actor_uid(who), action(what), actor_uid(whom));
    let slice = Slice::new(snapshot, &action, entities.iter().cloned());
    let question = Question {
        principal: &principal,
        action: &action,
        resource: &resource,
        entities: &slice,
        facts: &facts(),
        input: None,
        approvals,
        supposed: None,
    };
    answer(snapshot, &question)
}

pub(super) type Words = (&'static str, &'static str, &'static str);

/// Plain Cedar's answer and the index's.
fn both(snapshot: &Snapshot, entities: &[Closed], words: Words) -> (PlainAnswer, PlainAnswer) {
    asked(snapshot, entities, words, &[], |snapshot, question| (snapshot.plain(question), snapshot.indexed(question)))
}

pub(super) fn questions() -> impl Iterator<Item = Words> {
    let actions = ["token.issue", "actor.offboard", "actor.show"];
    let ends = [("a0", "a1"), ("a1", "a0"), ("a2", "a2"), ("a3", "a1")];
    actions.into_iter().flat_map(move |what| ends.map(|(who, whom)| (who, what, whom)))
}

proptest! {
    #[test]
    fn the_index_answers_as_plain_cedar_does(text in policies(), entities in entities()) {
        let snapshot = loaded(&text);
        for words in questions() {
            let (plain, indexed) = both(&snapshot, &entities, words);
            prop_assert_eq!(plain, indexed, "{:?}\n{}", words, text);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 3 / 8, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_is_never_looser_than_cedar(text in policies(), entities in entities()) {
        let snapshot = loaded(&text);
        for words in questions() {
            let (plain, ruling) = asked(&snapshot, &entities, words, &[], |snapshot, question| {
                (snapshot.plain(question), snapshot.decide(question))
            });
            prop_assert!(plain.allowed || !ruling.is_allowed(), "{:?} {:?}\n{}", words, ruling, text);
        }
    }

    #[test]
    fn what_meets_nothing_of_a_difference_is_answered_the_same(
        text in policies(),
        entities in entities(),
        left_out in prop::collection::vec((prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 16),
    ) {
        let side = |is_out: fn(&(bool, bool)) -> bool| {
            let lines = text.lines().zip(&left_out).map(|(line, out)| if is_out(out) { "" } else { line });
            loaded(&lines.collect::<Vec<_>>().join("\n"))
        };
        let outcome = |ruling: &Ruling| (ruling.decision(), ruling.kinds().to_vec());
        let (before, after) = (side(|out| out.0), side(|out| out.1));
        let difference = before.difference(&after);
        for words in questions() {
            for approvals in [vec![], vec!["lead".to_owned()]] {
                let (is_met, old, new) = asked(&before, &entities, words, &approvals, |before, question| {
                    (difference.reached(question).map_or(true, |reached| reached.is_met()), outcome(&before.decide(question)), outcome(&after.decide(question)))
                });
                prop_assert!(is_met || old == new, "{:?} {:?} {:?}\n{}", words, old, new, text);
            }
        }
    }

    #[test]
    fn what_is_said_to_be_the_same_in_other_words_decides_the_same(
        (one, other) in (condition_parts(), condition_parts()),
        (before, after) in (rewriting(), rewriting()),
        effect in of(&["permit", "forbid"]),
        entities in entities(),
    ) {
        let side = |rewriting: &str| {
            let conditions = rewriting.replace("ONE", one).replace("OTHER", other);
            let rest = "@id(\"all\") permit (principal, action, resource) when { principal.trust > 0 };\n";
            loaded(&format!("{rest}@id(\"p\") @reason(\"r\") {effect} (principal, action, resource) {conditions};\n"))
        };
        let (before, after) = (side(before), side(after));
        let unlike = before.actions_unlike(&after);
        for words in questions().filter(|(_, what, _)| !unlike.contains(*what)) {
            let said = |side: &Snapshot| asked(side, &entities, words, &[], |side, question| side.decide(question).decision());
            prop_assert_eq!(said(&before), said(&after), "{:?}: {} {}", words, one, other);
        }
    }

    #[test]
    fn a_policy_that_is_supposed_to_hold_or_not_decides_as_if_it_said_so(text in policies(), entities in entities()) {
        let snapshot = loaded(&text);
        let said = |ruling: Ruling| (ruling.decision(), ruling.kinds().to_vec());
        for line in text.lines().filter(|line| is_valid(line)) {
            let (policy, always) = always(line);
            let without = loaded(&text.replace(line, ""));
            let with = loaded(&text.replace(line, &always));
            // Also of one that is not there.
            for (among, holds, side) in [(&snapshot, false, &without), (&snapshot, true, &with), (&without, true, &with)] {
                for words in questions() {
                    let supposed = asked(among, &entities, words, &[], |among, question| {
                        let Question { principal, action, .. } = *question;
                        let supposed = Supposed { policy: &policy, holds, principal, action };
                        said(among.decide(&Question { supposed: Some(&supposed), ..*question }))
                    });
                    let really = asked(side, &entities, words, &[], |side, question| said(side.decide(question)));
                    prop_assert_eq!(&supposed, &really, "{} {} {:?}\n{}", policy.id, holds, words, text);
                }
            }
        }
    }

    #[test]
    fn what_could_not_be_allowed_is_allowed_of_nothing(text in policies(), entities in entities()) {
        let snapshot = loaded(&text);
        for (who, what, whom) in questions() {
            // Of something that nobody knows yet.
            let could = asked(&snapshot, &entities, (who, what, "unread"), &[], Snapshot::could);
            let ruling = asked(&snapshot, &entities, (who, what, whom), &[], |snapshot, question| snapshot.decide(question));
            prop_assert!(could.is_ok() || matches!(ruling, Ruling::Deny { .. }), "{who} {what} {whom} {ruling:?}\n{text}");
        }
    }

    #[test]
    fn approvals_that_are_asked_for_help_and_each_is_needed(text in policies(), entities in entities()) {
        let snapshot = loaded(&text);
        for words in questions() {
            let allowed = |approvals: &[String]| {
                asked(&snapshot, &entities, words, approvals, |snapshot, question| snapshot.decide(question)).is_allowed()
            };
            let ruling = asked(&snapshot, &entities, words, &[], |snapshot, question| snapshot.decide(question));
            let Ruling::NeedsApproval { kinds, .. } = ruling else { continue };
            prop_assert!(allowed(&kinds), "{:?} {:?}\n{}", words, kinds, text);
            for left_out in &kinds {
                let others: Vec<String> = kinds.iter().filter(|kind| *kind != left_out).cloned().collect();
                prop_assert!(!allowed(&others), "{:?} without {}\n{}", words, left_out, text);
            }
        }
    }
}

/// A known case, so that the law is known to speak of reasons and errors.
#[test]
fn the_law_speaks_of_reasons_and_errors() {
    let snapshot = loaded(
        r#"@id("a") permit (principal in Ok::Team::"t0", action in Ok::Action::"change", resource);
@id("b") permit (principal, action, resource is Ok::Actor in Ok::Team::"t1") when { principal.trust + 9223372036854775807 > 0 };
@id("c") @reason("r") forbid (principal == Ok::Actor::"a1", action, resource);"#,
    );
    let member = Closed::new(&actor_uid("a0"), [team_uid("t0"), team_uid("t1")], &person(false, 1));
    let (plain, indexed) = both(&snapshot, &[member], ("a0", "actor.offboard", "a0"));
    assert_eq!(plain, indexed);
    assert_eq!((plain.allowed, plain.errors, plain.reasons), (true, 1, ["a".to_owned()].into()));
}
