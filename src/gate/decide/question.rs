//! From a call to Cedar's question: the principal, the resource with what it refers to, and the facts that the server
//! itself knows. Everything comes from memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::admit::chain;
use crate::admit::scope::Beyond;
use crate::decide::reach::{About, Principal};
use crate::decide::world::World;
use crate::declare::target::{Target, uid};
use policy::testing::OwnedQuestion;
use policy::{Answered, Because, Closed, For, Giver, Question, Ruling, Slice, Snapshot};
use types::caller::{Caller, Who};
use types::collection::Collection;
use types::condition::Condition;
use types::id::ActorId;
use types::refusal::Refusal;
use types::time::Time;

/// One caller and one target: several operations can be asked about, and what they share is gathered once.
pub struct Asker<'a> {
    world: &'a World,
    principal: Arc<Principal>,
    about: Arc<About>,
    /// What an operation is given.
    given: Option<(&'a str, &'a Value)>,
    /// What a token limited to some scopes does not reach, whatever the policies say.
    beyond: Beyond,
}

/// What somebody does, or would do.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub operation: &'a str,
    pub target: &'a Target,
    /// What the operation is given; none where that is not known.
    pub input: Option<&'a Value>,
}

impl<'a> Asker<'a> {
    pub fn new(world: &'a World, caller: &Caller, target: &Target, now: Time) -> Asker<'a> {
        Asker::about(world, (caller, &Arc::new(Principal::new(world, caller, now))), target)
    }

    /// A caller that was gathered before, in this world, about one more target.
    pub(crate) fn about(world: &'a World, caller: (&Caller, &Arc<Principal>), target: &Target) -> Asker<'a> {
        Asker::between(world, caller, (target, &Arc::new(About::new(world, target))))
    }

    /// Creates the same asker from a target that was gathered before, too.
    pub(crate) fn between(
        world: &'a World,
        (caller, principal): (&Caller, &Arc<Principal>),
        (target, about): (&Target, &Arc<About>),
    ) -> Asker<'a> {
        let beyond = Beyond::of(world, caller, target);
        Asker { world, principal: Arc::clone(principal), about: Arc::clone(about), given: None, beyond }
    }

    /// For this call: the questions about its operation are asked with its input.
    pub fn of(world: &'a World, caller: &Caller, call: Call<'a>, now: Time) -> Asker<'a> {
        Asker::new(world, caller, call.target, now).given(call)
    }

    /// The same for this call.
    pub(crate) fn given(self, call: Call<'a>) -> Asker<'a> {
        Asker { given: call.input.map(|input| (call.operation, input)), ..self }
    }

    /// The gate's answer. `granted` are the kinds of approval that were truly given.
    pub fn ask(&self, operation: &str, granted: &[String]) -> Ruling {
        self.ask_for(operation, granted, For::Doing)
    }

    /// Whether any target could be allowed to the caller, if only with approval; otherwise the answer to all of them.
    pub fn could(&self, operation: &str) -> Result<(), Ruling> {
        let deny = |because| Ruling::Deny { because, fault: None, why: None };
        self.question(operation, &[], |question| self.world.policy.could(question)).map_err(deny)
    }

    /// Returns the records of a collection on which the operation is allowed, as a condition on their columns. None if
    /// each record has to be asked about.
    pub fn rows(&self, operation: &str, of: &Collection) -> Option<Condition> {
        if self.beyond.refuses(operation).is_some() {
            return Some(Condition::Never);
        }
        if !self.principal.givers.is_empty() {
            return None;
        }
        self.question(operation, &[], |question| self.world.policy.rows(question, of))
    }

    /// Returns the same conditions, policy by policy. Empty, so that no record matches, if the operation is out of
    /// reach.
    pub fn rows_by_policy(&self, operation: &str, of: &Collection) -> Option<Vec<(Because, Condition)>> {
        if self.beyond.refuses(operation).is_some() {
            return Some(Vec::new());
        }
        if !self.principal.givers.is_empty() {
            return None;
        }
        self.question(operation, &[], |question| self.world.policy.rows_by_policy(question, of))
    }

    /// Whether the target may be known: what was handed on is about it, whether or not this read was too.
    pub fn sees(&self, sight: &str) -> bool {
        self.seeing(sight).is_allowed()
    }

    /// Returns the answer to a read that accompanies any delegated operation.
    pub fn seeing(&self, operation: &str) -> Ruling {
        self.ask_for(operation, &[], For::Seeing)
    }

    fn ask_for(&self, operation: &str, granted: &[String], what: For) -> Ruling {
        let asked = || {
            self.question(operation, granted, |question| {
                self.world.policy.decide_for(question, &self.principal.givers, what)
            })
        };
        self.beyond.refuses(operation).unwrap_or_else(asked)
    }

    /// Returns the answer for the caller alone, without those on whose behalf it asks.
    pub fn own(&self, operation: &str) -> Ruling {
        let asked = || self.question(operation, &[], |question| self.world.policy.decide(question));
        self.beyond.refuses(operation).unwrap_or_else(asked)
    }

    /// Returns the answer for each of those on whose behalf the question is asked, and why something is withheld from
    /// the caller.
    pub fn links(&self, operation: &str) -> Vec<(Giver, Option<String>, Ruling)> {
        let link = |giver: &Giver| {
            self.question(operation, &[], |question| {
                let Giver { principal, facts, .. } = giver;
                let theirs = self.world.policy.decide(&Question { principal, facts, ..*question });
                (giver.clone(), self.world.policy.withheld(question, giver, For::Doing), theirs)
            })
        };
        self.principal.givers.iter().filter(|giver| !giver.ended).map(link).collect()
    }

    /// Returns the same question, asked by one of those on whose behalf it is asked.
    pub fn put_by(self, giver: Giver) -> Asker<'a> {
        let Principal { entities, reached, .. } = &*self.principal;
        let (entities, reached) = (entities.clone(), reached.clone());
        let by = Principal { uid: giver.principal, entities, facts: giver.facts, givers: Vec::new(), reached };
        Asker { principal: Arc::new(by), ..self }
    }

