//! JSON as other programs' questions say it: small, read once, by names that the schema has.
//!
//! Always true: no name stands twice in one object (`types::json` and `policy::yaml` see to that). Names and texts of a few
//! letters need no memory of their own.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// The most fields of an object.
const MOST: usize = 1_000;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Whole(i64),
    /// A number that no schema can take: not whole, or beyond 64 bits.
    OtherNumber,
    Text(SmolStr),
    Array(Vec<Json>),
    Object(Properties),
}

/// The fields of an object, as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Vec<(SmolStr, Json)>);

impl Json {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        if let Json::Whole(value) = self { Some(*value) } else { None }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(all) = self { Some(all) } else { None }
    }

    pub(super) fn as_object(&self) -> Option<&Properties> {
        if let Json::Object(fields) = self { Some(fields) } else { None }
    }
}

impl Properties {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Json)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The same with a field set, or left out.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: Option<Json>) -> Properties {
        self.0.retain(|(known, _)| known != name);
        self.0.extend(value.map(|value| (name.into(), value)));
        self
    }

    /// The same with the fields of another one.
    #[must_use]
    pub fn and(mut self, other: Option<&Properties>) -> Properties {
        self.0.extend(other.into_iter().flat_map(|other| other.0.iter().cloned()));
        self
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        from.deserialize_any(Reading)
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Properties, D::Error> {
        from.deserialize_map(ReadingObject)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            // A number that no schema takes is in no question that was decided.
            Json::Null | Json::OtherNumber => to.serialize_unit(),
            Json::Bool(value) => to.serialize_bool(*value),
            Json::Whole(value) => to.serialize_i64(*value),
            Json::Text(text) => to.serialize_str(text),
            Json::Array(all) => all.serialize(to),
            Json::Object(fields) => fields.serialize(to),
        }
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

/// Described as the object that it is.
impl JsonSchema for Properties {
    fn inline_schema() -> bool {
        <Map<String, Value>>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        <Map<String, Value>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Map<String, Value>>::json_schema(generator)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::OtherNumber, Json::Whole))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::OtherNumber)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Json, A::Error> {
        ReadingObject.visit_map(fields).map(Json::Object)
    }
}

struct ReadingObject;

impl<'de> Visitor<'de> for ReadingObject {
    type Value = Properties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Properties, A::Error> {
        let mut all = Properties::default();
        while let Some(field) = fields.next_entry()? {
            if all.0.len() == MOST {
                return Err(A::Error::custom(format!("must have at most {MOST} fields")));
            }
            all.0.push(field);
        }
        Ok(all)
    }
}
