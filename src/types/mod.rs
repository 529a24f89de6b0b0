//! Values that cannot be wrong: parsed once at the edge, trusted afterwards. No I/O and no clock in this room.

pub mod actor;
pub mod approval;
pub mod blueprint;
pub mod caller;
pub mod canonical;
pub mod change;
pub mod decision;
pub mod definition;
pub mod delegation;
pub mod egress;
pub mod entropy;
pub mod event;
pub mod glass;
pub mod id;
pub mod impact;
pub mod inbox;
pub mod json;
pub mod mention;
pub mod operations;
pub mod page;
pub mod refusal;
pub mod scope;
pub mod target;
pub mod time;
pub mod token;
pub mod webhook;
