//! What cannot be checked or evaluated is denied: reproductions of what Cedar alone would let pass.

use super::{Ask, action, actor_uid, ask, company, facts, ids, person, role, snapshot, team_uid, uid};
use ok::policy::{Closed, Facts, Question, Record, Ruling, Slice, Snapshot};

const OPEN: &str = "@id(\"open\") permit (principal, action, resource);\n";

fn fault(ruling: &Ruling) -> &str {
    match ruling {
        Ruling::Deny { fault: Some(fault), .. } => fault,
        other => panic!("no fault: {other:?}"),
    }
}

fn with(more: &str) -> Snapshot {
    snapshot(&format!("{OPEN}{more}"))
}

#[test]
fn an_entity_that_was_not_loaded_is_a_fault() {
    let snapshot = with(
        r#"@id("lead") @reason("not on your own lead") forbid (principal, action, resource)
           when { principal has team && principal.team has lead && principal.team.lead == resource };"#,
    );
    let without_core: Vec<Closed> =
        company().into_iter().filter(|closed| closed.entity().uid() != team_uid("core").as_ref()).collect();
    let question = Ask { entities: without_core, ..ask("mia", "token.issue", "lea") };
    let plain = Ask { entities: question.entities.clone(), ..ask("mia", "token.issue", "lea") };
    assert!(plain.with(&snapshot, |snapshot, question| snapshot.plain(question)).allowed, "Cedar alone opens the door");
    let ruling = question.of(&snapshot);
    assert!(fault(&ruling).contains("Ok::Team::\"core\""), "{ruling:?}");
    assert_eq!(ruling.reason(), "a policy could not be evaluated");
    assert_eq!(snapshot.counts().faults, 1);
}

#[test]
fn a_principal_that_was_not_loaded_is_a_fault() {
    let ruling = ask("nobody", "token.issue", "mia").of(&with(""));
    assert!(fault(&ruling).contains("nobody"));
}

#[test]
fn an_entity_three_hops_away_need_not_be_there() {
    let owned = person(false, 1).entity("owner", &actor_uid("far"));
    let near = Closed::new(&actor_uid("near"), [], &owned);
    let root = Closed::new(&actor_uid("root"), [], &person(false, 1).entity("owner", &actor_uid("near")));
    let question = |entities: Vec<Closed>| Ask { entities, ..ask("root", "token.issue", "root") }.of(&with(""));
    assert!(question(vec![root.clone(), near]).is_allowed());
    fault(&question(vec![root]));
}

#[test]
fn an_overflow_in_a_forbid_is_a_fault() {
    let snapshot = with(
        r#"@id("sum") @reason("too much trust") forbid (principal is Ok::Actor, action, resource)
           when { principal.trust + 9223372036854775807 > 10 };"#,
    );
    let plain = ask("mia", "token.issue", "mia").with(&snapshot, |snapshot, question| snapshot.plain(question));
    assert!(plain.allowed && plain.errors == 1, "Cedar alone opens the door");
    let ruling = ask("mia", "token.issue", "mia").of(&snapshot);
    assert!(fault(&ruling).starts_with("policy_error: `sum`: "), "{ruling:?}");
    assert_eq!(ids(&ruling), ["sum"]);
    assert!(!ask("bob", "token.issue", "bob").of(&snapshot).is_allowed());
}

#[test]
fn a_permit_that_fails_is_passed_over() {
    let failing = r#"@id("sum") permit (principal is Ok::Actor, action, resource) when { principal.trust + 9223372036854775807 > 10 };"#;
    let snapshot = with(failing);
    let ruling = ask("mia", "token.issue", "mia").of(&snapshot);
    assert_eq!(ids(&ruling), ["open"]);
    assert_eq!(snapshot.counts().skipped, 1);
    assert_eq!(ask("mia", "token.issue", "mia").of(&super::snapshot(failing)).reason(), "no policy permits it");
}

