//! A record as one caller sees it: what policies withhold is left out and named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::Withheld;
use gate::Reader;
use gate::reader::veil::HIDDEN;
use store::brain::Record;
use types::collection::Collection;
use types::field::{FieldKind, Label};
use types::id::ActorId;
use types::refusal::{Refusal, Stop};
use types::time::Time;

/// A record of a collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShownRecord {
    pub id: String,
    pub collection: String,
    /// 1 for a new one; more with each change.
    pub version: i64,
    /// The values, by field.
    #[schemars(extend("x-names" = "json"))]
    pub fields: Map<String, Value>,
    /// The fields that the caller may not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    pub created_by: ActorId,
    pub created_at: Time,
    pub updated_by: ActorId,
    pub updated_at: Time,
}

/// The projection of an answer: all fields that the caller may read, or some of them.
pub struct Shape<'a> {
    pub of: &'a Collection,
    pub withheld: Withheld,
    /// `None` for all.
    pub only: Option<Vec<String>>,
}

impl<'a> Shape<'a> {
    pub fn whole(of: &'a Collection, read: &Reader<'_>) -> Shape<'a> {
        Shape { of, withheld: Withheld::of(of, read), only: None }
    }

    /// Returns the record with its personal data, as the caller sees it.
    pub fn record(&self, mut record: Record, read: &Reader<'_>) -> Result<ShownRecord, Stop> {
        if self.wants_personal() {
            record.fields.extend(personal(self.of, &record.id, record.version, read)?);
        }
        Ok(self.whole_record(record, read))
    }

    /// Same for a record that holds all its values.
    pub fn whole_record(&self, record: Record, read: &Reader<'_>) -> ShownRecord {
        let Record { id, version, fields, created_by, created_at, updated_by, updated_at } = record;
        let fields = self.fields(fields, read);
        let withheld = self.withheld.names(self.of).filter(|name| self.wants(name)).map(str::to_owned).collect();
        let collection = self.of.name().to_owned();
        ShownRecord { id, collection, version, fields, withheld, created_by, created_at, updated_by, updated_at }
    }

    /// Returns the values that the caller may read.
    pub fn fields(&self, fields: Map<String, Value>, read: &Reader<'_>) -> Map<String, Value> {
        // A removed field has no label that says who may read it.
        let is_there = |name: &str| self.of.field(name).is_some();
        let seen = |name: &str| is_there(name) && self.wants(name) && !self.withheld.is(self.of, name);
        let kind = |name: &str| self.of.field(name).map(|field| field.kind);
        let fields = fields.into_iter().filter(|(name, _)| seen(name));
        let fields = fields.inspect(|(name, _)| {
            self.of.field(name).and_then(|field| field.label).iter().for_each(|label| read.mark(*label))
        });
        let mut fields: Map<String, Value> =
            fields.map(|(name, value)| (name.clone(), veiled(kind(&name), value, read))).collect();
        fields.sort_keys();
        fields
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name))
    }

    fn wants_personal(&self) -> bool {
        let personal = |(name, field): (&String, &types::field::Field)| {
            field.label == Some(Label::Personal) && self.wants(name) && !self.withheld.is(self.of, name)
        };
        self.of.spec.fields.iter().any(personal)
    }
}

/// Returns an earlier answer with the fields that the caller may read by now.
pub fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
    let mut shown: ShownRecord = serde_json::from_value(answer)?;
    let of = read.collection(&shown.collection).ok_or_else(Refusal::not_found)?;
    let shape = Shape::whole(&of, read);
    shown.fields = shape.fields(of.as_today(shown.fields), read);
    shown.withheld = shape.withheld.names(&of).map(str::to_owned).collect();
    Ok(serde_json::to_value(shown)?)
}

/// Veils actors in a value whom the reader may not see.
pub fn veiled(kind: Option<FieldKind>, value: Value, read: &Reader<'_>) -> Value {
    let names = matches!(kind, Some(FieldKind::Actor | FieldKind::Team));
    if names && value.as_str().is_some_and(|id| read.hides(id)) { HIDDEN.into() } else { value }
}

/// Returns the personal data of a record's version, unless erased.
pub fn personal(of: &Collection, id: &str, version: i64, read: &Reader<'_>) -> Result<Map<String, Value>, Stop> {
    let mut kept = read.kept(id, &part(version))?.unwrap_or_default();
    kept.retain(|name, _| of.field(name).is_some());
    Ok(kept)
}

/// Returns the name under which a version's personal data is stored.
pub fn part(version: i64) -> String {
    format!("personal/{version}")
}

/// Returns the version in such a name.
pub fn version_of(part: &str) -> Option<i64> {
    part.strip_prefix("personal/")?.parse().ok()
}
