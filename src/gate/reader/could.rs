//! Who could do something under policies that are not in force. It serves to refuse policies that nobody could change
//! again.
//!
//! Always true: what cannot be known before a call is made, because it depends on the call's input or on many earlier
//! calls, counts as something that the actor could do.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Reader;
use crate::approve::approvers;
use crate::decide::index::Group;
use crate::decide::question::{self, Call};
use crate::decide::world::World;
use crate::declare::noun::NEW;
use crate::declare::target::{Target, Thing};
use policy::engine::OpenToCallers;
use policy::{Ruling, Snapshot};
use store::actors::{Actor, Status};
use store::kills::Kill;
use types::actor::{ActorKind, KillScope, Role, Trust};
use types::caller::{Caller, Channel, Who};
use types::history::{Counts, Done, History};
use types::id::ActorId;
use types::time::Time;

/// So many people are asked about, besides the admins, before nobody is said to be found.
const MOST_ASKED: usize = 1_000;
/// For so many of those who need approvals, admins first, is counted who may give them.
const MOST_WAITING: usize = 20;
/// Of so many operations is tried out what somebody could have done before.
const MOST_DONE: usize = 3;
/// Somebody who joins.
const SOMEBODY: &str = "somebody";

/// Who could do something.
#[derive(PartialEq, Eq)]
pub enum Could {
    Somebody,
    Nobody,
    /// Somebody with an approval of a kind that too few people may give, and nobody could add more.
    TooFew(String),
}

/// What somebody would do.
#[derive(Clone, Copy)]
pub struct HypotheticalCall<'a> {
    pub operation: &'a str,
    pub target: &'a Target,
    /// What the operation is given, where that is known.
    pub input: Option<&'a Value>,
    /// The read by which whoever does it has to see the target.
    pub sight: Option<&'a str>,
}

impl<'a> HypotheticalCall<'a> {
    fn call(self) -> Call<'a> {
        Call { operation: self.operation, target: self.target, input: self.input }
    }

    /// The read of the target.
    fn seeing(self) -> Option<HypotheticalCall<'a>> {
        self.sight.map(|operation| HypotheticalCall { operation, input: None, sight: None, ..self })
    }
}

impl Reader<'_> {
    /// Returns who could do something at one of these times, through any channel, at once or with approvals, if these
    /// policies were in force and no kill switch were engaged.
    pub fn who_could(&self, policies: &Arc<Snapshot>, call: HypotheticalCall<'_>, at: &[Time]) -> Could {
        let world = self.under(policies);
        let mut first = None;
        for prospect in self.ways_to_ask(&world, call.operation, at) {
            match prospect.who_could(call) {
                Could::Somebody => return Could::Somebody,
                could => first = first.or(Some(could)),
            }
        }
        first.unwrap_or(Could::Nobody)
    }

    /// Whether somebody could release the kill switch that stops everybody while it is engaged, if these policies were in force.
    /// No approval is decided meanwhile.
    pub fn could_release(&self, policies: &Arc<Snapshot>, release: &Target, at: &[Time]) -> bool {
        let by = self.caller().actor().to_string();
        let engaged = Kill { scope: KillScope::Global, reason: String::new(), by, at: self.now };
        // Nor is anything else done, so what somebody did before is over sooner or later.
        let kills = Arc::new([(KillScope::Global, engaged)].into());
        let world = World { kills, histories: None, ..self.under(policies) };
        let input = json!({ "scope": "global", "off": true, "reason": "" });
        let call = HypotheticalCall { operation: "kill", target: release, input: Some(&input), sight: None };
        self.ways_to_ask(&world, call.operation, at).any(|prospect| prospect.is_open_at_once(call))
    }

    /// The same under the policies in force.
    pub fn could_release_now(&self, release: &Target) -> bool {
        self.could_release(&self.world.policy, release, &[self.now])
    }

    /// Returns the actors whom these policies would not deny an operation at one of these times: admins first, and no
    /// more than are looked at.
    pub fn not_denied(&self, policies: &Arc<Snapshot>, call: HypotheticalCall<'_>, at: &[Time]) -> Vec<ActorId> {
        let world = self.under(policies);
        let mut found = Vec::new();
        for prospect in self.ways_to_ask(&world, call.operation, at) {
            let open = prospect.open_to_callers(call);
            let more = prospect.everybody().filter(|id| !bars(&prospect.ask(id, call), &open)).take(MOST_WAITING);
            more.for_each(|id| {
                if !found.contains(id) {
                    found.push(id.clone())
                }
            });
        }
        found.truncate(MOST_WAITING);
        found
    }

    /// The company, if these policies were in force and no kill switch engaged.
    fn under(&self, policies: &Arc<Snapshot>) -> World {
        let mut world = World { kills: Arc::default(), ..self.world.clone() };
        world.govern(Arc::clone(policies), self.world.stamp.seq);
        world
    }

    /// How somebody would ask: at each of these times, by the reader's channel and, where policies tell them apart, by the others.
    fn ways_to_ask<'a>(
        &self,
        world: &'a World,
        operation: &str,
        at: &'a [Time],
    ) -> impl Iterator<Item = Prospect<'a>> + use<'a> {
        let own = self.caller().channel;
        let tells_channels = world.policy.looks(operation).context.contains("channel");
        let others = [Channel::Http, Channel::Cli].into_iter().filter(move |other| tells_channels && *other != own);
        let channels: Vec<Channel> = std::iter::once(own).chain(others).collect();
        at.iter().flat_map(move |at| channels.clone().into_iter().map(|channel| Prospect { world, channel, at: *at }))
    }
}

