//! The HTTP face: a router made from the list of operations, one dispatcher for all of them, and the limits that keep
//! one client from hurting another. It decides nothing; the gate does.

mod body;
mod connections;
mod dispatch;
mod face;
pub mod framing;
mod gather;
mod hosts;
mod limits;
mod pace;
pub mod proxies;
mod reply;
mod rest;
mod router;
mod serve;
mod stream;
mod version;
mod web;

pub use hosts::Hosts;
pub use limits::Limits;
pub use proxies::Proxies;
pub use router::router;
pub use serve::{Front, serve};
pub use web::is_built;
