//! Who may, to what, and what: decisions over many subjects, resources or actions. Nothing of them is recorded: nobody acts
//! on a search.
//!
//! Subjects and resources are searched among the candidates that the request brings, or else among those that the company
//! keeps.

use std::sync::Arc;

use cedar_policy::EntityUid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::kept::{self, Keeper};
use super::pages::{PageAsked, Pages, Placed, Results};
use super::words::{Action, Entity, SHORT, bad, list, maybe, parts, required};
use crate::gate::{Permit, Query, Reader, Spec, Target, post};
use crate::operations::company::COMPANY;
use crate::policy::Snapshot;
use crate::policy::own::{self, Asker, Circumstances, Parts, Properties, Thing, Wrong};
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
    #[serde(default, deserialize_with = "maybe")]
    pub page: Option<PageAsked>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchOptions {
    /// The entities to search among, at most 1000. A missing `type` is the one searched for. Without any, the search is
    /// among those that the company keeps.
    #[schemars(length(max = 1000))]
    #[serde(default, deserialize_with = "list")]
    pub candidates: Option<Vec<Entity>>,
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

impl Search {
    fn is_long(&self) -> bool {
        self.candidates().is_none_or(|all| all.len() > SHORT)
    }

    fn candidates(&self) -> Option<&[Entity]> {
        self.options.as_ref()?.candidates.as_deref()
    }

    /// What tells this search from another, but for its page.
    fn digest(&self) -> Result<String, Stop> {
        let all = (&self.subject, &self.action, &self.resource, &self.context, self.candidates());
        Ok(hex::encode(Sha256::digest(serde_json::to_vec(&all)?)))
    }

    fn pages<'a>(&self, operation: &str, read: &'a Reader<'a>) -> Result<Pages<'a>, Stop> {
        Pages::of(self.page.as_ref(), format!("{operation} {} for {}", self.digest()?, read.caller().actor()), read)
    }

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

/// An end that is known, as it is said or kept; none where nothing is said of it, others of its type are kept and it is not.
fn known(snapshot: &Snapshot, said: Option<&Entity>, end: End, read: &Reader<'_>) -> Result<Option<Thing>, Stop> {
    let said = said.ok_or_else(|| bad(&required(end.field())))?;
    let whole = match Keeper::of(read, snapshot) {
        Some(keeper) => keeper.describing(Some(said)).entity(said)?,
        None => None,
    };
    let is_bare = said.properties.is_none() && whole.is_none();
    if is_bare && said.kind.as_deref().is_some_and(|kind| read.keeps_any(kind)) {
        return Ok(None);
    }
    let thing = parts(whole.as_ref().unwrap_or(said)).and_then(|parts| own::thing(snapshot, parts));
    Ok(Some(thing.map_err(|wrong| bad(&wrong.within(end.field())))?))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Subject,
    Resource,
}

impl End {
    fn field(self) -> &'static str {
        match self {
            End::Subject => "subject",
            End::Resource => "resource",
        }
    }
}

fn entities(input: &Search, open: End, pages: &Pages<'_>, read: &Reader<'_>) -> Result<Results<FoundEntity>, Stop> {
    let snapshot = read.serving();
    if input.is_about_nothing(Some(open), &snapshot)? {
        return Ok(pages.all(Vec::new()));
    }
    let (other, end) = match open {
        End::Subject => (&input.resource, End::Resource),
        End::Resource => (&input.subject, End::Subject),
    };
    let keeper = Keeper::of(read, &snapshot).map(|keeper| keeper.describing(other.as_ref()));
    let Some(other) = known(&snapshot, other.as_ref(), end, read)? else { return Ok(pages.all(Vec::new())) };
    let mut asked = Asked::of(input, open, Arc::new(other), &snapshot).map_err(|wrong| bad(&wrong))?;
    let kind = asked.kind.clone();
    // What a candidate says of somebody counts, and what the known end says; what neither says is as it is kept.
    let whole = |candidate: &Entity| {
        let kind = candidate.kind.clone().or_else(|| Some(kind.as_str().into()));
        let candidate = Entity { kind, ..candidate.clone() };
        let Some(keeper) = &keeper else { return Ok::<_, Stop>(candidate) };
        Ok(keeper.describing(Some(&candidate)).entity(&candidate)?.unwrap_or(candidate))
    };
    match input.candidates() {
        Some(all) if all.len() > MOST => {
            Err(Refusal::field("options.candidates", format!("must be at most {MOST}")).into())
        }
        Some(all) => pages.walk(given(all), |(index, candidate)| {
            let within = |wrong: Wrong| wrong.within(index.to_string()).within("options.candidates");
            asked.may(&whole(candidate)?).map_err(|wrong| bad(&within(wrong)).into())
        }),
        None => {
            let more = |after: &str, limit: usize| {
                let kept = read.entities_of(&kind, after, limit)?;
                kept.iter().map(|kept| Ok((kept.name.clone(), kept::known(kept)?))).collect()
            };
            // What does not fit the schema any more, nobody may; and it is nobody.
            pages.walk(more, |candidate| Ok(asked.may(&whole(&candidate)?).unwrap_or_default()))
        }
    }
}

/// The candidates of a request, by their places.
fn given<'a>(all: &'a [Entity]) -> impl Fn(&str, usize) -> Placed<(usize, &'a Entity)> {
    |after, limit| {
        let from = after.parse::<usize>().map_or(0, |last| last + 1);
        let rest = all.iter().enumerate().skip(from).take(limit);
        Ok(rest.map(|(index, candidate)| (index.to_string(), (index, candidate))).collect())
    }
}

