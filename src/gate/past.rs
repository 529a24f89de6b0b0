//! The company as it was, and recorded questions asked again: replay, impact, and the canary beside what is in force.

pub mod canary;
pub mod impact;
pub mod moment;
pub(super) mod recorded;
pub(super) mod replay;
