//! Why an answer is what it is: how each part of each policy evaluates for a question, which permits came close, and
//! which smallest changes would turn the answer to yes.
//!
//! Always true: nothing here decides; every change that is reported was tried with the decision itself; nothing is
//! revealed about an entity that the asker may not see. Parts are evaluated from the loaded policies when somebody
//! asks: a decision stores nothing for this.

mod explanation;
mod instant;
mod look;
mod search;
mod want;

pub use explanation::{ExplainedPolicy, Explanation, Observed, ShownPart};
pub use look::State;
pub use search::Alterable;
pub use want::{Scalar, Want};

use std::collections::BTreeSet;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::EntityUID;

/// What the asker may see.
#[derive(Clone, Copy)]
pub struct Eyes<'a> {
    /// Whether an entity may be seen.
    pub sees: &'a dyn Fn(&EntityUid) -> bool,
    /// The attributes of the resource that may not be read.
    pub withheld: &'a BTreeSet<String>,
}

impl Eyes<'_> {
    fn sees(&self, uid: &EntityUID) -> bool {
        (self.sees)(&EntityUid::from(uid.clone()))
    }
}
