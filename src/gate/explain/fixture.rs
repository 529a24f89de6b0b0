//! The company of a policy test, made into the world that the gate decides in: entities, facts and targets come from the
//! very code that serves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::known::Known;
use super::staged::Company;
use crate::declare::noun::RECORD;
use crate::declare::operation::Entry;
use crate::declare::schema::schema;
use policy::brain::collection_of;
use policy::check::{self, Options, Report};
use policy::diff::{self, Semantic, Sides};
use policy::testing::{self, Cast, Fixture, Row, Run, Sample, Stage, Staged};
use policy::{Bundle, Snapshot};

/// Checks a bundle against these operations.
pub fn check(entries: &[Entry], bundle: &Bundle, options: &Options<'_>) -> Report {
    check::check(&schema(entries), bundle, &Known::new(entries), options)
}

/// Asks both sides generated questions about these operations, about so many at the most.
pub fn differences(entries: &[Entry], sides: &Sides<'_>, most: usize) -> Semantic {
    diff::search(sides, &Known::new(entries), most)
}

/// Runs a bundle's own tests.
pub fn run(entries: &[Entry], bundle: &Bundle, compiled: &Arc<Snapshot>) -> Run {
    testing::run(bundle, compiled, &Known::new(entries), usize::MAX)
}

impl Stage for Known<'_> {
    fn stage<'s>(&'s self, snapshot: &Arc<Snapshot>, fixture: &'s Fixture) -> Box<dyn Staged + 's> {
        Box::new(Company::new(self, fixture, self.world(snapshot, fixture)))
    }

    fn sight(&self, resource: &str) -> Option<&'static str> {
        self.nouns.named(resource.strip_prefix("Ok::").unwrap_or(resource))?.sight
    }

    fn list(&self, kind: &str) -> Option<&'static str> {
        let name = if collection_of(kind).is_some() { RECORD } else { kind.strip_prefix("Ok::")? };
        self.nouns.named(name)?.list()
    }

    fn kind(&self, list: &str) -> Option<String> {
        let noun = self.nouns.iter().find(|noun| noun.list() == Some(list))?;
        Some(format!("Ok::{}", noun.name))
    }

    fn samples(&self, lists: &BTreeSet<&str>, cast: &Cast<'_>) -> Vec<Sample> {
        let wanted = self.nouns.iter().filter(|noun| noun.list().is_some_and(|list| lists.contains(list)));
        wanted.flat_map(|noun| noun.samples(cast)).collect()
    }

    fn row(&self, row: &Row) -> Result<(), String> {
        match self.nouns.iter().find(|noun| noun.list() == Some(row.list.as_str())) {
            Some(noun) => noun.read(row).map(drop),
            None => {
                let lists: Vec<&str> = self.nouns.iter().filter_map(|noun| noun.list()).collect();
                Err(format!(
                    "there is no list `{}`; there are teams, actors, delegations, {}",
                    row.list,
                    lists.join(", ")
                ))
            }
        }
    }
}
