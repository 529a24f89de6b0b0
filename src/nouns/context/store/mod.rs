//! The content of events and its erasure. There is no table.

pub mod events;
