//! Who may give an approval: the people whom its rule names, now. Machines never approve, and nobody approves their own
//! request unless the rule says so.

use std::collections::BTreeSet;

use super::world::{Card, World};
use crate::policy::approvals::{ApprovalRule, Pool};
use crate::store::actors::Status;
use crate::types::actor::ActorKind;
use crate::types::id::ActorId;
use crate::types::time::{HOUR, Time};

/// Everybody who may decide a request of `requester`, on behalf of these, that has waited since `since`.
pub(super) fn approvers(
    world: &World,
    rule: &ApprovalRule,
    (requester, behalf): (&ActorId, &[ActorId]),
    since: Time,
    now: Time,
) -> BTreeSet<ActorId> {
    let escalated = rule.escalate.iter().filter(|more| now.0 - since.0 >= i64::from(more.after_hours) * HOUR);
    let pools: Vec<&Pool> = rule.eligible.iter().chain(escalated.flat_map(|more| &more.to)).collect();
    let requesters_teams = world.card(requester).map(|card| card.teams.as_slice()).unwrap_or_default();
    // An agent asks on behalf of who answers for it.
    let owner = |id| world.card(id).and_then(|card| card.actor.owner.as_ref());
    let owners: Vec<&ActorId> = std::iter::once(requester).chain(behalf).filter_map(owner).collect();
    let own = |id: &ActorId| id == requester || behalf.contains(id) || owners.contains(&id);
    let people = world.actors.values().filter(|card| {
        let actor = &card.actor;
        actor.kind == ActorKind::Person
            && actor.status == Status::Active
            && (rule.self_approval || !own(&actor.id))
            && pools.iter().any(|pool| fits(world, pool, card, requesters_teams))
    });
    people.map(|card| card.actor.id.clone()).collect()
}

/// Everybody who may give any of these kinds to a new request.
pub(super) fn of_kinds(world: &World, kinds: &[String], request: (&ActorId, &[ActorId]), now: Time) -> Vec<ActorId> {
    let rules = world.policy.approvals();
    let people: BTreeSet<ActorId> =
        kinds.iter().flat_map(|kind| approvers(world, &rules.rule(kind), request, now, now)).collect();
    people.into_iter().collect()
}

fn fits(world: &World, pool: &Pool, card: &Card, requesters_teams: &[ActorId]) -> bool {
    let id = &card.actor.id;
    let leads = |team: &ActorId| world.card(team).is_some_and(|team| team.actor.lead.as_ref() == Some(id));
    pool.role.is_none_or(|role| role == card.actor.role)
        && pool.team.as_ref().is_none_or(|team| card.teams.contains(team) || leads(team))
        && pool.lead.is_none_or(|_| requesters_teams.iter().any(leads))
}
