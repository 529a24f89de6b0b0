//! Rejects a change; its author withdraws it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CHANGE;
use super::{ShownChange, check_text, find, find_open};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::changes::events::ChangeRejected;
use types::change::{self, ChangeState};
use types::id::Id;
use types::refusal::{Code, Stop};
use types::scope::{Reach, Scope};

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Rejection {
    /// The change's id.
    #[arg(value_name = "CHANGE")]
    pub id: String,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reason: String,
}

/// Reject a change.
pub enum Reject {}

impl Change for Reject {
    const SPEC: Spec = Spec {
        name: "change.reject",
        doc: "Reject a change, or withdraw one's own.",
        scope: Reach::Scopes(&[Scope::Changes, Scope::Policy]),
        route: post("/changes/{id}/reject").stops().denied_as(Code::NotOwner),
        about: &[&CHANGE],
        events: &[ChangeRejected::KIND],
    };
    const SAYS: &'static str = "rejects {id}";
    type Input = Rejection;
    type Output = ShownChange;

    fn target(input: &Rejection, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Rejection, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let mut change = find_open(&input.id, draft.read())?;
        check_text("reason", &input.reason, 0)?;
        let withdrawn = change.author == permit.actor();
        draft.record(ChangeRejected {
            id: Id::stored(&change.id),
            author: change.author.clone(),
            reason: input.reason.clone(),
            withdrawn,
        })?;
        change.rejection = Some(change::RejectedBy { by: permit.actor(), reason: input.reason, at: permit.now() });
        change.state = if withdrawn { ChangeState::Withdrawn } else { ChangeState::Rejected };
        change.updated_at = permit.now();
        Ok(ShownChange::of(change, draft.read())?)
    }
}
