//! Explains decisions, checks policies before they serve, and changes those that serve.

mod agreed;
pub mod check;
pub mod compare;
pub mod diff;
pub mod drift;
pub mod explain;
pub mod explained;
mod from_approvals;
pub mod in_force;
pub mod moment;
pub mod narrowed;
pub mod propose;
pub(crate) mod question;
pub mod shown;
pub mod source;
pub mod who_can;

use gate::Entry;

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
