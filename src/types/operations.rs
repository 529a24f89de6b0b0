//! Some of the operations, as a grant names them.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names that one grant may list.
pub const MOST_NAMES: usize = 50;

/// Operations such as `actor.offboard`, groups such as `task.*`, `query` and `change`, or `*` for everything. Which names
/// there are, the schema of the policies knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Operations(pub BTreeSet<String>);

impl Operations {
    /// Everything.
    pub const ALL: &str = "*";

    /// Whether an operation is in it; `family` is its name with those of the groups that it is in.
    pub fn holds<'a>(&self, mut family: impl Iterator<Item = &'a str>) -> bool {
        self.0.contains(Operations::ALL) || family.any(|name| self.0.contains(name))
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
    }
}
