//! Some of the operations, as a grant names them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of operations and of their groups, as policies know them: `actor.offboard`, `actor.*` (everything of a noun),
/// `query` (what only reads), `change` (what changes something), `*`. 1 to 50 of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
#[schemars(with = "Vec<String>", extend("minItems" = 1, "maxItems" = 50))]
pub struct Operations(BTreeSet<String>);

const MOST: usize = 50;

impl Operations {
    /// Every operation.
    pub fn all() -> Operations {
        Operations(BTreeSet::from(["*".to_owned()]))
    }

    /// Whether an operation is one of them.
    pub fn cover(&self, name: &str, changes: bool) -> bool {
        let group = if changes { "change" } else { "query" };
        let noun = name.split_once('.').map(|(noun, _)| format!("{noun}.*"));
        self.0.iter().any(|one| one == "*" || one == name || one == group || Some(one) == noun.as_ref())
    }

    /// The first that names nothing: `known` are all operations, by name.
    pub fn unknown<'a>(&'a self, known: &[&str]) -> Option<&'a str> {
        let of_noun = |noun: &str| known.iter().any(|name| name.split_once('.').is_some_and(|(of, _)| of == noun));
        let is_known = |one: &str| {
            matches!(one, "*" | "query" | "change")
                || known.contains(&one)
                || one.strip_suffix(".*").is_some_and(of_noun)
        };
        self.0.iter().map(String::as_str).find(|one| !is_known(one))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl TryFrom<Vec<String>> for Operations {
    type Error = String;
    fn try_from(names: Vec<String>) -> Result<Operations, String> {
        let fine = |name: &String| {
            let known = |c: char| c.is_ascii_lowercase() || matches!(c, '.' | '_' | '*');
            (1..=64).contains(&name.len()) && name.chars().all(known)
        };
        if names.is_empty() || names.len() > MOST {
            return Err(format!("name 1 to {MOST} operations"));
        }
        match names.iter().find(|name| !fine(name)) {
            Some(name) => {
                let name: String = name.chars().take(80).collect();
                Err(format!("`{name}` is no operation: use names such as actor.add, actor.*, query, change or *"))
            }
            None => Ok(Operations(names.into_iter().collect())),
        }
    }
}

impl From<Operations> for Vec<String> {
    fn from(operations: Operations) -> Vec<String> {
        operations.0.into_iter().collect()
    }
}
