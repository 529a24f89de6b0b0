//! Two snapshots side by side: which actions they could answer differently, and what the differing policies name.
//!
//! Always true: for an action that is not reported, both snapshots have the same policies under the same ids, and so,
//! with the same schema, the same answers.

use std::collections::BTreeSet;

use cedar_policy_core::ast::{
    Effect, Entity, EntityReference, EntityType, ExprKind, Literal, Policy, PrincipalOrResourceConstraint,
};

use super::branch::branches;
use super::compiled::CompiledPolicy;
use super::history::ATTRIBUTE as DONE;
use super::input::ATTRIBUTE as INPUT;
use super::looks::{Looks, Named, looks_back};
use super::names::covers;
use super::ruling::Because;
use super::snapshot::{Action, Snapshot};

/// The policies of one operation whose answer depends on how it is called.
#[derive(Clone, Debug)]
pub struct OpenToCallers {
    policies: BTreeSet<String>,
    a_permit: bool,
}

impl OpenToCallers {
    /// Returns whether a different way of calling could avoid a denial for these reasons: every policy in the way
    /// depends on the call or, if no policy is in the way, some permit does.
    pub fn spare(&self, because: &[Because]) -> bool {
        match because {
            [] => self.a_permit,
            some => some.iter().all(|policy| self.policies.contains(&policy.id)),
        }
    }
}

/// The one type that a scope holds for, if there is one.
fn scope_type(scope: &PrincipalOrResourceConstraint) -> Option<&EntityType> {
    match scope {
        PrincipalOrResourceConstraint::Is(kind) | PrincipalOrResourceConstraint::IsIn(kind, _) => Some(kind),
        PrincipalOrResourceConstraint::Eq(EntityReference::EUID(uid)) => Some(uid.entity_type()),
        _ => None,
    }
}

impl Snapshot {
    /// The names of all actions, sorted: `token.issue`, and `Docs::Action::view` for one of the company's own.
    pub fn action_names(&self) -> BTreeSet<&str> {
        self.actions.values().map(|action| action.name.as_str()).collect()
    }

    /// The actions that either knows and for which the policies do not decide by the same.
    pub fn actions_unlike(&self, other: &Snapshot) -> BTreeSet<String> {
        let names: BTreeSet<&str> = self.action_names().union(&other.action_names()).copied().collect();
        let unlike = |name: &&str| match (self.named_action(name), other.named_action(name)) {
            (Some(ours), Some(theirs)) => {
                let ours: BTreeSet<&str> = self.covering(ours).map(CompiledPolicy::form).collect();
                let theirs: BTreeSet<&str> = other.covering(theirs).map(CompiledPolicy::form).collect();
                ours != theirs
            }
            (ours, theirs) => ours.is_some() != theirs.is_some(),
        };
        names.into_iter().filter(unlike).map(str::to_owned).collect()
    }

    /// Returns the names in those policies of an action that `other` does not have in identical form: for each policy,
    /// first each alternative on its own.
    pub fn named_unlike(&self, other: &Snapshot, action: &str) -> Vec<Named> {
        let named = |compiled: &CompiledPolicy| {
            let alternatives: Vec<Named> = branches(compiled).iter().map(|branch| Named::of(branch.own())).collect();
            [alternatives, vec![Named::of(&compiled.condition)]].concat()
        };
        self.unlike(other, action).flat_map(named).collect()
    }

