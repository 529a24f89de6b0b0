//! The tamper-evident log.

pub mod verify;
