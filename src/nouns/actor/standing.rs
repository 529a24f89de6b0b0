//! Updates an actor: a person's role, a team's lead, an agent's owner, and anybody's team and name.

use std::ops::Not;

use clap::ArgGroup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::has_not_left;
use super::joining::Known;
use super::resource::{ACTOR, TEAM};
use crate::{given, token};
use gate::{Change, Draft, Entry, Permit, Reader, Spec, Target, patch};
use store::actors::Actor;
use store::actors::events::{ActorRenamed, LeadChanged, OwnerChanged, RoleChanged, TeamChanged};
use store::approvals::events::ApprovalTokenRevoked;
use store::event::Event;
use store::tokens::events::TokenRevoked;
use types::actor::{ActorKind, Role};
use types::id::ActorId;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;
use types::visible::{NO_NAME, is_name};

pub const ALL: &[Entry] = &[Entry::change::<Update>()];

/// What is to be otherwise. What is absent stays as it is.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
#[group(skip)]
#[command(group = ArgGroup::new("new").required(true).multiple(true).args(["role", "team", "no_team", "name", "lead", "no_lead", "owner"]))]
pub struct NewStanding {
    /// The person's, agent's or team's id.
    pub id: ActorId,
    /// For a person: the new role.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Role")]
    #[arg(long, value_parser = Role::of_people())]
    pub role: Option<Role>,
    /// The new team; for a team, its new parent.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ActorId")]
    #[arg(long)]
    pub team: Option<ActorId>,
    /// Remove from the team.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[schemars(extend("x-empties" = "team"))]
    #[arg(long, conflicts_with = "team")]
    pub no_team: bool,
    /// The new name; 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("x-erasable" = true))]
    #[arg(long)]
    pub name: Option<String>,
    /// For a team: the new lead.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ActorId")]
    #[arg(long, value_name = "ID")]
    pub lead: Option<ActorId>,
    /// For a team: remove the lead.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[schemars(extend("x-empties" = "lead"))]
    #[arg(long, conflicts_with = "lead")]
    pub no_lead: bool,
    /// For an agent: the new owner.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ActorId")]
    #[arg(long, value_name = "ID")]
    pub owner: Option<ActorId>,
    /// When removing the admin role: keep the tokens that they issued for others; by default these are revoked.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[arg(long, requires = "role")]
    pub keep_issued: bool,
}

/// An actor as it is now.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    #[serde(flatten)]
    pub actor: Actor,
    /// Holders of tokens that were revoked because their issuer is no longer an admin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issued_revoked: Vec<ActorId>,
    /// Teams that the person still leads and decides for, though no longer an admin or a lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_leads: Vec<ActorId>,
}

/// Update an actor.
pub enum Update {}

impl Change for Update {
    const SPEC: Spec = Spec {
        name: "actor.update",
        doc: "Change a person's role, anybody's team or name, a team's lead, or an agent's owner. When somebody \
              stops being an admin, the tokens that they issued for others, except for their own agents, are revoked, unless \
              `keep_issued` is set.",
        scope: Reach::Full,
        route: patch("/actors/{id}"),
        about: &[&ACTOR, &TEAM],
        events: &[
            RoleChanged::KIND,
            TeamChanged::KIND,
            ActorRenamed::KIND,
            LeadChanged::KIND,
            OwnerChanged::KIND,
            TokenRevoked::KIND,
            ApprovalTokenRevoked::KIND,
        ],
    };
    const SAYS: &'static str = "changes {id}[: role {role}][: team {team}]{no_team?: no team|}[: lead {lead}]{no_lead?: no lead|}[: owner {owner}]{keep_issued?, and keeps the tokens that they issued|}";
    type Input = NewStanding;
    type Output = Updated;

    fn target(input: &NewStanding, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.id)?;
        Ok(Target::Actor(input.id.clone()))
    }

    fn run(permit: Permit<Self>, input: NewStanding, draft: &mut Draft<'_>) -> Result<Updated, Stop> {
        let read = draft.read();
        let before = read.actor(&input.id)?.actor.clone();
        has_not_left(&before)?;
        let problems = input.problems(&before, read);
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let keep = input.keep_issued;
        let after = input.of(&before);
        stays_governed(&after, read)?;
        let issued_revoked = match before.role == Role::Admin && after.role != Role::Admin {
            true => token::end_issued(&before.id, keep, &owned_by(&before.id, read), &permit, draft)?,
            false => Vec::new(),
        };
        events(&before, &after).into_iter().try_for_each(|event| draft.record(event))?;
        let still_leads = match before.role != after.role && !matches!(after.role, Role::Admin | Role::Lead) {
            true => draft.read().led_by(&after.id).map(|team| team.actor.id.clone()).collect(),
            false => Vec::new(),
        };
        Ok(Updated { actor: after, issued_revoked, still_leads })
    }
}

