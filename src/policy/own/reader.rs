//! From JSON to values, by the types of the schema.

use cedar_policy_core::FromNormalizedStr as _;
use cedar_policy_core::ast::{Eid, EntityType, EntityUID, Name, RestrictedExpr, Value};
use cedar_policy_core::evaluator::RestrictedEvaluator;
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::types::{Attributes, EntityKind, Type};
use cedar_policy_core::validator::{ValidatorEntityType, ValidatorEntityTypeKind};
use serde_json::{Map, Value as Json};

use super::catalog::short;
use super::read::{Found, Properties};
use super::{PRODUCT, Wrong};
use crate::policy::record::reference;
use crate::policy::{Closed, Snapshot};

/// The most bytes of an id.
const MOST_ID: usize = 1_024;
/// The property that holds the groups an entity is in, near and far; unless the schema has an attribute of that name.
const PARENTS: &str = "parents";

/// Reads values, and keeps the entities that it meets.
pub(super) struct Reader<'a> {
    snapshot: &'a Snapshot,
    pub found: Found,
}

impl<'a> Reader<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Reader<'a> {
        Reader { snapshot, found: Found::default() }
    }

    /// An entity with its properties. `opened` is how many references further a policy may look.
    pub fn entity(
        &mut self,
        kind: &EntityType,
        id: &str,
        properties: Option<&Properties>,
        opened: u8,
    ) -> Result<EntityUID, Wrong> {
        let (uid, declared) = self.named(kind, id)?;
        match (&declared.kind, properties) {
            (ValidatorEntityTypeKind::Enum(_), None) => {}
            (ValidatorEntityTypeKind::Enum(_), Some(_)) => {
                return Err(Wrong::new(format!("a `{kind}` has none")).within("properties"));
            }
            (_, None) => self.found.named.push(uid.clone()),
            (_, Some(properties)) => {
                let closed = self.described(declared, &uid, properties, opened);
                self.found.described.push((uid.clone(), closed.map_err(|wrong| wrong.within("properties"))?));
            }
        }
        Ok(uid)
    }

    fn declared(&self, kind: &EntityType) -> Result<&'a ValidatorEntityType, Wrong> {
        let unknown = || Wrong::new(format!("the schema has no entity type `{kind}`"));
        self.snapshot.schema().as_ref().get_entity_type(kind).ok_or_else(unknown)
    }

    fn named(&self, kind: &EntityType, id: &str) -> Result<(EntityUID, &'a ValidatorEntityType), Wrong> {
        if id.is_empty() || id.len() > MOST_ID {
            return Err(Wrong::new(format!("must have 1 to {MOST_ID} bytes")).within("id"));
        }
        let declared = self.declared(kind)?;
        if let ValidatorEntityTypeKind::Enum(choices) = &declared.kind
            && !choices.iter().any(|choice| AsRef::<str>::as_ref(choice) == id)
        {
            return Err(Wrong::new(format!("there is no `{kind}` of the name `{}`", short(id))).within("id"));
        }
        Ok((EntityUID::from_components(kind.clone(), Eid::new(id), None), declared))
    }

    fn described(
        &mut self,
        declared: &ValidatorEntityType,
        uid: &EntityUID,
        properties: &Properties,
        opened: u8,
    ) -> Result<Closed, Wrong> {
        let mut attributes = Vec::with_capacity(properties.len());
        let mut parents = Vec::new();
        for (name, json) in properties {
            match declared.attr(name) {
                Some(attribute) => {
                    let value = self.value(&attribute.attr_type, json, opened);
                    attributes.push((name.as_str(), value.map_err(|wrong| wrong.within(name))?));
                }
                None if name == PARENTS => {
                    parents = self.parents(uid.entity_type(), json).map_err(|wrong| wrong.within(PARENTS))?;
                }
                None => {
                    let what = format!("the schema has no such attribute of `{}`", uid.entity_type());
                    return Err(Wrong::new(what).within(short(name)));
                }
            }
        }
        whole(declared.attributes(), properties)?;
        Ok(Closed::holding(uid.clone(), parents, attributes))
    }

    fn parents(&self, kind: &EntityType, json: &Json) -> Result<Vec<EntityUID>, Wrong> {
        let all = json.as_array().ok_or_else(|| Wrong::new("must be an array"))?;
        let parent =
            |(index, json): (usize, &Json)| self.parent(kind, json).map_err(|wrong| wrong.within(index.to_string()));
        all.iter().enumerate().map(parent).collect()
    }

    fn parent(&self, kind: &EntityType, json: &Json) -> Result<EntityUID, Wrong> {
        let (name, id, _) = said(json)?;
        let above = self.snapshot.catalog().named(name);
        let above =
            above.filter(|above| self.declared(above).is_ok_and(|above| above.has_descendant_entity_type(kind)));
        let none = || Wrong::new(format!("the schema has no `{kind}` in a `{}`", short(name))).within("type");
        Ok(self.named(above.ok_or_else(none)?, id)?.0)
    }

    pub fn value(&mut self, ty: &Type, json: &Json, opened: u8) -> Result<Value, Wrong> {
        let must = |expected: &str| Wrong::new(format!("must be {expected}"));
        match ty {
            Type::Bool(_) => json.as_bool().map(Value::from).ok_or_else(|| must("true or false")),
            Type::Long => json.as_i64().map(Value::from).ok_or_else(|| must("a whole number")),
            Type::String => json.as_str().map(Value::from).ok_or_else(|| must("a string")),
            Type::Set { element_type: Some(element) } => {
                let all = json.as_array().ok_or_else(|| must("an array"))?;
                // No policy can open a member of a set.
                let member = |(index, json): (usize, &Json)| {
                    self.value(element, json, 0).map_err(|wrong| wrong.within(index.to_string()))
                };
                Ok(Value::set(all.iter().enumerate().map(member).collect::<Result<Vec<_>, _>>()?, None))
            }
            Type::Record { attrs, .. } => {
                let fields = json.as_object().ok_or_else(|| must("an object"))?;
                self.record(attrs, fields, opened)
            }
            Type::Entity(EntityKind::Entity(kinds)) => {
                let kind = kinds.get_single_entity().ok_or_else(|| must("of one type"))?;
                Ok(reference(&self.reference(kind, json, opened)?))
            }
            Type::ExtensionType { name } => {
                let text = json.as_str().ok_or_else(|| must("a string"))?;
                extension(name, text).ok_or_else(|| must(&format!("the text of a `{name}`")))
            }
            Type::Never | Type::Set { element_type: None } | Type::Entity(EntityKind::AnyEntity) => {
                Err(Wrong::new("is of no type that can be given"))
            }
        }
    }

    fn record(&mut self, attrs: &Attributes, fields: &Map<String, Json>, opened: u8) -> Result<Value, Wrong> {
        let mut pairs = Vec::with_capacity(fields.len());
        for (name, json) in fields {
            let unknown = || Wrong::new("the schema has no such field").within(short(name));
            let attribute = attrs.get_attr(name).ok_or_else(unknown)?;
            let value = self.value(&attribute.attr_type, json, opened).map_err(|wrong| wrong.within(name))?;
            pairs.push((name.as_str(), value));
        }
        whole(attrs, fields)?;
        Ok(Value::record(pairs, None))
    }

    fn reference(&mut self, kind: &EntityType, json: &Json, opened: u8) -> Result<EntityUID, Wrong> {
        let (name, id, properties) = said(json)?;
        if name != kind.to_string() {
            return Err(Wrong::new(format!("must be `{kind}`")).within("type"));
        }
        let Some(further) = opened.checked_sub(1) else {
            return match properties {
                Some(_) => Err(Wrong::new("no policy can look here; leave them out").within("properties")),
                None => self.named(kind, id).map(|(uid, _)| uid),
            };
        };
        let (_, declared) = self.named(kind, id)?;
        if name.starts_with(PRODUCT) && !matches!(declared.kind, ValidatorEntityTypeKind::Enum(_)) {
            let what = format!("`{name}` is the product's own and cannot be asked about here");
            return Err(Wrong::new(what).within("type"));
        }
        self.entity(kind, id, properties, further)
    }
}

