//! Blueprints: there is no table, what one makes has tables of its own.

pub mod events;
