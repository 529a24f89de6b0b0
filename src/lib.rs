//! `ok`: the gate that everything in an AI-run company passes.
//!
//! The rooms, in reading order. A room uses only rooms above it; `adapters`, `log`, `store` and `policy` do not know each other.
//! `tests/house.rs` keeps it so.

pub use types;

pub use adapters;
pub use log;
pub use policy;
pub use store;

pub use gate;

pub use nouns;

pub mod background;

pub mod demo;

pub mod config;
pub mod http;

pub mod cli;

/// For the binary, the tests and the benches alike: what is measured is what is shipped.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