/// An entity of which nothing is told.
pub(super) fn bare(snapshot: &Snapshot, uid: &EntityUID) -> Result<Closed, Wrong> {
    let mut reader = Reader::new(snapshot);
    let declared = reader.declared(uid.entity_type())?;
    let untold = |wrong: Wrong| Wrong::new(format!("of `{uid}`, {wrong}")).within("properties");
    reader.described(declared, uid, &Properties::new(), 0).map_err(untold)
}

/// All that the schema requires is there.
fn whole(attrs: &Attributes, fields: &Map<String, Json>) -> Result<(), Wrong> {
    match attrs.iter().find(|(name, one)| one.is_required && !fields.contains_key(name.as_str())) {
        Some((name, _)) => Err(Wrong::new("is missing").within(name.as_str())),
        None => Ok(()),
    }
}

/// Type, id and properties of an entity as it is said.
fn said(json: &Json) -> Result<(&str, &str, Option<&Properties>), Wrong> {
    let text = |name: &str| {
        let must = || Wrong::new("must be a string").within(name);
        json.get(name).and_then(Json::as_str).ok_or_else(must)
    };
    let object = |properties: &'_ Json| properties.is_object() || properties.is_null();
    match json.get("properties") {
        Some(other) if !object(other) => Err(Wrong::new("must be an object").within("properties")),
        properties => Ok((text("type")?, text("id")?, properties.and_then(Json::as_object))),
    }
}

/// A value of one of Cedar's extension types, from what its constructor takes.
fn extension(name: &Name, text: &str) -> Option<Value> {
    let constructor = match name.to_string().as_str() {
        "ipaddr" => Name::from_normalized_str("ip").ok()?,
        _ => name.clone(),
    };
    let call = RestrictedExpr::call_extension_fn(constructor, [RestrictedExpr::val(text)]);
    RestrictedEvaluator::new(Extensions::all_available()).interpret(call.as_borrowed()).ok()
}
