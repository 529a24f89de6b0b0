//! Finds stored entities that do not conform to another schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::Value;

use gate::Reader;
use policy::finding::{SCHEMA_FILE, code};
use policy::own::{self, Parts, Properties};
use policy::{Finding, Snapshot};
use store::Position;
use store::entities::Entity;
use types::effort;
use types::refusal::Fault;

/// How many entities are checked, newest first.
const MOST: usize = 1_000;

/// Returns a finding for each type with entities that fit the schema before but not the one after.
pub(crate) fn unfit(before: &Arc<Snapshot>, after: &Arc<Snapshot>, read: &Reader<'_>) -> Result<Vec<Finding>, Fault> {
    let first = Position { at: i64::MAX, id: String::new() };
    let kept = if read.keeps_anything() { read.entities_after(None, &first, MOST)? } else { Vec::new() };
    let mut by_kind: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for entity in kept {
        effort::spend(2);
        let Some(why) = wrong(after, &entity).filter(|_| wrong(before, &entity).is_none()) else { continue };
        by_kind.entry(entity.kind).or_insert((0, why)).0 += 1;
    }
    let finding = |(kind, (count, why)): (String, (usize, String))| {
        let message = format!(
            "of the newest {MOST} kept entities, {count} of the type `{kind}` would not fit the schema ({why}): questions that depend on them are refused until they are stored again"
        );
        Finding::new(code::ENTITIES_UNFIT, SCHEMA_FILE, 1, (0, 0), message)
    };
    Ok(by_kind.into_iter().map(finding).collect())
}

fn wrong(snapshot: &Arc<Snapshot>, entity: &Entity) -> Option<String> {
    let properties = Properties::deserialize(Value::Object(entity.properties.clone()));
    let properties = match properties {
        Ok(properties) => properties,
        Err(error) => return Some(error.to_string()),
    };
    let parts = Parts { kind: &entity.kind, id: &entity.name, properties: Some(&properties) };
    own::thing(snapshot, parts).err().map(|wrong| wrong.to_string())
}
