//! `ok`: the gate that everything in an AI-run company passes.

pub mod log;
