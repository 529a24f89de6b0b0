//! A question about the gate's answer to somebody's call. The asker may or may not be allowed to see what that answer
//! rests on. The answer can come from the company as it was at an earlier moment; what the asker may see is decided as
//! of now.

mod break_glass;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use cedar_policy::EntityUid;
use serde_json::Value;

use crate::admit::chain;
use crate::approve::approvers::{self, Requesting};
use crate::decide::question::{self, Asker};
use crate::decide::world::World;
use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::reader::Reader;
use policy::{Explanation, Eyes, Giver, Ruling};
use store::actors::Actor;
use types::actor::KillScope;
use types::caller::{Caller, Who};
use types::id::ActorId;
use types::time::Time;

pub use break_glass::BreakGlass;

/// One of those on whose behalf a call would be made, and what they gave.
pub struct Link {
    pub delegation: String,
    pub from: ActorId,
}

/// Somebody's call, as the asker may see it.
pub struct Inquiry<'a> {
    asker: &'a Reader<'a>,
    pub(crate) world: &'a World,
    pub(crate) now: Time,
    pub(crate) caller: Caller,
    pub(crate) operation: &'a str,
    pub(crate) target: &'a Target,
    /// The operation's hypothetical input, as far as the asker gave it.
    pub(crate) input: Option<Value>,
    /// Whom the asker may see, as far as it was asked.
    seen: RefCell<BTreeMap<ActorId, bool>>,
}

impl<'a> Inquiry<'a> {
    pub fn operation(&self) -> &str {
        self.operation
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn target(&self) -> &Target {
        self.target
    }

    /// What the operation would be given, by its path in the input.
    pub fn given(&self, path: &[String]) -> Option<&Value> {
        path.iter().try_fold(self.input.as_ref()?, |value, name| value.get(name))
    }

    pub fn ruling(&self) -> Ruling {
        question::decide(self.world, &self.caller, self.call(), self.now)
    }

    /// Whether the target exists as far as the caller can tell.
    pub fn is_seen_by_caller(&self) -> bool {
        question::decide_seen(self.world, &self.caller, self.call(), self.now).is_ok()
    }

    /// Why the ruling is what it is, without these attributes of the target.
    pub fn explain(&self, ruling: &Ruling, withheld: &BTreeSet<String>) -> Explanation {
        let sees = |uid: &EntityUid| self.sees_entity(uid);
        let eyes = Eyes { sees: &sees, withheld };
        self.refused().question(self.operation, &[], |question| self.world.policy.explain(question, ruling, eyes))
    }

    pub(crate) fn call(&self) -> question::Call<'_> {
        question::Call { operation: self.operation, target: self.target, input: self.input.as_ref() }
    }

    /// Required fields of the input that policies look at and that are not given: the question has them empty.
    pub fn not_given(&self, entry: &Entry, input: Option<&Value>) -> Vec<String> {
        let looks = self.world.policy.looks(self.operation);
        let given = |name: &str| input.and_then(|input| input.get(name)).is_some_and(|value| !value.is_null());
        let fields = entry.arguments().fields.iter().filter(|field| field.is_required);
        let open = fields.filter(|field| looks.reads_input(&field.name) && !given(&field.name));
        open.map(|field| field.name.clone()).collect()
    }

    fn asker(&self) -> Asker<'_> {
        Asker::of(self.world, &self.caller, self.call(), self.now)
    }

    /// The question as it is put about the one in the way: the caller, or the first on whose behalf it may not be.
    fn refused(&self) -> Asker<'_> {
        let asked = self.asker();
        if !asked.own(self.operation).is_allowed() {
            return asked;
        }
        let mut links = asked.links(self.operation).into_iter();
        match links.find(|(_, withheld, theirs)| withheld.is_some() || !theirs.is_allowed()) {
            Some((giver, None, _)) => asked.put_by(giver),
            _ => asked,
        }
    }

    /// Returns everybody on whose behalf the call would be made, the nearest first, each with the ruling on their own
    /// part.
    pub fn links(&self) -> Vec<(Link, Ruling)> {
        let link = |(giver, withheld, theirs): (Giver, Option<String>, Ruling)| {
            let withheld = withheld.map(|why| Ruling::Deny { because: Vec::new(), fault: None, why: Some(why) });
            let from = giver.name.parse().unwrap_or_else(|_| ActorId::system());
            (Link { delegation: giver.delegation, from }, withheld.unwrap_or(theirs))
        };
        self.asker().links(self.operation).into_iter().map(link).collect()
    }

    /// The row of an actor, for telling what a change changes.
    pub fn actor(&self, id: &ActorId) -> Option<&'a Actor> {
        self.world.card(id).map(|card| &card.actor)
    }

    /// The engaged kill switches that touch the caller.
    pub fn kills(&self) -> Vec<KillScope> {
        let behalf = chain::behalf(self.world, &self.caller);
        let giver = |id: ActorId| Caller::new(Who::Holder(id), self.caller.channel);
        let all = std::iter::once(self.caller.clone()).chain(behalf.into_iter().map(giver));
        let found: BTreeSet<KillScope> = all.flat_map(|caller| self.world.touching(&caller)).collect();
        found.into_iter().collect()
    }

    /// Who may give a kind of approval to this call, if it were asked for now.
    pub fn approvers(&self, kind: &str) -> BTreeSet<ActorId> {
        let rule = self.world.policy.approvals().rule(kind);
        let behalf = chain::behalf_about(self.world, &self.caller, self.target());
        let requester = self.caller.actor();
        approvers::approvers(self.world, &rule, Requesting::by(&self.caller, &requester, &behalf), self.now, self.now)
    }

    /// How many people must give a kind of approval.
    pub fn threshold(&self, kind: &str) -> u32 {
        self.world.policy.approvals().rule(kind).threshold
    }

    /// The policy that answers: version and hash.
    pub fn stamp(&self) -> (i64, &str) {
        (self.world.stamp.seq, &self.world.stamp.hash)
    }

    /// Whether the company that answers is not the one of now.
    pub fn is_past(&self) -> bool {
        !std::ptr::eq(self.world, self.asker.world())
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the asker may see an actor or a team. Whom the question is about was asked already.
    pub fn sees(&self, id: &ActorId) -> bool {
        let mut seen = self.seen.borrow_mut();
        *seen.entry(id.clone()).or_insert_with(|| {
            let about = *id == self.caller.actor() || matches!(self.target, Target::Actor(target) if target == id);
            about || self.asker.sees(&Target::Actor(id.clone()))
        })
    }

    pub(crate) fn sees_entity(&self, uid: &EntityUid) -> bool {
        match (uid.type_name().basename(), ActorId::from_str(uid.id().unescaped())) {
            ("Actor" | "Team", Ok(id)) => self.sees(&id),
            // The target itself; or no thing that anybody could be kept from seeing.
            _ => true,
        }
    }
}

impl<'a> Reader<'a> {
    /// A question about somebody's call in the company as `then` has it; this reader's caller asks.
    pub fn inquire(
        &'a self,
        then: &'a Reader<'a>,
        caller: Caller,
        operation: &'a str,
        target: &'a Target,
        input: Option<Value>,
    ) -> Inquiry<'a> {
        Inquiry {
            asker: self,
            world: then.world(),
            now: then.now(),
            caller,
            operation,
            target,
            input,
            seen: RefCell::default(),
        }
    }
}
