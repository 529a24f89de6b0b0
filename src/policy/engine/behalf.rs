//! Acting on behalf of others: a call is allowed only by what the caller may do, what each giver may do, and what was
//! handed on, all together.
//!
//! Always true: each member of a chain only takes rights away; a chain that has ended allows nothing.

use std::collections::BTreeMap;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::EntityUID;

use super::decide::Question;
use super::names::is_own;
use super::ruling::{Because, Ruling};
use super::snapshot::Snapshot;
use crate::{Closed, Facts};
use types::delegation::Authority;
use types::operations::Operations;

/// One of those on whose behalf something is asked, nearest first, and what they gave.
#[derive(Clone, Debug)]
pub struct Giver {
    /// Their id.
    pub name: String,
    pub principal: EntityUid,
    /// What is the case when they themselves ask.
    pub facts: Facts,
    pub delegation: String,
    pub scope: Operations,
    pub authority: Authority,
    /// Whether the delegation, or one that it rests on, has ended.
    pub ended: bool,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// To do something: it must have been handed on.
    Doing,
    /// To know that a thing is there: what was handed on is about it.
    Seeing,
}

impl Snapshot {
    /// The answer to a question that is asked on behalf of these. With none of them, the plain answer.
    pub fn decide_for(&self, question: &Question<'_>, givers: &[Giver], what: For) -> Ruling {
        let own = self.decide(question);
        givers.iter().fold(own, |ruling, giver| match ruling {
            denied @ Ruling::Deny { .. } => denied,
            ruling => match self.withheld(question, giver, what) {
                Some(why) => Ruling::Deny { because: Vec::new(), fault: None, why: Some(why) },
                None => {
                    let Giver { principal, facts, .. } = giver;
                    ruling.and(&giver.name, self.decide(&Question { principal, facts, ..*question }))
                }
            },
        })
    }

    /// Why a link of the chain does not let something through, whatever its giver may do.
    pub fn withheld(&self, question: &Question<'_>, giver: &Giver, what: For) -> Option<String> {
        if giver.ended {
            return Some("the delegation has ended".to_owned());
        }
        if what == For::Seeing {
            return None;
        }
        let action = question.action.as_ref();
        let family = self.action_family(action);
        let changes = !names(family).any(|name| name == "query");
        let operation: &str = action.eid().as_ref();
        let Giver { delegation, name, authority, scope, .. } = giver;
        if family.is_empty() || !scope.holds(names(family)) {
            return Some(format!("the delegation {delegation} from {name} does not cover it"));
        }
        let beyond =
            || format!("the delegation {delegation} from {name} does not cover it: its authority is `{authority}`");
        (!authority.admits(operation, changes)).then(beyond)
    }

    /// Whether an operation is one of these.
    pub fn is_within(&self, action: &EntityUID, operations: &Operations) -> bool {
        operations.holds(names(self.action_family(action)))
    }

    /// Each operation with whether it changes anything, as far as a scope holds it.
    pub fn operations_in(&self, scope: &Operations) -> BTreeMap<&str, bool> {
        let held = self.actions.values().filter(|action| {
            let is_group = self.principals_of(&action.name).is_empty();
            !is_group && !is_own(&action.name) && scope.holds(names(&action.family))
        });
        held.map(|action| (action.name.as_str(), !names(&action.family).any(|name| name == "query"))).collect()
    }
}

/// The names of an action and its groups.
fn names(family: &[Closed]) -> impl Iterator<Item = &str> {
    family.iter().map(|closed| closed.entity().uid().eid().as_ref())
}

impl Ruling {
    /// This answer and that to somebody on whose behalf it is asked: the narrower, with everything that both want.
    #[must_use]
    pub fn and(self, giver: &str, theirs: Ruling) -> Ruling {
        match (self, theirs) {
            (denied @ Ruling::Deny { .. }, _) => denied,
            (_, Ruling::Deny { because, fault, why }) => {
                let theirs = Ruling::Deny { because: because.clone(), fault: fault.clone(), why };
                let why = Some(format!("not on behalf of {giver}: {}", theirs.reason()));
                Ruling::Deny { because, fault, why }
            }
            (Ruling::Allow { because }, Ruling::Allow { because: theirs }) => {
                Ruling::Allow { because: both(because, theirs) }
            }
            (waits @ Ruling::NeedsApproval { .. }, Ruling::Allow { .. }) => waits,
            (Ruling::Allow { .. }, waits @ Ruling::NeedsApproval { .. }) => waits,
            (Ruling::NeedsApproval { kinds, because }, Ruling::NeedsApproval { kinds: more, because: theirs }) => {
                let mut kinds: Vec<String> = kinds.into_iter().chain(more).collect();
                kinds.sort();
                kinds.dedup();
                Ruling::NeedsApproval { kinds, because: both(because, theirs) }
            }
        }
    }
}

/// In the order of their ids, each once.
fn both(some: Vec<Because>, more: Vec<Because>) -> Vec<Because> {
    let by_id: BTreeMap<String, Because> =
        some.into_iter().chain(more).map(|policy| (policy.id.clone(), policy)).collect();
    by_id.into_values().collect()
}
