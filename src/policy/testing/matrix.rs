//! A matrix of a test file: actors and operations, each with each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::case::{Around, Case, Way};
use super::rows::Step;
use crate::yaml::YamlError;
use types::actor::KillScope;
use types::history::History;
use types::id::ActorId;
use types::impact::Decision;
use types::scope::Scopes;
use types::time::Time;

/// Every combination of these actors and these operations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrix {
    actors: Vec<String>,
    ops: Vec<String>,
    target: Option<String>,
    expect: BTreeMap<Decision, Which>,
    #[serde(default)]
    granted: Vec<String>,
    #[serde(default)]
    broken: bool,
    #[serde(default)]
    kill: Vec<KillScope>,
    #[serde(default)]
    release: bool,
    #[serde(default)]
    scopes: Scopes,
    channel: Option<Way>,
    now: Option<Time>,
    under: Option<String>,
    input: Option<Value>,
    issuer: Option<ActorId>,
    run: Option<Step>,
    #[serde(default)]
    hist: History,
}

/// Which fields of a matrix have an answer: `rest`, or names of actors, of operations, or both as `actor op`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a list of names, or `rest`")]
enum Which {
    These(Vec<String>),
    Rest(Rest),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rest {
    Rest,
}

impl Matrix {
    /// How many questions it comes to.
    pub fn size(&self) -> usize {
        self.actors.len().saturating_mul(self.ops.len())
    }

    pub fn read(self, line: usize) -> Result<Vec<Case>, YamlError> {
        let wrong = |message: String| Err(YamlError::at(line, message));
        if let Some(both) = self.actors.iter().find(|actor| self.ops.contains(*actor)) {
            return wrong(format!("`{both}` is an actor and an operation of this matrix: write `{both} <operation>`"));
        }
        let (around, mut used) = (Arc::new(self.around()), BTreeSet::new());
        let mut cases = Vec::new();
        for (actor, op) in self.actors.iter().flat_map(|actor| self.ops.iter().map(move |op| (actor, op))) {
            let expect = match self.answers(actor, op, &mut used).as_slice() {
                [one] => *one,
                [] => {
                    return wrong(format!(
                        "no answer is expected for `{actor} {op}`; `deny: rest` covers what is left"
                    ));
                }
                _ => return wrong(format!("more than one answer is expected for `{actor} {op}`")),
            };
            cases.push(Case {
                line,
                actor: actor.to_owned(),
                op: op.to_owned(),
                target: self.target.clone(),
                around: Arc::clone(&around),
                expect,
                because: None,
                approvals: None,
            });
        }
        match self.names().find(|name| !used.contains(*name)) {
            Some(name) => wrong(format!("`{name}` is no actor, no operation and no `actor operation` of this matrix")),
            None => Ok(cases),
        }
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.expect.values().flat_map(|which| match which {
            Which::These(names) => names.as_slice(),
            Which::Rest(_) => &[],
        })
    }

    /// The answers that the lists give for one field; `rest` counts where no list names it.
    fn answers(&self, actor: &str, op: &str, used: &mut BTreeSet<String>) -> Vec<Decision> {
        let both = format!("{actor} {op}");
        let mut found = BTreeSet::new();
        for (expect, which) in &self.expect {
            if let Which::These(names) = which {
                for name in names.iter().filter(|name| *name == actor || *name == op || **name == both) {
                    used.insert(name.clone());
                    found.insert(*expect);
                }
            }
        }
        if found.is_empty() {
            found.extend(
                self.expect.iter().filter(|(_, which)| matches!(which, Which::Rest(_))).map(|(expect, _)| *expect),
            );
        }
        found.into_iter().collect()
    }

    /// What is the case at each of its questions.
    fn around(&self) -> Around {
        Around {
            granted: self.granted.clone(),
            broken: self.broken,
            kill: self.kill.clone(),
            release: self.release,
            scopes: self.scopes.clone(),
            channel: self.channel,
            now: self.now,
            under: self.under.clone(),
            input: self.input.clone(),
            issuer: self.issuer.clone(),
            run: self.run.clone(),
            hist: self.hist.clone(),
        }
    }
}
