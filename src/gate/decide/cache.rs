//! Answers that were given already. In one state of a company the same caller asking for the same operation about the
//! company as a whole is answered alike, unless a policy reads the time or the input; and sees the same people, agents and teams.
//!
//! Always true: what is remembered belongs to one published world, which never changes; a copy of a world begins with
//! nothing. Only yes is remembered: every refusal is decided, and recorded, on its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::RwLock;

use policy::{Because, Ruling, Snapshot};
use types::caller::{Caller, Channel, Who};
use types::id::ActorId;
use types::token::TokenHash;

/// Answers that are remembered in one state of a company.
const MOST: usize = 4_096;

/// By what a caller shows: the scopes of a token do not change within one world.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Token(TokenHash),
    Holder(ActorId),
}

type Question = (&'static str, Channel, Identity);

/// Whom a caller sees: a call that was approved is made without its token, and yet by whoever issued that.
type Sight = (Channel, Identity, Option<ActorId>, ActorId);

#[derive(Default)]
pub(crate) struct Cache {
    answers: RwLock<BTreeMap<Question, Vec<Because>>>,
    sights: RwLock<BTreeSet<Sight>>,
}

impl Clone for Cache {
    fn clone(&self) -> Cache {
        Cache::default()
    }
}

/// A delegation ends by time; a grant and a run are of one call.
fn is_apart(caller: &Caller) -> bool {
    caller.under.is_some() || caller.break_glass.is_some() || caller.run.is_some()
}

fn identity(caller: &Caller) -> Option<Identity> {
    match &caller.who {
        Who::Token { hash, .. } => Some(Identity::Token(*hash)),
        Who::Holder(actor) => Some(Identity::Holder(actor.clone())),
        Who::Visitor | Who::Server => None,
    }
}

impl Cache {
    /// The answer to a query about the company: as it was given before, or as `decide` gives it now.
    pub fn remembered<E>(
        &self,
        policy: &Snapshot,
        (caller, operation): (&Caller, &'static str),
        decide: impl FnOnce() -> Result<Ruling, E>,
    ) -> Result<Ruling, E> {
        let Some(identity) = identity(caller).filter(|_| !is_apart(caller)) else { return decide() };
        let question = (operation, caller.channel, identity);
        if let Ok(known) = self.answers.read()
            && let Some(because) = known.get(&question)
        {
            return Ok(Ruling::Allow { because: because.clone() });
        }
        let ruling = decide()?;
        if let Ruling::Allow { because } = &ruling
            && !policy.reads_the_call(operation)
            && let Ok(mut known) = self.answers.write()
            && known.len() < MOST
        {
            known.insert(question, because.clone());
        }
        Ok(ruling)
    }

    /// Returns whether a caller sees an existing actor: from the cache, or by calling `look`, which asks for `sight`.
    /// Use it in a published world only: the writer's world changes while it works.
    pub fn sees(
        &self,
        policy: &Snapshot,
        (caller, id, sight): (&Caller, &ActorId, &'static str),
        look: impl FnOnce() -> bool,
    ) -> bool {
        let Some(identity) = identity(caller).filter(|_| !is_apart(caller)) else { return look() };
        let question = (caller.channel, identity, caller.issuer.clone(), id.clone());
        if self.sights.read().is_ok_and(|seen| seen.contains(&question)) {
            return true;
        }
        let seen = look();
        if seen
            && !policy.reads_the_call(sight)
            && let Ok(mut known) = self.sights.write()
            && known.len() < MOST
        {
            known.insert(question);
        }
        seen
    }
}
