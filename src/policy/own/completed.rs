//! Entities that a question names and does not describe, described as they are kept.
//!
//! Always true: what is filled in is what policies can look at, and no further.

use std::collections::BTreeMap;

use cedar_policy::EntityUid;
use cedar_policy_core::validator::ValidatorEntityTypeKind;
use cedar_policy_core::validator::types::{EntityKind, Type};

use super::catalog::Kind;
use super::json::{Json, Properties};
use super::read::OPENED;
use crate::Snapshot;

/// An entity by its type and its id.
pub type Named = (String, String);

/// How an entity is kept, or described elsewhere in the question; nothing where it is neither.
type Lookup<'a, E> = &'a mut dyn FnMut(&str, &str) -> Result<Option<Properties>, E>;

/// Fills in what is kept.
pub struct Completion<'a, E> {
    snapshot: &'a Snapshot,
    kept: Lookup<'a, E>,
}

impl<'a, E> Completion<'a, E> {
    pub fn new(snapshot: &'a Snapshot, kept: Lookup<'a, E>) -> Completion<'a, E> {
        Completion { snapshot, kept }
    }

    /// The properties of a subject or a resource, with what they refer to; nothing where nothing is missing, or kept.
    pub fn end(&mut self, kind: &str, id: &str, said: Option<&Properties>) -> Result<Option<Properties>, E> {
        let snapshot = self.snapshot;
        match snapshot.catalog().named(kind) {
            Some(kind) => self.entity(kind, id, said, OPENED),
            None => Ok(None),
        }
    }

    /// The same of a context, or of an action's properties.
    pub fn context(&mut self, action: &EntityUid, said: &Properties) -> Result<Option<Properties>, E> {
        let snapshot = self.snapshot;
        let Some(Type::Record { attrs, .. }) = snapshot.schema().as_ref().context_type(action.as_ref()) else {
            return Ok(None);
        };
        self.fields(said, OPENED + 1, |name| attrs.get_attr(name).map(|attribute| &*attribute.attr_type))
    }

    fn entity(
        &mut self,
        kind: &Kind,
        id: &str,
        said: Option<&Properties>,
        opened: u8,
    ) -> Result<Option<Properties>, E> {
        if kind.is_product() || matches!(kind.declared.kind, ValidatorEntityTypeKind::Enum(_)) {
            return Ok(None);
        }
        let kept = match said {
            Some(_) => None,
            None => (self.kept)(&kind.name, id)?.map(|kept| self.flat(kind, kept)),
        };
        let Some(properties) = said.or(kept.as_ref()) else { return Ok(None) };
        let attribute = |name: &str| kind.declared.attr(name).map(|attribute| &*attribute.attr_type);
        Ok(self.fields(properties, opened, attribute)?.or(kept))
    }

    /// Without what is described below it: that is filled in again as far as policies can look from here.
    fn flat(&self, kind: &Kind, properties: Properties) -> Properties {
        let attribute = |name: &str| kind.declared.attr(name).map(|attribute| &*attribute.attr_type);
        named_only(properties, &attribute)
    }

    fn fields<'t>(
        &mut self,
        said: &Properties,
        opened: u8,
        ty: impl Fn(&str) -> Option<&'t Type>,
    ) -> Result<Option<Properties>, E> {
        let mut all: Option<Properties> = None;
        for (name, json) in said.iter() {
            let Some(ty) = ty(name) else { continue };
            if let Some(value) = self.value(ty, json, opened)? {
                all = Some(all.unwrap_or_else(|| said.clone()).with(name, Some(value)));
            }
        }
        Ok(all)
    }

    fn value(&mut self, ty: &Type, json: &Json, opened: u8) -> Result<Option<Json>, E> {
        match (ty, json) {
            (Type::Record { attrs, .. }, Json::Object(fields)) => {
                let attribute = |name: &str| attrs.get_attr(name).map(|attribute| &*attribute.attr_type);
                Ok(self.fields(fields, opened, attribute)?.map(Json::Object))
            }
            (Type::Entity(EntityKind::Entity(kinds)), Json::Object(said)) => {
                let snapshot = self.snapshot;
                let kind = kinds.get_single_entity().and_then(|ty| snapshot.catalog().kind(ty));
                let id = said.get("id").and_then(Json::as_str);
                let Some(((kind, id), further)) = kind.zip(id).zip(opened.checked_sub(1)) else { return Ok(None) };
                let properties = said.get(PROPERTIES).and_then(Json::as_object);
                let whole = self.entity(kind, id, properties, further)?;
                Ok(whole.map(|whole| Json::Object(said.clone().with(PROPERTIES, Some(Json::Object(whole))))))
            }
            _ => Ok(None),
        }
    }
}

const PROPERTIES: &str = "properties";

/// Properties that only name whom they refer to.
fn named_only<'t>(properties: Properties, ty: &dyn Fn(&str) -> Option<&'t Type>) -> Properties {
    let below = |name: &str, json: &Json| match (ty(name)?, json) {
        (Type::Record { attrs, .. }, Json::Object(fields)) => {
            let attribute = |name: &str| attrs.get_attr(name).map(|attribute| &*attribute.attr_type);
            Some(named_only(fields.clone(), &attribute))
        }
        (Type::Entity(_), Json::Object(said)) => Some(said.clone().with(PROPERTIES, None)),
        _ => None,
    };
    let changed: Vec<_> =
        properties.iter().filter_map(|(name, json)| Some((name.clone(), below(name, json)?))).collect();
    changed.into_iter().fold(properties, |all, (name, one)| all.with(&name, Some(Json::Object(one))))
}

/// The entities that something describes, wherever in it.
pub fn described<'a>(said: &'a Properties, into: &mut BTreeMap<Named, &'a Properties>) {
    let text = |name: &str| said.get(name).and_then(Json::as_str).map(str::to_owned);
    let properties = said.get(PROPERTIES).and_then(Json::as_object);
    into.extend(text("type").zip(text("id")).zip(properties));
    said.iter().for_each(|(_, json)| look(json, into));
}

/// One of the entities that something describes.
pub fn describes(said: &Properties) -> Option<Named> {
    let mut all = BTreeMap::new();
    described(said, &mut all);
    all.pop_first().map(|(named, _)| named)
}

fn look<'a>(json: &'a Json, into: &mut BTreeMap<Named, &'a Properties>) {
    match json {
        Json::Object(fields) => described(fields, into),
        Json::Array(all) => all.iter().for_each(|one| look(one, into)),
        _ => {}
    }
}
