//! Collections, records and proposals as policies see them.

use serde_json::Value;

use crate::gate::{Directory, FactSpec, Reader, Resource, Staged, Target, Thing};
use crate::policy::brain::kind_of;
use crate::types::brain::ProposalStatus;
use crate::types::json;
use crate::types::refusal::{Fault, Stop};
use crate::types::target::Fact;

pub static COLLECTION: Resource = Resource {
    name: "Collection",
    doc: "Records of one kind, whose id is its name.",
    sight: Some("collection.read"),
    own: None,
    facts: &[],
    staged: Staged::Rows { list: "collections", complete: |thing, _| thing },
    find: |id, read| Ok(read.collection(id).map(|of| read.collection_target(of.name()))),
    state: |target, read| Ok(serde_json::json!(read.collection_version(&target.id())?)),
};

pub static RECORD: Resource = Resource {
    name: "Record",
    doc: "A record of a collection. Each collection is a type of its own in the namespace `Brain`, with its fields besides.",
    sight: Some("record.read"),
    own: None,
    facts: &[
        FactSpec::text("collection", ""),
        FactSpec::actor("created_by", "").linked(),
        FactSpec::actor("updated_by", "").linked(),
        FactSpec::number("version", "1 for a new one"),
    ],
    staged: Staged::Rows { list: "brain", complete },
    find,
    state,
};

pub static PROPOSAL: Resource = Resource {
    name: "SchemaProposal",
    doc: "A proposal to change what the records of a collection are made of.",
    sight: Some("schema.read"),
    own: None,
    facts: &[
        FactSpec::actor("proposer", ""),
        FactSpec::text("collection", ""),
        FactSpec::text("status", "proposed, applied, rejected")
            .one_of("proposed", || ProposalStatus::ALL.iter().map(|status| status.name()).collect()),
    ],
    staged: Staged::Rows { list: "schema_proposals", complete: |thing, _| thing },
    find: |id, read| Ok(read.proposal(id)?.map(|proposal| read.proposal_target(&proposal))),
    state: |target, read| {
        let version = |collection: &str| read.collection_version(collection);
        let proposal = read.proposal(&target.id())?;
        Ok(serde_json::json!(proposal.map(|proposal| version(&proposal.collection)).transpose()?))
    },
};

/// A record as its collection declares it, where there is such a collection.
fn complete(thing: Thing, company: &dyn Directory) -> Thing {
    let collection = match thing.fact("collection") {
        Some(Fact::Text(name)) => company.collections().get(name),
        _ => None,
    };
    let Some(of) = collection.filter(|_| thing.kind == RECORD.name) else { return thing };
    let own = |name: &str| RECORD.facts.iter().any(|spec| spec.name == name);
    let typed = |name: &str, fact: &Fact| {
        let Fact::Text(written) = fact else { return None };
        let field = of.field(name)?;
        let value = field.value(&json::read(written.as_bytes()).ok()?).ok()?;
        field.fact(&value)
    };
    thing.facts().fold(Thing::new(kind_of(of.name()), &thing.id), |whole, (name, fact)| {
        let fact = if own(name) { Some(fact.clone()) } else { typed(name, fact) };
        fact.into_iter().fold(whole, |whole, fact| whole.with(name.to_owned(), fact))
    })
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    for of in read.all_collections() {
        if let Some(record) = read.record(of, id)? {
            return Ok(Some(read.record_target(of, &record)));
        }
    }
    Ok(None)
}

/// What was approved about a record is approved for this version of it.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    for of in read.all_collections() {
        if let Some(record) = read.record(of, &target.id())? {
            return Ok(serde_json::json!({ "version": record.version }));
        }
    }
    Ok(Value::Null)
}
