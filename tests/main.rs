//! The tests from outside: one binary, a folder per face.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may stop, and stands outside of the program whose inputs these rules protect"
)]

mod cli;
