//! Changes that a company could make, and the same question after each of them. The serving code builds the changed
//! company, so an answer that is tried here is the answer that would be given.

mod ways;

use std::collections::BTreeSet;
use std::sync::Arc;

use cedar_policy::EntityUid;
use serde_json::{Value, json};

use crate::decide::question::{self, Asker};
use crate::decide::world::World;
use crate::explain::inquiry::Inquiry;
use policy::{Alterable, Eyes, Giver, Question, Scalar, Want};
use store::actors::Actor;
use types::actor::{KillScope, Role, Trust};
use types::caller::{Caller, Channel};
use types::id::ActorId;
use types::time::Time;

/// One change, easier ones first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alteration {
    /// An approval of this kind.
    Approval(String),
    Channel(Channel),
    /// A kill switch is released.
    Release(KillScope),
    /// The call comes at this time, instead of now.
    At(Time),
    /// The operation is given this, by its path in the input; none where it is not given.
    Input(Vec<String>, Option<Scalar>),
    Trust(ActorId, Trust),
    /// The agent's owner is this person.
    Owner(ActorId, ActorId),
    /// The team's lead is this person.
    Lead(ActorId, ActorId),
    /// The team that a person or an agent is in, or the team above a team.
    Team(ActorId, Option<ActorId>),
    Role(ActorId, Role),
}

impl Alteration {
    /// Whose row it changes, and which part of it: two changes of one part contradict each other.
    fn part(&self) -> (u8, String) {
        match self {
            Alteration::Approval(kind) => (0, kind.clone()),
            Alteration::Channel(_) => (1, String::new()),
            Alteration::Input(path, _) => (9, path.join(".")),
            Alteration::Release(scope) => (2, scope.to_string()),
            Alteration::At(_) => (8, String::new()),
            Alteration::Trust(id, _) => (3, id.to_string()),
            Alteration::Owner(id, _) => (4, id.to_string()),
            Alteration::Lead(id, _) => (5, id.to_string()),
            Alteration::Team(id, _) => (6, id.to_string()),
            Alteration::Role(id, _) => (7, id.to_string()),
        }
    }

    fn make(&self, call: &mut Call) -> Option<()> {
        let Call { world, caller, granted, now, input } = call;
        let mut edit = |id: &ActorId, edit: &dyn Fn(&mut Actor)| {
            let mut actor = world.card(id)?.actor.clone();
            edit(&mut actor);
            world.put(actor);
            Some(())
        };
        match self {
            Alteration::Approval(kind) => granted.push(kind.clone()),
            Alteration::Channel(channel) => caller.channel = *channel,
            Alteration::Release(scope) => drop(Arc::make_mut(&mut world.kills).remove(scope)),
            Alteration::At(time) => *now = *time,
            Alteration::Input(path, to) => given(input, path, to.as_ref())?,
            Alteration::Trust(id, to) => edit(id, &|actor| actor.trust = *to)?,
            Alteration::Owner(id, to) => edit(id, &|actor| actor.owner = Some(to.clone()))?,
            Alteration::Lead(id, to) => edit(id, &|actor| actor.lead = Some(to.clone()))?,
            Alteration::Team(id, to) => edit(id, &|actor| actor.team.clone_from(to))?,
            Alteration::Role(id, to) => edit(id, &|actor| {
                actor.role = *to;
                actor.admin = *to == Role::Admin;
            })?,
        }
        Some(())
    }
}

impl Alterable for Inquiry<'_> {
    type Alteration = Alteration;

    fn ways(&self, want: &Want) -> Vec<Alteration> {
        self.ways_to(want)
    }

    fn after<T>(&self, changes: &[Alteration], ask: impl FnOnce(&Question<'_>, &[Giver]) -> T) -> Option<T> {
        let parts: BTreeSet<(u8, String)> = changes.iter().map(Alteration::part).collect();
        if parts.len() < changes.len() {
            return None;
        }
        let (world, caller, granted) = (self.world.clone(), self.caller.clone(), Vec::new());
        let mut call = Call { world, caller, granted, now: self.now, input: self.input.clone() };
        for change in changes {
            change.make(&mut call)?;
        }
        let Call { world, caller, granted, now, input } = &call;
        let asked = question::Call { input: input.as_ref(), ..self.call() };
        Some(Asker::of(world, caller, asked, *now).question_for(self.operation, granted, ask))
    }
}

impl Inquiry<'_> {
    /// The smallest sets of changes that turn the answer to yes, for the caller and all on whose behalf it is; each of
    /// them tried. None that shows what these attributes of the target are.
    pub fn what_would_change(&self, withheld: &BTreeSet<String>) -> Vec<Vec<Alteration>> {
        let sees = |uid: &EntityUid| self.sees_entity(uid);
        self.world.policy.what_would_change(self, Eyes { sees: &sees, withheld })
    }
}

/// A call that could be made, in a company that could be.
struct Call {
    world: World,
    caller: Caller,
    granted: Vec<String>,
    now: Time,
    input: Option<Value>,
}

/// Puts a value into an input, or takes it out. None where that is no such record.
fn given(input: &mut Option<Value>, path: &[String], to: Option<&Scalar>) -> Option<()> {
    let mut place = input.get_or_insert_with(|| json!({}));
    for name in path {
        place = place.as_object_mut()?.entry(name).or_insert(Value::Null);
    }
    *place = to.map_or(Value::Null, Scalar::json);
    Some(())
}
