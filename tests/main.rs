//! Every check from outside: through the router, through the real binary, and on the written files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::too_many_lines,
    reason = "a test that cannot go on should stop right there"
)]

mod api;
mod cli;
mod crash;
mod harness;
mod house;
mod journal;
mod policy;
mod property;
mod recorded;
mod reference;
mod rooms;
mod walk;
mod wire;
