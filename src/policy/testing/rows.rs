//! The rows of a test file: who and what there is in its small company.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::file::Fixture;
use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::delegation::Authority;
use crate::types::id::ActorId;
use crate::types::time::Time;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    pub id: ActorId,
    pub lead: Option<ActorId>,
    /// The team above it.
    pub team: Option<ActorId>,
}

/// A person or an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub id: ActorId,
    #[serde(default = "person")]
    pub kind: ActorKind,
    pub role: Option<Role>,
    pub team: Option<ActorId>,
    pub owner: Option<ActorId>,
    pub trust: Option<Trust>,
    #[serde(default)]
    pub offboarded: bool,
}

const fn person() -> ActorKind {
    ActorKind::Person
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    pub id: String,
    pub holder: ActorId,
}

/// A call that waits. Who may decide it is given here, not worked out from `approvals.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    pub id: String,
    pub requester: ActorId,
    pub operation: String,
    #[serde(default)]
    pub approvers: Vec<ActorId>,
    /// On whose behalf it was asked.
    #[serde(default)]
    pub behalf: Vec<ActorId>,
    /// Who issued the token that it was asked with, where that is not the requester.
    pub issuer: Option<ActorId>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its number; a case names it as `event:<number>`.
    pub id: i64,
    pub kind: String,
    pub actor: Option<ActorId>,
    #[serde(default)]
    pub subjects: Vec<ActorId>,
}

/// A proposal on its way into force.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub id: String,
    pub author: ActorId,
    /// What it is to: the policies unless given.
    pub target: Option<ChangeTarget>,
    /// Where it stands: proposed unless given.
    pub state: Option<ChangeState>,
    #[serde(default)]
    pub reviewed: bool,
    /// How many others could review it.
    #[serde(default)]
    pub peers: u32,
    /// On whose behalf it was proposed.
    #[serde(default)]
    pub behalf: Vec<ActorId>,
    /// Who issued the token that it was proposed with, where that is not the author.
    pub issuer: Option<ActorId>,
    /// Who may decide a request about it that waits.
    #[serde(default)]
    pub approvers: Vec<ActorId>,
}

/// What somebody lets another do on their behalf.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub id: String,
    pub from: ActorId,
    pub to: ActorId,
    /// Everything unless given.
    pub scope: Option<BTreeSet<String>>,
    /// `act` unless given.
    pub authority: Option<Authority>,
    #[serde(default)]
    pub tools: BTreeSet<String>,
    /// The delegation that its giver acted under: a row before this one.
    pub parent: Option<String>,
    /// Its budget is used up.
    #[serde(default)]
    pub exhausted: bool,
    /// Its end: never unless given.
    pub expires_at: Option<Time>,
}

/// A place outside to which things are told.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub id: String,
    pub owner: ActorId,
    pub host: String,
}

/// What lets somebody go on without approval for a while.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakGlass {
    pub id: String,
    pub holder: ActorId,
    /// How many admins there are beside the holder.
    #[serde(default)]
    pub peers: u32,
    /// Who issued the token that it was opened with, where that is not the holder.
    pub issuer: Option<ActorId>,
}

impl Fixture {
    /// What in it cannot be, with the list and the id that it is about.
    pub(super) fn problem(&self) -> Option<(&'static str, &str, String)> {
        let teams: BTreeSet<&ActorId> = self.teams.iter().map(|team| &team.id).collect();
        let members: BTreeSet<&ActorId> = self.actors.iter().map(|member| &member.id).collect();
        let ids = self.teams.iter().map(|team| &team.id).chain(self.actors.iter().map(|member| &member.id));
        let mut seen = BTreeSet::new();
        for id in ids {
            if !seen.insert(id) {
                return Some(("actors", id.as_str(), format!("`{id}` is there twice")));
            }
        }
        for team in &self.teams {
            let missing =
                team.lead.iter().find(|id| !members.contains(*id)).or(team.team.iter().find(|id| !teams.contains(*id)));
            if !team.id.is_team() {
                return Some((
                    "teams",
                    team.id.as_str(),
                    format!("`{}` is not a team's id: write team:<name>", team.id),
                ));
            }
            if let Some(missing) = missing {
                return Some(("teams", team.id.as_str(), format!("`{}` names `{missing}`, who is not there", team.id)));
            }
        }
        for member in &self.actors {
            let missing = member
                .team
                .iter()
                .find(|id| !teams.contains(*id))
                .or(member.owner.iter().find(|id| !members.contains(*id)));
            if member.id.is_team()
                || member.kind == ActorKind::Team
                || ["server", "visitor"].contains(&member.id.as_str())
            {
                return Some(("actors", member.id.as_str(), format!("`{}` cannot be a person or an agent", member.id)));
            }
            if let Some(missing) = missing {
                return Some((
                    "actors",
                    member.id.as_str(),
                    format!("`{}` names `{missing}`, who is not there", member.id),
                ));
            }
        }
        let rows = [
            ("delegations", Delegation::problem(&self.delegations, &members)),
            ("tokens", Token::problem(&self.tokens, &members)),
            ("webhooks", Webhook::problem(&self.webhooks, &members)),
            ("break_glass", BreakGlass::problem(&self.break_glass, &members)),
        ];
        rows.into_iter().find_map(|(list, found)| found.map(|(id, problem)| (list, id, problem)))
    }
}

impl Token {
    /// The first that somebody holds who is not there.
    pub(super) fn problem<'a>(rows: &'a [Token], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let stranger = rows.iter().find(|row| !members.contains(&row.holder));
        stranger.map(|row| (row.id.as_str(), format!("`{}` is held by `{}`, who is not there", row.id, row.holder)))
    }
}

impl BreakGlass {
    /// The first that somebody holds who is not there.
    fn problem<'a>(rows: &'a [BreakGlass], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let stranger = rows.iter().find(|row| !members.contains(&row.holder));
        stranger.map(|row| (row.id.as_str(), format!("`{}` is held by `{}`, who is not there", row.id, row.holder)))
    }
}

impl Webhook {
    /// The first that belongs to somebody who is not there.
    pub(super) fn problem<'a>(rows: &'a [Webhook], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let stranger = rows.iter().find(|row| !members.contains(&row.owner));
        stranger.map(|row| (row.id.as_str(), format!("`{}` belongs to `{}`, who is not there", row.id, row.owner)))
    }
}

impl Delegation {
    /// What in these cannot be, with the id that it is about: a row rests on rows before it.
    pub(super) fn problem<'a>(rows: &'a [Delegation], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let mut before = BTreeSet::new();
        for row in rows {
            let missing = [&row.from, &row.to].into_iter().find(|id| !members.contains(id)).map(ActorId::to_string);
            let missing = missing.or_else(|| row.parent.clone().filter(|parent| !before.contains(parent)));
            if let Some(missing) = missing {
                return Some((&row.id, format!("`{}` names `{missing}`, which is not there before it", row.id)));
            }
            before.insert(row.id.clone());
        }
        None
    }

    /// Of everything, in one's own right, without an end.
    pub fn whole(id: String, from: ActorId, to: ActorId) -> Delegation {
        let (scope, authority, tools) = (None, None, BTreeSet::new());
        Delegation { id, from, to, scope, authority, tools, parent: None, exhausted: false, expires_at: None }
    }
}
