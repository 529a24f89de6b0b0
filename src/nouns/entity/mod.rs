//! Stored entities: entities of the company's own types that it keeps for decisions, so that programs need not send them with
//! every request.
//!
//! Always true: a stored entity conformed to the schema that was in force when it was stored; each is an event of its own, so
//! one can be erased without another.

pub mod unfit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::authzen::all;
use crate::company::COMPANY;
use gate::{Change, Draft, Entry, Permit, Query, Reader, Spec, Target, get, put};
use policy::own::{self, Parts, Properties};
use store::entities::events::{EntitiesChanged, EntityKept, EntityRemoved};
use store::entities::{self, Entity};
use store::event::Event;
use types::canonical;
use types::id::{Id, Kind};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;

pub const ALL: &[Entry] = &[Entry::change::<Keep>(), Entry::query::<List>()];

/// The maximum number of entities in one request, to store and to remove.
const MOST: usize = 1_000;
/// The maximum number of stored entities in a company.
const MOST_KEPT: usize = 100_000;
/// The maximum bytes of an entity's properties as JSON.
const MOST_BYTES: usize = 16 << 10;
/// The maximum number of problems in one answer.
const MOST_REPORTED: usize = 20;

/// What is to be kept, and what no longer.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToKeep {
    /// The entities to store; each replaces its earlier version as a whole. With `removed` at most 1000.
    #[schemars(length(max = 1000), extend("x-erasable" = true))]
    #[serde(default, deserialize_with = "all")]
    pub entities: Vec<KeptEntity>,
    /// The entities to remove; one that is not stored is ignored.
    #[schemars(length(max = 1000), extend("x-erasable" = true))]
    #[serde(default, deserialize_with = "all")]
    pub removed: Vec<EntityName>,
}

/// A subject or a resource, as questions would describe it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptEntity {
    /// An entity type of the company's schema.
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
    /// Its attributes as the schema has them, and its `parents`; at most 16 KiB. Entities in them are only named.
    #[serde(default)]
    pub properties: Map<String, Value>,
}

/// Which subject or resource.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityName {
    /// An entity type, even one that the schema no longer has.
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
}

/// What came of it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct KeptCount {
    /// How many were new or changed.
    pub kept: u64,
    pub unchanged: u64,
    pub removed: u64,
}

/// Store entities.
pub enum Keep {}

impl Change for Keep {
    const SPEC: Spec = Spec {
        name: "entity.keep",
        doc: "Store subjects and resources for AuthZEN decisions, all or none. A question that gives no properties of \
              a stored entity is decided by the stored ones, and searches look among stored entities.",
        scope: Reach::Full,
        route: put("/access/v1/entities").standard().large(),
        about: &[&COMPANY],
        events: &[EntitiesChanged::KIND, EntityKept::KIND, EntityRemoved::KIND],
    };
    const SAYS: &'static str = "changes the entities stored for decisions";
    type Input = ToKeep;
    type Output = KeptCount;

    fn target(_: &ToKeep, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: ToKeep, draft: &mut Draft<'_>) -> Result<KeptCount, Stop> {
        check(&input, draft.read())?;
        let ToKeep { entities, removed } = input;
        let before = usize::try_from(draft.read().count_entities()?).unwrap_or(MOST_KEPT);
        let mut changed: Vec<Event> = Vec::new();
        let (mut new, mut unchanged) = (0, 0);
        for KeptEntity { kind, id: name, properties } in entities {
            let known = draft.read().entity(&kind, &name)?;
            if known.as_ref().is_some_and(|known| known.properties == properties) {
                unchanged += 1;
                continue;
            }
            new += usize::from(known.is_none());
            let id = known.map_or_else(|| draft.new_id(Kind::Entity), |known| Id::stored(&known.id));
            changed.push(EntityKept { id, kind, name, properties }.into());
        }
        let kept = changed.len();
        for EntityName { kind, id } in removed {
            let Some(known) = draft.read().entity(&kind, &id)? else { continue };
            changed.push(EntityRemoved { id: Id::stored(&known.id) }.into());
        }
        let gone = changed.len() - kept;
        if new > 0 && before + new > MOST_KEPT + gone {
            let message = format!("{before} entities are kept already; at most {MOST_KEPT} can be");
            return Err(Refusal::conflict(message).into());
        }
        let count = KeptCount { kept: kept as u64, unchanged, removed: gone as u64 };
        if !changed.is_empty() {
            // This event counts the call (`context.hist`), because events that describe entities can be erased.
            draft.record(EntitiesChanged { kept: count.kept, removed: count.removed })?;
        }
        for event in changed {
            draft.record(event)?;
        }
        Ok(count)
    }
}

