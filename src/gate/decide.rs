//! The question that a call puts to Cedar, what it is decided by (directory, usage), and the answer kept for equal questions.

mod break_glass;
pub(super) mod cache;
pub mod card;
pub mod context;
pub(super) mod done;
pub(super) mod entities;
pub mod equivalence;
pub(super) mod ground;
pub(super) mod index;
pub(super) mod joining;
pub(super) mod kills;
pub mod question;
pub(super) mod reach;
pub(super) mod teams;
pub mod usage;
pub mod world;
