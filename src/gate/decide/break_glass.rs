//! Break-glass grants, as decisions look for them.

use crate::decide::world::World;
use crate::declare::target::uid;
use store::break_glass::BreakGlass;
use types::caller::{Caller, Who};
use types::time::Time;

impl World {
    /// The grant that lets a caller go on without the approvals that an operation needs: their own, and with all their
    /// rights. It is no way to another grant, nor past its review. Whoever else could have kept the caller's token broke no
    /// glass, unless they could have done it with such a token.
    pub fn break_glass_for(&self, caller: &Caller, operation: &str, now: Time) -> Option<&BreakGlass> {
        let holder = match &caller.who {
            // A grant is its holder's own: what others need approval for is still to be approved.
            _ if caller.under.is_some() => return None,
            Who::Holder(actor) => actor,
            Who::Token { actor, scopes, .. } if scopes.is_empty() => actor,
            Who::Token { .. } | Who::Visitor | Who::Server => return None,
        };
        let grants = self.break_glass.iter().filter(|_| !operation.starts_with("break_glass."));
        grants.into_iter().find(|break_glass| {
            break_glass.holder == *holder
                && caller.issuer.as_ref().is_none_or(|issuer| break_glass.issuer.as_ref() == Some(issuer))
                && break_glass.is_active(now)
                && self.policy.is_within(uid("Action", operation).as_ref(), &break_glass.operations)
        })
    }
}
