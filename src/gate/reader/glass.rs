//! Reading break-glass grants.

use super::Reader;
use crate::gate::target::Target;
use crate::store::Position;
use crate::store::glass::{self, Glass};
use crate::types::id::ActorId;
use crate::types::refusal::Fault;

impl Reader<'_> {
    pub fn glass(&self, id: &str) -> Result<Option<Glass>, Fault> {
        Ok(glass::get(self.conn()?, id)?)
    }

    pub fn glass_after(&self, from: &Position, limit: usize) -> Result<Vec<Glass>, Fault> {
        Ok(glass::after(self.conn()?, from, limit)?)
    }

    /// A grant as the gate sees it.
    pub fn glass_target(&self, grant: &Glass) -> Target {
        let (id, holder) = (grant.id.to_string(), grant.holder.clone());
        let peers = self.peers_of(&holder);
        Target::BreakGlass { id, holder, peers, issuer: grant.issuer.clone() }
    }

    /// The oldest grant of a person that nobody has reviewed yet.
    pub fn unreviewed_glass_of(&self, holder: &ActorId) -> Option<&Glass> {
        self.world.glass.iter().find(|glass| glass.holder == *holder)
    }
}
