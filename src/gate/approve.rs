//! Calls that wait for people: parked, by whom they are approved, carried out, ended with what they are about.

pub mod approvers;
pub(super) mod ends;
pub mod hold;
pub mod redeem;
