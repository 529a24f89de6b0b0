//! Who gives an approval: data beside the policies (`approvals.yaml`), versioned with them. That an approval is needed,
//! and that it helps, is Cedar's to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::yaml::{self, YamlError};
use crate::Finding;
use crate::finding::code;
use types::actor::Role;
use types::approval::Notice;
use types::id::ActorId;

/// The file's path in a bundle.
pub const FILE: &str = "approvals.yaml";
/// The most kinds that one file may add.
pub const MAX_KINDS: usize = 64;

/// Whether a kind can have this name.
pub fn is_name(name: &str) -> bool {
    let known = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=32).contains(&name.len()) && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(known)
}

/// The rules by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRules {
    pub kinds: BTreeMap<String, ApprovalRule>,
}

/// How one kind of approval is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// People who fit any of these may give it.
    pub eligible: Vec<Eligible>,
    /// How many of them must agree: 1 to 20.
    #[serde(default = "one")]
    pub threshold: u32,
    /// Whether somebody who has approved for another kind of the same request may not count here.
    #[serde(default = "yes")]
    pub distinct: bool,
    /// Whether the requester may be one of them.
    #[serde(default)]
    pub self_approval: bool,
    /// Hours until an undecided request expires: 1 to 720; the company's setting unless given.
    pub ttl_hours: Option<u32>,
    /// Hours until whoever may decide is reminded, once: 1 to 720.
    pub remind_hours: Option<u32>,
    /// Hours until these people may decide too.
    pub escalate: Option<Escalation>,
}

/// Who is asked as well, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    pub after_hours: u32,
    pub to: Vec<Eligible>,
}

/// Some of the company's people: those who fit everything that is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Eligible {
    pub role: Option<Role>,
    /// Members of this team or of a team below it, and its lead.
    pub team: Option<ActorId>,
    /// `requester`: who leads a team that the requester is in.
    pub lead: Option<Whose>,
}

impl Eligible {
    /// Whether everybody who fits this fits the other, whoever there is.
    pub fn is_within(&self, other: &Eligible) -> bool {
        other.role.is_none_or(|role| self.role == Some(role))
            && other.team.as_ref().is_none_or(|team| self.team.as_ref() == Some(team))
            && other.lead.is_none_or(|lead| self.lead == Some(lead))
    }
}

impl fmt::Display for Eligible {
    /// `role admin in team:board`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.role.map(|role| format!("role {role}"));
        let team = self.team.as_ref().map(|team| match &role {
            Some(_) => format!("in {team}"),
            None => team.to_string(),
        });
        let lead = self.lead.map(|Whose::Requester| "a lead of the requester".to_owned());
        f.write_str(&[role, team, lead].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    Requester,
}

const fn one() -> u32 {
    1
}

const fn yes() -> bool {
    true
}

impl Default for ApprovalRule {
    /// One admin, not the requester.
    fn default() -> ApprovalRule {
        ApprovalRule {
            eligible: vec![Eligible { role: Some(Role::Admin), team: None, lead: None }],
            threshold: one(),
            distinct: yes(),
            self_approval: false,
            ttl_hours: None,
            remind_hours: None,
            escalate: None,
        }
    }
}

impl ApprovalRules {
    /// How a kind is given; what the file does not name is given by one admin.
    pub fn rule(&self, kind: &str) -> ApprovalRule {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    /// Reads the file; the error says where.
    pub fn parse(text: &str) -> Result<ApprovalRules, YamlError> {
        let rules: ApprovalRules = yaml::read(text)?;
        if let Some(kind) = rules.kinds.keys().find(|kind| !is_name(kind)) {
            let message = format!("kinds.{kind}: a kind is named with 1 to 32 of a-z, 0-9 and `-`, a letter first");
            return Err(YamlError::at(yaml::line_of(text, &["kinds", kind]), message));
        }
        if rules.kinds.len() > MAX_KINDS {
            return Err(YamlError::at(yaml::line_of(text, &["kinds"]), format!("kinds: at most {MAX_KINDS}")));
        }
        let problem = rules.kinds.iter().find_map(|(kind, rule)| Some((kind, rule.problem()?)));
        problem.map_or(Ok(rules.clone()), |(kind, problem)| {
            let field = problem.split([':', '.']).next().unwrap_or_default();
            let line = yaml::line_of(text, &["kinds", kind, field]);
            Err(YamlError::at(line, format!("kinds.{kind}.{problem}")))
        })
    }
}

impl ApprovalRules {
    /// The teams that are asked later, by kind.
    pub fn escalation_teams(&self) -> impl Iterator<Item = (&String, &ActorId)> {
        let escalations = self.kinds.iter().filter_map(|(kind, rule)| Some((kind, rule.escalate.as_ref()?)));
        escalations.flat_map(|(kind, escalation)| {
            let teams: BTreeSet<&ActorId> = escalation.to.iter().filter_map(|one| one.team.as_ref()).collect();
            teams.into_iter().map(move |team| (kind, team))
        })
    }

    /// A finding for each of these teams that is not among those who are there: nobody else is asked then. Who may give an
    /// approval from the beginning is counted (`approvals_unreachable`).
    pub fn strangers(&self, known: &BTreeSet<String>, text: &str) -> Vec<Finding> {
        let finding = |(kind, team): (&String, &ActorId)| {
            let line = yaml::line_of(text, &["kinds", kind, "escalate"]);
            let message = format!("approvals of `{kind}` escalate to the team `{team}`, which does not exist");
            Finding::new(code::STRANGER, FILE, line, (0, 0), message)
        };
        self.escalation_teams().filter(|(_, team)| !known.contains(team.as_str())).map(finding).collect()
    }
}

impl ApprovalRule {
    /// What waiting leads to, and after how many hours.
    pub fn waits(&self) -> impl Iterator<Item = (Notice, u32)> {
        let reminded = self.remind_hours.map(|hours| (Notice::Reminded, hours));
        let escalated = self.escalate.as_ref().map(|more| (Notice::Escalated, more.after_hours));
        reminded.into_iter().chain(escalated)
    }

    fn problem(&self) -> Option<&'static str> {
        let hours = |hours: u32| (1..=720).contains(&hours);
        match self {
            _ if self.eligible.is_empty() || self.eligible.iter().any(Eligible::is_everybody) => {
                Some("eligible: name a role, a team or a lead")
            }
            _ if self.eligible.iter().any(Eligible::is_no_team) => Some(NO_TEAM),
            _ if self.escalate.iter().flat_map(|more| &more.to).any(Eligible::is_no_team) => Some(NO_TEAM),
            _ if !(1..=20).contains(&self.threshold) => Some("threshold: must be 1 to 20"),
            _ if !self.ttl_hours.is_none_or(hours) => Some("ttl_hours: must be 1 to 720"),
            _ if !self.remind_hours.is_none_or(hours) => Some("remind_hours: must be 1 to 720"),
            _ if !self.escalate.as_ref().is_none_or(|escalation| hours(escalation.after_hours)) => {
                Some("escalate.after_hours: must be 1 to 720")
            }
            _ => None,
        }
    }
}

const NO_TEAM: &str = "eligible: `team` is a team's id, such as team:finance";

impl Eligible {
    fn is_no_team(&self) -> bool {
        self.team.as_ref().is_some_and(|team| !team.is_team())
    }

    pub(crate) fn is_everybody(&self) -> bool {
        self.role.is_none() && self.team.is_none() && self.lead.is_none()
    }
}
