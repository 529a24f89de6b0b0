//! Who is calling, and what their token reaches: credentials, scopes, delegations, limits, and places for long work.

pub mod admission;
pub(super) mod chain;
pub(super) mod lanes;
pub mod limiter;
pub mod rate;
pub(super) mod scope;
pub mod shares;
pub(super) mod tokens;
