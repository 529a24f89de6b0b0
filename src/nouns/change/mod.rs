//! Changes: proposals on their way into force. One pipeline, in which every step is an operation of its own: propose, review
//! by somebody else, run the tests, run a canary, promote.

pub mod canary;
mod counted;
pub mod evals;
pub mod list;
pub mod promote;
mod propose;
pub mod reject;
mod resource;
pub mod review;
pub mod shown;
pub mod way_back;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::changes::ProposedChange;
use types::refusal::{Refusal, Stop};
use types::visible::is_blank;

pub use canary::{is_tried, measured};
pub use counted::uncounted;
pub use evals::{prepare as prepare_evals, put_to_tests};
pub use promote::{is_tested, promote};
pub use propose::{Content, NewChange, Proposal, Propose as ProposeChange, adopt, compiled, has_room, propose, whole};
pub use shown::ShownChange;

pub use resource::CHANGE;

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::query::<list::Diff>(),
    Entry::change::<propose::Propose>(),
    Entry::change::<review::Review>(),
    Entry::change::<evals::Evals>(),
    Entry::change::<canary::Canary>(),
    Entry::change::<promote::Promote>(),
    Entry::change::<reject::Reject>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneChange {
    /// The change's id.
    #[arg(value_name = "CHANGE")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<ProposedChange, Stop> {
    Ok(read.change(id)?.ok_or_else(Refusal::not_found)?)
}

/// Returns the files of a change that the caller may see, with the collections in force.
pub fn content(id: &str, read: &Reader<'_>) -> Result<BTreeMap<String, String>, Stop> {
    let change = find(id, read)?;
    if !read.may("change.read", &read.change_target(&change)) {
        return Err(Refusal::not_found().into());
    }
    Ok(read.change_bundle(&change.id)?.files)
}

/// Returns a change that can still be promoted.
fn find_open(id: &str, read: &Reader<'_>) -> Result<ProposedChange, Stop> {
    let change = find(id, read)?;
    if change.state.is_open() {
        return Ok(change);
    }
    Err(Refusal::conflict(format!("the change is {} already", change.state)).into())
}

/// Checks the length of a text.
fn check_text(field: &str, text: &str, least: usize) -> Result<(), Refusal> {
    match if is_blank(text) { 0 } else { text.trim().chars().count() } {
        length if length < least => Err(Refusal::field(field, "must say why")),
        length if length > 1000 => Err(Refusal::field(field, "must have at most 1000 characters")),
        _ => Ok(()),
    }
}
