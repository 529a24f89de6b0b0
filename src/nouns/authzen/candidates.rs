//! Evaluates a search candidate by candidate. What the questions have in common is read once.

use std::sync::Arc;

use cedar_policy::EntityUid;
use schemars::JsonSchema;
use serde::Serialize;

use super::kept::Keeper;
use super::words::{Entity, Evaluation, bad, parts, required};
use policy::Snapshot;
use policy::own::{self, Circumstances, Evaluator, Thing, Wrong};
use types::refusal::Stop;

/// The subject or the resource of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Subject,
    Resource,
}

impl End {
    pub fn field(self) -> &'static str {
        match self {
            End::Subject => "subject",
            End::Resource => "resource",
        }
    }

    pub fn other(self) -> End {
        match self {
            End::Subject => End::Resource,
            End::Resource => End::Subject,
        }
    }

    pub fn of(self, question: &Evaluation) -> &Option<Entity> {
        match self {
            End::Subject => &question.subject,
            End::Resource => &question.resource,
        }
    }

    pub fn of_mut(self, question: &mut Evaluation) -> &mut Option<Entity> {
        match self {
            End::Subject => &mut question.subject,
            End::Resource => &mut question.resource,
        }
    }
}

/// An entity that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundEntity {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
}

/// A search, evaluated candidate by candidate.
pub(super) struct SearchQuestion<'a> {
    snapshot: &'a Snapshot,
    keeper: Option<&'a Keeper<'a>>,
    open: End,
    /// The entity type searched for.
    pub kind: String,
    action: &'a EntityUid,
    /// The question without a candidate; below, what was last read of it.
    said: Evaluation,
    known: Known,
    evaluator: Evaluator<'a>,
}

/// A question without its candidate, completed and parsed.
struct Known {
    whole: Evaluation,
    other: Arc<Thing>,
    circumstances: Arc<Circumstances>,
}

impl Known {
    fn of(whole: Evaluation, open: End, action: &EntityUid, snapshot: &Snapshot) -> Result<Known, Wrong> {
        let end = open.other();
        let said = end.of(&whole).as_ref().ok_or_else(|| required(end.field()))?;
        let other = parts(said).and_then(|parts| own::thing(snapshot, parts));
        let properties = whole.action.as_ref().and_then(|action| action.properties.as_ref());
        let circumstances = own::circumstances(snapshot, action, whole.context.as_ref(), properties)?;
        let other = Arc::new(other.map_err(|wrong| wrong.within(end.field()))?);
        Ok(Known { other, circumstances: Arc::new(circumstances), whole })
    }
}

impl<'a> SearchQuestion<'a> {
    pub fn of(
        mut said: Evaluation,
        open: End,
        snapshot: &'a Snapshot,
        keeper: Option<&'a Keeper<'a>>,
    ) -> Result<SearchQuestion<'a>, Stop> {
        let action = said.action.as_ref().ok_or_else(|| bad(&required("action")))?;
        let name = action.name.as_deref().ok_or_else(|| bad(&required("name").within("action")))?;
        let uid = own::action(snapshot, name).map_err(|wrong| bad(&wrong.within("name").within("action")))?;
        let kind = open.of(&said).as_ref().and_then(|wanted| wanted.kind.as_deref());
        let kind = kind.ok_or_else(|| bad(&required("type").within(open.field())))?;
        let kind = own::entity_type(snapshot, kind).map_err(|wrong| bad(&wrong.within("type").within(open.field())))?;
        *open.of_mut(&mut said) = None;
        let whole = match keeper {
            Some(keeper) => keeper.question(&said)?.into_owned(),
            None => said.clone(),
        };
        let known = Known::of(whole, open, uid, snapshot).map_err(|wrong| bad(&wrong))?;
        let (one, other) = (kind.ty.clone(), known.other.kind().clone());
        let (subject, resource) = if open == End::Subject { (one, other) } else { (other, one) };
        own::applies(snapshot, uid, &subject, &resource).map_err(|wrong| bad(&wrong))?;
        let (kind, evaluator) = (kind.name.clone(), Evaluator::new(snapshot));
        Ok(SearchQuestion { snapshot, keeper, open, kind, action: uid, said, known, evaluator })
    }

    /// Returns the candidate if it is permitted.
    pub fn may(&mut self, candidate: &Entity) -> Result<Result<Option<FoundEntity>, Wrong>, Stop> {
        let kind = candidate.kind.clone().unwrap_or_else(|| self.kind.as_str().into());
        if *kind != *self.kind {
            return Ok(Err(Wrong::new(format!("must be `{}`", self.kind)).within("type")));
        }
        let candidate = Entity { kind: Some(kind), ..candidate.clone() };
        let Some(keeper) = self.keeper else { return Ok(self.judge(&candidate)) };
        // What a candidate says of an entity counts everywhere in the question, as it would if asked alone.
        let mut said = self.said.clone();
        *self.open.of_mut(&mut said) = Some(candidate);
        let mut whole = keeper.question(&said)?.into_owned();
        let Some(candidate) = self.open.of_mut(&mut whole).take() else { return Ok(Ok(None)) };
        if whole != self.known.whole {
            match Known::of(whole, self.open, self.action, self.snapshot) {
                Ok(known) => self.known = known,
                Err(wrong) => return Ok(Err(wrong)),
            }
        }
        Ok(self.judge(&candidate))
    }

    fn judge(&mut self, candidate: &Entity) -> Result<Option<FoundEntity>, Wrong> {
        let parts = parts(candidate)?;
        let id = parts.id.to_owned();
        let thing = Arc::new(own::thing(self.snapshot, parts)?);
        let Known { other, circumstances, .. } = &self.known;
        let (subject, resource) = if self.open == End::Subject { (&thing, other) } else { (other, &thing) };
        let ruling = match self.evaluator.ask(subject, self.action, resource, circumstances) {
            Ok(ruling) => ruling,
            // With nothing said or stored of the entity, too little is known to permit it.
            Err(_) if candidate.properties.is_none() => return Ok(None),
            Err(wrong) => return Err(wrong),
        };
        Ok(ruling.is_allowed().then(|| FoundEntity { kind: self.kind.clone(), id }))
    }
}
