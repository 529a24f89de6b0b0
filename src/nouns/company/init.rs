//! Creates a company, with its first admin and the contents of a blueprint.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::COMPANY;
use crate::actor::joining::{Known, NewActor, joined};
use crate::blueprint;
use crate::token::{IssuedToken, issue};
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::actors::events::{ActorAdded, ActorHired};
use store::blueprints::events::BlueprintInstalled;
use store::company::events::CompanyUpdated;
use store::policies::events::PolicyApplied;
use store::tokens::events::TokenIssued;
use types::actor::{ActorKind, Role};
use types::id::ActorId;
use types::refusal::{Code, Refusal, Stop};
use types::scope::{Reach, Scopes};
use types::time::DAY;

/// Who the first admin will be, and what the company begins with.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct FirstAdmin {
    pub id: ActorId,
    /// A blueprint that the company begins with.
    pub blueprint: Option<blueprint::ChosenBlueprint>,
}

/// A company with its first token.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    #[serde(flatten)]
    pub token: IssuedToken,
    /// What the blueprint came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blueprint: Option<blueprint::Installed>,
}

/// Name the first admin.
pub enum Init {}

impl Change for Init {
    const SPEC: Spec = Spec {
        name: "company.init",
        doc: "Name the first admin of a company that has none, and issue a first token. Only for the owner of the state file.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server().secret("token"),
        about: &[&COMPANY],
        events: &[
            ActorAdded::KIND,
            TokenIssued::KIND,
            ActorHired::KIND,
            CompanyUpdated::KIND,
            PolicyApplied::KIND,
            BlueprintInstalled::KIND,
        ],
    };
    const SAYS: &'static str = "creates the company";
    type Input = FirstAdmin;
    type Output = Begun;

    fn target(_: &FirstAdmin, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: FirstAdmin, draft: &mut Draft<'_>) -> Result<Begun, Stop> {
        let read = draft.read();
        if read.admins() > 0 {
            return Err(Refusal::new(Code::Conflict, "the company has an admin already").into());
        }
        if input.id.is_team() || input.id.is_reserved() || read.card(&input.id).is_some() {
            return Err(Refusal::field("admin", format!("{} cannot become the first admin", input.id)).into());
        }
        let (kind, role) = (ActorKind::Person, Some(Role::Admin));
        let (name, team, lead, owner, skills) = (None, None, None, None, Vec::new());
        let admin = NewActor { id: input.id.clone(), kind, name, role, team, lead, owner, skills, trust: None };
        let admin = admin.actor(&input.id, read);
        draft.record(joined(&admin))?;
        let known = Known { read, more: [(input.id.clone(), admin)].into() };
        let begin = |asked: &blueprint::ChosenBlueprint| blueprint::began(asked, &input.id, known, draft);
        let blueprint = input.blueprint.as_ref().map(begin).transpose()?;
        let token = issue(draft, input.id, "first token".into(), Scopes::new(), 30 * DAY)?;
        Ok(Begun { token, blueprint })
    }
}
