//! Opens a break-glass grant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ShownGrant, shown};
use crate::actor::resource::ACTOR;
use crate::{actor, scope};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::break_glass::BreakGlass;
use store::break_glass::events::BreakGlassOpened;
use types::id::{ActorId, Kind};
use types::operations::Operations;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

const MINUTE: i64 = 60_000;
/// The maximum duration of a grant.
const LONGEST: u32 = 240;

/// What must be done without waiting.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewGrant {
    /// The operations that it is for, such as `actor.offboard`, `actor.*` or `change`.
    pub scope: Operations,
    /// Why it cannot wait; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
    /// How long: 1 to 240 minutes, 30 by default.
    #[schemars(range(min = 1, max = 240))]
    pub minutes: Option<u32>,
}

/// Open a break-glass grant.
pub enum Open {}

impl Change for Open {
    const SPEC: Spec = Spec {
        name: "break_glass.open",
        doc: "Open a break-glass grant: proceed without approval for a short time. The approvers who are bypassed are \
              notified, and somebody else reviews the grant.",
        scope: Reach::Full,
        route: post("/policy/break-glass").created(),
        about: &[&ACTOR],
        events: &[BreakGlassOpened::KIND],
    };
    const SAYS: &'static str = "opens break-glass for {scope}";
    type Input = NewGrant;
    type Output = ShownGrant;

    /// The caller: a grant is for nobody else.
    fn target(_: &NewGrant, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Actor(read.caller().actor()))
    }

    fn run(permit: Permit<Self>, input: NewGrant, draft: &mut Draft<'_>) -> Result<ShownGrant, Stop> {
        let NewGrant { scope: operations, reason, minutes } = input;
        let (me, read) = (permit.actor(), draft.read());
        actor::reason(&reason)?;
        let minutes = minutes.unwrap_or(30);
        if !(1..=LONGEST).contains(&minutes) {
            return Err(Refusal::field("minutes", format!("must be 1 to {LONGEST}")).into());
        }
        if let Some(problem) = scope::problem(&operations, read) {
            return Err(Refusal::invalid(vec![problem]).into());
        }
        if let Some(before) = read.unreviewed_grant_of(&me) {
            let message = format!("{} has not been reviewed yet; until then there is no other", before.id);
            return Err(Refusal::conflict(message).into());
        }
        let (id, now) = (draft.new_id(Kind::BreakGlass), draft.now());
        let expires_at = now.plus_ms(i64::from(minutes) * MINUTE);
        let (issuer, review) = (draft.read().caller().issuer.clone(), None);
        let grant =
            BreakGlass { id, holder: me, issuer, operations, reason, created_at: now, expires_at, uses: 0, review };
        draft.record(BreakGlassOpened {
            id: grant.id.clone(),
            operations: grant.operations.clone(),
            reason: grant.reason.clone(),
            expires_at,
            notified: reviewers(&grant, draft.read()),
            issuer: grant.issuer.clone(),
        })?;
        Ok(shown(grant, now))
    }
}

/// Returns who may review the grant; they are notified at once.
fn reviewers(grant: &BreakGlass, read: &Reader<'_>) -> Vec<ActorId> {
    let about = read.break_glass_target(grant);
    read.people_who_may("break_glass.review", &about, &grant.holder)
}
