//! The narrow waist. Everything that the product does is an operation, and `Gate::perform` is the only way to one: it
//! admits the caller, asks the policy, runs the operation in the log's transaction, and answers only what is durable.

pub mod admit;
mod again;
pub mod change;
pub mod draft;
pub mod facts;
pub mod fixture;
mod guard;
pub mod hold;
pub mod impact;
pub mod inquiry;
mod likeness;
pub mod limiter;
pub mod lock;
mod note;
pub mod open;
pub mod openapi;
pub mod operation;
pub mod past;
pub mod perform;
pub mod permit;
pub mod pool;
pub mod queue;
pub mod rate;
pub mod reader;
pub mod redeem;
pub mod refold;
pub mod replay;
pub mod rule;
pub mod schema;
pub mod target;
pub mod trial;
pub mod whatif;
pub mod workshop;
pub mod world;
pub mod writer;

pub use crate::log::append::Head;
pub use draft::Draft;
pub use inquiry::Inquiry;
pub use operation::{Change, Decide, Entry, Query, Route, Spec, delete, get, patch, post, put};
pub use perform::{Gate, Reply, Request};
pub use permit::Permit;
pub use reader::Reader;
pub use redeem::Redeemed;
pub use target::{ResourceKind, Target};
pub use whatif::Change as Alteration;
