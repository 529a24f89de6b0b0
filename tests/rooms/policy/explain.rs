//! What is told of an answer: the parts of policies, and the changes that would turn it.

use std::collections::BTreeSet;

use cedar_policy::EntityUid;
use proptest::prelude::*;

use super::property::{ACTORS, ROLES, TEAMS, Words, loaded, policies, questions};
use super::{action, actor_uid, facts, killed, person, role, snapshot, team_uid};
use ok::policy::{
    Alterable, Closed, ExplainedPolicy, Explanation, Eyes, Facts, Giver, Question, Record, Scalar, Slice, Snapshot,
    State, Want,
};

/// Somebody whose every attribute can be set.
#[derive(Clone, Debug)]
struct Person {
    name: &'static str,
    groups: BTreeSet<EntityUid>,
    admin: bool,
    trust: i64,
    owner: Option<EntityUid>,
}

impl Person {
    fn closed(&self) -> Closed {
        let attributes = person(self.admin, self.trust);
        let attributes = self.owner.iter().fold(attributes, |record, owner| record.entity("owner", owner));
        Closed::new(&actor_uid(self.name), self.groups.iter().cloned(), &attributes)
    }
}

/// A company of such people, and a question about two of them.
struct Company<'a> {
    snapshot: &'a Snapshot,
    people: Vec<Person>,
    facts: Facts,
    words: Words,
}

impl Company<'_> {
    fn allows(&self, changes: &[Want]) -> bool {
        self.after(changes, |question, _| self.snapshot.decide(question).is_allowed()).expect("it can be asked")
    }

    fn explained(&self, eyes: Eyes<'_>) -> Explanation {
        let explain = |question: &Question<'_>, _: &[Giver]| {
            let ruling = self.snapshot.decide(question);
            self.snapshot.explain(question, &ruling, eyes)
        };
        self.after(&[], explain).expect("it can be asked")
    }

    fn turned(&self) -> Vec<Vec<Want>> {
        self.snapshot.what_would_change(self, EVERYTHING)
    }
}

const EVERYTHING: Eyes<'static> = Eyes { sees: &|_| true, withheld: &std::collections::BTreeSet::new() };

impl Alterable for Company<'_> {
    type Alteration = Want;

    fn ways(&self, want: &Want) -> Vec<Want> {
        let there = |uid: &EntityUid| self.people.iter().any(|person| actor_uid(person.name) == *uid);
        let fine = match want {
            Want::Approval(_) => true,
            Want::Fact(path, to) => path == &["kill", "global"] && *to == Scalar::Bool(false),
            Want::Has { .. } | Want::Absent(_) => false,
            Want::Now(_) => true,
            Want::Attribute { of, name, to } => there(of) && (matches!(to, Scalar::Entity(_)) == (name == "owner")),
            Want::Join { who, group } | Want::Leave { who, group } => there(who) && who != group,
        };
        if fine { vec![want.clone()] } else { Vec::new() }
    }

    fn after<T>(&self, changes: &[Want], ask: impl FnOnce(&Question<'_>, &[Giver]) -> T) -> Option<T> {
        let (mut people, mut facts, mut approvals) = (self.people.clone(), self.facts.clone(), Vec::new());
        for change in changes {
            match change {
                Want::Approval(kind) => approvals.push(kind.clone()),
                Want::Fact(..) => facts = killed(false),
                Want::Now(at) => facts = facts.datetime("now", *at),
                Want::Attribute { of: uid, name, to } => match (name.as_str(), to) {
                    ("admin", Scalar::Bool(to)) => of(&mut people, uid)?.admin = *to,
                    ("trust", Scalar::Long(to)) => of(&mut people, uid)?.trust = *to,
                    ("owner", Scalar::Entity(to)) => of(&mut people, uid)?.owner = Some(to.clone()),
                    _ => return None,
                },
                Want::Join { who, group } => drop(of(&mut people, who)?.groups.insert(group.clone())),
                Want::Leave { who, group } => drop(of(&mut people, who)?.groups.remove(group)),
                Want::Has { .. } | Want::Absent(_) => return None,
            }
        }
        let (who, what, whom) = self.words;
        let (principal, action, resource) = (actor_uid(who), action(what), actor_uid(whom));
        let teams = TEAMS.map(|name| Closed::new(&team_uid(name), [], &Record::new()));
        let slice = Slice::new(self.snapshot, &action, people.iter().map(Person::closed).chain(teams));
        let (principal, action, resource) = (&principal, &action, &resource);
        let question = Question {
            principal,
            action,
            resource,
            entities: &slice,
            facts: &facts,
            input: None,
            approvals: &approvals,
            supposed: None,
        };
        Some(ask(&question, &[]))
    }
}

