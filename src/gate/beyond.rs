//! What a token that is limited to some scopes does not reach, by the gate's own rule: no policy can give it back.

use super::target::Target;
use crate::policy::Ruling;
use crate::types::caller::{Caller, Who};
use crate::types::scope::Scope;

/// A token that is limited to proposals reaches its holder's own; one that reads reaches the others by reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    Nothing,
    /// Everything but `change.read`.
    AllButReading,
    All,
}

impl Beyond {
    pub fn of(caller: &Caller, target: &Target) -> Beyond {
        let (Who::Token { actor, scopes, .. }, Target::Change { author, .. }) = (&caller.who, target) else {
            return Beyond::Nothing;
        };
        match scopes.is_empty() || author == actor {
            true => Beyond::Nothing,
            false if scopes.contains(&Scope::Read) => Beyond::AllButReading,
            false => Beyond::All,
        }
    }

    pub fn refuses(self, operation: &str) -> Option<Ruling> {
        let refused = self == Beyond::All || (self == Beyond::AllButReading && operation != "change.read");
        let why = || Some("this token reaches its holder's own proposals only".to_owned());
        refused.then(|| Ruling::Deny { because: Vec::new(), fault: None, why: why() })
    }
}