    /// The policies that may decide about an action.
    pub(super) fn about<'a>(&'a self, action: &str) -> impl Iterator<Item = &'a CompiledPolicy> {
        self.named_action(action).into_iter().flat_map(|entity| self.covering(entity))
    }

    /// How many they are.
    pub fn policies_about(&self, action: &str) -> usize {
        self.about(action).count()
    }

    /// The policies of an action that `other` does not have just so.
    pub(super) fn unlike<'a>(&'a self, other: &'a Snapshot, action: &str) -> impl Iterator<Item = &'a CompiledPolicy> {
        let theirs = other.forms();
        self.about(action).filter(move |compiled| !theirs.contains(compiled.form()))
    }

    /// The policies that `other` does not have just so.
    pub(super) fn missing_in(&self, other: &Snapshot) -> Vec<CompiledPolicy> {
        let theirs = other.forms();
        self.policies.iter().filter(|compiled| !theirs.contains(compiled.form())).cloned().collect()
    }

    /// What its policies decide by.
    fn forms(&self) -> BTreeSet<&str> {
        self.policies.iter().map(CompiledPolicy::form).collect()
    }

    /// What all the policies of an action name.
    pub fn named(&self, action: &str) -> Named {
        let mut named = Named::default();
        self.about(action).flat_map(|compiled| compiled.condition.subexpressions()).for_each(|part| named.gather(part));
        named
    }

    /// Every entity that any policy names: type, as `Ok::Actor`, and id.
    pub fn literals(&self) -> impl Iterator<Item = (String, String)> {
        let parts = self.policies.iter().flat_map(|compiled| compiled.condition.subexpressions());
        parts.filter_map(|part| match part.expr_kind() {
            ExprKind::Lit(Literal::EntityUID(uid)) => {
                Some((uid.entity_type().to_string(), AsRef::<str>::as_ref(uid.eid()).to_owned()))
            }
            _ => None,
        })
    }

    /// What all the policies of an action look at.
    pub fn looks(&self, action: &str) -> Looks {
        let found = self.actions.values().find(|known| known.name == action);
        found.map(|action| self.looks_of(action).clone()).unwrap_or_default()
    }

    /// Whether any policy of an operation reads what differs from one call of it to the next: the time, the input, or
    /// what was done before.
    pub fn reads_the_call(&self, operation: &str) -> bool {
        let action = self.actions.values().find(|action| action.name == operation);
        action.is_none_or(|action| {
            let looks = self.looks_of(action);
            let changing = ["now", INPUT, DONE];
            changing.into_iter().any(|attribute| looks.context.contains(attribute))
        })
    }

    /// Returns the policies of an operation whose result depends on how it is called: on an input that is not given, or
    /// on what was done before.
    pub fn open_to_callers(&self, operation: &str, lacks_input: bool, lacks_past: bool) -> OpenToCallers {
        let turns = |compiled: &&CompiledPolicy| {
            let mut looks = Looks::default();
            looks.gather(&compiled.condition);
            (lacks_past && looks.context.contains(DONE)) || (lacks_input && looks.context.contains(INPUT))
        };
        let action = self.named_action(operation).into_iter();
        let turning: Vec<&CompiledPolicy> = action.flat_map(|action| self.covering(action)).filter(turns).collect();
        OpenToCallers {
            a_permit: turning.iter().any(|compiled| compiled.policy.effect() == Effect::Permit),
            policies: turning.into_iter().map(|compiled| compiled.meta.id.clone()).collect(),
        }
    }

    /// Whether any policy looks at what actors have done.
    pub fn looks_back(&self) -> bool {
        self.policies.iter().any(|compiled| looks_back(&compiled.condition))
    }

    /// What the policies of an action look at.
    pub(super) fn looks_of<'a>(&'a self, action: &'a Action) -> &'a Looks {
        action.looks.get_or_init(|| action.family.first().map(|action| self.look(action.entity())).unwrap_or_default())
    }

    fn look(&self, action: &Entity) -> Looks {
        let mut looks = Looks::default();
        for compiled in self.covering(action) {
            looks.kinds.extend(compiled.meta.kinds.iter().cloned());
            looks.gather(&compiled.condition);
        }
        looks
    }

    /// The Cedar types that an action applies to: who.
    pub fn principals_of(&self, action: &str) -> BTreeSet<String> {
        let uid = self.named_action(action).map(|entity| entity.uid().clone().into());
        let types = uid.as_ref().and_then(|uid| self.schema().principals_for_action(uid));
        types.into_iter().flatten().map(ToString::to_string).collect()
    }

    /// The Cedar types that an action applies to: what.
    pub fn resources_of(&self, action: &str) -> BTreeSet<String> {
        let uid = self.named_action(action).map(|entity| entity.uid().clone().into());
        let types = uid.as_ref().and_then(|uid| self.schema().resources_for_action(uid));
        types.into_iter().flatten().map(ToString::to_string).collect()
    }

    fn named_action(&self, name: &str) -> Option<&Entity> {
        let found = self.actions.values().find(|action| action.name == name);
        found.and_then(|action| action.family.first()).map(|closed| closed.entity().as_ref())
    }

    /// The policies that could hold for some question about an action.
    fn covering<'a>(&'a self, action: &'a Entity) -> impl Iterator<Item = &'a CompiledPolicy> {
        let applies = self.schema().as_ref().get_action_id(action.uid());
        let fits = move |policy: &Policy| {
            let (who, what) = (policy.principal_constraint(), policy.resource_constraint());
            applies.is_some_and(|applies| {
                scope_type(who.as_inner()).is_none_or(|kind| applies.is_applicable_principal_type(kind))
                    && scope_type(what.as_inner()).is_none_or(|kind| applies.is_applicable_resource_type(kind))
            })
        };
        self.policies
            .iter()
            .filter(move |compiled| covers(compiled.policy.action_constraint(), action) && fits(&compiled.policy))
    }
}
