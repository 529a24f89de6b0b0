//! Views: questions about the company's own data that have a name. Opening one is asking: whoever opens it is answered by what
//! they may read, and told what of it they may not ask.

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
