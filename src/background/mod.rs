//! What happens by itself. It acts only through the gate, as the server, and is refused and recorded like everybody.

mod call;
pub mod courier;
pub mod egress;
pub mod embeddings;
pub mod mail;
pub mod models;
pub mod runner;
mod thinking;
pub mod tick;
pub mod tools;
pub mod web;
