//! Reviews a change: somebody other than its author approves it or requests changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CHANGE;
use super::{ShownChange, check_text, find, find_open};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::changes;
use store::changes::events::ChangeReviewed;
use types::caller::Caller;
use types::change::{ChangeState, ReviewVerdict};
use types::id::Id;
use types::refusal::{Code, Stop};
use types::scope::Reach;

/// What a reviewer says.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Said {
    pub id: String,
    pub verdict: ReviewVerdict,
    /// Why; at most 1000 characters, and needed where changes are requested.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    pub note: String,
}

/// Review a change.
pub enum Review {}

impl Change for Review {
    const SPEC: Spec = Spec {
        name: "change.review",
        doc: "Review a change: approve it, or request changes. Authors cannot review their own.",
        scope: Reach::Full,
        route: post("/changes/{id}/review").denied_as(Code::NotApprover),
        about: &[&CHANGE],
        events: &[ChangeReviewed::KIND],
    };
    const SAYS: &'static str = "reviews {id}: {verdict}";
    type Input = Said;
    type Output = ShownChange;

    fn target(input: &Said, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Said, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let mut change = find_open(&input.id, draft.read())?;
        let Caller { issuer, token, .. } = draft.read().caller().clone();
        check_text("note", &input.note, usize::from(input.verdict == ReviewVerdict::RequestChanges))?;
        draft.record(ChangeReviewed {
            id: Id::stored(&change.id),
            author: change.author.clone(),
            verdict: input.verdict,
            note: input.note.clone(),
            issuer: issuer.clone(),
            token_id: token.clone(),
        })?;
        let (by, at, token_id) = (permit.actor(), permit.now(), token.as_ref().map(Id::to_string));
        let Said { verdict, note, .. } = input;
        change.reviews.push(changes::Review { by, verdict, note, at, issuer, token_id });
        if change.state != ChangeState::Canary {
            change.state = if change.is_reviewed(|_| true) { ChangeState::Approved } else { ChangeState::InReview };
        }
        change.updated_at = at;
        Ok(ShownChange::of(change, draft.read())?)
    }
}
