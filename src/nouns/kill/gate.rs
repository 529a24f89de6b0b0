//! Reads kill switches.

use super::Reader;
use store::kills::Kill;
use types::actor::KillScope;

impl Reader<'_> {
    pub fn kills(&self) -> impl Iterator<Item = &Kill> {
        self.world.kills.values()
    }

    pub fn kill(&self, scope: &KillScope) -> Option<&Kill> {
        self.world.kills.get(scope)
    }
}
