//! Asking the gate why, and checking policies before they serve.

mod check;
mod explain;
mod explained;
mod moment;
mod question;
mod who_can;

use crate::gate::Entry;

pub const ALL: &[Entry] =
    &[Entry::query::<check::Check>(), Entry::query::<explain::Explain>(), Entry::query::<who_can::WhoCan>()];
