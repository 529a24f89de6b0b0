//! Asking the gate why, checking policies before they serve, and changing those that serve.

mod check;
pub mod compare;
mod diff;
mod drift;
mod explain;
mod explained;
mod from_approvals;
mod in_force;
mod moment;
mod propose;
mod question;
mod source;
mod who_can;

use crate::gate::Entry;

pub use explained::PolicyVersion;
pub use in_force::may_export;

pub const ALL: &[Entry] = &[
    Entry::query::<check::Check>(),
    Entry::query::<diff::Diff>(),
    Entry::query::<explain::Explain>(),
    Entry::query::<who_can::WhoCan>(),
    Entry::query::<in_force::Show>(),
    Entry::query::<in_force::Export>(),
    Entry::query::<in_force::Applied>(),
    Entry::query::<drift::ShowDrift>(),
    Entry::change::<propose::Propose>(),
    Entry::change::<source::SetSource>(),
];