/// A company as it could be, at a time.
#[derive(Clone, Copy)]
struct Prospect<'a> {
    world: &'a World,
    channel: Channel,
    at: Time,
}

impl<'a> Prospect<'a> {
    /// The answer to somebody, whatever they did before.
    fn ask(&self, id: &ActorId, call: HypotheticalCall<'_>) -> Ruling {
        let now = self.ask_in(self.world, id, call);
        if !matches!(now, Ruling::Deny { .. }) {
            return now;
        }
        let pasts = pasts(&self.world.policy.looks(call.operation).done, call.operation);
        let mut worlds = pasts.into_iter().map(|past| {
            let counts = past.into_iter().map(|(operation, done)| (operation, Counts::seen(done, self.at))).collect();
            World { histories: Some([(id.clone(), Arc::new(counts))].into_iter().collect()), ..self.world.clone() }
        });
        let otherwise = worlds.find_map(|world| {
            Some(self.ask_in(&world, id, call)).filter(|ruling| !matches!(ruling, Ruling::Deny { .. }))
        });
        otherwise.unwrap_or(now)
    }

    fn ask_in(&self, world: &World, id: &ActorId, call: HypotheticalCall<'_>) -> Ruling {
        question::decide(world, &Caller::new(Who::Holder(id.clone()), self.channel), call.call(), self.at)
    }

    fn open_to_callers(&self, call: HypotheticalCall<'_>) -> OpenToCallers {
        let has_many_pasts = self.world.policy.looks(call.operation).done.len() > MOST_DONE;
        self.world.policy.open_to_callers(call.operation, call.input.is_none(), has_many_pasts)
    }

    /// Whether somebody who has done nothing before could do it without an approval, whatever reason they give.
    fn is_open_at_once(&self, call: HypotheticalCall<'_>) -> bool {
        let policies = &self.world.policy;
        let reasoned = policies.looks(call.operation).reads_input("reason");
        let open = policies.open_to_callers(call.operation, reasoned, false);
        self.everybody().any(|id| match self.ask_in(self.world, id, call) {
            Ruling::NeedsApproval { .. } => false,
            ruling => !bars(&ruling, &open),
        })
    }

