//! The event of installed blueprints. What one creates has events of its own, so this one changes no table.

use crate::event::{Content, Notify, events};
use crate::memory::Memory;
use crate::settles::Settles;
use types::id::Id;

events! {
    /// A blueprint was installed: what it created, what existed already, what is still to be done.
    BlueprintInstalled = "blueprint_installed" {
        blueprint: String, hash: String,
        #[schemars(extend("x-names" = "reference"))] created: Vec<String>,
        #[schemars(extend("x-names" = "reference"))] skipped: Vec<String>,
        needs: Vec<String>,
        change: Option<Id>,
    } about [change] => {
        says: "installed the blueprint {blueprint}",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
}
