//! Kill switches, as they touch a caller.

use std::collections::BTreeMap;

use store::kills::Kill;
use types::actor::KillScope;
use types::caller::{Caller, Who};
use types::id::ActorId;

/// The switches that are engaged.
pub(crate) type Engaged = BTreeMap<KillScope, Kill>;

/// The engaged switches that touch a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Killed {
    pub global: bool,
    pub actor: bool,
    pub team: bool,
    /// Who issued the caller's token, where that is another: they could have kept it.
    pub issuer: bool,
}

impl Killed {
    /// Whether one of them stops the caller in particular.
    pub fn is_theirs(self) -> bool {
        self.actor || self.team || self.issuer
    }
}

/// What a caller is stopped by, who is in these teams.
pub(crate) fn killed(engaged: &Engaged, caller: &Caller, teams: &[ActorId]) -> Killed {
    let is = |scope: KillScope| engaged.contains_key(&scope);
    let actor = stoppable(caller);
    Killed {
        global: is(KillScope::Global),
        actor: actor.is_some_and(|actor| is(KillScope::Actor(actor.clone()))),
        team: teams.iter().any(|team| is(KillScope::Team(team.clone()))),
        issuer: caller.issuer.as_ref().is_some_and(|issuer| is(KillScope::Actor(issuer.clone()))),
    }
}

/// Whom a switch can stop.
pub(crate) fn stoppable(caller: &Caller) -> Option<&ActorId> {
    match &caller.who {
        Who::Visitor | Who::Server => None,
        Who::Token { actor, .. } | Who::Holder(actor) => Some(actor),
    }
}

/// The engaged switches that touch a caller, by name.
pub(crate) fn touching(engaged: &Engaged, caller: &Caller, teams: &[ActorId]) -> Vec<KillScope> {
    let actor = stoppable(caller);
    let touches = |scope: &&KillScope| match *scope {
        KillScope::Global => true,
        KillScope::Actor(id) => actor == Some(id) || caller.issuer.as_ref() == Some(id),
        KillScope::Team(team) => teams.contains(team),
        KillScope::Tool(_) => false,
    };
    engaged.keys().filter(touches).cloned().collect()
}
