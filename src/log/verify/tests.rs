//! Tests of the verifier against logs from a writer that shares nothing with it.

mod foreign;
mod formats;
mod places;
mod sample;
mod tampering;
mod trees;
