//! The ends and the context of a question, from JSON.

use cedar_policy::EntityUid;
use cedar_policy_core::ast::EntityType;
use cedar_policy_core::validator::types::Type;

use super::Wrong;
use super::catalog::{entity_type, short};
use super::json::Properties;
use super::reader::{Found, Reader};
use crate::engine::APPROVALS;
use crate::{Facts, Snapshot};

/// How far policies follow references: what a root refers to is opened, what that refers to is only compared.
pub(super) const OPENED: u8 = 1;

/// One end of a question, as it is said.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub kind: &'a str,
    pub id: &'a str,
    pub properties: Option<&'a Properties>,
}

/// One end of a question.
#[derive(Clone, Debug)]
pub struct Thing {
    pub uid: EntityUid,
    pub(super) found: Found,
}

impl Thing {
    pub fn kind(&self) -> &EntityType {
        self.uid.as_ref().entity_type()
    }
}

/// The context of a question.
#[derive(Clone, Debug)]
pub struct Circumstances {
    pub(super) facts: Facts,
    pub(super) found: Found,
}

/// Reads a subject or a resource.
pub fn thing(snapshot: &Snapshot, parts: Parts<'_>) -> Result<Thing, Wrong> {
    let kind = entity_type(snapshot, parts.kind).map_err(|wrong| wrong.within("type"))?;
    let mut reader = Reader::new(snapshot);
    let uid = reader.entity(kind, parts.id, parts.properties, OPENED)?;
    Ok(Thing { uid: uid.into(), found: reader.found })
}

/// Reads the context for an action; an action's own properties are a part of it.
pub fn circumstances(
    snapshot: &Snapshot,
    action: &EntityUid,
    context: Option<&Properties>,
    properties: Option<&Properties>,
) -> Result<Circumstances, Wrong> {
    let mut reader = Reader::new(snapshot);
    let mut facts = Facts::new();
    let Some(Type::Record { attrs, .. }) = snapshot.schema().as_ref().context_type(action.as_ref()) else {
        return Err(Wrong::new(format!("`{action}` has no context")).within("context"));
    };
    let approvals = snapshot.takes_approvals(action);
    let mut given: Vec<&str> = Vec::new();
    for (field, all) in [("context", context), ("action.properties", properties)] {
        for (name, json) in all.into_iter().flat_map(Properties::iter) {
            let wrong = |what: String| Wrong::new(what).within(short(name)).within(field);
            let attribute = attrs.get_attr(name).filter(|_| !(approvals && name == APPROVALS));
            let attribute = attribute.ok_or_else(|| wrong(format!("the context of `{action}` has no such field")))?;
            if given.contains(&name.as_str()) {
                return Err(wrong("is given twice".to_owned()));
            }
            let value = reader.value(&attribute.attr_type, json, OPENED + 1);
            facts = facts.with(name, value.map_err(|wrong| wrong.within(name).within(field))?);
            given.push(name);
        }
    }
    let engine = |name: &str| approvals && name == APPROVALS;
    match attrs.iter().find(|(name, one)| one.is_required && !engine(name) && !given.contains(&name.as_str())) {
        Some((name, _)) => Err(Wrong::new("is missing").within(name.as_str()).within("context")),
        None => Ok(Circumstances { facts, found: reader.found }),
    }
}
