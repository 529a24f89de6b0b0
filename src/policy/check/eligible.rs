//! Whether the people who may give an approval are enough, and whether anything asks for it.

use std::collections::BTreeSet;

use crate::approvals::{ApprovalRule, Eligible, FILE};
use crate::finding::code;
use crate::{Finding, Snapshot, yaml};
use types::actor::Role;
use types::id::ActorId;

/// The company's people, as approvals see them.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    pub people: Vec<Person>,
    /// Who leads a team.
    pub leads: BTreeSet<ActorId>,
}

/// A finding for each kind beside the product's own that no policy names: as a rule, a slip of the pen.
pub(super) fn unused(product: &BTreeSet<String>, snapshot: &Snapshot, text: &str) -> Vec<Finding> {
    let named = named(snapshot);
    let own = snapshot.approvals().kinds.keys().filter(|kind| !product.contains(*kind));
    let unused = own.filter(|kind| !named.contains(kind.as_str())).map(|kind| {
        let line = yaml::line_of(text, &["kinds", kind]);
        let message = format!("no policy asks for the approval kind `{kind}`");
        Finding::new(code::APPROVALS_UNUSED, FILE, line, (0, 0), message)
    });
    unused.collect()
}

/// A finding for each kind that escalates to nobody in particular.
pub(super) fn lost(snapshot: &Snapshot, text: &str) -> Vec<Finding> {
    let is_lost = |rule: &ApprovalRule| {
        rule.escalate.as_ref().is_some_and(|more| more.to.is_empty() || more.to.iter().any(Eligible::is_everybody))
    };
    let lost = snapshot.approvals().kinds.iter().filter(|(_, rule)| is_lost(rule)).map(|(kind, _)| {
        let line = yaml::line_of(text, &["kinds", kind, "escalate", "to"]);
        let message = format!("kinds.{kind}.escalate.to: name a role, a team or a lead");
        Finding::new(code::ESCALATES_TO_NOBODY, FILE, line, (0, 0), message)
    });
    lost.collect()
}

/// A finding for each reminder and escalation before which a request has expired: by its rule, or by the company's hours where
/// those are known.
pub(super) fn too_late(snapshot: &Snapshot, text: &str, company: Option<u32>) -> Vec<Finding> {
    let of_rule = |(kind, rule): (&String, &ApprovalRule)| {
        let life = rule.ttl_hours.or(company)?;
        let settings = [
            (rule.remind_hours, "remind_hours"),
            (rule.escalate.as_ref().map(|more| more.after_hours), "escalate.after_hours"),
        ];
        let late =
            settings.into_iter().filter_map(|(hours, field)| Some((hours.filter(|hours| *hours >= life)?, field)));
        let finding = |(hours, field): (u32, &str)| {
            let path: Vec<&str> = ["kinds", kind].into_iter().chain(field.split('.')).collect();
            let message =
                format!("kinds.{kind}.{field}: a request expires after {life} h, before these {hours} h are over");
            Finding::new(code::EXPIRES_FIRST, FILE, yaml::line_of(text, &path), (0, 0), message)
        };
        Some(late.map(finding).collect::<Vec<Finding>>())
    };
    snapshot.approvals().kinds.iter().filter_map(of_rule).flatten().collect()
}

/// The kinds that policies name.
fn named(snapshot: &Snapshot) -> BTreeSet<&str> {
    snapshot.policies().flat_map(|policy| policy.kinds.iter().map(String::as_str)).collect()
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
    pub fn unreachable(&self, snapshot: &Snapshot, text: &str) -> Vec<Finding> {
        let finding = |kind: &str| {
            let rule = snapshot.approvals().rule(kind);
            let able = self.eligible(&rule);
            let enough = able >= rule.threshold as usize;
            let message = format!(
                "an approval of `{kind}` takes {}, and the directory has {able} who may give it",
                rule.threshold
            );
            let line = yaml::line_of(text, &["kinds", kind, "threshold"]);
            (!enough).then(|| Finding::new(code::APPROVALS_UNREACHABLE, FILE, line, (0, 0), message))
        };
        named(snapshot).into_iter().filter_map(finding).collect()
    }

    fn eligible(&self, rule: &ApprovalRule) -> usize {
        let later = rule.escalate.iter().flat_map(|escalation| &escalation.to);
        self.who(rule.eligible.iter().chain(later)).len()
    }

    /// The people who fit any of these.
    pub fn who<'a>(&self, eligible: impl IntoIterator<Item = &'a Eligible>) -> BTreeSet<&ActorId> {
        let eligible: Vec<&Eligible> = eligible.into_iter().collect();
        let fits = |person: &&Person| eligible.iter().any(|who| self.fits(person, who));
        self.people.iter().filter(fits).map(|person| &person.id).collect()
    }

    fn fits(&self, person: &Person, who: &Eligible) -> bool {
        who.role.is_none_or(|role| role == person.role)
            && who.team.as_ref().is_none_or(|team| person.teams.contains(team))
            && who.lead.is_none_or(|_| self.leads.contains(&person.id))
    }
}
