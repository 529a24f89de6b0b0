//! The append-only truth. Bytes are serialised once, stored, and hashed as stored (docs/concepts/log-format.md).
//! `verify` shares no code with the rest: it could not find a fault that it had itself.

pub mod append;
pub mod checkpoint;
pub mod export;
pub mod follow;
pub mod head;
pub mod idem;
pub mod index;
pub mod journal;
pub mod proof;
pub mod published;
pub mod read;
pub mod record;
pub mod tree;
pub mod verify;
