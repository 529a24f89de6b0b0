//! Delegations: somebody lets another act on their behalf. A call under a delegation is allowed only if both of them may make
//! it and the delegation's scope covers it. The gate checks that at each call; nothing in this folder does.

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
