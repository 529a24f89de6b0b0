//! The HTTP API, a file per noun.
mod actors;
mod approvals;
mod audit;
mod bad_input;
mod company;
mod events;
mod explain;
mod forget;
mod idempotency;
mod inbox;
mod kill;
mod matrix;
mod me;
mod offboard;
mod storm;
mod tick;
mod tokens;
