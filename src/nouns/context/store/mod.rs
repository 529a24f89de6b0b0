//! The content of events, and that it was erased; there is no table.

pub mod events;
