//! Answers a question: checks it first, evaluates it once, and evaluates it a second time to prove that an approval
//! helps.
//!
//! Always true: what cannot be checked or evaluated is denied with a fault, whatever else holds; a permit that cannot
//! be evaluated is ignored; approvals are offered only if the answer with them really is yes.

use std::collections::BTreeSet;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{Context, EntityUID, EntityUIDEntry, Request, RequestSchema, Value};
use cedar_policy_core::authorizer::Authorizer;
use cedar_policy_core::entities::Entities;
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::RequestValidationError;

use super::approvals::ATTRIBUTE;
use super::compiled::CompiledPolicy;
use super::evaluate::{Evaluation, Supposed, Weighed};
use super::history;
use super::index::{Met, Positions};
use super::input::{self, Input};
use super::ruling::{self, Because, NO_PERMIT, Ruling};
use super::shape;
use super::snapshot::{Action, Snapshot};
use crate::entities::{Slice, Within};
use crate::record::{Facts, references};
use types::effort;

/// May this principal do this to that?
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub principal: &'a EntityUid,
    pub action: &'a EntityUid,
    pub resource: &'a EntityUid,
    pub entities: &'a Slice,
    /// The context without approvals and input.
    pub facts: &'a Facts,
    /// What the operation is given; none where that is not known, or does not matter.
    pub input: Option<&'a serde_json::Value>,
    /// The kinds truly granted for this very request.
    pub approvals: &'a [String],
    /// What a comparison supposes about one policy. None for an ordinary question.
    pub supposed: Option<&'a Supposed<'a>>,
}

/// One evaluation as Cedar tells it, for comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainAnswer {
    pub allowed: bool,
    /// The ids of the determining policies.
    pub reasons: BTreeSet<String>,
    /// How many policies could not be evaluated.
    pub errors: usize,
}

/// What a question reaches.
pub struct Reached {
    /// The policies that hold.
    pub(super) met: Positions,
    /// All that were asked: those, and others.
    pub(super) candidates: Positions,
}

impl Reached {
    /// Whether any policy holds.
    pub fn is_met(&self) -> bool {
        !self.met.is_empty()
    }
}

/// It cannot be told which policies hold.
pub struct Unknown;

