//! Searches: which subjects, resources or actions a request would be allowed for. Searches are not recorded, because nobody
//! acts on one.
//!
//! Subjects and resources are searched among the candidates that the request brings, or else among the stored entities.

use std::borrow::Cow;
use std::sync::Arc;

use cedar_policy::EntityUid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::candidates::{End, FoundEntity, SearchQuestion};
use super::kept::Keeper;
use super::pages::{PageRequest, Pages, Placed, Results};
use super::words::{Action, Entity, Evaluation, SHORT, bad, list, maybe, parts, required};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, post};
use policy::Snapshot;
use policy::own::{self, Evaluator, Properties, Thing, Wrong};
use store::entities::Entity as StoredEntity;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The maximum number of candidates in one request.
const MOST: usize = 1_000;

/// A question with one part open.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Search {
    /// Required; in a subject search, only its type counts.
    #[serde(default, deserialize_with = "maybe")]
    pub subject: Option<Entity>,
    /// Required, except in an action search.
    #[serde(default, deserialize_with = "maybe")]
    pub action: Option<Action>,
    /// Required; in a resource search, only its type counts.
    #[serde(default, deserialize_with = "maybe")]
    pub resource: Option<Entity>,
    #[serde(default, deserialize_with = "maybe")]
    pub context: Option<Properties>,
    #[serde(default, deserialize_with = "maybe")]
    pub options: Option<SearchOptions>,
    #[serde(default, deserialize_with = "maybe")]
    pub page: Option<PageRequest>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchOptions {
    /// The entities to search among, at most 1000; an empty list finds nothing. A missing `type` defaults to the one
    /// searched for. If omitted, the company's stored entities are searched.
    #[schemars(length(max = 1000))]
    #[serde(default, deserialize_with = "list")]
    pub candidates: Option<Vec<Entity>>,
}

/// An action that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundAction {
    pub name: String,
}

impl Search {
    fn is_long(&self) -> bool {
        self.candidates().is_none_or(|all| all.len() > SHORT)
    }

    fn candidates(&self) -> Option<&[Entity]> {
        self.options.as_ref()?.candidates.as_deref()
    }

    fn question(&self) -> Evaluation {
        Evaluation {
            subject: self.subject.clone(),
            action: self.action.clone(),
            resource: self.resource.clone(),
            context: self.context.clone(),
        }
    }

    /// Hashes everything that identifies this search except its page.
    fn digest(&self) -> Result<String, Stop> {
        let all = (&self.subject, &self.action, &self.resource, &self.context, self.candidates());
        Ok(hex::encode(Sha256::digest(serde_json::to_vec(&all)?)))
    }

    fn pages<'a>(&self, operation: &str, read: &'a Reader<'a>) -> Result<Pages<'a>, Stop> {
        Pages::of(self.page.as_ref(), format!("{operation} {} for {}", self.digest()?, read.caller().actor()), read)
    }

    /// Checks whether it names a type or action unknown to the company's schema: nobody may do that, and it is no error. Parts
    /// that a search requires must be there all the same.
    fn is_about_nothing(&self, open: Option<End>, snapshot: &Snapshot) -> Result<bool, Refusal> {
        let end = |entity: &Option<Entity>, field: &str, is_open: bool| {
            let entity = entity.clone().ok_or_else(|| bad(&required(field)))?;
            let kind = entity.kind.ok_or_else(|| bad(&required("type").within(field)))?;
            let has_id = is_open || entity.id.is_some();
            if has_id { Ok(kind) } else { Err(bad(&required("id").within(field))) }
        };
        let action = self.action.as_ref().and_then(|action| action.name.as_deref()).filter(|_| open.is_some());
        if open.is_some() && self.action.is_none() {
            return Err(bad(&required("action")));
        }
        if open.is_some() && action.is_none() {
            return Err(bad(&required("name").within("action")));
        }
        let subject = end(&self.subject, "subject", open == Some(End::Subject))?;
        let resource = end(&self.resource, "resource", open == Some(End::Resource))?;
        Ok(own::is_unknown(snapshot, Some(&subject), action) || own::is_unknown(snapshot, Some(&resource), None))
    }
}

fn entities(input: &Search, open: End, pages: &Pages<'_>, read: &Reader<'_>) -> Result<Results<FoundEntity>, Stop> {
    let snapshot = read.serving();
    if input.is_about_nothing(Some(open), &snapshot)? {
        return Ok(pages.all(Vec::new()));
    }
    let keeper = Keeper::of(read, &snapshot);
    let other = if open == End::Subject { &input.resource } else { &input.subject };
    if let Some((keeper, other)) = keeper.as_ref().zip(other.as_ref())
        && keeper.knows_nothing_of(other)?
    {
        return Ok(pages.all(Vec::new()));
    }
    let mut asked = SearchQuestion::of(input.question(), open, &snapshot, keeper.as_ref())?;
    match input.candidates() {
        Some(all) if all.len() > MOST => {
            Err(Refusal::field("options.candidates", format!("must be at most {MOST}")).into())
        }
        Some(all) => pages.walk(given(all), |(index, candidate)| {
            let within = |wrong: Wrong| wrong.within(index.to_string()).within("options.candidates");
            asked.may(candidate)?.map_err(|wrong| bad(&within(wrong)).into())
        }),
        None => {
            let kind = asked.kind.clone();
            let more = |after: &str, limit: usize| {
                let (kept, keeper) = (read.entities_of(&kind, after, limit)?, keeper.as_ref());
                // Return names only; the keeper completes them where the question does not describe them itself.
                let one = |kept: &StoredEntity| keeper.map(|keeper| Ok((kept.name.clone(), keeper.know(kept)?)));
                kept.iter().filter_map(one).collect()
            };
            // An entity that no longer fits the schema may do nothing and is no result.
            pages.walk(more, |candidate| Ok(asked.may(&candidate)?.unwrap_or_default()))
        }
    }
}