    /// The answer of other policies to the same question.
    pub fn ask_of(&self, policies: &Snapshot, operation: &str) -> Ruling {
        let decide = |question: &Question<'_>| policies.decide_for(question, &self.principal.givers, For::Doing);
        self.beyond.refuses(operation).unwrap_or_else(|| self.question_to(policies, operation, &[], decide))
    }

    /// The question that the gate puts to the policies.
    pub fn question<T>(&self, operation: &str, granted: &[String], ask: impl FnOnce(&Question<'_>) -> T) -> T {
        self.question_to(&self.world.policy, operation, granted, ask)
    }

    /// The same, with those on whose behalf it is put.
    pub fn question_for<T>(
        &self,
        operation: &str,
        granted: &[String],
        ask: impl FnOnce(&Question<'_>, &[Giver]) -> T,
    ) -> T {
        self.question(operation, granted, |question| ask(question, &self.principal.givers))
    }

    /// Everybody whom the policies could look at.
    pub fn reached(self) -> BTreeSet<ActorId> {
        self.principal.reached.iter().chain(self.about.reached()).cloned().collect()
    }

    fn question_to<T>(
        &self,
        policies: &Snapshot,
        operation: &str,
        granted: &[String],
        ask: impl FnOnce(&Question<'_>) -> T,
    ) -> T {
        let action = uid("Action", operation);
        let slice = Slice::new(policies, &action, self.entities());
        ask(&Question {
            principal: &self.principal.uid,
            action: &action,
            resource: &self.about.uid,
            entities: &slice,
            facts: &self.principal.facts,
            input: self.input(operation),
            approvals: granted,
            supposed: None,
        })
    }
}

impl Asker<'_> {
    fn entities(&self) -> impl Iterator<Item = Closed> {
        self.principal.entities.iter().chain(self.about.beside(&self.principal)).cloned()
    }

    fn input(&self, operation: &str) -> Option<&Value> {
        self.given.filter(|(given, _)| *given == operation).map(|(_, input)| input)
    }

    /// What would be asked, for tests of policies.
    pub fn into_question(self, operation: &str, sight: Option<&str>, granted: Vec<String>) -> OwnedQuestion {
        let sight = sight.map(|operation| uid("Action", operation));
        let input = self.input(operation).cloned();
        let refused = self.beyond.refuses(operation);
        let Principal { uid: principal, facts, givers, .. } = &*self.principal;
        OwnedQuestion {
            principal: principal.clone(),
            action: uid("Action", operation),
            entities: self.entities().collect(),
            resource: self.about.uid.clone(),
            facts: facts.clone(),
            input,
            granted,
            givers: givers.clone(),
            sight,
            refused,
        }
    }
}

/// The gate's answer to one call, for which no approval was given.
pub(crate) fn decide(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Ruling {
    Asker::of(world, caller, call, now).ask(call.operation, &[])
}

/// Returns the gate's answer to one call. `Err` if the caller may not know that the target exists: absent and invisible
/// targets give the same error.
pub(crate) fn decide_seen(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Result<Ruling, Refusal> {
    let asker = Asker::of(world, caller, call, now);
    let sight = sight_for(world, call.target, caller);
    let asked = asker.ask(call.operation, &[]);
    // The read by which it is seen may be the very question.
    let same = (sight == Some(call.operation) && asker.principal.givers.is_empty()).then(|| asked.clone());
    let seeing = |operation| same.clone().unwrap_or_else(|| asker.seeing(operation));
    let Answered { ruling, hidden } = Answered::of(asked, || sight.map(seeing));
    // A denial is told of what may be seen; and to whom a kill switch stops, who sees nothing: the attempt is recorded.
    let is_shown = || sight.is_none_or(|operation| seeing(operation).is_allowed()) || is_stopped(world, caller, now);
    if hidden || (matches!(ruling, Ruling::Deny { .. }) && !is_shown()) {
        Err(Refusal::not_found())
    } else {
        Ok(ruling)
    }
}

/// The read without which a target does not exist for a caller. That oneself exists is no secret.
pub(crate) fn sight_for(world: &World, target: &Target, caller: &Caller) -> Option<&'static str> {
    world.nouns.sight(target).filter(|_| !matches!(target, Target::Actor(id) if *id == caller.actor()))
}

/// Decides a call that was really made in the same way, and also asks a candidate that is under trial.
pub(crate) fn decide_watched(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Result<Ruling, Refusal> {
    let ruling = decide_seen(world, caller, call, now)?;
    if let Some(trial) = &world.trial {
        let Call { operation, target, .. } = call;
        let about = || (operation.to_owned(), target.id());
        trial.watch(caller, about, now, &ruling, |candidate| {
            let sight = sight_for(world, target, caller);
            Some(
                Asker::of(world, caller, call, now)
                    .into_question(operation, sight, Vec::new())
                    .answer(candidate)
                    .ruling,
            )
        });
    }
    Ok(ruling)
}

/// Whether a kill switch stops the caller, or somebody on whose behalf it acts.
pub(crate) fn is_stopped(world: &World, caller: &Caller, now: Time) -> bool {
    let stopped = |caller: &Caller| world.killed(caller).is_theirs();
    let links = chain::links(world, caller, now).unwrap_or_default();
    let giver = |actor: &ActorId| Caller::new(Who::Holder(actor.clone()), caller.channel);
    stopped(caller) || links.iter().any(|link| stopped(&giver(&link.from)))
}