impl Snapshot {
    /// The policies whose action is the question's, whatever else they say.
    pub(super) fn policies_of<'a>(
        &'a self,
        question: &Question<'_>,
    ) -> impl Iterator<Item = &'a CompiledPolicy> + use<'a> {
        let positions = self.action(question).map(|action| action.index.every()).unwrap_or_default();
        positions.into_iter().filter_map(|position| self.compiled(position))
    }

    /// The answer. Wants at least 2 MiB of stack.
    pub fn decide(&self, question: &Question<'_>) -> Ruling {
        let ruling = self.checked(question, true).unwrap_or_else(|fault| {
            self.count_fault();
            Ruling::Deny { because: Vec::new(), fault: Some(fault), why: None }
        });
        if let Ruling::Deny { fault: Some(fault), .. } = &ruling
            && !self.quiet
        {
            tracing::warn!(action = %question.action, principal = %question.principal, %fault, "denied by a fault");
        }
        ruling
    }

    /// Whether the answer would be yes, for questions that nobody has really asked: what goes wrong is not counted.
    pub(super) fn would_allow(&self, question: &Question<'_>) -> Option<Vec<Because>> {
        match self.checked(question, false) {
            Ok(Ruling::Allow { because }) => Some(because),
            Ok(_) | Err(_) => None,
        }
    }

    /// One evaluation over all policies by Cedar itself, without the index: what the index must equal.
    pub fn plain(&self, question: &Question<'_>) -> PlainAnswer {
        let Ok(entities) = question.entities.entities() else { return PlainAnswer::default() };
        let response = Authorizer::new().is_authorized(self.request(question), self.set.as_ref(), entities);
        PlainAnswer {
            allowed: response.decision == cedar_policy_core::authorizer::Decision::Allow,
            reasons: response.diagnostics.reason.iter().map(ToString::to_string).collect(),
            errors: response.diagnostics.errors.len(),
        }
    }

    /// The same evaluation over the policies that the index gathers.
    pub fn indexed(&self, question: &Question<'_>) -> PlainAnswer {
        let found = question.entities.entities().and_then(|entities| {
            let mut within = Within::new(entities, |uid| self.is_enumerated(uid));
            let candidates = self
                .action(question)?
                .index
                .gather(&met(question.principal, &mut within), &met(question.resource, &mut within));
            Ok(self.evaluate(self.request(question), entities, &candidates))
        });
        let Ok(Evaluation { permits, forbids, errors, .. }) = found else { return PlainAnswer::default() };
        let determining = if forbids.is_empty() { &permits } else { &forbids };
        PlainAnswer {
            allowed: forbids.is_empty() && !permits.is_empty(),
            reasons: self.because(determining).iter().map(|policy| policy.id.clone()).collect(),
            errors: errors.len(),
        }
    }

    fn checked(&self, question: &Question<'_>, is_real: bool) -> Result<Ruling, String> {
        let entities = question.entities.entities()?;
        let action = self.action(question)?;
        let request = self.request_with(question, Some(action), &[]);
        self.fits(question, action, &request)?;
        let candidates = self.gather(question, action, entities)?;
        effort::spend(1 + candidates.len());
        let supposed = question.supposed.filter(|supposed| supposed.concerns(question.principal, question.action));
        let found = self.supposing(supposed, self.evaluate(request, entities, &candidates), false);
        let beside = found.beside.clone();
        let forbids = match self.weigh(found, is_real) {
            Weighed::Settled(ruling) => return Ok(ruling),
            Weighed::Refused(forbids) => forbids,
        };
        let because = self.because(&forbids);
        let metas = forbids.iter().map(|forbid| Some(&self.compiled(*forbid)?.meta));
        let beside = beside.iter().filter(|policy| policy.effect == ruling::Effect::Forbid).map(Some);
        let Some(kinds) = kinds_missing(metas.chain(beside), question.approvals) else {
            return Ok(Ruling::Deny { because, fault: None, why: None });
        };
        let with_approvals = self.request_with(question, Some(action), &kinds);
        let found = self.supposing(supposed, self.evaluate(with_approvals, entities, &candidates), true);
        match self.weigh(found, is_real) {
            Weighed::Settled(Ruling::Allow { .. }) => Ok(Ruling::NeedsApproval { kinds, because }),
            // Approvals would clear the way, but for nobody who is permitted to go it.
            Weighed::Settled(Ruling::Deny { fault: None, .. }) => {
                Ok(Ruling::Deny { because, fault: None, why: Some(NO_PERMIT.into()) })
            }
            Weighed::Settled(_) | Weighed::Refused(_) => Ok(Ruling::Deny { because, fault: None, why: None }),
        }
    }

    /// Returns the policies that a question reaches. Fails if it cannot be determined for each of them whether it
    /// holds.
    pub(super) fn reached(&self, question: &Question<'_>) -> Result<Reached, Unknown> {
        let reached = || {
            let entities = question.entities.entities()?;
            let action = self.action(question)?;
            let none = || Ok((Evaluation::default(), Positions::default()));
            if action.index.is_empty() {
                return none();
            }
            let candidates = self.gather(question, action, entities)?;
            // What they would say to a question that does not fit the schema is no matter then.
            if candidates.is_empty() {
                return none();
            }
            let request = self.request_with(question, Some(action), &[]);
            self.fits(question, action, &request)?;
            effort::spend(1 + candidates.len());
            Ok::<_, String>((self.evaluate(request, entities, &candidates), candidates))
        };
        let (Evaluation { permits, forbids, errors, .. }, candidates) = reached().map_err(|_| Unknown)?;
        let met = permits.into_iter().chain(forbids).collect();
        if errors.is_empty() { Ok(Reached { met, candidates }) } else { Err(Unknown) }
    }

    /// Returns the action of a question. Looks first at the place that the slice gives, then everywhere.
    pub(super) fn action(&self, question: &Question<'_>) -> Result<&Action, String> {
        let uid = question.action.as_ref();
        let there = question.entities.place().and_then(|place| self.actions.get_index(place));
        let found = there.filter(|(other, _)| *other == uid).map(|(_, action)| action);
        let unknown = || format!("the schema knows no action `{}`", question.action);
        found.or_else(|| self.actions.get(uid)).ok_or_else(unknown)
    }

    /// The request with the approvals of the question.
    pub(super) fn request(&self, question: &Question<'_>) -> Request {
        self.request_with(question, self.action(question).ok(), &[])
    }

    /// The same with `more` approvals.
    fn request_with(&self, question: &Question<'_>, action: Option<&Action>, more: &[String]) -> Request {
        let entry = |uid: &EntityUid| EntityUIDEntry::known(uid.as_ref().clone(), None);
        let mut facts = question.facts.clone();
        if action.is_none_or(|action| action.takes_approvals) {
            // A kind that these policies do not know, given under earlier ones, releases nothing: no policy can name it.
            let kinds =
                question.approvals.iter().chain(more).filter_map(|kind| self.vocabulary.kinds.get(kind).cloned());
            facts = facts.with(ATTRIBUTE, Value::set(kinds, None));
        }
        if let Some((action, input)) = action.and_then(|action| Some((action, action.input.as_ref()?))) {
            let given = self.given(question, action, input);
            facts = facts.with(input::ATTRIBUTE, given.unwrap_or_else(|_| input.blank()));
        }
        if let Some((action, blank)) = action.and_then(|action| Some((action, action.history.as_ref()?))) {
            let looked = self.looks_of(action).context.contains(history::ATTRIBUTE);
            let done = question.facts.get(history::ATTRIBUTE).filter(|_| looked);
            facts = facts.with(history::ATTRIBUTE, blank.with(done));
        }
        let context: Context = facts.context();
        let (principal, resource) = (entry(question.principal), entry(question.resource));
        let action = action.map_or_else(|| entry(question.action), |action| action.entry.clone());
        Request::new_unchecked(principal, action, resource, Some(context))
    }

    /// The input of the question; blank where no policy of the action looks at it.
    fn given(&self, question: &Question<'_>, action: &Action, input: &Input) -> Result<Value, String> {
        match question.input {
            Some(json) if self.looks_of(action).context.contains(input::ATTRIBUTE) => input.value(json),
            _ => Ok(input.blank()),
        }
    }

    /// Principal, resource and context are as the schema says for the action. The context is checked by its shape; the
    /// input is built by the schema.
    fn fits(&self, question: &Question<'_>, action: &Action, request: &Request) -> Result<(), String> {
        if let Some(input) = &action.input {
            self.given(question, action, input)
                .map_err(|what| format!("the question does not fit the schema: {what}"))?;
        }
        let shape = shape::of(question.facts, action.history.is_some(), &|uid| self.is_enumerated(uid));
        if action.fitting.knows(shape) {
            return self.ends_fit(question, action);
        }
        let checked = self.schema().as_ref().validate_request(request, Extensions::all_available());
        checked.map(|()| action.fitting.learn(shape)).map_err(|error| unfit(&error))
    }

    /// Principal and resource are of types that the action takes, and exist where their types name all that there are.
    fn ends_fit(&self, question: &Question<'_>, action: &Action) -> Result<(), String> {
        let (principal, resource) = (question.principal.as_ref(), question.resource.as_ref());
        let types = (principal.entity_type(), resource.entity_type());
        if action.fitting.knows_ends(types.0, types.1) {
            return Ok(());
        }
        let schema = self.schema().as_ref();
        let ends = (Some(principal), Some(question.action.as_ref()), Some(resource));
        schema.validate_scope_variables(ends.0, ends.1, ends.2).map_err(|error| unfit(&error))?;
        if !self.is_enumerated(principal) && !self.is_enumerated(resource) {
            action.fitting.learn_ends(types.0, types.1);
        }
        Ok(())
    }

    /// Whether a question could be asked about any record: the context is as the schema says, and all that policies can reach
    /// from there and from the principal is loaded.
    pub(super) fn is_sound(&self, question: &Question<'_>, action: &Action, entities: &Entities) -> Option<()> {
        let request = self.request_with(question, Some(action), &[]);
        self.fits(question, action, &request).ok()?;
        self.gather(question, action, entities).ok().map(drop)
    }

    /// The policies whose scope may hold, if the slice carries this snapshot's action, and everything that a policy can
    /// reach within two hops.
    fn gather(&self, question: &Question<'_>, action: &Action, entities: &Entities) -> Result<Positions, String> {
        if !action.family.first().is_some_and(|ours| question.entities.is_for(ours)) {
            return Err(format!("the entities were gathered for another action than `{}`", question.action));
        }
        let mut within = Within::new(entities, |uid| self.is_enumerated(uid));
        let (principal, resource) = (met(question.principal, &mut within), met(question.resource, &mut within));
        for (_, value) in question.facts.pairs() {
            references(value, &mut |uid| {
                within.root(uid);
            });
        }
        match within.missing {
            Some(missing) => Err(format!("the entity `{missing}` is referred to, but was not loaded")),
            None => Ok(action.index.gather(&principal, &resource)),
        }
    }
}

/// The kinds that these forbids name and that are not granted yet. None if a forbid is final, or nothing is left to ask.
fn kinds_missing<'a>(forbids: impl Iterator<Item = Option<&'a Because>>, granted: &[String]) -> Option<Vec<String>> {
    let mut missing = BTreeSet::new();
    for forbid in forbids {
        let forbid = forbid?;
        if forbid.kinds.is_empty() {
            return None;
        }
        missing.extend(forbid.kinds.iter().filter(|kind| !granted.contains(kind)).cloned());
    }
    (!missing.is_empty()).then(|| missing.into_iter().collect())
}

fn unfit(error: &RequestValidationError) -> String {
    format!("the question does not fit the schema: {error}")
}

fn met<'a>(uid: &'a EntityUid, within: &mut Within<'a, impl Fn(&EntityUID) -> bool>) -> Met<'a> {
    Met { uid: uid.as_ref(), entity: within.root(uid.as_ref()) }
}
