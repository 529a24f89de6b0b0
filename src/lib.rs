//! `ok`: the gate that everything in an AI-run company passes.
//!
//! The rooms, in reading order. A room uses only rooms above it; `adapters`, `log`, `store` and `policy` do not know each other.
//! `tests/house.rs` keeps it so.

pub mod types;

pub mod adapters;
pub mod log;
pub mod policy;
pub mod store;

pub mod gate;

pub mod operations;

pub mod background;

pub mod demo;

pub mod config;
pub mod http;

pub mod cli;

/// For the binary, the tests and the benches alike: what is measured is what is shipped.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