fn of<'a>(people: &'a mut [Person], uid: &EntityUid) -> Option<&'a mut Person> {
    people.iter_mut().find(|person| actor_uid(person.name) == *uid)
}

fn someone(name: &'static str) -> impl Strategy<Value = Person> {
    let groups = (prop::sample::subsequence(TEAMS.to_vec(), 0..=2), prop::sample::subsequence(ROLES.to_vec(), 0..=1));
    let owner = prop::option::of(prop::sample::select(ACTORS.to_vec()));
    (groups, any::<bool>(), 0..3_i64, owner).prop_map(move |((teams, roles), admin, trust, owner)| Person {
        name,
        groups: teams.into_iter().map(team_uid).chain(roles.into_iter().map(role)).collect(),
        admin,
        trust,
        owner: owner.map(actor_uid),
    })
}

fn everyone() -> impl Strategy<Value = Vec<Person>> {
    ACTORS.map(someone).prop_map(|people| people.to_vec())
}

fn without<T: Clone>(set: &[T], left_out: usize) -> Vec<T> {
    let kept = set.iter().enumerate().filter(|(at, _)| *at != left_out);
    kept.map(|(_, one)| one.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn what_would_change_an_answer_does_and_nothing_of_it_is_needless(text in policies(), people in everyone()) {
        let snapshot = loaded(&text);
        for words in questions() {
            let company = Company { snapshot: &snapshot, people: people.clone(), facts: killed(true), words };
            let turned = company.turned();
            prop_assert!(turned.is_empty() || !company.allows(&[]), "{words:?} is allowed already\n{text}");
            prop_assert!(turned.is_sorted_by_key(Vec::len));
            for set in &turned {
                prop_assert!(company.allows(set), "{words:?} {set:?}\n{text}");
                for left_out in 0..set.len() {
                    let rest = without(set, left_out);
                    prop_assert!(!company.allows(&rest), "{words:?} {set:?} needs no number {left_out}\n{text}");
                }
            }
        }
    }

    #[test]
    fn what_determined_an_answer_fails_in_nothing_and_a_near_miss_in_something(text in policies(), people in everyone()) {
        let snapshot = loaded(&text);
        for words in questions() {
            let company = Company { snapshot: &snapshot, people: people.clone(), facts: facts(), words };
            let Explanation { because, near_misses } = company.explained(EVERYTHING);
            let fails = |explained: &ExplainedPolicy| explained.parts.iter().filter(|part| part.state == State::Fail).count();
            for explained in because.iter().filter(|explained| explained.policy.effect == ok::policy::Effect::Forbid) {
                prop_assert_eq!((explained.failing, fails(explained)), (0, 0), "{:?} {:?}\n{}", words, explained, text);
            }
            prop_assert!(near_misses.is_sorted_by_key(|explained| explained.failing));
            for explained in &near_misses {
                prop_assert!((1..=fails(explained)).contains(&explained.failing), "{words:?} {explained:?}\n{text}");
            }
        }
    }
}

/// a0 owns a1; both are in no group, and trusted with nothing.
fn two() -> Vec<Person> {
    let nobody = |name| Person { name, groups: BTreeSet::new(), admin: false, trust: 0, owner: None };
    vec![nobody("a0"), Person { owner: Some(actor_uid("a0")), ..nobody("a1") }]
}

const OFFBOARDING: &str = r#"@id("near") permit (principal in Ok::Role::"lead", action == Ok::Action::"actor.offboard", resource)
when { resource has owner && resource.owner == principal && principal.trust > 1 };
@id("far") permit (principal in Ok::Role::"admin", action == Ok::Action::"actor.offboard", resource in Ok::Team::"t0")
when { principal.admin || principal.trust > 1 };
@id("with") @reason("needs the security's approval") forbid (principal, action == Ok::Action::"actor.offboard", resource)
unless { principal.admin || context.approvals.contains(Ok::ApprovalKind::"security") };"#;

#[test]
fn parts_tell_what_they_read_and_how_they_stand() {
    let snapshot = snapshot(OFFBOARDING);
    let words = ("a0", "actor.offboard", "a1");
    let company = Company { snapshot: &snapshot, people: two(), facts: facts(), words };
    let explained = company.explained(EVERYTHING);
    let lines = |explained: &ExplainedPolicy| {
        let part = |part: &ok::policy::ShownPart| {
            let read: Vec<String> =
                part.observed.iter().map(|seen| format!("{} = {}", seen.what, seen.value)).collect();
            format!("{:?} {}{} [{}]", part.state, if part.wanted { "" } else { "not " }, part.text, read.join(", "))
        };
        format!(
            "{} {}\n{}",
            explained.policy.id,
            explained.failing,
            explained.parts.iter().map(part).collect::<Vec<_>>().join("\n")
        )
    };
    let texts: Vec<String> = explained.because.iter().chain(&explained.near_misses).map(lines).collect();
    insta::assert_snapshot!(texts.join("\n\n"), @r#"
    with 0
    Ok action == Ok::Action::"actor.offboard" []
    Ok not principal.admin [principal.admin = false]
    Ok not context.approvals.contains(Ok::ApprovalKind::"security") [context.approvals = []]

    near 2
    Fail principal in Ok::Role::"lead" [principal in = []]
    Ok action == Ok::Action::"actor.offboard" []
    Ok resource has owner []
    Ok resource.owner == principal [resource.owner = {"type":"Ok::Actor","id":"a0"}, principal = {"type":"Ok::Actor","id":"a0"}]
    Fail principal.trust > 1 [principal.trust = 0]

    far 3
    Fail principal in Ok::Role::"admin" [principal in = []]
    Ok action == Ok::Action::"actor.offboard" []
    Fail resource in Ok::Team::"t0" [resource in = []]
    Fail principal.admin [principal.admin = false]
    Fail principal.trust > 1 [principal.trust = 0]
    "#);
}

#[test]
fn what_need_not_be_asked_reads_as_it_is_written() {
    let text = r#"@id("any") @reason("r") forbid (principal, action == Ok::Action::"actor.offboard", resource)
        when { !principal.admin || principal.trust >= 5 || principal.trust != 7 || !(principal.trust > 3) };"#;
    let snapshot = snapshot(text);
    let company = Company { snapshot: &snapshot, people: two(), facts: facts(), words: ("a0", "actor.offboard", "a1") };
    let explained = company.explained(EVERYTHING);
    let parts = explained.because.iter().flat_map(|policy| &policy.parts);
    let unasked: Vec<(&str, bool)> = parts
        .filter(|part| part.state == ok::policy::State::NotAsked)
        .map(|part| (part.text.as_str(), part.wanted))
        .collect();
    let expected = [("principal.trust >= 5", true), ("principal.trust != 7", true), ("principal.trust > 3", false)];
    assert_eq!(unasked, expected);
}

#[test]
fn the_smallest_sets_of_changes_are_found() {
    let snapshot = snapshot(OFFBOARDING);
    let words = ("a0", "actor.offboard", "a1");
    let company = Company { snapshot: &snapshot, people: two(), facts: facts(), words };
    let (who, of) = (actor_uid("a0"), actor_uid("a0"));
    let lead = Want::Join { who, group: role("lead") };
    let trust = Want::Attribute { of: of.clone(), name: "trust".into(), to: Scalar::Long(2) };
    let admin = Want::Attribute { of, name: "admin".into(), to: Scalar::Bool(true) };
    let turned = company.turned();
    for by in [Want::Approval("security".into()), admin] {
        let mut set = vec![by, lead.clone(), trust.clone()];
        set.sort();
        assert!(turned.contains(&set), "{turned:?} lacks {set:?}");
    }
}

#[test]
fn nothing_is_told_about_an_entity_that_may_not_be_seen() {
    let policies = r#"@id("mine") permit (principal, action == Ok::Action::"actor.offboard", resource)
when { resource has owner && resource.owner.trust > 1 && principal.trust > 1 };"#;
    let snapshot = snapshot(policies);
    let mut people = two();
    people.push(Person { name: "a2", groups: BTreeSet::new(), admin: false, trust: 0, owner: None });
    let owned = people.get_mut(1).expect("a1");
    owned.owner = Some(actor_uid("a2"));
    let company = Company { snapshot: &snapshot, people, facts: facts(), words: ("a0", "actor.offboard", "a1") };
    let hidden = actor_uid("a2");
    let eyes = Eyes { sees: &|uid| *uid != hidden, withheld: &std::collections::BTreeSet::new() };
    let text = format!("{:?}", company.explained(eyes).near_misses);
    assert!(text.contains("Hidden") && !text.contains("a2"), "{text}");
    assert_eq!(company.snapshot.what_would_change(&company, eyes), Vec::<Vec<Want>>::new());
    assert_eq!(company.turned().first().map(Vec::len), Some(2));
}

#[test]
fn questions_that_nobody_asked_are_not_counted() {
    let snapshot = snapshot(
        r#"@id("broken") permit (principal, action == Ok::Action::"actor.offboard", resource) when { principal.trust + 9223372036854775807 > 0 && principal.admin };"#,
    );
    let mut people = two();
    people.iter_mut().for_each(|person| person.trust = 1);
    let company = Company { snapshot: &snapshot, people, facts: facts(), words: ("a0", "actor.offboard", "a1") };
    assert_eq!(company.turned(), Vec::<Vec<Want>>::new());
    assert_eq!(snapshot.counts().skipped, 0);
    assert!(!company.allows(&[]));
    assert_eq!(snapshot.counts().skipped, 1);
}

/// It is Tuesday, 2023-11-14, 22:13:20.
#[test]
fn a_condition_on_the_time_is_turned_by_the_nearest_moment() {
    for (condition, nearest) in [
        (r#"context.now >= datetime("2023-11-20")"#, "2023-11-20T00:00:00Z"),
        (r#"context.now > datetime("2023-11-20")"#, "2023-11-20T00:00:00.001Z"),
        (r#"datetime("2023-11-20T08:00:00Z") <= context.now"#, "2023-11-20T08:00:00Z"),
        (r#"context.now < datetime("2023-11-01")"#, "2023-10-31T23:59:59.999Z"),
        (r#"context.now <= datetime("2023-11-01")"#, "2023-11-01T00:00:00Z"),
        (r#"!(datetime("2023-11-20") > context.now)"#, "2023-11-20T00:00:00Z"),
        (r#"context.now.toTime() < duration("18h")"#, "2023-11-15T00:00:00Z"),
        (r#"context.now.toTime() >= duration("22h30m")"#, "2023-11-14T22:30:00Z"),
        (r#"context.now.toDate() == datetime("2023-12-24")"#, "2023-12-24T00:00:00Z"),
        (r#"context.now.toDate() != datetime("2023-11-14")"#, "2023-11-15T00:00:00Z"),
        (r#"context.now.toDate() < datetime("2023-11-14")"#, "2023-11-13T23:59:59.999Z"),
        (r#"context.now.toDate() > datetime("2023-11-14")"#, "2023-11-15T00:00:00Z"),
        (r#"context.now.offset(duration("-7d")) >= datetime("2023-11-14")"#, "2023-11-21T00:00:00Z"),
        (r#"context.now.durationSince(datetime("2023-11-14")) >= duration("2d")"#, "2023-11-16T00:00:00Z"),
        (r#"context.now.durationSince(datetime("2023-11-14")).toHours() > 23"#, "2023-11-15T00:00:00Z"),
        (r#"context.now.durationSince(datetime("2023-11-14")).toDays() == 3"#, "2023-11-17T00:00:00Z"),
        (r#"context.now.offset(duration("1h")).toTime() < duration("9h")"#, "2023-11-14T23:00:00Z"),
    ] {
        let policy = format!(
            r#"@id("p") permit (principal, action == Ok::Action::"actor.offboard", resource) when {{ {condition} }};"#
        );
        let snapshot = snapshot(&policy);
        let company =
            Company { snapshot: &snapshot, people: two(), facts: facts(), words: ("a0", "actor.offboard", "a1") };
        let times: Vec<String> = company
            .turned()
            .iter()
            .map(|set| match set.as_slice() {
                [Want::Now(at)] => types::time::Time(*at).to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(times, [nearest], "{condition}");
    }
}

#[test]
fn a_time_that_never_comes_or_cannot_be_written_is_not_told() {
    for condition in [
        r#"context.now.toTime() > duration("1d")"#,
        r#"context.now > datetime("9999-12-31T23:59:59.999Z")"#,
        r#"context.now < datetime("1970-01-01")"#,
        r#"context.now.offset(duration("9223372036854775807ms")) < context.now"#,
        r#"context.now.durationSince(context.now) > duration("1d")"#,
    ] {
        let policy = format!(
            r#"@id("p") permit (principal, action == Ok::Action::"actor.offboard", resource) when {{ {condition} }};"#
        );
        let snapshot = snapshot(&policy);
        let company =
            Company { snapshot: &snapshot, people: two(), facts: facts(), words: ("a0", "actor.offboard", "a1") };
        assert_eq!(company.turned(), Vec::<Vec<Want>>::new(), "{condition}");
    }
}
