//! Who may give an approval: the people whom its rule names at present. Machines never approve, nor does anybody whom a
//! kill switch stops, and nobody approves their own request unless the rule allows it.

use std::collections::{BTreeMap, BTreeSet};

use crate::decide::card::Card;
use crate::decide::index::Group;
use crate::decide::world::World;
use crate::declare::noun::Directory as _;
use policy::approvals::{ApprovalRule, Eligible};
use store::actors::Status;
use types::actor::{ActorKind, Role};
use types::caller::Caller;
use types::effort;
use types::id::ActorId;
use types::time::{HOUR, Time};

/// The requester of an approval.
#[derive(Clone, Copy)]
pub struct Requesting<'a> {
    pub requester: &'a ActorId,
    /// On whose behalf.
    pub behalf: &'a [ActorId],
    /// Who issued the token that it is asked with, where that is not the requester: they could be asking.
    pub issuer: Option<&'a ActorId>,
}

impl<'a> Requesting<'a> {
    /// Somebody's own, with a token that nobody else has had.
    pub fn of(requester: &'a ActorId) -> Requesting<'a> {
        Requesting { requester, behalf: &[], issuer: None }
    }

    pub(crate) fn by(caller: &'a Caller, requester: &'a ActorId, behalf: &'a [ActorId]) -> Requesting<'a> {
        Requesting { requester, behalf, issuer: caller.issuer.as_ref() }
    }
}

/// Everybody who may decide a request that has waited since `since`.
pub fn approvers(
    world: &World,
    rule: &ApprovalRule,
    request: Requesting<'_>,
    since: Time,
    now: Time,
) -> BTreeSet<ActorId> {
    let people = Candidates::of(world, rule, request);
    let all = people.eligible(since, now).flat_map(|who| people.fitting(who)).cloned().collect();
    without_issuer(all, world, rule, request)
}

/// Those who may decide a requester's own request, of each entry of the rule only the first ones: where that many are enough to
/// know, nobody looks at a whole role or team.
pub fn some(
    world: &World,
    rule: &ApprovalRule,
    requester: &ActorId,
    (since, now): (Time, Time),
    most: usize,
) -> BTreeSet<ActorId> {
    let people = Candidates::of(world, rule, Requesting::of(requester));
    people.eligible(since, now).flat_map(|who| people.fitting(who).take(most)).cloned().collect()
}

/// The people whom a rule names, for one request.
struct Candidates<'a> {
    world: &'a World,
    rule: &'a ApprovalRule,
    request: Requesting<'a>,
    requesters_teams: &'a [ActorId],
    /// An agent asks on behalf of its owner.
    owners: Vec<&'a ActorId>,
}

impl<'a> Candidates<'a> {
    fn of(world: &'a World, rule: &'a ApprovalRule, request: Requesting<'a>) -> Candidates<'a> {
        let Requesting { requester, behalf, .. } = request;
        let requesters_teams = world.card(requester).map(|card| world.teams(card)).unwrap_or_default();
        let owner = |id| world.card(id).and_then(|card| card.actor.owner.as_ref());
        let owners = std::iter::once(requester).chain(behalf).filter_map(owner).collect();
        Candidates { world, rule, request, requesters_teams, owners }
    }

    /// The entries that count once a request has waited from one time to the other.
    fn eligible(&self, since: Time, now: Time) -> impl Iterator<Item = &'a Eligible> + use<'a> {
        let escalated = self.rule.escalate.iter();
        let escalated = escalated.filter(move |more| now.0 - since.0 >= i64::from(more.after_hours) * HOUR);
        self.rule.eligible.iter().chain(escalated.flat_map(|more| &more.to))
    }

    /// Those who fit an entry.
    fn fitting(&self, who: &'a Eligible) -> impl Iterator<Item = &'a ActorId> {
        let named = among(self.world, who, self.requesters_teams);
        named.filter(|id| self.world.card(id).is_some_and(|card| self.fits(who.role, card)))
    }

    fn fits(&self, role: Option<Role>, card: &Card) -> bool {
        let actor = &card.actor;
        effort::spend(1);
        actor.kind == ActorKind::Person
            && actor.status == Status::Active
            && !self.world.is_stopped(&actor.id)
            && (self.rule.self_approval || !self.is_own(&actor.id))
            && role.is_none_or(|role| role == actor.role)
    }

    /// Whether the request is somebody's own, in whatever way.
    fn is_own(&self, id: &ActorId) -> bool {
        let Requesting { requester, behalf, .. } = self.request;
        id == requester || behalf.contains(id) || self.owners.contains(&id)
    }
}

/// Whoever issued the token could have asked with it: what an admin asks they do not decide, and what a steward or an agent asks
/// only where there are too few others.
fn without_issuer(
    mut people: BTreeSet<ActorId>,
    world: &World,
    rule: &ApprovalRule,
    Requesting { requester, issuer, .. }: Requesting<'_>,
) -> BTreeSet<ActorId> {
    let Some((issuer, asks)) = issuer.zip(world.card(requester)).filter(|(issuer, _)| people.contains(*issuer)) else {
        return people;
    };
    let is_enough = people.len() > rule.threshold as usize;
    let leaves = match asks.actor.role {
        Role::Admin => true,
        Role::Steward => is_enough,
        _ => asks.actor.owner.is_some() && is_enough,
    };
    if leaves {
        people.remove(issuer);
    }
    people
}

/// Everybody who may give any of these kinds to a new request.
pub(crate) fn of_kinds(world: &World, kinds: &[String], request: Requesting<'_>, now: Time) -> Vec<ActorId> {
    let rules = world.policy.approvals();
    let people: BTreeSet<ActorId> =
        kinds.iter().flat_map(|kind| approvers(world, &rules.rule(kind), request, now, now)).collect();
    people.into_iter().collect()
}

/// So many of those who may give a kind, of each entry of its rule, are asked whether they decide.
const MOST_ASKED: usize = 50;

/// A kind that too few people, of those who decide, may give to a new request of `requester` that takes all of these, however
/// long it waits.
pub(crate) fn lacking<'a>(
    world: &World,
    kinds: &'a [String],
    requester: &ActorId,
    now: Time,
    decides: &dyn Fn(&ActorId) -> bool,
) -> Option<&'a str> {
    let rules: Vec<(&str, ApprovalRule)> =
        kinds.iter().map(|kind| (kind.as_str(), world.policy.approvals().rule(kind))).collect();
    let all: usize = rules.iter().map(|(_, rule)| rule.threshold as usize).sum();
    let mut taken = BTreeMap::new();
    let eligible: Vec<Vec<ActorId>> = rules
        .iter()
        // Whoever could give it to so many kinds is never missed.
        .map(|(_, rule)| {
            let people = some(world, rule, requester, (Time(0), now), all.max(MOST_ASKED)).into_iter();
            people.filter(decides).take(all).collect()
        })
        .collect();
    rules.iter().enumerate().find_map(|(at, (kind, rule))| {
        let wanted = rule.threshold as usize;
        let enough = match rule.distinct {
            true => (0..wanted).all(|_| is_assigned(at, &eligible, &mut taken, &mut BTreeSet::new())),
            false => eligible.get(at).is_some_and(|who| who.len() >= wanted),
        };
        (!enough).then_some(*kind)
    })
}

/// Finds somebody for a kind who gives no other, and gives who has them somebody else where there is one: Kuhn's algorithm for
/// matchings in bipartite graphs.
fn is_assigned<'p>(
    kind: usize,
    eligible: &'p [Vec<ActorId>],
    taken: &mut BTreeMap<&'p ActorId, usize>,
    seen: &mut BTreeSet<&'p ActorId>,
) -> bool {
    for person in eligible.get(kind).into_iter().flatten() {
        if !seen.insert(person) {
            continue;
        }
        let is_free = match taken.get(person).copied() {
            None => true,
            Some(other) if other == kind => false,
            Some(other) => is_assigned(other, eligible, taken, seen),
        };
        if is_free {
            taken.insert(person, kind);
            return true;
        }
    }
    false
}

/// Who may fit an entry of `eligible`, but for their role: as few people as the directory can tell at once.
fn among<'a>(
    world: &'a World,
    who: &'a Eligible,
    requesters_teams: &'a [ActorId],
) -> Box<dyn Iterator<Item = &'a ActorId> + 'a> {
    let lead = |team: &ActorId| world.card(team).and_then(|team| team.actor.lead.as_ref());
    let is_in = move |id: &ActorId, team: &ActorId| {
        lead(team) == Some(id) || world.card(id).is_some_and(|card| world.teams(card).contains(team))
    };
    match (who.lead, &who.team, who.role) {
        (Some(_), team, _) => {
            let leads = requesters_teams.iter().filter_map(lead);
            Box::new(leads.filter(move |id| team.as_ref().is_none_or(|team| is_in(id, team))))
        }
        (None, Some(team), _) => Box::new(world.people.below(team).filter(move |id| is_in(id, team)).chain(lead(team))),
        (None, None, Some(role)) => Box::new(world.people.of(&Group::Role(role))),
        (None, None, None) => Box::new(world.people.all()),
    }
}
