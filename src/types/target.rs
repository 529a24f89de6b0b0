//! What an operation can be about. A target names the thing and the facts of it that a policy may look at, so that a
//! decision can be asked again from the log alone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::id::ActorId;
use super::time::Time;

/// What one call is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    Company,
    /// A person, an agent or a team that exists.
    Actor(ActorId),
    /// A thing of any other kind.
    Thing(Thing),
}

/// A thing with the facts that its kind declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// Its Cedar type in the namespace `Ok`; of the company's own records, `Brain::` and the collection.
    #[serde(deserialize_with = "kind")]
    pub kind: Cow<'static, str>,
    pub id: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    facts: BTreeMap<Cow<'static, str>, Fact>,
}

/// Words of Cedar that are no names.
pub(super) const RESERVED: &[&str] = &["true", "false", "if", "then", "else", "in", "is", "like", "has"];

/// Only what can be the name of a Cedar type: whatever the log says of one is made into an entity.
fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, str>, D::Error> {
    let kind = String::deserialize(from)?;
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && !RESERVED.contains(&word)
    };
    let fits = kind.split("::").all(is_word);
    if fits { Ok(kind.into()) } else { Err(D::Error::custom("`kind` must be the name of a type")) }
}

/// One thing that a policy may look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// A person, an agent or a team.
    Actor(ActorId),
    Actors(Vec<ActorId>),
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Number(i64),
    /// In ten-thousandths.
    Decimal(i64),
    Time(Time),
}

impl Target {
    /// Its id, as the log keeps it.
    pub fn id(&self) -> String {
        match self {
            Target::Company => "company".into(),
            Target::Actor(id) => id.to_string(),
            Target::Thing(thing) => thing.id.clone(),
        }
    }

    /// Whether a fact of it is this person, agent or team, or they are among it.
    pub fn names(&self, fact: &str, id: &ActorId) -> bool {
        matches!(self, Target::Thing(thing) if thing.names(fact, id))
    }

    /// What it is, if it is of this kind.
    pub fn thing(&self, kind: &str) -> Option<&Thing> {
        match self {
            Target::Thing(thing) if thing.kind == kind => Some(thing),
            Target::Company | Target::Actor(_) | Target::Thing(_) => None,
        }
    }
}

impl From<Thing> for Target {
    fn from(thing: Thing) -> Target {
        Target::Thing(thing)
    }
}

impl Thing {
    pub fn new(kind: impl Into<Cow<'static, str>>, id: impl Into<String>) -> Thing {
        Thing { kind: kind.into(), id: id.into(), facts: BTreeMap::new() }
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, fact: Fact) -> Thing {
        self.facts.insert(name.into(), fact);
        self
    }

    #[must_use]
    pub fn actor(self, name: &'static str, id: &ActorId) -> Thing {
        self.with(name, Fact::Actor(id.clone()))
    }

    /// Nothing where there is nobody.
    #[must_use]
    pub fn maybe(self, name: &'static str, id: Option<&ActorId>) -> Thing {
        match id {
            Some(id) => self.actor(name, id),
            None => self,
        }
    }

    #[must_use]
    pub fn actors(self, name: &'static str, ids: impl IntoIterator<Item = ActorId>) -> Thing {
        self.with(name, Fact::Actors(ids.into_iter().collect()))
    }

    #[must_use]
    pub fn text(self, name: &'static str, text: impl Into<String>) -> Thing {
        self.with(name, Fact::Text(text.into()))
    }

    #[must_use]
    pub fn flag(self, name: &'static str, flag: bool) -> Thing {
        self.with(name, Fact::Flag(flag))
    }

    #[must_use]
    pub fn number(self, name: &'static str, number: u32) -> Thing {
        self.with(name, Fact::Number(number.into()))
    }

    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.get(name)
    }

    /// All that policies may look at, by name.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &Fact)> {
        self.facts.iter().map(|(name, fact)| (name.as_ref(), fact))
    }

    /// Whether a fact is this person, agent or team, or these are among it.
    pub fn names(&self, name: &str, id: &ActorId) -> bool {
        match self.fact(name) {
            Some(Fact::Actor(one)) => one == id,
            Some(Fact::Actors(all)) => all.contains(id),
            Some(_) | None => false,
        }
    }
}
