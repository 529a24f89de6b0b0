//! From a call to Cedar's question: the principal, the resource with what it refers to, and the facts that the server
//! itself knows. Everything comes from memory.

use std::collections::BTreeSet;

use cedar_policy::EntityUid;
use serde_json::Value;

use crate::admit::chain::{self, Links};
use crate::admit::scope::Beyond;
use crate::decide::card::nobody;
use crate::decide::context;
use crate::decide::world::World;
use crate::declare::fact::Far;
use crate::declare::target::{Fact, Target, Thing, actor_uid, uid, uid_of};
use policy::testing::OwnedQuestion;
use policy::{Answered, Because, Closed, For, Giver, Question, Record, Ruling, Slice, Snapshot};
use types::caller::{Caller, Who};
use types::collection::Collection;
use types::condition::Condition;
use types::id::ActorId;
use types::refusal::Refusal;
use types::time::Time;

/// One caller and one target: several operations can be asked about, and what they share is gathered once.
pub struct Asker<'a> {
    world: &'a World,
    principal: EntityUid,
    resource: EntityUid,
    entities: Vec<Closed>,
    facts: Record,
    /// On whose behalf it is asked, nearest first.
    givers: Vec<Giver>,
    /// What an operation is given.
    given: Option<(&'a str, &'a Value)>,
    /// What a token limited to some scopes does not reach, whatever the policies say.
    beyond: Beyond,
    /// The actors and teams among the entities.
    reached: BTreeSet<ActorId>,
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
        let (resource, beyond) = (uid_of(target), Beyond::of(world, caller, target));
        let mut entities = Entities { world, seen: BTreeSet::new(), found: Vec::new() };
        entities.add_caller(caller);
        entities.add_target(target, &resource);
        let links: Option<Links> = chain::links(world, caller, now);
        let given = links.as_deref().unwrap_or_default();
        given.iter().for_each(|link| entities.add_with_links(&link.from));
        let facts = context::of(world, caller, given, now);
        let mut givers =
            if caller.under.is_some() { chain::givers(world, caller, links.as_deref(), now) } else { Vec::new() };
        let above = chain::agents_above(world, caller);
        above.iter().for_each(|agent| entities.add_with_links(agent));
        givers.extend(above.iter().map(|agent| chain::above(world, caller, agent, now)));
        let Entities { seen: reached, found: entities, .. } = entities;
        Asker { world, principal: principal(caller), resource, entities, facts, givers, given: None, beyond, reached }
    }

    /// For this call: the questions about its operation are asked with its input.
    pub fn of(world: &'a World, caller: &Caller, call: Call<'a>, now: Time) -> Asker<'a> {
        let given = call.input.map(|input| (call.operation, input));
        Asker { given, ..Asker::new(world, caller, call.target, now) }
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

    /// The records of a collection that this may be done to, whichever of them is the target, as a condition on their columns;
    /// none where each has to be asked about.
    pub fn rows(&self, operation: &str, of: &Collection) -> Option<Condition> {
        if self.beyond.refuses(operation).is_some() {
            return Some(Condition::Never);
        }
        if !self.givers.is_empty() {
            return None;
        }
        self.question(operation, &[], |question| self.world.policy.rows(question, of))
    }

    /// The same, policy by policy; nobody's where it is out of reach.
    pub fn rows_by_policy(&self, operation: &str, of: &Collection) -> Option<Vec<(Because, Condition)>> {
        if self.beyond.refuses(operation).is_some() {
            return Some(Vec::new());
        }
        if !self.givers.is_empty() {
            return None;
        }
        self.question(operation, &[], |question| self.world.policy.rows_by_policy(question, of))
    }

    /// Whether the target may be known: what was handed on is about it, whether or not this read was too.
    pub fn sees(&self, sight: &str) -> bool {
        self.seeing(sight).is_allowed()
    }

    /// The answer to a read that goes with whatever was handed on.
    pub fn seeing(&self, operation: &str) -> Ruling {
        self.ask_for(operation, &[], For::Seeing)
    }

    fn ask_for(&self, operation: &str, granted: &[String], what: For) -> Ruling {
        let asked =
            || self.question(operation, granted, |question| self.world.policy.decide_for(question, &self.givers, what));
        self.beyond.refuses(operation).unwrap_or_else(asked)
    }

    /// The answer to the caller alone.
    pub fn own(&self, operation: &str) -> Ruling {
        let asked = || self.question(operation, &[], |question| self.world.policy.decide(question));
        self.beyond.refuses(operation).unwrap_or_else(asked)
    }

    /// What each of those answers on whose behalf it is asked, and why something is withheld from the caller.
    pub fn links(&self, operation: &str) -> Vec<(Giver, Option<String>, Ruling)> {
        let link = |giver: &Giver| {
            self.question(operation, &[], |question| {
                let Giver { principal, facts, .. } = giver;
                let theirs = self.world.policy.decide(&Question { principal, facts, ..*question });
                (giver.clone(), self.world.policy.withheld(question, giver, For::Doing), theirs)
            })
        };
        self.givers.iter().filter(|giver| !giver.ended).map(link).collect()
    }

    /// The same question, put by one of those on whose behalf it is asked.
    pub fn put_by(mut self, giver: Giver) -> Asker<'a> {
        self.principal = giver.principal;
        self.facts = giver.facts;
        self.givers = Vec::new();
        self
    }

    /// The answer of other policies to the same question.
    pub fn ask_of(&self, policies: &Snapshot, operation: &str) -> Ruling {
        let decide = |question: &Question<'_>| policies.decide_for(question, &self.givers, For::Doing);
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
        self.question(operation, granted, |question| ask(question, &self.givers))
    }

    /// Everybody whom the policies could look at.
    pub fn reached(self) -> BTreeSet<ActorId> {
        self.reached
    }

    fn question_to<T>(
        &self,
        policies: &Snapshot,
        operation: &str,
        granted: &[String],
        ask: impl FnOnce(&Question<'_>) -> T,
    ) -> T {
        let action = uid("Action", operation);
        let slice = Slice::new(policies, &action, self.entities.iter().cloned());
        ask(&Question {
            principal: &self.principal,
            action: &action,
            resource: &self.resource,
            entities: &slice,
            facts: &self.facts,
            input: self.input(operation),
            approvals: granted,
            supposed: None,
        })
    }
}

