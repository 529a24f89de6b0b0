//! How often something may be asked: data beside the policies (`limits.yaml`), versioned with them; and how much a change
//! of the policies may change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Finding;
use super::finding::code;
use super::yaml::{self, YamlError};
use types::actor::{ActorKind, Role};
use types::delegation::MOST_CENTS;
use types::id::ActorId;
use types::impact::Budgets;

/// The file's path in a bundle.
pub const FILE: &str = "limits.yaml";

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Rate limits by name.
    #[serde(default)]
    pub rates: BTreeMap<String, Rate>,
    /// How many recorded decisions a change may let come out otherwise; its evals hold it to that.
    #[serde(default)]
    pub impact: Option<Budgets>,
    /// What the agents of a team, and of those below it, may spend together.
    #[serde(default)]
    pub teams: BTreeMap<ActorId, TeamLimits>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamLimits {
    /// In a month, in cents: 0 to 1,000,000,000.
    pub month_cents: i64,
}

/// One rate limit: each actor whom it concerns has it for themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Whom it concerns: these kinds of actors; all unless given.
    #[serde(default)]
    pub kinds: BTreeSet<ActorKind>,
    /// And these roles; all unless given.
    #[serde(default)]
    pub roles: BTreeSet<Role>,
    /// Operations, or groups of them such as `token.*`, `change` or `query`; all unless given. Those of one limit are
    /// counted together.
    #[serde(default)]
    pub operations: BTreeSet<String>,
    /// Operations and groups of them that it leaves out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub except: BTreeSet<String>,
    /// Calls in one window: 1 to 1,000,000.
    pub most: u32,
    /// The window, in seconds: 1 to 86,400; a minute unless given.
    #[serde(default = "minute")]
    pub seconds: u32,
}

const fn minute() -> u32 {
    60
}

impl Rate {
    /// Returns whether the limit counts changes by their size, because it covers all changes. A limit that names
    /// operations counts calls.
    pub fn counts_size(&self) -> bool {
        self.operations.contains("change")
    }
}

impl Limits {
    /// A finding for each team that has a budget and is not among those who are there.
    pub fn strangers(&self, known: &BTreeSet<String>, text: &str) -> Vec<Finding> {
        let unknown = self.teams.keys().filter(|team| !known.contains(team.as_str()));
        let finding = |team: &ActorId| {
            let line = yaml::line_of(text, &["teams", team.as_str()]);
            let message = format!("there is a budget for the team `{team}`, which does not exist");
            Finding::new(code::STRANGER, FILE, line, (0, 0), message)
        };
        unknown.map(finding).collect()
    }

    /// A finding for each empty list: it reads as nobody, and is everybody.
    pub fn empty_lists(text: &str) -> Vec<Finding> {
        let read: Value = yaml::read(text).unwrap_or_default();
        let rates = read.get("rates").and_then(Value::as_object);
        let fields = rates
            .into_iter()
            .flatten()
            .flat_map(|(name, rate)| ["kinds", "roles", "operations"].map(|field| (name, field, rate.get(field))));
        let empty = fields.filter(|(.., list)| list.and_then(Value::as_array).is_some_and(Vec::is_empty));
        let finding = |(name, field, _): (&String, &str, _)| {
            let message = format!(
                "rates.{name}.{field}: is empty, so the limit holds for all of them; leave it out, or name some"
            );
            Finding::new(code::LIMITS_EMPTY, FILE, yaml::line_of(text, &["rates", name, field]), (0, 0), message)
        };
        empty.map(finding).collect()
    }

    /// Returns the limits of the default policies, which apply if a bundle has none of its own.
    pub fn usual() -> Limits {
        Limits::parse(include_str!("../../policies/limits.yaml")).unwrap_or_default()
    }

    /// Reads the file; the error says where.
    pub fn parse(text: &str) -> Result<Limits, YamlError> {
        let limits: Limits = yaml::read(text)?;
        let wrong = limits
            .teams
            .iter()
            .find(|(team, limits)| !team.is_team() || !(0..=MOST_CENTS).contains(&limits.month_cents));
        if let Some((team, _)) = wrong {
            let line = yaml::line_of(text, &["teams", team.as_str()]);
            let what = format!("teams.{team}: must be a team with a `month_cents` of 0 to {MOST_CENTS}");
            return Err(YamlError::at(line, what));
        }
        let problem = limits.rates.iter().find_map(|(name, rate)| Some((name, rate.problem()?)));
        problem.map_or(Ok(limits.clone()), |(name, (field, what))| {
            let line = yaml::line_of(text, &["rates", name, field]);
            Err(YamlError::at(line, format!("rates.{name}.{field}: {what}")))
        })
    }
}

impl fmt::Display for Rate {
    /// `300 in 60 s of change by agent`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |names: Vec<String>| names.join(", ");
        write!(f, "{} in {} s", self.most, self.seconds)?;
        if !self.operations.is_empty() {
            write!(f, " of {}", listed(self.operations.iter().cloned().collect()))?;
        }
        if !self.except.is_empty() {
            write!(f, " but {}", listed(self.except.iter().cloned().collect()))?;
        }
        let kinds = self.kinds.iter().map(ToString::to_string);
        let roles = self.roles.iter().map(|role| format!("role {role}"));
        let whom: Vec<String> = kinds.chain(roles).collect();
        if whom.is_empty() { Ok(()) } else { write!(f, " by {}", listed(whom)) }
    }
}

impl Rate {
    fn problem(&self) -> Option<(&'static str, &'static str)> {
        match self {
            _ if !(1..=1_000_000).contains(&self.most) => Some(("most", "must be 1 to 1000000")),
            _ if !(1..=86_400).contains(&self.seconds) => Some(("seconds", "must be 1 to 86400")),
            _ => None,
        }
    }

    /// Whether it concerns an actor; its operations are for the snapshot to know.
    pub fn concerns(&self, kind: ActorKind, role: Role) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind)) && (self.roles.is_empty() || self.roles.contains(&role))
    }
}
