//! Questions with one key have one answer (`gate::decide::equivalence`).

use std::collections::BTreeMap;
use std::sync::Arc;

use ok::gate::decide::equivalence::{Names, write};
use ok::gate::decide::question::Asker;
use ok::gate::declare::schema::schema;
use ok::gate::explain::known::Known;
use ok::gate::{Target, Thing};
use ok::policy::diff::Answer;
use ok::policy::testing::{Row, parse};
use ok::policy::{Bundle, Snapshot};
use ok::types::caller::{Caller, Channel, Who};
use ok::types::id::ActorId;
use ok::types::time::Time;

/// Policies that look at whatever there is, by name and by relation.
const MORE: &str = r#"
@id("named") permit (principal == Ok::Actor::"kim", action, resource is Ok::Actor) when { resource != Ok::Actor::"pia" };
@id("owner") permit (principal is Ok::Actor, action, resource is Ok::Actor)
when { resource has owner && (resource.owner == principal || resource.owner has team && resource.owner.team == Ok::Team::"team:lab") };
@id("trust") permit (principal is Ok::Actor, action, resource is Ok::Actor) when { principal.trust > resource.trust };
@id("lead") permit (principal is Ok::Actor, action, resource is Ok::Team) when { resource has lead && resource.lead == principal };
@id("token") permit (principal is Ok::Actor, action, resource == Ok::Token::"tok_9");
@id("event") permit (principal is Ok::Actor, action, resource is Ok::Event) when { resource.leads.contains(principal) };
@id("in") permit (principal in Ok::Team::"team:club", action, resource is Ok::Token) when { resource.holder in Ok::Team::"team:ops" };
"#;

#[test]
fn alike_questions_have_one_answer() {
    let mut bundle = Bundle::built_in();
    bundle.files.insert("more.cedar".into(), MORE.into());
    let mut company =
        parse("company.yaml", include_str!("../../src/policy/diff/company.yaml"), &|_| Ok(())).unwrap().fixture;
    // Two who are alike in everything but their name.
    for twin in ["ida", "ivo"] {
        let mut twins = company.actors.iter().find(|row| row.id.as_str() == "mia").unwrap().clone();
        twins.id = twin.parse().unwrap();
        company.actors.push(twins);
    }
    let schema = schema(&ok::nouns::OPERATIONS);
    let snapshot = Arc::new(Snapshot::load(&schema, &bundle).unwrap());
    let world = Known::new(&ok::nouns::OPERATIONS).world(&snapshot, &company);
    let names = Names::of(&[&snapshot]);
    let mut known: BTreeMap<Vec<u8>, Answer> = BTreeMap::new();
    let mut asked = 0;
    let actors: Vec<ActorId> = company.actors.iter().map(|row| row.id.clone()).collect();
    let teams = company.teams.iter().map(|row| row.id.clone());
    let others: Vec<ActorId> = actors.iter().cloned().chain(teams).collect();
    for actor in &actors {
        for (number, other) in others.iter().enumerate() {
            let mut about = vec![("actor.read", Target::Actor(other.clone()))];
            let row = Row::new("events", "event:1").with("kind", "denied").with("subjects", [other]);
            let event = world.nouns.named("Event").unwrap().stage("event:1", &[row], &world).unwrap().unwrap();
            about.push(("event.list", event.into()));
            if !other.is_team() {
                let id = format!("tok_{number}");
                about.push(("token.list", Thing::new("Token", id).actor("holder", other).into()));
            }
            for (operation, target) in about {
                let caller = Caller::new(Who::Holder(actor.clone()), Channel::Http);
                let mut key = Vec::new();
                write(&mut key, &world, &names, &caller, (operation, &target, &[]));
                let question = Asker::new(&world, &caller, &target, Time(0)).into_question(
                    operation,
                    world.nouns.sight(&target),
                    vec![],
                );
                let answer = Answer::of(&question.answer(&snapshot));
                let first = known.entry(key).or_insert_with(|| answer.clone());
                assert_eq!(*first, answer, "{actor} {operation} {target:?}");
                asked += 1;
            }
        }
    }
    assert!(known.len() * 10 < asked * 9, "{} of {asked}: nothing is alike", known.len());
}
