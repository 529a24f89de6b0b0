//! From JSON to values, by the types of the schema.

use cedar_policy_core::FromNormalizedStr as _;
use cedar_policy_core::ast::{Eid, EntityUID, Name, PartialValue, RestrictedExpr, Value};
use cedar_policy_core::evaluator::RestrictedEvaluator;
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::ValidatorEntityTypeKind;
use cedar_policy_core::validator::types::{Attributes, EntityKind, Type};
use smallvec::SmallVec;

use super::Wrong;
use super::catalog::{Kind, short};
use super::json::{Json, Properties};
use crate::record::reference;
use crate::{Closed, Snapshot};

/// The most bytes of an id.
const MOST_ID: usize = 1_024;
/// The property that holds the groups an entity is in, near and far; unless the schema has an attribute of that name.
pub(super) const PARENTS: &str = "parents";

/// As many entities as a question seldom goes beyond.
pub type Few = SmallVec<[Closed; 4]>;

/// The entities that were met while reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub described: Few,
    /// Without any properties.
    pub named: Vec<EntityUID>,
}

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
        kind: &Kind,
        id: &str,
        properties: Option<&Properties>,
        opened: u8,
    ) -> Result<EntityUID, Wrong> {
        let uid = named(kind, id)?;
        match (&kind.declared.kind, properties) {
            (ValidatorEntityTypeKind::Enum(_), None) => {}
            (ValidatorEntityTypeKind::Enum(_), Some(_)) => {
                return Err(Wrong::new(format!("a `{}` has none", kind.ty)).within("properties"));
            }
            (_, None) => self.found.named.push(uid.clone()),
            (_, Some(properties)) => {
                let closed = self.described(kind, &uid, properties, opened);
                self.found.described.push(closed.map_err(|wrong| wrong.within("properties"))?);
            }
        }
        Ok(uid)
    }

    fn described(
        &mut self,
        kind: &Kind,
        uid: &EntityUID,
        properties: &Properties,
        opened: u8,
    ) -> Result<Closed, Wrong> {
        let mut attributes = Vec::with_capacity(properties.len());
        let mut parents = Vec::new();
        for (name, json) in properties.iter() {
            match kind.declared.attr(name) {
                Some(attribute) => {
                    let value = self.value(&attribute.attr_type, json, opened);
                    let value = PartialValue::Value(value.map_err(|wrong| wrong.within(name))?);
                    attributes.push((name.clone(), value));
                }
                None if name == PARENTS => {
                    parents = self.parents(kind, json).map_err(|wrong| wrong.within(PARENTS))?;
                }
                None => {
                    let what = format!("the schema has no such attribute of `{}`", kind.ty);
                    return Err(Wrong::new(what).within(short(name)));
                }
            }
        }
        whole(kind.declared.attributes(), properties)?;
        Ok(Closed::holding(uid.clone(), parents, attributes))
    }

    fn parents(&self, kind: &Kind, json: &Json) -> Result<Vec<EntityUID>, Wrong> {
        let all = json.as_array().ok_or_else(|| Wrong::new("must be an array"))?;
        let parent =
            |(index, json): (usize, &Json)| self.parent(kind, json).map_err(|wrong| wrong.within(index.to_string()));
        all.iter().enumerate().map(parent).collect()
    }

    fn parent(&self, kind: &Kind, json: &Json) -> Result<EntityUID, Wrong> {
        let (name, id, _) = said(json)?;
        let above = self.snapshot.catalog().named(name).filter(|above| kind.can_be_in(above));
        let none = || Wrong::new(format!("the schema has no `{}` in a `{}`", kind.ty, short(name))).within("type");
        named(above.ok_or_else(none)?, id)
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
                let kind = kinds.get_single_entity().and_then(|ty| self.snapshot.catalog().kind(ty));
                let kind = kind.ok_or_else(|| must("of one type"))?;
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

    fn record(&mut self, attrs: &Attributes, fields: &Properties, opened: u8) -> Result<Value, Wrong> {
        let mut pairs = Vec::with_capacity(fields.len());
        for (name, json) in fields.iter() {
            let unknown = || Wrong::new("the schema has no such field").within(short(name));
            let attribute = attrs.get_attr(name).ok_or_else(unknown)?;
            let value = self.value(&attribute.attr_type, json, opened).map_err(|wrong| wrong.within(name))?;
            pairs.push((name.clone(), value));
        }
        whole(attrs, fields)?;
        Ok(Value::record(pairs, None))
    }

    fn reference(&mut self, kind: &Kind, json: &Json, opened: u8) -> Result<EntityUID, Wrong> {
        let (name, id, properties) = said(json)?;
        if name != kind.name {
            return Err(Wrong::new(format!("must be `{}`", kind.ty)).within("type"));
        }
        let Some(further) = opened.checked_sub(1) else {
            return match properties {
                Some(_) => Err(Wrong::new("no policy can look here; leave them out").within("properties")),
                None => named(kind, id),
            };
        };
        if kind.is_product() && !matches!(kind.declared.kind, ValidatorEntityTypeKind::Enum(_)) {
            named(kind, id)?;
            let what = format!("`{name}` is the product's own and cannot be asked about here");
            return Err(Wrong::new(what).within("type"));
        }
        self.entity(kind, id, properties, further)
    }
}

/// An entity of a type, by its id.
fn named(kind: &Kind, id: &str) -> Result<EntityUID, Wrong> {
    if id.is_empty() || id.len() > MOST_ID {
        return Err(Wrong::new(format!("must have 1 to {MOST_ID} bytes")).within("id"));
    }
    if let ValidatorEntityTypeKind::Enum(choices) = &kind.declared.kind
        && !choices.iter().any(|choice| AsRef::<str>::as_ref(choice) == id)
    {
        return Err(Wrong::new(format!("there is no `{}` of the name `{}`", kind.ty, short(id))).within("id"));
    }
    Ok(EntityUID::from_components(kind.ty.clone(), Eid::new(id), None))
}

/// Returns an entity about which the question says nothing.
pub(super) fn bare(snapshot: &Snapshot, uid: &EntityUID) -> Result<Closed, Wrong> {
    let unknown = || Wrong::new(format!("the schema has no entity type `{}`", uid.entity_type()));
    let kind = snapshot.catalog().kind(uid.entity_type()).ok_or_else(unknown)?;
    let untold = |wrong: Wrong| Wrong::new(format!("of `{uid}`, {wrong}")).within("properties");
    Reader::new(snapshot).described(kind, uid, &Properties::default(), 0).map_err(untold)
}

/// All that the schema requires is there.
fn whole(attrs: &Attributes, fields: &Properties) -> Result<(), Wrong> {
    match attrs.iter().find(|(name, one)| one.is_required && !fields.has(name)) {
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
    match json.get("properties") {
        Some(other) if !matches!(other, Json::Object(_) | Json::Null) => {
            Err(Wrong::new("must be an object").within("properties"))
        }
        properties => Ok((text("type")?, text("id")?, properties.and_then(Json::as_object))),
    }
}

/// Returns a value of one of Cedar's extension types, from the argument of its constructor.
pub(super) fn extension(name: &Name, text: &str) -> Option<Value> {
    let constructor = match name.to_string().as_str() {
        "ipaddr" => Name::from_normalized_str("ip").ok()?,
        _ => name.clone(),
    };
    let call = RestrictedExpr::call_extension_fn(constructor, [RestrictedExpr::val(text)]);
    RestrictedEvaluator::new(Extensions::all_available()).interpret(call.as_borrowed()).ok()
}
