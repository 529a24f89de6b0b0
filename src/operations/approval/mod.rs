//! Approvals: parked calls that people decide. One mechanism for every operation; what was approved is carried out in
//! the transaction of the decision that completes it.

mod decide;
mod explain;
mod list;
mod notices;
mod request;
mod resource;
mod shown;
mod withdraw;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::gate::{Entry, Reader};
use crate::store::approvals::Approval;
use crate::types::refusal::{Refusal, Stop};

pub(super) use notices::due;
pub(super) use request::open_request;

pub use resource::APPROVAL;

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::query::<list::Show>(),
    Entry::query::<explain::Explain>(),
    Entry::change::<decide::Decide>(),
    Entry::change::<withdraw::Withdraw>(),
];

#[derive(Deserialize, JsonSchema)]
pub struct OneApproval {
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Approval, Stop> {
    Ok(read.approval(id)?.ok_or_else(Refusal::not_found)?)
}
