//! Laws that hold whatever happens, tried on what nobody thought of.

mod approvals;
mod approvers;
mod cursors;
mod delegations;
mod equivalence;
mod fold;
mod scopes;
mod tampering;
mod thinking;
mod tokens;

use std::future::Future;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
