//! Who may, to what, and what: decisions over many subjects, resources or actions. Nothing of them is recorded: nobody acts
//! on a search.
//!
//! The product keeps none of the company's own entities, so subjects and resources are searched among the candidates that
//! the request brings; without any, nothing is found.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Action, Entity, SHORT, all, bad, maybe, parts, required};
use crate::gate::{Permit, Query, Reader, Spec, Target, post};
use crate::operations::company::COMPANY;
use crate::policy::Snapshot;
use crate::policy::own::{self, Asker, Parts, Properties, Thing, Wrong};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

/// Candidates in one request.
const MOST: usize = 1_000;

/// A question with one part open.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Search {
    /// Required; where subjects are searched for, only its type counts.
    #[serde(default, deserialize_with = "maybe")]
    pub subject: Option<Entity>,
    /// Required, but where actions are searched for.
    #[serde(default, deserialize_with = "maybe")]
    pub action: Option<Action>,
    /// Required; where resources are searched for, only its type counts.
    #[serde(default, deserialize_with = "maybe")]
    pub resource: Option<Entity>,
    #[serde(default, deserialize_with = "maybe")]
    pub context: Option<Properties>,
    #[serde(default, deserialize_with = "maybe")]
    pub options: Option<SearchOptions>,
    /// All results are on one page.
    #[serde(default, deserialize_with = "maybe")]
    pub page: Option<PageAsked>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchOptions {
    /// The entities to search among, at most 1000. A missing `type` is the one searched for.
    #[schemars(length(max = 1000))]
    #[serde(default, deserialize_with = "all")]
    pub candidates: Vec<Entity>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PageAsked {
    pub token: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results<T> {
    pub results: Vec<T>,
    pub page: PageShown,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PageShown {
    /// Empty: there is no further page.
    pub next_token: &'static str,
    pub count: usize,
    pub total: usize,
}

/// An entity that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundEntity {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
}

/// An action that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundAction {
    pub name: String,
}

fn results<T>(results: Vec<T>) -> Results<T> {
    let count = results.len();
    Results { results, page: PageShown { next_token: "", count, total: count } }
}

impl Search {
    fn is_long(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.candidates.len() > SHORT)
    }

    fn one_page(&self) -> Result<(), Refusal> {
        let further = self.page.as_ref().and_then(|page| page.token.as_deref()).is_some_and(|token| !token.is_empty());
        if further { Err(Refusal::bad_request("page.token: there is no further page")) } else { Ok(()) }
    }

    fn candidates(&self) -> Result<&[Entity], Refusal> {
        let candidates = self.options.as_ref().map(|options| options.candidates.as_slice()).unwrap_or_default();
        if candidates.len() > MOST {
            return Err(Refusal::field("options.candidates", format!("must be at most {MOST}")));
        }
        Ok(candidates)
    }
}

