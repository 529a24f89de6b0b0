//! Blueprints have no table: what one creates has tables of its own.

pub mod events;
