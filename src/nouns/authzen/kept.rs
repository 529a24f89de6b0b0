//! Completes a request with stored entities.
//!
//! Always true: an entity that a request describes anywhere is taken as described there, and not from the store.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::Value;

use super::words::{Entity, Evaluation};
use gate::{EntitiesThen, Reader};
use policy::Snapshot;
use policy::own::{self, Completion, Named, Properties};
use store::entities as store;
use types::refusal::Fault;

/// Where entities are looked up.
#[derive(Clone, Copy)]
pub enum EntitySource<'a> {
    Now(&'a Reader<'a>),
    /// As stored at a past moment.
    Then(&'a EntitiesThen<'a>),
}

impl EntitySource<'_> {
    fn is_nothing(self) -> bool {
        match self {
            EntitySource::Now(read) => !read.keeps_anything(),
            EntitySource::Then(then) => !then.keeps_anything(),
        }
    }

    fn has_any(self, kind: &str) -> bool {
        match self {
            EntitySource::Now(read) => read.keeps_any(kind),
            EntitySource::Then(then) => then.keeps_any(kind),
        }
    }

    fn entity(self, kind: &str, id: &str) -> Result<Option<store::Entity>, Fault> {
        match self {
            EntitySource::Now(read) => read.entity(kind, id),
            EntitySource::Then(then) => then.entity(kind, id),
        }
    }
}

/// Completes the questions of one request. Each stored entity is read once, so all questions see the same.
pub struct Keeper<'a> {
    source: EntitySource<'a>,
    snapshot: &'a Snapshot,
    known: RefCell<BTreeMap<Named, Option<Properties>>>,
}

impl<'a> Keeper<'a> {
    /// Returns `None` if the company stores no entities.
    pub fn of(read: &'a Reader<'a>, snapshot: &'a Snapshot) -> Option<Keeper<'a>> {
        Keeper::with(EntitySource::Now(read), snapshot)
    }

    fn with(source: EntitySource<'a>, snapshot: &'a Snapshot) -> Option<Keeper<'a>> {
        (!source.is_nothing()).then(|| Keeper { source, snapshot, known: RefCell::default() })
    }

    /// Completes a question. It must be whole: what it describes in one place applies everywhere in it.
    pub fn question<'q>(&self, asked: &'q Evaluation) -> Result<Cow<'q, Evaluation>, Fault> {
        let mut described = BTreeMap::new();
        describe(asked, &mut described);
        let end = |said: &Option<Entity>| said.as_ref().map_or(Ok(None), |said| self.entity(said, &described));
        let (subject, resource) = (end(&asked.subject)?, end(&asked.resource)?);
        let name = asked.action.as_ref().and_then(|action| action.name.as_deref());
        let action = name.and_then(|name| own::action(self.snapshot, name).ok());
        let facts = |said: Option<&Properties>| match action.zip(said) {
            Some((action, said)) => self.complete(&described, |completion| completion.context(action, said)),
            None => Ok(None),
        };
        let context = facts(asked.context.as_ref())?;
        let properties = facts(asked.action.as_ref().and_then(|action| action.properties.as_ref()))?;
        if subject.is_none() && resource.is_none() && context.is_none() && properties.is_none() {
            return Ok(Cow::Borrowed(asked));
        }
        let mut whole = asked.clone();
        whole.subject = subject.or(whole.subject);
        whole.resource = resource.or(whole.resource);
        whole.context = context.or(whole.context);
        if let Some((action, properties)) = whole.action.as_mut().zip(properties) {
            action.properties = Some(properties);
        }
        Ok(Cow::Owned(whole))
    }

    /// Caches an entity already read, so that it is not read again, and returns how a question names it.
    pub fn know(&self, kept: &store::Entity) -> Result<Entity, Fault> {
        let named = (kept.kind.clone(), kept.name.clone());
        let (kind, id) = (named.0.as_str().into(), named.1.as_str().into());
        self.known.borrow_mut().insert(named, Some(properties(kept)?));
        Ok(Entity { kind: Some(kind), id: Some(id), properties: None })
    }

    /// Checks whether an undescribed entity is not stored although others of its type are.
    pub fn knows_nothing_of(&self, said: &Entity) -> Result<bool, Fault> {
        let Some((kind, id)) = said.kind.as_deref().zip(said.id.as_deref()) else { return Ok(false) };
        let is_bare = said.properties.is_none() && self.source.has_any(kind);
        Ok(is_bare && self.kept(kind, id)?.is_none())
    }

    /// Completes the subject or resource of a question with these descriptions.
    fn entity(&self, said: &Entity, described: &Described<'_>) -> Result<Option<Entity>, Fault> {
        let Some((kind, id)) = said.kind.as_deref().zip(said.id.as_deref()) else { return Ok(None) };
        let whole = self.complete(described, |completion| completion.end(kind, id, said.properties.as_ref()))?;
        Ok(whole.map(|properties| Entity { properties: Some(properties), ..said.clone() }))
    }

    fn complete<T>(
        &self,
        described: &Described<'_>,
        with: impl FnOnce(&mut Completion<'_, Fault>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut kept = |kind: &str, id: &str| match described.get(&(kind.to_owned(), id.to_owned())) {
            Some(said) => Ok(Some((*said).clone())),
            None if self.source.has_any(kind) => self.kept(kind, id),
            None => Ok(None),
        };
        with(&mut Completion::new(self.snapshot, &mut kept))
    }

    fn kept(&self, kind: &str, id: &str) -> Result<Option<Properties>, Fault> {
        let named = (kind.to_owned(), id.to_owned());
        if let Some(known) = self.known.borrow().get(&named) {
            return Ok(known.clone());
        }
        let kept = self.source.entity(kind, id)?.as_ref().map(properties).transpose()?;
        self.known.borrow_mut().insert(named, kept.clone());
        Ok(kept)
    }
}

/// The entities that a question describes, with their properties.
type Described<'q> = BTreeMap<Named, &'q Properties>;

fn describe<'q>(asked: &'q Evaluation, into: &mut Described<'q>) {
    for end in [&asked.subject, &asked.resource].into_iter().flatten() {
        let Some(properties) = &end.properties else { continue };
        let named = end.kind.as_ref().zip(end.id.as_ref()).map(|(kind, id)| (kind.to_string(), id.to_string()));
        into.extend(named.map(|named| (named, properties)));
        own::described(properties, into);
    }
    let of_action = asked.action.as_ref().and_then(|action| action.properties.as_ref());
    asked.context.iter().chain(of_action).for_each(|facts| own::described(facts, into));
}

/// Returns the properties of a stored entity.
fn properties(kept: &store::Entity) -> Result<Properties, Fault> {
    Ok(Properties::deserialize(&Value::Object(kept.properties.clone()))?)
}

/// Completes one question.
pub fn completed<'q>(
    asked: &'q Evaluation,
    kept: EntitySource<'_>,
    snapshot: &Snapshot,
) -> Result<Cow<'q, Evaluation>, Fault> {
    match Keeper::with(kept, snapshot) {
        Some(keeper) => Ok(Cow::Owned(keeper.question(asked)?.into_owned())),
        None => Ok(Cow::Borrowed(asked)),
    }
}
