//! The state file and the files beside it: opening, the owner lock, keys, room on the disk, and whether the tables
//! match the log.

pub(super) mod begin;
pub mod difference;
pub(super) mod guard;
pub mod keys;
pub mod lock;
pub mod open;
pub(super) mod options;
pub mod refold;
pub mod rekey;
pub(super) mod reserve;
pub(super) mod room;
pub(super) mod soundness;
pub mod vault;
