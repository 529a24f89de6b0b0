//! What a noun has in the company that a comparison of policies makes up: somebody's own things and others', each as it can
//! stand.

use super::rows::Row;
use crate::brain::Collections;
use types::id::ActorId;

/// Whose samples are tried as the policies look for them, too: a person's and an agent's.
const MODELS: [&str; 2] = ["max", "bot"];

/// As many texts that policies name are in samples of one list.
const MOST: usize = 8;

/// The company that samples are made for.
pub struct Cast<'a> {
    /// Everybody who is active.
    pub everybody: &'a [ActorId],
    /// Agents, also those who have left.
    pub agents: &'a [ActorId],
    pub collections: &'a Collections,
    /// What the policies compare texts with; none is empty.
    pub texts: &'a [&'a str],
}

impl Cast<'_> {
    /// Some of the texts that policies name, of those that are like this.
    pub fn texts(&self, like: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
        self.texts.iter().copied().filter(move |text| like(text)).take(MOST)
    }
}

/// Somebody other than this one.
pub fn other_than(who: &ActorId) -> &'static str {
    if who.as_str() == "max" { "mia" } else { "max" }
}

/// A thing of the made-up company.
#[derive(Clone, Debug)]
pub struct Sample {
    pub row: Row,
    /// Whose it is.
    pub owner: Option<ActorId>,
    /// Who alone is asked about it; everybody where that is nobody.
    pub only: Option<ActorId>,
    /// Whether there are others like it, as policies look for them.
    pub is_model: bool,
}

impl Sample {
    /// A thing that everybody is asked about.
    pub fn new(row: Row) -> Sample {
        Sample { row, owner: None, only: None, is_model: false }
    }

    /// A thing of somebody's.
    pub fn of(who: &ActorId, row: Row) -> Sample {
        Sample { owner: Some(who.clone()), is_model: MODELS.contains(&who.as_str()), ..Sample::new(row) }
    }

    /// Creates a thing that belongs to somebody. Only its owner is asked about it, unless the owner is one of `shown`:
    /// of things that everybody has, a few are enough to tell owners apart.
    pub fn own(who: &ActorId, shown: &[&str], row: Row) -> Sample {
        let only = (!shown.contains(&who.as_str())).then(|| who.clone());
        Sample { only, ..Sample::of(who, row) }
    }

    /// There are others like it.
    #[must_use]
    pub fn model(self) -> Sample {
        Sample { is_model: true, ..self }
    }
}
