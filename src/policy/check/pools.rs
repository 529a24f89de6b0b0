//! Whether the people who may give an approval are enough.

use std::collections::BTreeSet;

use crate::policy::approvals::{ApprovalRule, FILE, Pool};
use crate::policy::finding::code;
use crate::policy::{Finding, Snapshot, yaml};
use crate::types::actor::Role;
use crate::types::id::ActorId;

/// The company's people, as approvals see them.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    pub people: Vec<Person>,
    /// Who leads a team.
    pub leads: BTreeSet<ActorId>,
}

#[derive(Clone, Debug)]
pub struct Person {
    pub id: ActorId,
    pub role: Role,
    /// The teams it is in, near and far, or leads.
    pub teams: Vec<ActorId>,
}

impl Directory {
    /// A finding for each kind whose threshold can never be met.
    pub(super) fn findings(&self, snapshot: &Snapshot, text: &str) -> Vec<Finding> {
        let kinds: BTreeSet<&str> =
            snapshot.policies().flat_map(|policy| policy.kinds.iter().map(String::as_str)).collect();
        let finding = |kind: &str| {
            let rule = snapshot.approvals().rule(kind);
            let pool = self.eligible(&rule);
            let enough = pool >= rule.threshold as usize;
            let message = format!(
                "an approval of `{kind}` takes {}, and the directory has {pool} who may give it",
                rule.threshold
            );
            let line = yaml::line_of(text, &["kinds", kind, "threshold"]);
            (!enough).then(|| Finding::new(code::APPROVALS_POOL, FILE, line, (0, 0), message))
        };
        kinds.into_iter().filter_map(finding).collect()
    }

    fn eligible(&self, rule: &ApprovalRule) -> usize {
        let later = rule.escalate.iter().flat_map(|escalation| &escalation.to);
        let pools: Vec<&Pool> = rule.eligible.iter().chain(later).collect();
        self.people.iter().filter(|person| pools.iter().any(|pool| self.fits(person, pool))).count()
    }

    fn fits(&self, person: &Person, pool: &Pool) -> bool {
        pool.role.is_none_or(|role| role == person.role)
            && pool.team.as_ref().is_none_or(|team| person.teams.contains(team))
            && pool.lead.is_none_or(|_| self.leads.contains(&person.id))
    }
}
