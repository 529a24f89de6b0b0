//! Ends a grant before it expires.

use super::BREAK_GLASS;
use super::{OneGrant, ShownGrant, find, shown};
use gate::{Change, Draft, Permit, Reader, Spec, Target, delete};
use store::break_glass::BreakGlass;
use store::break_glass::events::BreakGlassEnded;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// End a break-glass grant.
pub enum End {}

impl Change for End {
    const SPEC: Spec = Spec {
        name: "break_glass.end",
        doc: "End a break-glass grant at once. It still has to be reviewed.",
        scope: Reach::Full,
        route: delete("/policy/break-glass/{id}").stops().denied_as(Code::NotOwner),
        about: &[&BREAK_GLASS],
        events: &[BreakGlassEnded::KIND],
    };
    const SAYS: &'static str = "ends the break-glass grant {id}";
    type Input = OneGrant;
    type Output = ShownGrant;

    fn target(input: &OneGrant, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.break_glass_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneGrant, draft: &mut Draft<'_>) -> Result<ShownGrant, Stop> {
        let (break_glass, now) = (find(&input.id, draft.read())?, draft.now());
        if now >= break_glass.expires_at || break_glass.review.is_some() {
            return Err(Refusal::conflict(format!("{} has ended already", break_glass.id)).into());
        }
        draft.record(BreakGlassEnded { id: break_glass.id.clone(), holder: break_glass.holder.clone() })?;
        Ok(shown(BreakGlass { expires_at: now, ..break_glass }, now))
    }
}
