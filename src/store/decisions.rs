//! Decisions that are recorded for their own sake; there is no table.

pub mod events;