/// Pages through the candidates of a request by their position.
fn given<'a>(all: &'a [Entity]) -> impl Fn(&str, usize) -> Placed<(usize, &'a Entity)> {
    |after, limit| {
        let from = after.parse::<usize>().map_or(0, |last| last + 1);
        let rest = all.iter().enumerate().skip(from).take(limit);
        Ok(rest.map(|(index, candidate)| (index.to_string(), (index, candidate))).collect())
    }
}

/// Search for permitted subjects.
pub enum Subjects {}

impl Query for Subjects {
    const SPEC: Spec = Spec {
        name: "access.evaluate.subjects",
        doc: "Find the subjects that may perform an action on a resource, among the stored entities or the candidates \
              of the request: AuthZEN subject search.",
        scope: Reach::Full,
        route: post("/access/v1/search/subject").standard().slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Search;
    type Output = Results<FoundEntity>;

    fn target(_: &Search, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn is_long(input: &Search) -> bool {
        input.is_long()
    }

    fn run(_: Permit<Self>, input: Search, read: &Reader<'_>) -> Result<Results<FoundEntity>, Stop> {
        entities(&input, End::Subject, &input.pages(Self::SPEC.name, read)?, read)
    }
}

/// Search for resources that a subject may act on.
pub enum Resources {}

impl Query for Resources {
    const SPEC: Spec = Spec {
        name: "access.evaluate.resources",
        doc: "Find the resources on which a subject may perform an action, among the stored entities or the \
              candidates of the request: AuthZEN resource search.",
        scope: Reach::Full,
        route: post("/access/v1/search/resource").standard().slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Search;
    type Output = Results<FoundEntity>;

    fn target(_: &Search, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn is_long(input: &Search) -> bool {
        input.is_long()
    }

    fn run(_: Permit<Self>, input: Search, read: &Reader<'_>) -> Result<Results<FoundEntity>, Stop> {
        entities(&input, End::Resource, &input.pages(Self::SPEC.name, read)?, read)
    }
}

/// Returns subject and resource of an action search, as given or stored.
fn ends(said: &Evaluation, keeper: Option<&Keeper<'_>>, snapshot: &Snapshot) -> Result<(Arc<Thing>, Thing), Stop> {
    let whole = match keeper {
        Some(keeper) => keeper.question(said)?,
        None => Cow::Borrowed(said),
    };
    let thing = |end: End| {
        let said = end.of(&whole).as_ref().ok_or_else(|| bad(&required(end.field())))?;
        let thing = parts(said).and_then(|parts| own::thing(snapshot, parts));
        thing.map_err(|wrong| bad(&wrong.within(end.field())))
    };
    Ok((Arc::new(thing(End::Subject)?), thing(End::Resource)?))
}

/// Search for the actions that a subject may perform on a resource.
pub enum Actions {}

impl Query for Actions {
    const SPEC: Spec = Spec {
        name: "access.evaluate.actions",
        doc: "Find the actions of the company's schema that a subject may perform on a resource: AuthZEN action \
              search.",
        scope: Reach::Full,
        route: post("/access/v1/search/action").standard().slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Search;
    type Output = Results<FoundAction>;

    fn target(_: &Search, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Search, read: &Reader<'_>) -> Result<Results<FoundAction>, Stop> {
        let pages = input.pages(Self::SPEC.name, read)?;
        let snapshot = read.serving();
        if input.is_about_nothing(None, &snapshot)? {
            return Ok(pages.all(Vec::new()));
        }
        let keeper = Keeper::of(read, &snapshot);
        let (subject, resource) = (input.subject.as_ref(), input.resource.as_ref());
        for (keeper, end) in keeper.iter().flat_map(|keeper| [(keeper, subject), (keeper, resource)]) {
            if end.map_or(Ok(false), |end| keeper.knows_nothing_of(end))? {
                return Ok(pages.all(Vec::new()));
            }
        }
        let said =
            Evaluation { subject: input.subject, action: None, resource: input.resource, context: input.context };
        let (subject, resource) = ends(&said, keeper.as_ref(), &snapshot)?;
        let mut evaluator = Evaluator::new(&snapshot);
        // An action for which the context is insufficient is not allowed.
        let mut may = |action: &EntityUid| -> Result<bool, Stop> {
            let named = Action { name: Some(own::name(action).into()), properties: None };
            let said = Evaluation { action: Some(named), ..said.clone() };
            let whole = match &keeper {
                Some(keeper) => keeper.question(&said)?,
                None => Cow::Borrowed(&said),
            };
            let Ok(circumstances) = own::circumstances(&snapshot, action, whole.context.as_ref(), None) else {
                return Ok(false);
            };
            let ruling = evaluator.ask(&subject, action, &resource, &Arc::new(circumstances));
            Ok(ruling.is_ok_and(|ruling| ruling.is_allowed()))
        };
        let actions = own::actions(&snapshot, subject.kind(), resource.kind());
        let mut found = Vec::new();
        for action in &actions {
            if may(action)? {
                found.push(FoundAction { name: own::asked_as(&snapshot, action) });
            }
        }
        Ok(pages.all(found))
    }
}
