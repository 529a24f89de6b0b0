//! Translates a question to another version of the schema: what that version does not know is dropped, and what it
//! requires in addition is made up.
//!
//! Always true: what both versions know keeps its value. If exactly one attribute of a type is gone and exactly one of
//! that type is new, the new attribute takes the old one's value.

use cedar_policy_core::validator::types::{Attributes, EntityKind, Type};

use super::catalog::{Kind, action};
use super::invent::{Inventor, OPENED};
use super::json::{Json, Properties};
use super::reader::{PARENTS, extension};
use super::said::{Described, Said};
use crate::Snapshot;
use crate::engine::APPROVALS;

const PROPERTIES: &str = "properties";

/// What one thing has in the version that is asked, and in the other.
#[derive(Clone, Copy)]
struct Versions<'t> {
    ours: &'t Attributes,
    theirs: Option<&'t Attributes>,
    /// What it is in the version that is asked, if it is an entity.
    kind: Option<&'t Kind>,
}

impl Inventor<'_> {
    /// A question of another version in the schema of this one; none where it has no such action or types, or nothing can be made
    /// up.
    pub fn fitted(&mut self, said: &Said, other: &Snapshot) -> Option<Said> {
        self.begin([&said.subject, &said.resource]);
        let subject = self.fitted_end(&said.subject, other)?;
        let resource =
            if said.resource == said.subject { subject.clone() } else { self.fitted_end(&said.resource, other)? };
        let versions = Versions {
            ours: context_of(self.snapshot(), &said.action)?,
            theirs: context_of(other, &said.action),
            kind: None,
        };
        let context = self.fitted_fields(versions, &said.context, other, OPENED + 1)?;
        // Approvals are given with the question, and never claimed in it.
        let uid = action(self.snapshot(), &said.action).ok()?;
        let context = if self.snapshot().takes_approvals(uid) { context.with(APPROVALS, None) } else { context };
        Some(Said { subject, action: said.action.clone(), resource, context })
    }

    fn fitted_end(&mut self, end: &Described, other: &Snapshot) -> Option<Described> {
        let properties = match &end.properties {
            Some(all) => {
                Some(self.fitted_fields(entity_of([self.snapshot(), other], &end.kind)?, all, other, OPENED)?)
            }
            None => None,
        };
        Some(Described { properties, ..end.clone() })
    }

    fn fitted_fields(
        &mut self,
        versions: Versions<'_>,
        said: &Properties,
        other: &Snapshot,
        opened: u8,
    ) -> Option<Properties> {
        let Versions { ours, .. } = versions;
        let mut fields = Properties::default();
        for (name, attribute) in ours.iter() {
            let ty = &*attribute.attr_type;
            let value = match said.get(name).or_else(|| versions.renamed(said, ty).filter(|_| versions.is_new(name))) {
                // Nothing says what the same is in another type.
                Some(value) if versions.is_of_another_type(name, ty) && !fits(ty, value) => {
                    Some(carried(ty, value).map_or_else(|| self.value(ty, opened), Some)?)
                }
                Some(value) => Some(self.fitted_value((ty, versions.theirs_of(name)), value, other, opened)?),
                None if attribute.is_required => Some(self.value(ty, opened)?),
                None => None,
            };
            fields = fields.with(name, value);
        }
        let parents = said.get(PARENTS).filter(|_| ours.get_attr(PARENTS).is_none());
        Some(match parents.and_then(|parents| self.fitted_parents(versions.kind?, parents)) {
            Some(parents) => fields.with(PARENTS, Some(parents)),
            None => fields,
        })
    }

    /// Those of what an entity is in that it can be in.
    fn fitted_parents(&self, kind: &Kind, parents: &Json) -> Option<Json> {
        let is_possible = |parent: &&Json| {
            let named = parent.get("type").and_then(Json::as_str);
            named.and_then(|name| self.snapshot().catalog().named(name)).is_some_and(|above| kind.can_be_in(above))
        };
        Some(Json::Array(parents.as_array()?.iter().filter(is_possible).cloned().collect()))
    }

    fn fitted_value(
        &mut self,
        (ty, theirs): (&Type, Option<&Type>),
        value: &Json,
        other: &Snapshot,
        opened: u8,
    ) -> Option<Json> {
        match (ty, value) {
            (Type::Record { attrs: ours, .. }, Json::Object(fields)) => {
                let theirs = match theirs {
                    Some(Type::Record { attrs, .. }) => Some(attrs),
                    _ => None,
                };
                self.fitted_fields(Versions { ours, theirs, kind: None }, fields, other, opened).map(Json::Object)
            }
            (Type::Entity(EntityKind::Entity(kinds)), Json::Object(said)) => {
                let Some(Json::Object(properties)) = said.get(PROPERTIES) else { return Some(value.clone()) };
                let versions = entity_of([self.snapshot(), other], &kinds.get_single_entity()?.to_string())?;
                let fitted = self.fitted_fields(versions, properties, other, opened.checked_sub(1)?)?;
                Some(Json::Object(said.clone().with(PROPERTIES, Some(Json::Object(fitted)))))
            }
            _ => Some(value.clone()),
        }
    }
}

