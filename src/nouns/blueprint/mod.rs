//! Lists and installs blueprints: starting companies. What already exists is never overwritten.

mod files;
pub mod install;
pub mod list;
mod plan;
mod source;

pub use files::onto;
pub use install::{Installed, began};
pub use list::all;
pub use plan::{Plan, plan};
pub use source::{ChosenBlueprint, Source};

use gate::Entry;

pub const ALL: &[Entry] = &[Entry::query::<list::List>(), Entry::change::<install::Install>()];