    /// Those who are asked about: the admins first.
    fn everybody(&self) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        let world = self.world;
        let admins: BTreeSet<&ActorId> = world.people.of(&Group::Role(Role::Admin)).collect();
        let others: Vec<&ActorId> = world.people.all().filter(|id| !admins.contains(id)).take(MOST_ASKED).collect();
        admins.into_iter().chain(others)
    }

    fn who_could(&self, call: HypotheticalCall<'_>) -> Could {
        match self.among(self.everybody(), call) {
            // Whoever adds people makes them enough.
            Could::TooFew(kind) if self.could_be_filled(&kind, call.operation) => Could::Somebody,
            Could::Nobody if self.could_once_joined(call) => Could::Somebody,
            could => could,
        }
    }

    fn among<'p>(&self, people: impl Iterator<Item = &'p ActorId>, call: HypotheticalCall<'_>) -> Could {
        let (mut waiting, open) = (Vec::new(), self.open_to_callers(call));
        let sight = call.seeing().map(|seeing| (seeing, self.open_to_callers(seeing)));
        let is_blind = |id: &ActorId| sight.as_ref().is_some_and(|(seeing, open)| bars(&self.ask(id, *seeing), open));
        for id in people {
            let ruling = self.ask(id, call);
            if bars(&ruling, &open) || is_blind(id) {
                continue;
            }
            let Ruling::NeedsApproval { kinds, .. } = ruling else { return Could::Somebody };
            waiting.push((id, kinds));
        }
        let (mut lacking, deciding) = (None, self.deciding());
        for (id, kinds) in waiting.into_iter().take(MOST_WAITING) {
            let decides = |approver: &ActorId| self.could_decide(&deciding, approver, (id, call.operation));
            match approvers::lacking(self.world, &kinds, id, self.at, &decides) {
                Some(kind) => lacking = Some(kind.to_owned()),
                None => return Could::Somebody,
            }
        }
        lacking.map_or(Could::Nobody, Could::TooFew)
    }

    /// What it takes to decide a request for approval.
    fn deciding(&self) -> [(&'static str, OpenToCallers); 2] {
        let target = &Target::Company;
        ["approval.read", "approval.decide"].map(|operation| {
            (operation, self.open_to_callers(HypotheticalCall { operation, target, input: None, sight: None }))
        })
    }

    /// Whether somebody may see and decide another's request for approval.
    fn could_decide(
        &self,
        deciding: &[(&'static str, OpenToCallers)],
        approver: &ActorId,
        (requester, operation): (&ActorId, &str),
    ) -> bool {
        let request = Thing::new("Approval", NEW).actor("requester", requester).text("operation", operation);
        let request: Target = request.actors("approvers", [approver.clone()]).actors("behalf", []).into();
        deciding.iter().all(|(operation, open)| {
            let ruling = self.ask(approver, HypotheticalCall { operation, target: &request, input: None, sight: None });
            // What takes an approval itself waits in its turn.
            !matches!(ruling, Ruling::NeedsApproval { .. }) && !bars(&ruling, open)
        })
    }

    /// Whether somebody could add an actor. A company that is being set up adds them on its own machine.
    fn could_add(&self, target: &Target, input: &Value) -> bool {
        let call = HypotheticalCall { operation: "actor.add", target, input: Some(input), sight: None };
        let by = |channel| Prospect { channel, ..*self }.among(self.everybody(), call) == Could::Somebody;
        [self.channel, Channel::Cli].into_iter().any(by)
    }

    /// Whether somebody could add an admin who could do it.
    fn could_once_joined(&self, call: HypotheticalCall<'_>) -> bool {
        let Ok(id) = SOMEBODY.parse::<ActorId>() else { return false };
        let person = json!({ "id": id, "kind": "person", "role": Role::Admin });
        let world = with_admin(self.world, &id, self.at);
        self.could_add(&Target::Company, &person)
            && Prospect { world: &world, ..*self }.among(std::iter::once(&id), call) == Could::Somebody
    }

    /// Whether somebody could add people who may give a kind of approval to an operation.
    fn could_be_filled(&self, kind: &str, operation: &str) -> bool {
        let rule = self.world.policy.approvals().rule(kind);
        let eligible = rule.eligible.iter().chain(rule.escalate.iter().flat_map(|more| &more.to));
        // Only people approve.
        let is_person = |role: Role| role.is_for(ActorKind::Person);
        let mut eligible = eligible.filter(|who| who.lead.is_none() && who.role.is_none_or(is_person));
        let could_add = |who: &policy::approvals::Eligible| {
            let role = who.role.unwrap_or(Role::Member);
            let Some(team) = &who.team else {
                return self.could_add(&Target::Company, &json!({ "id": SOMEBODY, "kind": "person", "role": role }));
            };
            let person = json!({ "id": SOMEBODY, "kind": "person", "role": role, "team": team });
            match self.world.card(team) {
                Some(_) => self.could_add(&Target::Actor(team.clone()), &person),
                None => {
                    self.could_add(&Target::Company, &json!({ "id": team, "kind": "team" }))
                        && self.could_add(&Target::Company, &person)
                }
            }
        };
        eligible.any(could_add) && self.newcomers_decide(operation)
    }

    /// Whether an admin who joins could decide a request of another's.
    fn newcomers_decide(&self, operation: &str) -> bool {
        let Ok(id) = SOMEBODY.parse::<ActorId>() else { return false };
        let world = with_admin(self.world, &id, self.at);
        let requester = self.everybody().next().unwrap_or(&id);
        Prospect { world: &world, ..*self }.could_decide(&self.deciding(), &id, (requester, operation))
    }
}

/// What somebody could have done before, of these operations: each of them never, once, often, or not lately. Of more operations
/// than a few there are too many ways. Whoever may not do `asked` has not done that either.
fn pasts(operations: &BTreeSet<String>, asked: &str) -> Vec<History> {
    let often = u32::MAX / 2;
    let once = Done { hour: 1, day: 1, month: 1, hour_cents: 1, day_cents: 1, month_cents: 1 };
    let long_ago = Done { month: often, month_cents: often, ..Done::default() };
    let lately = Done { hour: often, day: often, hour_cents: often, day_cents: often, ..long_ago };
    if operations.is_empty() || operations.len() > MOST_DONE {
        return Vec::new();
    }
    operations.iter().fold(vec![History::new()], |pasts, operation| {
        let with = |past: &History, done| past.clone().into_iter().chain([(operation.clone(), done)]).collect();
        let ways = [Done::default(), once, lately, long_ago];
        let ways = ways.into_iter().take(if operation == asked { 1 } else { ways.len() });
        ways.flat_map(|done| pasts.iter().map(move |past| with(past, done))).collect()
    })
}

/// Whether an answer is a denial, however the call is made.
fn bars(ruling: &Ruling, open: &OpenToCallers) -> bool {
    matches!(ruling, Ruling::Deny { because, .. } if !open.spare(because))
}

/// The company, with one admin more.
fn with_admin(world: &World, id: &ActorId, now: Time) -> World {
    let mut joined = world.clone();
    joined.put(Actor {
        id: id.clone(),
        kind: ActorKind::Person,
        name: id.to_string(),
        role: Role::Admin,
        team: None,
        lead: None,
        owner: None,
        admin: true,
        skills: Vec::new(),
        trust: Trust::Autonomous,
        status: Status::Active,
        created_at: now,
    });
    joined
}
