//! Delegations: somebody lets another act on their behalf. Under one, only what both of them may do is allowed, and only as
//! far as it was handed on; the gate sees to that at each call, so nothing here decides what a delegation is good for.

mod budget;
mod grant;
mod list;
mod narrow;
mod resource;
mod revoke;
mod shown;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::gate::{Entry, Reader};
use crate::store::delegations::Delegation;
use crate::types::refusal::{Refusal, Stop};

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

#[derive(Deserialize, JsonSchema)]
pub struct OneDelegation {
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Delegation, Stop> {
    Ok(read.delegation(id)?.ok_or_else(Refusal::not_found)?)
}
