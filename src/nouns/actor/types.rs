//! Types of actors: kinds, roles, trust tiers, and the scopes of kill switches.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::ActorId;

macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $what:literal, { $($(#[$vdoc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String")]
        #[schemars(extend("enum" = [$($name),*]))]
        pub enum $type { $($(#[$vdoc])* #[serde(rename = $name)] $variant,)* }
        impl $type {
            pub const ALL: &[$type] = &[$($type::$variant,)*];
            pub const fn name(self) -> &'static str { match self { $($type::$variant => $name,)* } }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.name()) }
        }
        impl TryFrom<String> for $type {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> { text.parse() }
        }
        impl clap::builder::ValueParserFactory for $type {
            type Parser = clap::builder::ValueParser;
            /// The names that it can have, as an argument of a command.
            fn value_parser() -> Self::Parser {
                $crate::actor::parser(Self::ALL.iter().map(|one| one.name()), |name| name.parse::<Self>())
            }
        }
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|one| one.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|one| one.name()).collect();
                    let a = if $what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                    format!("`{text}` is not {a} {}: use {}", $what, names.join(", "))
                })
            }
        }
    };
}

pub(super) use named;

/// Builds an argument parser that accepts one of these names.
pub(super) fn parser<T: Clone + Send + Sync + 'static>(
    names: impl Iterator<Item = &'static str>,
    read: fn(String) -> Result<T, String>,
) -> ValueParser {
    PossibleValuesParser::new(names).try_map(read).into()
}

named! {
    /// What an actor is.
    ActorKind, "kind of actor", {
        Person = "person",
        Team = "team",
        Agent = "agent",
        /// An agent that runs elsewhere, and that somebody here answers for.
        OutsideAgent = "outside_agent",
    }
}

impl ActorKind {
    /// Checks whether this is an agent: a machine with an owner and a trust tier.
    pub const fn is_agent(self) -> bool {
        matches!(self, ActorKind::Agent | ActorKind::OutsideAgent)
    }

    /// Returns the default role of this kind.
    pub const fn usual_role(self) -> Role {
        match self {
            ActorKind::Person | ActorKind::Team => Role::Member,
            ActorKind::Agent => Role::Agent,
            ActorKind::OutsideAgent => Role::OutsideAgent,
        }
    }
}

named! {
    /// What an actor is allowed by default; the policies say what each role may do.
    Role, "role", {
        /// Everything.
        Admin = "admin",
        /// The people, agents and tasks of the teams they lead.
        Lead = "lead",
        /// The brain, its schema and knowledge.
        Steward = "steward",
        /// Every read and the audit; no change.
        Auditor = "auditor",
        /// Their own work.
        Member = "member",
        /// An agent of the company.
        Agent = "agent",
        /// An agent that runs elsewhere: itself, and its own requests.
        OutsideAgent = "outside-agent",
    }
}

named! {
    /// How far an agent is trusted, from 0 to 4. A policy sees the number.
    Trust, "trust tier", {
        /// Proposes only.
        Observe = "observe",
        /// Every outward act is approved.
        Assist = "assist",
        Standard = "standard",
        Trusted = "trusted",
        Autonomous = "autonomous",
    }
}

impl Role {
    /// Returns the argument parser for the roles of people.
    pub fn of_people() -> ValueParser {
        let roles = Role::ALL.iter().filter(|role| role.is_for(ActorKind::Person)).map(|role| role.name());
        parser(roles, |name| name.parse::<Role>())
    }

    /// Checks whether an actor of this kind can have the role: agents have one role of their own, people any other.
    pub const fn is_for(self, kind: ActorKind) -> bool {
        match kind {
            ActorKind::Person => !matches!(self, Role::Agent | Role::OutsideAgent),
            ActorKind::Agent => matches!(self, Role::Agent),
            ActorKind::OutsideAgent => matches!(self, Role::OutsideAgent),
            ActorKind::Team => false,
        }
    }

    /// Returns the kind of actor that has this role.
    pub const fn kind(self) -> ActorKind {
        match self {
            Role::Agent => ActorKind::Agent,
            Role::OutsideAgent => ActorKind::OutsideAgent,
            _ => ActorKind::Person,
        }
    }
}

impl Trust {
    pub fn level(self) -> i64 {
        Trust::ALL.iter().take_while(|tier| **tier < self).count() as i64
    }
}

/// What a kill switch stops: `global`, `actor:<id>`, `tool:<id>` or `team:<id>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^(global|(actor|tool|team):.+)$", "x-names" = "reference"))]
pub enum KillScope {
    Global,
    Actor(ActorId),
    Tool(String),
    /// Holds the team's whole id, `team:<id>`.
    Team(ActorId),
}

impl KillScope {
    /// The kinds of scopes.
    pub const KINDS: [&str; 4] = ["global", "actor", "tool", "team"];

    /// Returns which of [`KillScope::KINDS`] it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            KillScope::Global => "global",
            KillScope::Actor(_) => "actor",
            KillScope::Tool(_) => "tool",
            KillScope::Team(_) => "team",
        }
    }

    /// Returns the actor or team that the switch stops, if it stops one.
    pub const fn actor(&self) -> Option<&ActorId> {
        match self {
            KillScope::Actor(id) | KillScope::Team(id) => Some(id),
            KillScope::Global | KillScope::Tool(_) => None,
        }
    }
}

impl fmt::Display for KillScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KillScope::Global => f.write_str("global"),
            KillScope::Actor(id) => write!(f, "actor:{id}"),
            KillScope::Tool(id) => write!(f, "tool:{id}"),
            KillScope::Team(id) => write!(f, "{id}"),
        }
    }
}

impl FromStr for KillScope {
    type Err = String;
    fn from_str(text: &str) -> Result<KillScope, String> {
        let bad = || format!("`{text}` is not a kill switch: use global, actor:<id>, tool:<id> or team:<id>");
        match text.split_once(':') {
            None if text == "global" => Ok(KillScope::Global),
            Some(("actor", id)) => id.parse().map(KillScope::Actor).map_err(|_| bad()),
            Some(("team", _)) => text.parse().map(KillScope::Team).map_err(|_| bad()),
            Some(("tool", id)) => {
                let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
                let fine = !id.is_empty() && id.len() <= 128 && id.chars().all(known);
                fine.then(|| KillScope::Tool(id.to_owned())).ok_or_else(bad)
            }
            _ => Err(bad()),
        }
    }
}

impl TryFrom<String> for KillScope {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<KillScope> for String {
    fn from(scope: KillScope) -> String {
        scope.to_string()
    }
}
