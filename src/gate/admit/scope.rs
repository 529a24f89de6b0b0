//! What a token with limited scopes cannot reach, by the gate's own rule: no policy can lift it.

use crate::decide::world::World;
use crate::declare::target::Target;
use policy::Ruling;
use types::caller::{Caller, Who};
use types::scope::Scope;

/// What is out of a token's reach. A token that is limited to proposals reaches only what belongs to its holder; with
/// the scope for reading, it can also read the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Nothing,
    /// Everything but this read.
    AllBut(&'static str),
    All,
}

impl Beyond {
    pub fn of(world: &World, caller: &Caller, target: &Target) -> Beyond {
        let (Who::Token { actor, scopes, .. }, Target::Thing(thing)) = (&caller.who, target) else {
            return Beyond::Nothing;
        };
        let noun = world.nouns.named(&thing.kind);
        let Some((own, sight)) = noun.and_then(|noun| Some((noun.own?, noun.sight?))) else { return Beyond::Nothing };
        match scopes.is_empty() || thing.names(own, actor) {
            true => Beyond::Nothing,
            false if scopes.contains(&Scope::Read) => Beyond::AllBut(sight),
            false => Beyond::All,
        }
    }

    pub fn refuses(self, operation: &str) -> Option<Ruling> {
        let refused = match self {
            Beyond::Nothing => false,
            Beyond::AllBut(sight) => operation != sight,
            Beyond::All => true,
        };
        let why = || Some("this token reaches its holder's own proposals only".to_owned());
        refused.then(|| Ruling::Deny { because: Vec::new(), fault: None, why: why() })
    }
}