/// A number in the other type of numbers, where it is the same in both.
fn carried(ty: &Type, value: &Json) -> Option<Json> {
    match (ty, value) {
        (Type::ExtensionType { name }, Json::Whole(number)) if name.to_string() == "decimal" => {
            Some(Json::Text(format!("{number}.0").into()))
        }
        (Type::Long, Json::Text(text)) => {
            let (whole, fraction) = text.split_once('.')?;
            let is_whole = fraction.bytes().all(|digit| digit == b'0');
            whole.parse().ok().filter(|_| is_whole).map(Json::Whole)
        }
        _ => None,
    }
}

impl<'t> Versions<'t> {
    fn is_new(&self, name: &str) -> bool {
        self.theirs.is_some_and(|theirs| theirs.get_attr(name).is_none())
    }

    fn is_of_another_type(&self, name: &str, ty: &Type) -> bool {
        self.theirs_of(name).is_some_and(|theirs| theirs != ty)
    }

    fn theirs_of(&self, name: &str) -> Option<&'t Type> {
        self.theirs.and_then(|theirs| theirs.get_attr(name)).map(|attribute| &*attribute.attr_type)
    }

    /// The value that an attribute had under another name: the only one that is gone and can be of the type, where no other new
    /// attribute can have it.
    fn renamed<'a>(&self, said: &'a Properties, ty: &Type) -> Option<&'a Json> {
        let is_gone = |name: &str| name != PARENTS && self.ours.get_attr(name).is_none();
        let mut gone = said.iter().filter(|(name, value)| is_gone(name) && fits(ty, value)).map(|(_, value)| value);
        let value = gone.next().filter(|_| gone.next().is_none())?;
        let new = self.ours.iter().filter(|(name, one)| self.is_new(name) && fits(&one.attr_type, value));
        (new.count() == 1).then_some(value)
    }
}

fn entity_of<'t>([ours, theirs]: [&'t Snapshot; 2], kind: &str) -> Option<Versions<'t>> {
    let of = |snapshot: &'t Snapshot| snapshot.catalog().named(kind);
    let kind = of(ours)?;
    let theirs = of(theirs).map(|kind| kind.declared.attributes());
    Some(Versions { ours: kind.declared.attributes(), theirs, kind: Some(kind) })
}

fn context_of<'t>(snapshot: &'t Snapshot, name: &str) -> Option<&'t Attributes> {
    let uid = action(snapshot, name).ok()?;
    match snapshot.schema().as_ref().context_type(uid.as_ref()) {
        Some(Type::Record { attrs, .. }) => Some(attrs),
        _ => None,
    }
}

/// Whether a value can be of a type.
fn fits(ty: &Type, value: &Json) -> bool {
    match (ty, value) {
        (Type::Bool(_), Json::Bool(_)) | (Type::Long, Json::Whole(_)) | (Type::String, Json::Text(_)) => true,
        (Type::Record { .. }, Json::Object(fields)) => fields.get("type").is_none(),
        (Type::Set { element_type }, Json::Array(items)) => {
            element_type.as_ref().is_none_or(|ty| items.iter().all(|item| fits(ty, item)))
        }
        (Type::Entity(EntityKind::Entity(kinds)), Json::Object(said)) => {
            let kind = kinds.get_single_entity().map(ToString::to_string);
            kind.is_some() && said.get("type").and_then(Json::as_str) == kind.as_deref()
        }
        (Type::ExtensionType { name }, Json::Text(text)) => extension(name, text).is_some(),
        _ => false,
    }
}
