//! Views: saved queries about the company's own data. Whoever opens a view gets the records that they may read, and is told
//! what of the query they may not ask.

mod list;
mod preview;
mod resource;
mod run;

use gate::Entry;

pub use list::{List, OneView, Show, ShownView, may_see};
pub use preview::{Preview, Unsaved};
pub use resource::VIEW;
pub use run::{Opened, Rows};

pub const ALL: &[Entry] =
    &[Entry::query::<list::List>(), Entry::query::<list::Show>(), Entry::query::<preview::Preview>()];
