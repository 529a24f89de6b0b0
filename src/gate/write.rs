//! The only writer: takes a change from the queue to the commit, together with what it records: effects, refusals and
//! waits alike.

pub mod build_cache;
pub mod change;
pub(super) mod decision;
pub(super) mod deny;
pub mod draft;
pub(super) mod follow;
pub(super) mod halt;
pub mod idempotency;
pub(super) mod outbox;
pub mod permit;
pub mod queue;
pub mod record;
pub(super) mod rehearse;
pub(super) mod repeats;
pub mod reply;
pub(super) mod rest;
pub(super) mod settled;
pub(super) mod steps;
pub(super) mod wait;
pub mod work;
pub mod writer;
