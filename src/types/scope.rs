//! Scopes narrow a token to some operations; a token without scopes reaches everything its holder may do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named part of the API that a token can be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every GET route outside the audit, as the holder sees it.
    Read,
    /// Proposing changes, and the holder's own proposals.
    Changes,
    /// Checking, comparing and proposing policy, and the holder's own proposals.
    Policy,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::Read, Scope::Changes, Scope::Policy];

    pub const fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Changes => "changes",
            Scope::Policy => "policy",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = String;
    fn from_str(text: &str) -> Result<Scope, String> {
        Scope::ALL
            .into_iter()
            .find(|scope| scope.name() == text)
            .ok_or_else(|| format!("`{text}` is not a scope; scopes are read, changes, policy"))
    }
}

/// The names of scopes, as an argument of a command.
pub fn names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(Scope::ALL.map(Scope::name))
}

/// The scopes of one token. Empty means unscoped.
pub type Scopes = BTreeSet<Scope>;

/// Which scoped tokens reach an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No scoped token.
    Full,
    /// Tokens with any of these scopes.
    Scopes(&'static [Scope]),
}

impl Reach {
    /// Reads outside the audit.
    pub const READ: Reach = Reach::Scopes(&[Scope::Read]);

    pub fn admits(self, scopes: &Scopes) -> bool {
        scopes.is_empty()
            || match self {
                Reach::Full => false,
                Reach::Scopes(some) => some.iter().any(|scope| scopes.contains(scope)),
            }
    }
}

/// "read, changes", as people read it.
pub fn listed(scopes: &Scopes) -> String {
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", ")
}
