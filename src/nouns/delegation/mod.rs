//! Delegations: somebody lets another act on their behalf. Under one, only what both of them may do is allowed, and only as
//! far as it was handed on; the gate sees to that at each call, so nothing here decides what a delegation is good for.

pub mod budget;
pub mod grant;
pub mod list;
mod narrow;
mod resource;
pub mod revoke;
pub mod shown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::delegations::Delegation;
use types::refusal::{Refusal, Stop};

pub(super) use revoke::end_all_of;

pub use resource::DELEGATION;

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::query::<list::Show>(),
    Entry::change::<grant::Grant>(),
    Entry::change::<revoke::Revoke>(),
    Entry::change::<budget::Reserve>(),
    Entry::change::<budget::Settle>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneDelegation {
    /// The delegation.
    #[arg(value_name = "DELEGATION")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Delegation, Stop> {
    Ok(read.delegation(id)?.ok_or_else(Refusal::not_found)?)
}
