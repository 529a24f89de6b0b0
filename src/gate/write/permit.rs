//! The proof that the gate allowed one call of one operation. It cannot be made, copied, stored or sent from outside
//! the gate, and `run` cannot be called without it.

use std::marker::PhantomData;

use policy::Because;
use types::caller::Caller;
use types::id::ActorId;
use types::time::Time;

/// What a permit knows.
pub(crate) struct Grant {
    pub caller: Caller,
    pub now: Time,
    pub because: Vec<Because>,
}

/// Permission for one call of `O`. Neither `Clone` nor serde, on purpose.
pub struct Permit<O> {
    grant: Grant,
    operation: PhantomData<fn(O)>,
}

impl<O> Permit<O> {
    pub(crate) fn mint(grant: Grant) -> Permit<O> {
        Permit { grant, operation: PhantomData }
    }

    /// The acting actor.
    pub fn actor(&self) -> ActorId {
        self.grant.caller.actor()
    }

    pub fn now(&self) -> Time {
        self.grant.now
    }

    /// Whether it goes on without the approvals that it needs.
    pub fn is_break_glass(&self) -> bool {
        self.grant.caller.break_glass.is_some()
    }

    /// The policies that permitted it.
    pub fn because(&self) -> &[Because] {
        &self.grant.because
    }
}
