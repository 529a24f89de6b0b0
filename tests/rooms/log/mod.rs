//! The log and its verifier: the latter against logs from a writer that shares nothing with it.

mod foreign;
mod formats;
mod places;
mod published;
mod sample;
mod tampering;
mod trees;
