//! Break-glass: for a short time, one person's calls proceed without the approvals that they need. The approvers who were
//! bypassed are notified, every use is recorded, and the holder gets no further grant until somebody else has reviewed this
//! one. A denial that no approval lifts is not lifted by a grant either.

pub mod end;
pub mod list;
pub mod open;
mod resource;
pub mod review;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::break_glass::BreakGlass;
use types::break_glass::BreakGlassVerdict;
use types::id::{ActorId, Id};
use types::operations::Operations;
use types::refusal::{Refusal, Stop};
use types::time::Time;

pub use resource::BREAK_GLASS;

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::change::<open::Open>(),
    Entry::change::<end::End>(),
    Entry::change::<review::Review>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneGrant {
    /// The grant.
    #[arg(value_name = "GRANT")]
    pub id: String,
}

/// A grant as people see it.
#[derive(Serialize, JsonSchema)]
pub struct ShownGrant {
    pub id: Id,
    pub holder: ActorId,
    /// Who issued the token that opened it, if not the holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<ActorId>,
    pub scope: Operations,
    pub reason: String,
    pub created_at: Time,
    pub expires_at: Time,
    /// Whether calls can still use it.
    pub active: bool,
    /// How many calls used it.
    pub uses: u32,
    /// Somebody else's review; until then its holder gets no other grant.
    pub review: Option<ShownReview>,
}

#[derive(Serialize, JsonSchema)]
pub struct ShownReview {
    pub by: ActorId,
    pub verdict: BreakGlassVerdict,
    pub note: String,
    pub at: Time,
}

fn shown(break_glass: BreakGlass, now: Time) -> ShownGrant {
    let BreakGlass { id, holder, issuer, operations, reason, created_at, expires_at, uses, review } = break_glass;
    let active = now < expires_at && review.is_none();
    let review =
        review.map(|review| ShownReview { by: review.by, verdict: review.verdict, note: review.note, at: review.at });
    ShownGrant { id, holder, issuer, scope: operations, reason, created_at, expires_at, active, uses, review }
}

fn find(id: &str, read: &Reader<'_>) -> Result<BreakGlass, Stop> {
    let break_glass = read.break_glass(id)?.ok_or_else(Refusal::not_found)?;
    if read.may("break_glass.list", &read.break_glass_target(&break_glass)) {
        Ok(break_glass)
    } else {
        Err(Refusal::not_found().into())
    }
}
