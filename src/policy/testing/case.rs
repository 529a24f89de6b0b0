//! A question of a test file, what is the case when it is asked, and the answer that is expected.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::rows::Step;
use crate::{Answered, Ruling};
use types::actor::KillScope;
use types::history::History;
use types::id::ActorId;
use types::impact::Decision;
use types::scope::Scopes;
use types::time::Time;

/// One question and the expected answer.
#[derive(Clone, Debug)]
pub struct Case {
    pub line: usize,
    /// An actor of the company, `server`, or `visitor`.
    pub actor: String,
    pub op: String,
    pub target: Option<String>,
    /// Many cases share one.
    pub around: Arc<Around>,
    pub expect: Decision,
    /// The ids of the determining policies, if the case says them.
    pub because: Option<BTreeSet<String>>,
    /// The kinds asked for, if the case says them.
    pub approvals: Option<BTreeSet<String>>,
}

impl Case {
    pub fn expected(&self) -> Expected {
        Expected { decision: self.expect, because: self.because.clone(), approvals: self.approvals.clone() }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.actor, self.op)?;
        self.target.iter().try_for_each(|target| write!(f, " {target}"))
    }
}

/// The way by which a question comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Http,
    Cli,
}

/// What is the case when a question is asked.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Kinds of approval that were given.
    pub granted: Vec<String>,
    /// They were not given: a break-glass grant lets the call go on without them.
    pub broken: bool,
    /// Engaged kill switches.
    pub kill: Vec<KillScope>,
    /// The kill switch that is asked about would be released, not engaged.
    pub release: bool,
    /// What the token is limited to.
    pub scopes: Scopes,
    pub channel: Option<Way>,
    pub now: Option<Time>,
    /// The delegation that the actor acts under.
    pub under: Option<String>,
    /// What the operation is given; what it leaves out is blank.
    pub input: Option<Value>,
    /// Who issued the token, where that is not the actor.
    pub issuer: Option<ActorId>,
    /// The run that the call is a step of.
    pub run: Option<Step>,
    /// What the actor has done before, by operation.
    pub hist: History,
}

/// The expected answer.
#[derive(Clone, Debug)]
pub struct Expected {
    pub decision: Decision,
    /// The ids of the determining policies, if the case says them.
    pub because: Option<BTreeSet<String>>,
    /// The kinds asked for, if the case says them.
    pub approvals: Option<BTreeSet<String>>,
}

impl Expected {
    /// What is wrong with an answer; None if it is the expected one.
    pub fn judge(&self, answered: &Answered) -> Option<String> {
        let ruling = &answered.ruling;
        let answer = ruling.decision();
        let ids: BTreeSet<String> = ruling.because().iter().map(|policy| policy.id.clone()).collect();
        // A question that cannot be asked, or a policy that cannot be evaluated, is never what a test is about.
        if let Ruling::Deny { fault: Some(fault), .. } = ruling {
            return Some(format!("this cannot be decided, so it is denied whatever the policies say: {fault}"));
        }
        let why = match answered.hidden {
            true => " (the target is not to be seen)".to_owned(),
            false if ids.is_empty() => " (no policy permits it)".to_owned(),
            false => format!(" ({})", listed(&ids)),
        };
        if answer != self.decision {
            return Some(format!("expected {}, got {}{why}", self.decision.name(), answer.name()));
        }
        if let Some(because) = self.because.as_ref().filter(|because| **because != ids) {
            return Some(format!(
                "{} as expected, because of {} instead of {}",
                answer.name(),
                listed(&ids),
                listed(because)
            ));
        }
        match (ruling, &self.approvals) {
            (Ruling::NeedsApproval { kinds, .. }, Some(expected)) if !kinds.iter().eq(expected) => {
                let kinds = kinds.iter().cloned().collect();
                Some(format!("expected to need {}, needs {}", listed(expected), listed(&kinds)))
            }
            _ => None,
        }
    }
}

fn listed(ids: &BTreeSet<String>) -> String {
    if ids.is_empty() { "nothing".to_owned() } else { ids.iter().cloned().collect::<Vec<_>>().join(", ") }
}