impl NewStanding {
    fn problems(&self, before: &Actor, read: &Reader<'_>) -> Vec<String> {
        let known = Known::of(read);
        let is = |id: &Option<ActorId>, kind: ActorKind| id.as_ref().is_none_or(|id| known.is(id, kind));
        let is_team = before.kind == ActorKind::Team;
        let leads = self.lead.is_some() || self.no_lead;
        let places = self.team.is_some() || self.no_team || leads || self.owner.is_some();
        let changes = places || self.role.is_some() || self.name.is_some();
        let above = self.team.as_ref().and_then(|team| read.card(team).map(|card| (team, read.teams(card))));
        let is_loop = above.is_some_and(|(team, above)| *team == before.id || above.contains(&before.id));
        let keeps = before.role == Role::Admin && self.role.is_some_and(|role| role != Role::Admin);
        let rules = [
            (changes, "specify at least one change: role, team, name, lead or owner"),
            (
                self.role.is_none_or(|role| role.is_for(before.kind)),
                "role: people have any role but an agent's, agents only their own, teams none",
            ),
            (is(&self.team, ActorKind::Team), "team: there is no such team"),
            (!is_loop, "team: a team cannot be below itself"),
            (self.team.is_none() || !self.no_team, "no_team: name a team or none, not both"),
            (self.name.as_ref().is_none_or(|name| is_name(name)), NO_NAME),
            (is(&self.lead, ActorKind::Person), "lead: there is no such person"),
            (!leads || is_team, "lead: only a team has a lead"),
            (self.lead.is_none() || !self.no_lead, "no_lead: name a lead or none, not both"),
            (is(&self.owner, ActorKind::Person), "owner: there is no such person"),
            (self.owner.is_none() || before.kind.is_agent(), "owner: only an agent has an owner"),
            (!self.keep_issued || keeps, "keep_issued: only for an admin's new role, which would revoke these tokens"),
        ];
        rules.into_iter().filter(|(fine, _)| !fine).map(|(_, problem)| problem.to_owned()).collect()
    }

    /// Returns the actor with the update applied.
    fn of(self, before: &Actor) -> Actor {
        let role = self.role.unwrap_or(before.role);
        let kept =
            |new: Option<ActorId>, none: bool, old: &Option<ActorId>| new.or_else(|| old.clone().filter(|_| !none));
        Actor {
            name: self.name.unwrap_or_else(|| before.name.clone()),
            role,
            admin: role == Role::Admin,
            team: kept(self.team, self.no_team, &before.team),
            lead: kept(self.lead, self.no_lead, &before.lead),
            owner: self.owner.or_else(|| before.owner.clone()),
            ..before.clone()
        }
    }
}

/// Tests whether an actor is an agent of this owner, who issues its tokens whatever role they have.
fn owned_by<'a>(owner: &'a ActorId, read: &'a Reader<'_>) -> impl Fn(&ActorId) -> bool + 'a {
    move |id| read.card(id).is_some_and(|card| card.actor.owner.as_ref() == Some(owner))
}

/// Returns the events for what changed; none if nothing did.
fn events(before: &Actor, after: &Actor) -> Vec<Event> {
    let id = || after.id.clone();
    let role = (before.role != after.role).then(|| RoleChanged { id: id(), from: before.role, to: after.role });
    let team = (before.team != after.team).then(|| {
        let (from, to) = (before.team.clone(), after.team.clone());
        TeamChanged { id: id(), from, to }
    });
    let name = (before.name != after.name).then(|| ActorRenamed { id: id(), name: after.name.clone() });
    let lead = (before.lead != after.lead).then(|| LeadChanged { id: id(), lead: after.lead.clone() });
    let owner = after.owner.clone().filter(|_| before.owner != after.owner);
    let owner = owner.map(|owner| OwnerChanged { id: id(), owner });
    let all = [role.map(Event::from), team.map(Event::from), name.map(Event::from), lead.map(Event::from)];
    all.into_iter().chain([owner.map(Event::from)]).flatten().collect()
}

/// Checks that, after the change, an admin is left who can release kill switches, and enough people who can approve.
pub(super) fn stays_governed(after: &Actor, read: &Reader<'_>) -> Result<(), Refusal> {
    let company = read.supposing([after]);
    let then = read.in_past(&company);
    if read.free_admins().next().is_some() && then.free_admins().next().is_none() {
        return Err(Refusal::new(Code::LastAdmin, "no admin would be left"));
    }
    match read.kind_that_lacks(&then) {
        Some(kind) => {
            let message = format!("too few people would be left to give the approval `{kind}`");
            Err(Refusal::new(Code::LastApprover, message))
        }
        None => Ok(()),
    }
}
