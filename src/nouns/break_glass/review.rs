//! Reviews a grant: somebody other than its holder judges whether it was justified.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BREAK_GLASS;
use super::{ShownGrant, find, shown};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::break_glass::events::BreakGlassReviewed;
use store::break_glass::{BreakGlass, GrantReview};
use types::break_glass::BreakGlassVerdict;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// What a reviewer says.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewReview {
    pub id: String,
    pub verdict: BreakGlassVerdict,
    /// At most 1000 characters.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    pub note: String,
}

/// Review a break-glass grant.
pub enum Review {}

impl Change for Review {
    const SPEC: Spec = Spec {
        name: "break_glass.review",
        doc: "Review a break-glass grant: say whether its uses were justified. Ends the grant if it is still open.",
        scope: Reach::Full,
        route: post("/policy/break-glass/{id}/review").denied_as(Code::NotApprover),
        about: &[&BREAK_GLASS],
        events: &[BreakGlassReviewed::KIND],
    };
    const SAYS: &'static str = "reviews the break-glass grant {id}: {verdict}";
    type Input = NewReview;
    type Output = ShownGrant;

    fn target(input: &NewReview, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.break_glass_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: NewReview, draft: &mut Draft<'_>) -> Result<ShownGrant, Stop> {
        let NewReview { id, verdict, note } = input;
        let (break_glass, now) = (find(&id, draft.read())?, draft.now());
        if note.chars().count() > 1000 {
            return Err(Refusal::field("note", "must have at most 1000 characters").into());
        }
        if let Some(review) = &break_glass.review {
            return Err(
                Refusal::conflict(draft.read().veiled(&format!("{} has reviewed it already", review.by))).into()
            );
        }
        let (id, holder) = (break_glass.id.clone(), break_glass.holder.clone());
        draft.record(BreakGlassReviewed { id, holder, verdict, note: note.clone() })?;
        let review = Some(GrantReview { by: permit.actor(), verdict, note, at: now });
        Ok(shown(BreakGlass { review, ..break_glass }, now))
    }
}