#[test]
fn too_little_stack_is_a_fault() {
    let snapshot = with(
        "@id(\"f\") @reason(\"r\") forbid (principal is Ok::Actor, action, resource) when { principal.trust > 100 };",
    );
    assert!(ask("mia", "token.issue", "mia").of(&snapshot).is_allowed());
    let small = std::thread::Builder::new().stack_size(64 * 1024);
    let ruling = small.spawn(move || ask("mia", "token.issue", "mia").of(&snapshot)).expect("a thread").join();
    assert!(!ruling.expect("no panic").is_allowed());
}

#[test]
fn a_question_that_does_not_fit_the_schema_is_a_fault() {
    let snapshot = with("");
    let facts_of = |facts: Facts| Ask { facts, ..ask("mia", "token.issue", "mia") }.of(&snapshot);
    fault(&facts_of(Facts::new()));
    fault(&facts_of(facts().bool("channel", true)));
    fault(&facts_of(facts().bool("claimed", true)));
    fault(&ask("mia", "token.forge", "mia").of(&snapshot));
    fault(&ask("mia", "token.revoke", "mia").of(&snapshot));
    fault(&ask("mia", "change", "mia").of(&snapshot));
}

#[test]
fn entities_that_contradict_each_other_are_a_fault() {
    let twin = Closed::new(&actor_uid("mia"), [role("admin")], &person(true, 9));
    let entities = company().into_iter().chain([twin]).collect();
    assert!(fault(&Ask { entities, ..ask("mia", "token.issue", "mia") }.of(&with(""))).contains("contradict"));
}

#[test]
fn entities_gathered_for_another_action_are_a_fault() {
    let snapshot = with("");
    let (issue, offboard) = (action("token.issue"), action("actor.offboard"));
    let slice = Slice::new(&snapshot, &offboard, company());
    let (mia, facts) = (actor_uid("mia"), facts());
    let question = Question {
        principal: &mia,
        action: &issue,
        resource: &mia,
        entities: &slice,
        facts: &facts,
        input: None,
        approvals: &[],
        supposed: None,
    };
    assert!(fault(&snapshot.decide(&question)).contains("another action"));
}

#[test]
fn members_of_a_set_cannot_be_opened_so_they_need_not_be_there() {
    let text = r#"@id("about-me") permit (principal, action == Ok::Action::"event.show", resource)
        when { resource.subjects.contains(principal) || principal in resource.subjects };"#;
    let snapshot = snapshot(text);
    let (mia, event, show) = (actor_uid("mia"), uid("Ok::Event::\"1\""), action("event.show"));
    let facts = facts();
    let asked = |actor: Option<&str>| {
        let subjects = ["mia", "gone"].map(actor_uid);
        let attributes = Record::new().string("kind", "k").entities("subjects", &subjects);
        let attributes = actor.into_iter().fold(attributes, |record, name| record.entity("actor", &actor_uid(name)));
        let entities = company().into_iter().chain([Closed::new(&event, [], &attributes)]);
        let slice = Slice::new(&snapshot, &show, entities);
        let ends = Question {
            principal: &mia,
            action: &show,
            resource: &event,
            entities: &slice,
            facts: &facts,
            input: None,
            approvals: &[],
            supposed: None,
        };
        snapshot.decide(&ends)
    };
    assert!(asked(None).is_allowed());
    assert!(asked(Some("bob")).is_allowed());
    fault(&asked(Some("gone")));
}

#[test]
fn a_visitor_is_an_entity_too() {
    let snapshot = with("");
    let (visitor, bob, show) = (uid("Ok::Visitor::\"-\""), actor_uid("bob"), action("actor.show"));
    let entities = company().into_iter().chain([Closed::new(&visitor, [], &Record::new())]);
    let slice = Slice::new(&snapshot, &show, entities);
    let facts = facts();
    let question = Question {
        principal: &visitor,
        action: &show,
        resource: &bob,
        entities: &slice,
        facts: &facts,
        input: None,
        approvals: &[],
        supposed: None,
    };
    assert!(snapshot.decide(&question).is_allowed());
}
