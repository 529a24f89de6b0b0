//! Counts of decisions before and after, and budgets for what may come out otherwise.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::ActorId;
use super::time::Time;

/// One of the three answers, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Deny,
    NeedsApproval,
    Allow,
}

impl Decision {
    pub const fn name(self) -> &'static str {
        match self {
            Decision::Deny => "deny",
            Decision::NeedsApproval => "needs_approval",
            Decision::Allow => "allow",
        }
    }
}

/// How many decisions came to what: before (the rows) and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    pub allow: Row,
    pub needs_approval: Row,
    pub deny: Row,
}

/// What decisions with one answer would come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub allow: u64,
    pub needs_approval: u64,
    pub deny: u64,
}

impl Row {
    fn cell(&mut self, after: Decision) -> &mut u64 {
        match after {
            Decision::Allow => &mut self.allow,
            Decision::NeedsApproval => &mut self.needs_approval,
            Decision::Deny => &mut self.deny,
        }
    }

    pub fn sum(self) -> u64 {
        self.allow + self.needs_approval + self.deny
    }

    fn add(&mut self, other: Row) {
        self.allow += other.allow;
        self.needs_approval += other.needs_approval;
        self.deny += other.deny;
    }
}

impl Matrix {
    pub fn count(&mut self, before: Decision, after: Decision) {
        self.count_times(before, after, 1);
    }

    /// So many decisions that came out alike.
    pub fn count_times(&mut self, before: Decision, after: Decision, times: u64) {
        let row = match before {
            Decision::Allow => &mut self.allow,
            Decision::NeedsApproval => &mut self.needs_approval,
            Decision::Deny => &mut self.deny,
        };
        *row.cell(after) += times;
    }

    /// How many decisions were the one before, and would be the other after.
    pub fn of(&self, before: Decision, after: Decision) -> u64 {
        let row = match before {
            Decision::Allow => &self.allow,
            Decision::NeedsApproval => &self.needs_approval,
            Decision::Deny => &self.deny,
        };
        match after {
            Decision::Allow => row.allow,
            Decision::NeedsApproval => row.needs_approval,
            Decision::Deny => row.deny,
        }
    }

    pub fn add(&mut self, other: &Matrix) {
        self.allow.add(other.allow);
        self.needs_approval.add(other.needs_approval);
        self.deny.add(other.deny);
    }

    pub fn sum(&self) -> u64 {
        self.allow.sum() + self.needs_approval.sum() + self.deny.sum()
    }

    pub fn newly(&self) -> Newly {
        Newly {
            newly_allowed: self.needs_approval.allow + self.deny.allow,
            newly_denied: self.allow.deny + self.needs_approval.deny,
            newly_approval: self.allow.needs_approval + self.deny.needs_approval,
        }
    }
}

/// Decisions that would come out otherwise: the sums beside the diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Newly {
    /// Would be allowed, and was not; or its approval would be easier to get.
    pub newly_allowed: u64,
    /// Would be denied, and was not.
    pub newly_denied: u64,
    /// Would need approval, and did not; or its approval would be harder to get.
    pub newly_approval: u64,
}

impl Newly {
    pub fn sum(self) -> u64 {
        self.newly_allowed + self.newly_denied + self.newly_approval
    }
}

/// How many decisions may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// Would be allowed, and was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newly_allowed: Option<u64>,
    /// Would be denied, and was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newly_denied: Option<u64>,
    /// Would need approval, and did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newly_approval: Option<u64>,
}

/// How much a comparison of policies may find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ceilings {
    /// Of the decisions of the log.
    #[serde(flatten)]
    pub decisions: Budgets,
    /// Operations that became looser for a kind of actor, also where they became tighter, too; approvals that are easier to get,
    /// budgets and rates that are larger, and views that are shown to more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looser: Option<u64>,
    /// Policies that differ, or parts of them, whose effect was not observed; and operations about which not everything was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<u64>,
}

impl FromStr for Ceilings {
    type Err = String;