/// Checks that each entity fits the schema and the limits, and is named once.
fn check(input: &ToKeep, read: &Reader<'_>) -> Result<(), Stop> {
    let ToKeep { entities, removed } = input;
    if entities.len() + removed.len() > MOST {
        return Err(Refusal::field("entities", format!("must be at most {MOST}, with those in `removed`")).into());
    }
    let snapshot = read.serving();
    let problem = |entity: &KeptEntity| -> Result<Option<String>, Stop> {
        let properties = Value::Object(entity.properties.clone());
        let length = properties.to_string().len();
        if length > MOST_BYTES {
            return Ok(Some(format!("properties: must be at most {MOST_BYTES} bytes of JSON, not {length}")));
        }
        if !canonical::is_exact(&properties) {
            return Ok(Some(
                "properties: must not contain a whole number beyond 9007199254740991 (2^53 - 1)".to_owned(),
            ));
        }
        let properties = match Properties::deserialize(&properties) {
            Ok(properties) => properties,
            Err(error) => return Ok(Some(format!("properties: {error}"))),
        };
        if let Some((kind, id)) = own::describes(&properties) {
            let what = "only named here; store its properties as an entity of its own";
            return Ok(Some(format!("properties: `{kind}::{id}` must be {what}")));
        }
        let parts = Parts { kind: &entity.kind, id: &entity.id, properties: Some(&properties) };
        Ok(own::thing(&snapshot, parts).err().map(|wrong| wrong.to_string()))
    };
    let mut problems = Vec::new();
    for (index, entity) in entities.iter().enumerate() {
        problems.extend(problem(entity)?.map(|what| format!("entities.{index}.{what}")));
        if problems.len() >= MOST_REPORTED {
            break;
        }
    }
    let mut named: Vec<(&str, &str)> = entities.iter().map(|one| (one.kind.as_str(), one.id.as_str())).collect();
    named.extend(removed.iter().map(|one| (one.kind.as_str(), one.id.as_str())));
    named.sort_unstable();
    let twice = named.windows(2).find_map(|pair| pair.first().filter(|first| Some(*first) == pair.last()));
    problems.extend(twice.map(|(kind, id)| format!("entities: `{kind}::{id}` is named twice")));
    if problems.is_empty() { Ok(()) } else { Err(Refusal::invalid(problems).into()) }
}

/// Which entities.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct WhichEntities {
    /// Only those of this type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// An entity that is kept.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownEntity {
    pub r#type: String,
    pub id: String,
    pub properties: Map<String, Value>,
    /// Its id in events.
    pub entity: String,
    /// The event that stored its current version: the number that `ok context forget` takes.
    pub event: i64,
    pub kept_at: Time,
}

/// Checks whether the caller may see all stored entities.
pub(crate) fn may_list(read: &Reader<'_>) -> bool {
    read.may(List::SPEC.name, &Target::Company)
}

/// List the stored entities.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "entity.list",
        doc: "List the stored subjects and resources, newest first.",
        scope: Reach::READ,
        route: get("/access/v1/entities").standard().listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = WhichEntities;
    type Output = Page<ShownEntity>;

    fn target(_: &WhichEntities, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: WhichEntities, read: &Reader<'_>) -> Result<Page<ShownEntity>, Stop> {
        let WhichEntities { kind, page } = input;
        let what = format!("entity.list {}", kind.as_deref().unwrap_or_default());
        let fetch = |from: &_, limit| read.entities_after(kind.as_deref(), from, limit);
        let page = read.page(&page, what, fetch, |_| true, entities::position)?;
        Ok(Page { rows: page.rows.into_iter().map(shown).collect(), next: page.next })
    }

    fn next(output: &Page<ShownEntity>) -> Option<String> {
        output.next.clone()
    }
}

fn shown(entity: Entity) -> ShownEntity {
    let Entity { id: entity, kind, name: id, properties, seq: event, kept_at } = entity;
    ShownEntity { r#type: kind, id, properties, entity, event, kept_at }
}
