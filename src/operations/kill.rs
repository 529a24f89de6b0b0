//! Kill switches: an input of every decision from the moment that they are durable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{Change, Draft, Entry, Permit, Reader, ResourceKind, Spec, Target, post};
use crate::types::actor::KillScope;
use crate::types::event::{Event, EventKind};
use crate::types::id::ActorId;
use crate::types::refusal::{Code, Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::time::Time;

pub const ALL: &[Entry] = &[Entry::change::<Kill>()];

#[derive(Deserialize, JsonSchema)]
pub struct Switch {
    /// `global`, `actor:<id>`, `tool:<id>` or `team:<id>`.
    pub scope: KillScope,
    /// Release it instead of engaging it.
    #[serde(default)]
    pub off: bool,
    /// Why; at most 1000 characters.
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Switched {
    pub scope: KillScope,
    pub engaged: bool,
    pub by: ActorId,
    pub at: Time,
}

/// Engage or release a kill switch.
pub enum Kill {}

impl Change for Kill {
    const SPEC: Spec = Spec {
        name: "kill",
        doc: "Engage a kill switch, or release it with `off`.",
        scope: Reach::Full,
        route: post("/kill").stops(),
        about: &[ResourceKind::KillSwitch],
        events: &[EventKind::KillSwitch],
    };
    const SAYS: &'static str = "{off?releases|engages} the kill switch {scope}";
    type Input = Switch;
    type Output = Switched;

    fn target(input: &Switch, read: &Reader<'_>) -> Result<Target, Stop> {
        if let KillScope::Actor(id) | KillScope::Team(id) = &input.scope {
            read.known(id)?;
        }
        Ok(Target::KillSwitch { scope: input.scope.clone(), engage: !input.off })
    }

    fn run(permit: Permit<Self>, input: Switch, draft: &mut Draft<'_>) -> Result<Switched, Stop> {
        if input.reason.chars().count() > 1000 {
            return Err(Refusal::field("reason", "must have at most 1000 characters").into());
        }
        if !input.off {
            keeps_an_admin(&input.scope, draft.read())?;
        }
        draft.record(Event::KillSwitch { scope: input.scope.clone(), engaged: !input.off, reason: input.reason })?;
        Ok(Switched { scope: input.scope, engaged: !input.off, by: permit.actor(), at: permit.now() })
    }
}

/// Somebody must be left who can release the switch.
fn keeps_an_admin(scope: &KillScope, read: &Reader<'_>) -> Result<(), Refusal> {
    let stopped = |scope: &KillScope, id: &ActorId| match scope {
        KillScope::Actor(actor) => actor == id,
        KillScope::Team(team) => read.card(id).is_some_and(|card| card.teams().contains(team)),
        KillScope::Global | KillScope::Tool(_) => false,
    };
    if read.free_admins().any(|card| !stopped(scope, &card.actor.id)) {
        return Ok(());
    }
    Err(Refusal::new(Code::LastAdmin, "no admin would be left to release it"))
}
