//! The known values of texts and numbers that policies look at: for findings about meaningless comparisons, and for
//! made-up questions.

use std::ops::RangeInclusive;

use super::known::Known;
use crate::declare::fact::FactSpec;
use policy::engine::Words;
use types::actor::{ActorKind, Trust};
use types::caller::Channel;
use types::delegation::{self, Authority};
use types::field::Label;
use types::run;

impl Words for Known<'_> {
    fn choices(&self, operation: &str, field: &str) -> &[String] {
        let entry = self.entries.iter().find(|entry| entry.spec.name == operation);
        let field = entry.and_then(|entry| entry.arguments().fields.iter().find(|known| known.name == field));
        field.map(|field| field.choices.as_slice()).unwrap_or_default()
    }

    fn words(&self, of: &str, attribute: &str) -> Vec<&'static str> {
        match (of, attribute) {
            // A team is an entity of another type.
            ("Ok::Actor", "kind") => {
                ActorKind::ALL.iter().filter(|kind| **kind != ActorKind::Team).map(|kind| kind.name()).collect()
            }
            ("Ok::Approval", "operation") => self.entries.iter().map(|entry| entry.spec.name).collect(),
            ("context", "channel") => Channel::ALL.iter().map(|channel| channel.name()).collect(),
            ("context.delegation", "authority") => Authority::ALL.iter().map(|authority| authority.name()).collect(),
            ("context.run", "labels") => Label::ALL.iter().map(|label| label.name()).collect(),
            _ => {
                let noun = self.nouns.named(of.strip_prefix("Ok::").unwrap_or(of));
                let fact = noun.and_then(|noun| noun.facts.iter().find(|fact| fact.name == attribute));
                fact.map(FactSpec::words).unwrap_or_default()
            }
        }
    }

    fn range(&self, of: &str, attribute: &str) -> Option<RangeInclusive<i64>> {
        match (of, attribute) {
            ("Ok::Actor", "trust") => Some(0..=Trust::ALL.len() as i64 - 1),
            ("context.delegation", "depth") => Some(1..=delegation::DEEPEST.into()),
            ("context.run", "depth") => Some(0..=run::DEEPEST.into()),
            ("context.run", "steps" | "calls" | "cost_cents") | ("context.hist", _) => Some(0..=i64::MAX),
            _ => None,
        }
    }
}
