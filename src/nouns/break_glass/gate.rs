//! Reads break-glass grants.

use super::Reader;
use crate::declare::target::{Target, Thing};
use store::break_glass::{self, BreakGlass};
use types::id::ActorId;
use types::refusal::Fault;

impl Reader<'_> {
    pub fn break_glass(&self, id: &str) -> Result<Option<BreakGlass>, Fault> {
        Ok(break_glass::get(self.conn()?, id)?)
    }

    /// Returns a grant as a target of the gate.
    pub fn break_glass_target(&self, grant: &BreakGlass) -> Target {
        Thing::new("BreakGlass", grant.id.as_str())
            .actor("holder", &grant.holder)
            .number("peers", self.peers_of(&grant.holder))
            .maybe("issuer", grant.issuer.as_ref())
            .into()
    }

    /// Returns a person's oldest grant that has not been reviewed.
    pub fn unreviewed_grant_of(&self, holder: &ActorId) -> Option<&BreakGlass> {
        self.world.break_glass.iter().find(|break_glass| break_glass.holder == *holder)
    }
}