impl Search {
    /// Whether it names a type or an action that the company's schema does not have: nobody may that, which is no mistake.
    /// What a search needs has to be there all the same.
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

/// The end that is known.
fn known(snapshot: &Snapshot, said: Option<&Entity>, field: &str) -> Result<Thing, Wrong> {
    let thing = || own::thing(snapshot, parts(said.ok_or_else(|| Wrong::new("is required"))?)?);
    thing().map_err(|wrong| wrong.within(field))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Subject,
    Resource,
}

fn entities(input: &Search, open: End, read: &Reader<'_>) -> Result<Results<FoundEntity>, Stop> {
    input.one_page()?;
    let candidates = input.candidates()?;
    let snapshot = read.serving();
    if input.is_about_nothing(Some(open), &snapshot)? {
        return Ok(results(Vec::new()));
    }
    Ok(results(found(input, open, candidates, &snapshot).map_err(|wrong| bad(&wrong))?))
}

fn found(input: &Search, open: End, candidates: &[Entity], snapshot: &Snapshot) -> Result<Vec<FoundEntity>, Wrong> {
    let action = input.action.as_ref().ok_or_else(|| required("action"))?;
    let name = action.name.as_deref().ok_or_else(|| required("name").within("action"))?;
    let uid = own::action(snapshot, name).map_err(|wrong| wrong.within("name").within("action"))?;
    let (wanted, wanted_field, other, other_field) = match open {
        End::Subject => (&input.subject, "subject", &input.resource, "resource"),
        End::Resource => (&input.resource, "resource", &input.subject, "subject"),
    };
    let kind = wanted.as_ref().and_then(|wanted| wanted.kind.as_deref());
    let kind = kind.ok_or_else(|| required("type").within(wanted_field))?;
    let kind = own::entity_type(snapshot, kind).map_err(|wrong| wrong.within("type").within(wanted_field))?;
    let kind = &kind.name;
    let other = Arc::new(known(snapshot, other.as_ref(), other_field)?);
    let circumstances = own::circumstances(snapshot, uid, input.context.as_ref(), action.properties.as_ref())?;
    let (circumstances, mut asker) = (Arc::new(circumstances), Asker::new(snapshot));
    let mut found = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let within = |wrong: Wrong| wrong.within(index.to_string()).within("options.candidates");
        let id = candidate.id.as_deref().ok_or_else(|| within(required("id")))?;
        if candidate.kind.as_ref().is_some_and(|named| named != kind) {
            return Err(within(Wrong::new(format!("must be `{kind}`")).within("type")));
        }
        let parts = Parts { kind, id, properties: candidate.properties.as_ref() };
        let thing = Arc::new(own::thing(snapshot, parts).map_err(within)?);
        let (subject, resource) = if open == End::Subject { (&thing, &other) } else { (&other, &thing) };
        let ruling = asker.ask(subject, uid, resource, &circumstances).map_err(within)?;
        if ruling.is_allowed() {
            found.push(FoundEntity { kind: kind.clone(), id: id.to_owned() });
        }
    }
    Ok(found)
}

/// Subjects that may.
pub enum Subjects {}

impl Query for Subjects {
    const SPEC: Spec = Spec {
        name: "access.evaluate.subjects",
        doc: "Find, among the candidates of the request, the subjects that may do something to a resource: AuthZEN.",
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
        entities(&input, End::Subject, read)
    }
}

/// Resources that a subject may do something to.
pub enum Resources {}

impl Query for Resources {
    const SPEC: Spec = Spec {
        name: "access.evaluate.resources",
        doc: "Find, among the candidates of the request, the resources that a subject may do something to: AuthZEN.",
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
        entities(&input, End::Resource, read)
    }
}

/// What a subject may do to a resource.
pub enum Actions {}

impl Query for Actions {
    const SPEC: Spec = Spec {
        name: "access.evaluate.actions",
        doc: "Find what a subject may do to a resource, among the actions of the company's schema: AuthZEN.",
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
        input.one_page()?;
        let snapshot = read.serving();
        if input.is_about_nothing(None, &snapshot)? {
            return Ok(results(Vec::new()));
        }
        let subject = known(&snapshot, input.subject.as_ref(), "subject").map_err(|wrong| bad(&wrong))?;
        let resource = known(&snapshot, input.resource.as_ref(), "resource").map_err(|wrong| bad(&wrong))?;
        let (subject, mut asker) = (Arc::new(subject), Asker::new(&snapshot));
        let may = |action: &cedar_policy::EntityUid| {
            // What the context does not do for is not allowed.
            let circumstances = own::circumstances(&snapshot, action, input.context.as_ref(), None).ok()?;
            let ruling = asker.ask(&subject, action, &resource, &Arc::new(circumstances)).ok()?;
            ruling.is_allowed().then(|| FoundAction { name: own::asked_as(&snapshot, action) })
        };
        let actions = own::actions(&snapshot, subject.kind(), resource.kind());
        Ok(results(actions.iter().filter_map(may).collect()))
    }
}
