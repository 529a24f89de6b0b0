//! What the company keeps of a question's entities, where the question says nothing of them.
//!
//! Always true: what a question says of an entity, anywhere in it, is all that counts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize as _;
use serde_json::Value;

use super::words::{Entity, Evaluation};
use crate::gate::Reader;
use crate::policy::Snapshot;
use crate::policy::own::{self, Completion, Named, Properties};
use crate::store::entities as store;
use crate::types::refusal::Fault;

/// Completes the questions of one request.
pub struct Keeper<'a> {
    read: &'a Reader<'a>,
    snapshot: &'a Snapshot,
    /// Whom the question describes.
    described: BTreeSet<Named>,
    /// Who was filled in.
    pub filled: BTreeSet<Named>,
}

impl<'a> Keeper<'a> {
    /// None where the company keeps nothing.
    pub fn of(read: &'a Reader<'a>, snapshot: &'a Snapshot) -> Option<Keeper<'a>> {
        let keeper = Keeper { read, snapshot, described: BTreeSet::new(), filled: BTreeSet::new() };
        read.keeps_anything().then_some(keeper)
    }

    /// The same for questions of which `asked` is a part.
    pub fn beside(&self, asked: &Evaluation) -> Keeper<'a> {
        let mut described = self.described.clone();
        describe(asked, &mut described);
        Keeper { described, filled: BTreeSet::new(), ..*self }
    }

    /// The same for questions of which this is an end.
    pub fn describing(&self, end: Option<&Entity>) -> Keeper<'a> {
        let mut described = self.described.clone();
        end.iter().for_each(|end| describe_end(end, &mut described));
        Keeper { described, filled: BTreeSet::new(), ..*self }
    }

    pub fn describes_one_of(&self, all: &BTreeSet<Named>) -> bool {
        !self.described.is_disjoint(all)
    }

    /// An entity as it is said, completed.
    pub fn entity(&mut self, said: &Entity) -> Result<Option<Entity>, Fault> {
        let Some((kind, id)) = said.kind.as_deref().zip(said.id.as_deref()) else { return Ok(None) };
        let whole = self.complete(|completion| completion.end(kind, id, said.properties.as_ref()))?;
        Ok(whole.map(|properties| Entity { properties: Some(properties), ..said.clone() }))
    }

    /// A question, completed.
    pub fn question<'q>(&mut self, asked: &'q Evaluation) -> Result<Cow<'q, Evaluation>, Fault> {
        let end = |keeper: &mut Self, said: &Option<Entity>| match said {
            Some(said) => keeper.entity(said),
            None => Ok(None),
        };
        let (subject, resource) = (end(self, &asked.subject)?, end(self, &asked.resource)?);
        let name = asked.action.as_ref().and_then(|action| action.name.as_deref());
        let action = name.and_then(|name| own::action(self.snapshot, name).ok());
        let context = match action.zip(asked.context.as_ref()) {
            Some((action, said)) => self.complete(|completion| completion.context(action, said))?,
            None => None,
        };
        if subject.is_none() && resource.is_none() && context.is_none() {
            return Ok(Cow::Borrowed(asked));
        }
        let mut whole = asked.clone();
        whole.subject = subject.or(whole.subject);
        whole.resource = resource.or(whole.resource);
        whole.context = context.or(whole.context);
        Ok(Cow::Owned(whole))
    }

    fn complete<T>(&mut self, with: impl FnOnce(&mut Completion<'_, Fault>) -> Result<T, Fault>) -> Result<T, Fault> {
        let Keeper { read, snapshot, described, filled } = self;
        let mut kept = |kind: &str, id: &str| {
            if !read.keeps_any(kind) || described.contains(&(kind.to_owned(), id.to_owned())) {
                return Ok(None);
            }
            let Some(kept) = read.entity(kind, id)? else { return Ok(None) };
            filled.insert((kept.kind.clone(), kept.name.clone()));
            properties(&kept).map(Some)
        };
        with(&mut Completion::new(snapshot, &mut kept))
    }
}

/// Whom a question describes.
fn describe(asked: &Evaluation, into: &mut BTreeSet<Named>) {
    for end in [&asked.subject, &asked.resource].into_iter().flatten() {
        describe_end(end, into);
    }
    asked.context.iter().for_each(|context| own::described(context, into));
}

/// Whom one end of it describes.
fn describe_end(end: &Entity, into: &mut BTreeSet<Named>) {
    let Some(properties) = &end.properties else { return };
    into.extend(end.kind.as_ref().zip(end.id.as_ref()).map(|(kind, id)| (kind.to_string(), id.to_string())));
    own::described(properties, into);
}

/// The properties of an entity that is kept.
fn properties(kept: &store::Entity) -> Result<Properties, Fault> {
    Ok(Properties::deserialize(&Value::Object(kept.properties.clone()))?)
}

/// An entity that is kept, as questions say it.
pub fn known(kept: &store::Entity) -> Result<Entity, Fault> {
    let (kind, id) = (kept.kind.as_str().into(), kept.name.as_str().into());
    Ok(Entity { kind: Some(kind), id: Some(id), properties: Some(properties(kept)?) })
}

/// One question, completed.
pub fn completed<'q>(
    asked: &'q Evaluation,
    read: &Reader<'_>,
    snapshot: &Snapshot,
) -> Result<Cow<'q, Evaluation>, Fault> {
    match Keeper::of(read, snapshot) {
        Some(keeper) => keeper.beside(asked).question(asked),
        None => Ok(Cow::Borrowed(asked)),
    }
}
