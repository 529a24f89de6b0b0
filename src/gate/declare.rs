//! What an operation is, and what follows from its declaration: route, resource, typed input, Cedar schema, API document.

pub mod arguments;
mod behaviour;
pub(super) mod bounds;
pub mod fact;
mod form;
pub(super) mod input;
pub(super) mod json;
pub mod named;
pub mod noun;
pub mod openapi;
pub mod operation;
pub mod resource;
pub(super) mod route;
pub mod schema;
pub(super) mod sentence;
pub mod spec;
pub mod target;
