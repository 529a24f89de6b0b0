//! Declares knowledge as a resource of policies.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::testing::{Cast, Row, Sample};
use types::id::ActorId;
use types::knowledge::{KnowledgeKind, KnowledgeStatus, Origin};
use types::refusal::{Fault, Stop};

pub static KNOWLEDGE: Resource = Resource {
    noun: Noun {
        name: "Knowledge",
        doc: "What somebody has learnt and others may rely on.",
        sight: Some("knowledge.read"),
        own: None,
        facts: &[
            FactSpec::actor("proposer", ""),
            FactSpec::actor("person", "the only person it concerns").optional(),
            FactSpec::team("team", "the only team it concerns").optional(),
            FactSpec::text("kind", "fact, preference, procedure, warning")
                .one_of("fact", || KnowledgeKind::ALL.iter().map(|kind| kind.name()).collect()),
            FactSpec::text("origin", "trusted, or untrusted: anybody outside could have written it")
                .one_of("trusted", || Origin::ALL.iter().map(|origin| origin.name()).collect()),
            FactSpec::text("status", "proposed, quarantined, accepted, rejected, superseded, expired, retracted")
                .one_of("proposed", || KnowledgeStatus::ALL.iter().map(|status| status.name()).collect()),
        ],
        staged: Staged::Rows { list: "knowledge", complete: |thing, _| thing, samples },
    },
    title: None,
    version: Some(|entry, read| Ok(read.knowledge(&entry.id())?.map_or(0, |entry| entry.version))),
    brief: Resource::says_nothing,
    find,
    state,
};

/// Returns sample entries of everybody, for all and for some, in each status.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    use KnowledgeStatus::{Accepted, Proposed, Quarantined};
    let of = |who: &ActorId| -> Vec<Sample> {
        let stands = [Proposed, Quarantined, Accepted].into_iter().enumerate();
        let rows = stands.flat_map(|(number, status)| {
            let entry = |what: &str| {
                let row = Row::new("knowledge", format!("kno_{what}{number}.{who}")).with("proposer", who);
                row.with("status", status.name())
            };
            let team = entry("team").with("team", "team:ops").with("origin", Origin::Untrusted.name());
            let person = entry("person").with("person", "mia").with("kind", KnowledgeKind::Preference.name());
            [entry("all"), team, person]
        });
        rows.map(|row| Sample::own(who, &["max"], row)).collect()
    };
    cast.everybody.iter().flat_map(of).collect()
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.knowledge(id)?.filter(|entry| entry.created_at <= read.now());
    Ok(found.map(|entry| read.knowledge_target(&entry)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    Ok(json!(read.knowledge(&target.id())?.map(|entry| json!({ "version": entry.version }))))
}