/// A search, as it is asked about one candidate after another.
struct Asked<'a> {
    snapshot: &'a Snapshot,
    open: End,
    kind: String,
    action: &'a EntityUid,
    other: Arc<Thing>,
    circumstances: Arc<Circumstances>,
    asker: Asker<'a>,
}

impl<'a> Asked<'a> {
    fn of(input: &Search, open: End, other: Arc<Thing>, snapshot: &'a Snapshot) -> Result<Asked<'a>, Wrong> {
        let action = input.action.as_ref().ok_or_else(|| required("action"))?;
        let name = action.name.as_deref().ok_or_else(|| required("name").within("action"))?;
        let uid = own::action(snapshot, name).map_err(|wrong| wrong.within("name").within("action"))?;
        let wanted = if open == End::Subject { &input.subject } else { &input.resource };
        let kind = wanted.as_ref().and_then(|wanted| wanted.kind.as_deref());
        let kind = kind.ok_or_else(|| required("type").within(open.field()))?;
        let kind = own::entity_type(snapshot, kind).map_err(|wrong| wrong.within("type").within(open.field()))?;
        let circumstances = own::circumstances(snapshot, uid, input.context.as_ref(), action.properties.as_ref())?;
        Ok(Asked {
            snapshot,
            open,
            kind: kind.name.clone(),
            action: uid,
            other,
            circumstances: Arc::new(circumstances),
            asker: Asker::new(snapshot),
        })
    }

    /// The candidate, if the answer about it is yes.
    fn may(&mut self, candidate: &Entity) -> Result<Option<FoundEntity>, Wrong> {
        let id = candidate.id.as_deref().ok_or_else(|| required("id"))?;
        if candidate.kind.as_ref().is_some_and(|named| *named != self.kind) {
            return Err(Wrong::new(format!("must be `{}`", self.kind)).within("type"));
        }
        let parts = Parts { kind: &self.kind, id, properties: candidate.properties.as_ref() };
        let thing = Arc::new(own::thing(self.snapshot, parts)?);
        let (subject, resource) = if self.open == End::Subject { (&thing, &self.other) } else { (&self.other, &thing) };
        let ruling = self.asker.ask(subject, self.action, resource, &self.circumstances)?;
        Ok(ruling.is_allowed().then(|| FoundEntity { kind: self.kind.clone(), id: id.to_owned() }))
    }
}

/// Subjects that may.
pub enum Subjects {}

impl Query for Subjects {
    const SPEC: Spec = Spec {
        name: "access.evaluate.subjects",
        doc: "Find the subjects that may do something to a resource, among those that are kept or the candidates of the request: \
              AuthZEN.",
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

/// Resources that a subject may do something to.
pub enum Resources {}

impl Query for Resources {
    const SPEC: Spec = Spec {
        name: "access.evaluate.resources",
        doc: "Find the resources that a subject may do something to, among those that are kept or the candidates of the \
              request: AuthZEN.",
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
        let pages = input.pages(Self::SPEC.name, read)?;
        let snapshot = read.serving();
        if input.is_about_nothing(None, &snapshot)? {
            return Ok(pages.all(Vec::new()));
        }
        let subject = known(&snapshot, input.subject.as_ref(), End::Subject, read)?;
        let resource = known(&snapshot, input.resource.as_ref(), End::Resource, read)?;
        let Some((subject, resource)) = subject.zip(resource) else { return Ok(pages.all(Vec::new())) };
        let (subject, mut asker) = (Arc::new(subject), Asker::new(&snapshot));
        let may = |action: &EntityUid| {
            // What the context does not do for is not allowed.
            let circumstances = own::circumstances(&snapshot, action, input.context.as_ref(), None).ok()?;
            let ruling = asker.ask(&subject, action, &resource, &Arc::new(circumstances)).ok()?;
            ruling.is_allowed().then(|| FoundAction { name: own::asked_as(&snapshot, action) })
        };
        let actions = own::actions(&snapshot, subject.kind(), resource.kind());
        Ok(pages.all(actions.iter().filter_map(may).collect()))
    }
}
