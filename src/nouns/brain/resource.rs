//! Declares collections, records and proposals as resources of policies.

use serde_json::Value;

use super::judged::may_read;
use super::past::{last, record_at};
use super::shown::Shape;
use gate::{Brief, Directory, FactSpec, Noun, Reader, Resource, Staged, Target, Thing};
use policy::brain::kind_of;
use policy::testing::{Row, Sample};
use types::brain::ProposalStatus;
use types::field::FieldKind;
use types::refusal::{Fault, Stop};
use types::target::Fact;

pub static COLLECTION: Resource = Resource {
    noun: Noun {
        name: "Collection",
        doc: "Records of one kind, whose id is its name.",
        sight: Some("collection.read"),
        own: None,
        facts: &[],
        staged: Staged::Rows {
            list: "collections",
            complete: |thing, _| thing,
            samples: |cast| {
                let names = cast.collections.keys().map(String::as_str).chain(["notes"]);
                names.map(|name| Sample::new(Row::new("collections", name))).collect()
            },
        },
    },
    title: None,
    version: Some(|of, read| read.collection_version(&of.id())),
    brief: Resource::says_nothing,
    find: |id, read| Ok(read.collection(id).map(|of| read.collection_target(of.name()))),
    state: |target, read| Ok(serde_json::json!(read.collection_version(&target.id())?)),
};

pub static RECORD: Resource = Resource {
    noun: Noun {
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
        staged: Staged::Open { list: "brain", read: of_row },
    },
    title: None,
    version: Some(version),
    brief: as_it_is,
    find,
    state,
};

pub static PROPOSAL: Resource = Resource {
    noun: Noun {
        name: "SchemaProposal",
        doc: "A proposal to change what the records of a collection are made of.",
        sight: Some("schema.read"),
        own: None,
        facts: &[
            FactSpec::actor("proposer", ""),
            FactSpec::text("collection", ""),
            FactSpec::text("status", "proposed, applied, rejected")
                .one_of("proposed", || ProposalStatus::ALL.iter().map(|status| status.name()).collect()),
            FactSpec::flag("lifts_label", "it takes a label off a field"),
        ],
        staged: Staged::Rows {
            list: "schema_proposals",
            complete: |thing, _| thing,
            samples: |cast| {
                let row = |who| Row::new("schema_proposals", format!("scp_{who}")).with("proposer", who);
                cast.everybody.iter().map(|who| Sample::of(who, row(who).with("collection", "notes"))).collect()
            },
        },
    },
    title: Some(|target, read| Ok(read.proposal(&target.id())?.map(|proposal| proposal.reason))),
    version: None,
    brief,
    find: |id, read| Ok(read.proposal(id)?.map(|proposal| read.proposal_target(&proposal))),
    state: |target, read| {
        let version = |collection: &str| read.collection_version(collection);
        let proposal = read.proposal(&target.id())?;
        Ok(serde_json::json!(proposal.map(|proposal| version(&proposal.collection)).transpose()?))
    },
};

/// Describes a record before it is written to, as far as the reader may read it.
fn as_it_is(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    for of in read.all_collections() {
        let Some(record) = read.record(of, &target.id())? else { continue };
        // The reader may be allowed to read the new state but not the current one.
        if !may_read(of, &record, read) {
            return Ok(vec![("as it is", "you may not read it".to_owned())]);
        }
        let shown = match Shape::whole(of, read).record(record, read) {
            Ok(shown) => shown,
            Err(Stop::Failed(fault)) => return Err(fault),
            Err(Stop::Refused(_)) => break,
        };
        // In JSON, a text cannot pass for further lines.
        let value = |value: &Value| cut(&value.to_string());
        let fields: Vec<String> = shown.fields.iter().map(|(name, one)| format!("{name}: {}", value(one))).collect();
        let withheld = (!shown.withheld.is_empty()).then(|| ("withheld", shown.withheld.join(", ")));
        let now = [("version", shown.version.to_string()), ("as it is", fields.join("\n"))];
        return Ok(now.into_iter().chain(withheld).collect());
    }
    Ok(Brief::new())
}

/// The maximum characters of a value shown to an approver beside the call; the record itself has all of them.
const LONGEST: usize = 300;

fn cut(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

fn brief(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    let Some(proposal) = read.proposal(&target.id())? else { return Ok(Brief::new()) };
    let steps = proposal.ops.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![
        ("reason", proposal.reason),
        ("proposed by", proposal.proposer.to_string()),
        ("collection", proposal.collection),
        ("steps", steps.join("\n")),
        ("all of it", format!("ok schema show {}", proposal.id)),
    ])
}

/// Adds the fields that the collection declares. If the bundle has no such collection, there are none.
fn of_row(record: Thing, row: &Row, company: &dyn Directory) -> Result<Thing, String> {
    let own = |name: &str| RECORD.facts.iter().any(|spec| spec.name == name);
    let mut fields = row.fields.iter().filter(|(name, _)| !own(name));
    let Some(Fact::Text(name)) = record.fact("collection") else { return Ok(record) };
    let Some(of) = company.collections().get(name) else {
        return match fields.next() {
            Some((field, _)) => {
                Err(format!("`{}` has the field `{field}`, and there is no collection `{name}`", row.id))
            }
            None => Ok(record),
        };
    };
    let typed = Thing::new(kind_of(name), &record.id);
    let typed = record.facts().fold(typed, |thing, (name, fact)| thing.with(name.to_owned(), fact.clone()));
    fields.try_fold(typed, |thing, (name, value)| {
        let wrong = |what: String| format!("`{}`: `{name}` {what}", row.id);
        let field = of.field(name).ok_or_else(|| wrong(format!("is no field of {}", of.name())))?;
        let value = field.value(&in_form(field.kind, value)).map_err(wrong)?;
        let fact = field.fact(&value).ok_or_else(|| wrong("is not seen by policies".into()))?;
        Ok(thing.with(name.clone(), fact))
    })
}

/// Converts a date from the log's form, which is the instant at which the day begins.
fn in_form(kind: FieldKind, value: &Value) -> Value {
    let day = value.as_str().and_then(|text| text.strip_suffix("T00:00:00Z"));
    day.filter(|_| kind == FieldKind::Date).map_or_else(|| value.clone(), Value::from)
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    for of in read.all_collections() {
        if let Some(record) = record_at(of, id, read.now(), read)? {
            return Ok(Some(read.record_target(of, &record)));
        }
    }
    Ok(None)
}

/// Returns the current version, or the last if the record is deleted.
fn version(target: &Target, read: &Reader<'_>) -> Result<i64, Fault> {
    let of = read.all_collections().find(|of| target.thing(&kind_of(of.name())).is_some());
    match of.map(|of| last(of, &target.id(), read)) {
        Some(Ok(record)) => Ok(record.version),
        None | Some(Err(Stop::Refused(_))) => Ok(0),
        Some(Err(Stop::Failed(fault))) => Err(fault),
    }
}

/// Returns the state to which approvals are bound: this version of the record.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    for of in read.all_collections() {
        if let Some(record) = read.record(of, &target.id())? {
            return Ok(serde_json::json!({ "version": record.version }));
        }
    }
    Ok(Value::Null)
}
