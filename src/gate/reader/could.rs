//! Who could do something under policies that are not in force: for policies that nobody could change again are refused.
//!
//! Always true: what cannot be told before a call is made, because it depends on its input or on what was done before, counts as
//! what somebody could.

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
use types::actor::{ActorKind, Role, Trust};
use types::caller::{Caller, Channel, Who};
use types::id::ActorId;
use types::time::Time;

/// So many people are asked about, besides the admins, before nobody is said to be found.
const MOST_ASKED: usize = 1_000;
/// For so many of those who need approvals, admins first, is counted who may give them.
const MOST_WAITING: usize = 20;
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

/// An operation, what it is about, and what it is given, where that is known.
type Asked<'a> = (&'a str, &'a Target, Option<&'a Value>);

fn called((operation, target, input): Asked<'_>) -> Call<'_> {
    Call { operation, target, input }
}

impl Reader<'_> {
    /// Who could do something at a time, by any channel, at once or with approvals, if these policies were in force and no kill
    /// switch engaged.
    pub fn who_could(&self, policies: &Arc<Snapshot>, asked: Asked<'_>, at: Time) -> Could {
        let (call, world, own) = (called(asked), self.under(policies), self.caller().channel);
        let by = |channel| Prospect { world: &world, channel, at }.who_could(call);
        let first = by(own);
        let tells_channels = policies.looks(call.operation).context.contains("channel");
        let mut others = [Channel::Http, Channel::Cli].into_iter().filter(|other| tells_channels && *other != own);
        if first != Could::Somebody && others.any(|other| by(other) == Could::Somebody) {
            Could::Somebody
        } else {
            first
        }
    }

    /// The same under the policies in force.
    pub fn who_could_now(&self, asked: Asked<'_>) -> Could {
        self.who_could(&self.world.policy, asked, self.now)
    }

    /// Those whom these policies would not deny an operation at a time, admins first, and no more than are looked at.
    pub fn not_denied(&self, policies: &Arc<Snapshot>, asked: Asked<'_>, at: Time) -> Vec<ActorId> {
        let call = called(asked);
        let world = self.under(policies);
        let prospect = Prospect { world: &world, channel: self.caller().channel, at };
        let open = prospect.open_to_callers(call.operation, call.input);
        let found = prospect.everybody().filter(|id| !bars(&prospect.ask(id, call), &open));
        found.take(MOST_WAITING).cloned().collect()
    }

    /// The company, if these policies were in force and no kill switch engaged.
    fn under(&self, policies: &Arc<Snapshot>) -> World {
        let mut world = World { kills: Arc::default(), ..self.world.clone() };
        world.govern(Arc::clone(policies), self.world.stamp.seq);
        world
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
    fn ask(&self, id: &ActorId, call: Call<'_>) -> Ruling {
        question::decide(self.world, &Caller::new(Who::Holder(id.clone()), self.channel), call, self.at)
    }

    fn open_to_callers(&self, operation: &str, input: Option<&Value>) -> OpenToCallers {
        self.world.policy.open_to_callers(operation, input.is_none())
    }

    /// Those who are asked about: the admins first.
    fn everybody(&self) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        let world = self.world;
        let admins: BTreeSet<&ActorId> = world.people.of(&Group::Role(Role::Admin)).collect();
        let others: Vec<&ActorId> = world.people.all().filter(|id| !admins.contains(id)).take(MOST_ASKED).collect();
        admins.into_iter().chain(others)
    }

    fn who_could(&self, call: Call<'_>) -> Could {
        match self.among(self.everybody(), call) {
            // Whoever adds people makes them enough.
            Could::TooFew(kind) if self.could_be_filled(&kind, call.operation) => Could::Somebody,
            Could::Nobody if self.could_once_joined(call) => Could::Somebody,
            could => could,
        }
    }

    fn among<'p>(&self, people: impl Iterator<Item = &'p ActorId>, call: Call<'_>) -> Could {
        let (mut waiting, open) = (Vec::new(), self.open_to_callers(call.operation, call.input));
        for id in people {
            match self.ask(id, call) {
                Ruling::NeedsApproval { kinds, .. } => waiting.push((id, kinds)),
                ruling if bars(&ruling, &open) => {}
                _ => return Could::Somebody,
            }
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
        ["approval.read", "approval.decide"].map(|operation| (operation, self.open_to_callers(operation, None)))
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
            !bars(&self.ask(approver, Call { operation, target: &request, input: None }), open)
        })
    }

    /// Whether somebody could add an actor. A company that is being set up adds them on its own machine.
    fn could_add(&self, target: &Target, input: &Value) -> bool {
        let call = Call { operation: "actor.add", target, input: Some(input) };
        let by = |channel| Prospect { channel, ..*self }.among(self.everybody(), call) == Could::Somebody;
        [self.channel, Channel::Cli].into_iter().any(by)
    }

    /// Whether somebody could add an admin who could do it.
    fn could_once_joined(&self, call: Call<'_>) -> bool {
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
        let mut eligible = eligible.filter(|who| who.lead.is_none());
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