    /// `newly_allowed=0,looser=5`
    fn from_str(text: &str) -> Result<Ceilings, String> {
        let mut ceilings = Ceilings::default();
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or_else(|| format!("`{part}` is not <name>=<number>"))?;
            let place = match name.trim() {
                "newly_allowed" => &mut ceilings.decisions.newly_allowed,
                "newly_denied" => &mut ceilings.decisions.newly_denied,
                "newly_approval" => &mut ceilings.decisions.newly_approval,
                LOOSER => &mut ceilings.looser,
                UNOBSERVED => &mut ceilings.unobserved,
                other => {
                    let [allowed, denied, approval] = Budgets::NAMES;
                    let names = [allowed, denied, approval, LOOSER, UNOBSERVED].join(", ");
                    return Err(format!("there is no budget `{other}`; there are {names}"));
                }
            };
            let number = number.trim();
            let read = number.parse().map_err(|_| format!("{name}: `{number}` is not a number from 0 on"))?;
            if place.replace(read).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        Ok(ceilings)
    }
}

impl FromStr for Budgets {
    type Err = String;

    /// `newly_allowed=0,newly_denied=5`
    fn from_str(text: &str) -> Result<Budgets, String> {
        let all: Ceilings = text.parse()?;
        if all.are_of_answers() {
            return Err(format!("decisions are counted here: there are {}", Budgets::NAMES.join(", ")));
        }
        Ok(all.decisions)
    }
}

const LOOSER: &str = "looser";
const UNOBSERVED: &str = "unobserved";

impl Ceilings {
    /// Whether they are about the answers to generated questions.
    pub fn are_of_answers(&self) -> bool {
        self.looser.is_some() || self.unobserved.is_some()
    }

    /// Those of the answers that are not kept.
    pub fn over_answers(&self, looser: usize, unobserved: usize) -> Vec<Over> {
        let found = [(LOOSER, self.looser, looser), (UNOBSERVED, self.unobserved, unobserved)];
        let over = found.into_iter().filter_map(|(budget, max, found)| Over::beyond(budget, max, found as u64));
        over.collect()
    }
}

/// A budget that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Over {
    pub budget: Cow<'static, str>,
    pub max: u64,
    pub found: u64,
}

impl Budgets {
    pub const NAMES: [&str; 3] = ["newly_allowed", "newly_denied", "newly_approval"];

    pub fn is_empty(&self) -> bool {
        *self == Budgets::default()
    }

    /// Each with its name.
    pub fn each(&self) -> [(&'static str, Option<u64>); 3] {
        let [allowed, denied, approval] = Budgets::NAMES;
        [(allowed, self.newly_allowed), (denied, self.newly_denied), (approval, self.newly_approval)]
    }

    pub fn over(&self, found: Newly) -> Vec<Over> {
        let found = [found.newly_allowed, found.newly_denied, found.newly_approval];
        let over =
            self.each().into_iter().zip(found).filter_map(|((budget, max), found)| Over::beyond(budget, max, found));
        over.collect()
    }
}

impl Over {
    fn beyond(budget: &'static str, max: Option<u64>, found: u64) -> Option<Over> {
        let max = max.filter(|max| found > *max)?;
        Some(Over { budget: budget.into(), max, found })
    }
}

/// `1,204,331`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let comma = |(at, digit): (usize, char)| {
        let before = (at > 0 && at % 3 == head).then_some(',');
        before.into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

/// A decision that would have come out otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shifted {
    pub at: Time,
    pub operation: String,
    pub actor: ActorId,
    /// What it was about.
    pub target: String,
    pub before: Decision,
    pub after: Decision,
}

/// A candidate under trial: how much of the traffic it sees, and when that ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialTerms {
    /// The percentage of decisions to evaluate with the canary as well.
    pub percent: u8,
    /// How many decisions it must have seen before it can come into force.
    pub min_decisions: u64,
    /// It ends by itself when more decisions than this come out otherwise.
    pub abort_if: Budgets,
}

/// What a trial has shown so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trialled {
    pub matrix: Matrix,
    /// Some of the decisions that would have come out otherwise, the first ones.
    pub samples: Vec<Shifted>,
}
