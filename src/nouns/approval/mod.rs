//! Approvals: parked calls that people decide. One mechanism serves every operation; an approved call is carried out in the
//! transaction of the decision that completes it.

pub mod decide;
pub mod effect;
pub mod explain;
pub mod list;
mod notices;
mod request;
mod resource;
pub mod shown;
pub mod withdraw;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::approvals::Approval;
use types::refusal::{Refusal, Stop};

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

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneApproval {
    /// The approval's id.
    #[arg(value_name = "APPROVAL")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Approval, Stop> {
    Ok(read.approval(id)?.ok_or_else(Refusal::not_found)?)
}