impl Asker<'_> {
    fn input(&self, operation: &str) -> Option<&Value> {
        self.given.filter(|(given, _)| *given == operation).map(|(_, input)| input)
    }

    /// What would be asked, for tests of policies.
    pub fn asked(self, operation: &str, sight: Option<&str>, granted: Vec<String>) -> OwnedQuestion {
        let sight = sight.map(|operation| uid("Action", operation));
        let input = self.input(operation).cloned();
        let refused = self.beyond.refuses(operation);
        let Asker { principal, resource, entities, facts, givers, .. } = self;
        OwnedQuestion {
            principal,
            action: uid("Action", operation),
            resource,
            entities,
            facts,
            input,
            granted,
            givers,
            sight,
            refused,
        }
    }
}

/// The gate's answer to one call, for which no approval was given.
pub(crate) fn decide(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Ruling {
    Asker::of(world, caller, call, now).ask(call.operation, &[])
}

/// The gate's answer to one call; `Err` where the caller may not know that the target exists. Absent and invisible read
/// the same.
pub(crate) fn decide_seen(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Result<Ruling, Refusal> {
    let asker = Asker::of(world, caller, call, now);
    let sight = sight_for(world, call.target, caller);
    let asked = asker.ask(call.operation, &[]);
    // The read by which it is seen may be the very question.
    let same = (sight == Some(call.operation) && asker.givers.is_empty()).then(|| asked.clone());
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

/// The same, for a call that was really made: a candidate under trial is asked too.
pub(crate) fn decide_watched(world: &World, caller: &Caller, call: Call<'_>, now: Time) -> Result<Ruling, Refusal> {
    let ruling = decide_seen(world, caller, call, now)?;
    if let Some(trial) = &world.trial {
        let Call { operation, target, .. } = call;
        let about = || (operation.to_owned(), target.id());
        trial.watch(caller, about, now, &ruling, |candidate| {
            let sight = sight_for(world, target, caller);
            Some(Asker::of(world, caller, call, now).asked(operation, sight, Vec::new()).answer(candidate).ruling)
        });
    }
    Ok(ruling)
}

/// Whether a kill switch stops the caller, or somebody on whose behalf it acts.
fn is_stopped(world: &World, caller: &Caller, now: Time) -> bool {
    let stopped = |caller: &Caller| world.killed(caller).is_theirs();
    let links = chain::links(world, caller, now).unwrap_or_default();
    let giver = |actor: &ActorId| Caller::new(Who::Holder(actor.clone()), caller.channel);
    stopped(caller) || links.iter().any(|link| stopped(&giver(&link.from)))
}

fn principal(caller: &Caller) -> EntityUid {
    match &caller.who {
        Who::Visitor => uid("Visitor", "anyone"),
        Who::Server => uid("Server", "ok"),
        Who::Token { actor, .. } | Who::Holder(actor) => actor_uid(actor),
    }
}

/// The few entities that a decision can reach: caller and target, and what each of them refers to.
struct Entities<'a> {
    world: &'a World,
    seen: BTreeSet<ActorId>,
    found: Vec<Closed>,
}

impl Entities<'_> {
    fn add_caller(&mut self, caller: &Caller) {
        match &caller.who {
            Who::Token { actor, .. } | Who::Holder(actor) => {
                self.add_with_links(actor);
                caller.issuer.iter().for_each(|issuer| self.add_with_links(issuer));
                caller.run.iter().for_each(|run| self.add_with_links(&run.asker));
            }
            Who::Visitor | Who::Server => {
                self.found.push(Closed::new(&principal(caller), [], &Record::new()));
            }
        }
    }

    fn add_target(&mut self, target: &Target, uid: &EntityUid) {
        match target {
            Target::Actor(id) => self.add_with_links(id),
            Target::Company => self.found.push(Closed::new(uid, [], &Record::new())),
            Target::Thing(thing) => {
                let facts = self.facts(thing);
                self.found.push(Closed::new(uid, [], &facts));
            }
        }
    }

    /// What its kind declares of a thing, and what its collection does, with whom it names.
    fn facts(&mut self, thing: &Thing) -> Record {
        let world = self.world;
        debug_assert!(world.nouns.named(&thing.kind).is_some_and(|noun| noun.fits(thing)), "{thing:?}");
        let declared = world.nouns.facts(thing);
        let more = thing.facts().filter(|(name, _)| declared.iter().all(|spec| spec.name != *name));
        let more = more.map(|(name, fact)| (name, Some(fact), Far::Link, true));
        let declared = declared.iter().map(|spec| (spec.name, thing.fact(spec.name), spec.far, spec.is_optional()));
        declared.chain(more).fold(Record::new(), |facts, (name, fact, far, is_optional)| match fact {
            None => facts,
            Some(Fact::Text(text)) => facts.string(name, text),
            Some(Fact::Texts(texts)) => facts.strings(name, texts.iter().map(String::as_str)),
            Some(Fact::Flag(flag)) => facts.bool(name, *flag),
            Some(Fact::Number(number)) => facts.long(name, *number),
            Some(Fact::Decimal(number)) => facts.decimal(name, *number),
            Some(Fact::Time(at)) => facts.datetime(name, at.0),
            Some(Fact::Actor(id)) if is_optional && world.card(id).is_none() && *id != ActorId::system() => facts,
            Some(Fact::Actor(id)) => {
                self.add_named(id, far);
                facts.entity(name, &actor_uid(id))
            }
            Some(Fact::Actors(ids)) => {
                let is_there = |id: &&ActorId| far == Far::Beyond || world.card(id).is_some();
                let ids: Vec<&ActorId> = ids.iter().filter(is_there).collect();
                ids.iter().for_each(|id| self.add_named(id, far));
                facts.entities(name, &ids.into_iter().map(actor_uid).collect::<Vec<_>>())
            }
        })
    }

    fn add_named(&mut self, id: &ActorId, far: Far) {
        match far {
            Far::End => self.add_with_links(id),
            Far::Link => self.add(id),
            Far::Beyond => {}
        }
    }

    fn add_with_links(&mut self, id: &ActorId) {
        self.add(id);
        if let Some(card) = self.world.card(id) {
            let actor = &card.actor;
            [&actor.team, &actor.lead, &actor.owner].into_iter().flatten().for_each(|link| self.add(link));
        }
    }

    fn add(&mut self, id: &ActorId) {
        let entity = match self.world.card(id) {
            Some(card) => self.world.entities.of(card),
            None if *id == ActorId::system() => nobody(),
            None => return,
        };
        if self.seen.insert(id.clone()) {
            self.found.push(entity);
        }
    }
}
