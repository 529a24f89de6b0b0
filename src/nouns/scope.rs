//! Validates the operations that a grant names: each must exist, or be a group of operations.

use gate::Reader;
use types::operations::{MOST_NAMES, Operations};

/// The maximum length of a name that an error repeats.
const SHOWN: usize = 80;

/// Returns what is wrong with a scope, if anything.
pub fn problem(scope: &Operations, read: &Reader<'_>) -> Option<String> {
    if scope.0.is_empty() {
        return Some("scope: name at least one operation or group, or `*`".into());
    }
    if scope.0.len() > MOST_NAMES {
        return Some(format!("scope: must have at most {MOST_NAMES} names"));
    }
    // One problem is enough: its message lists the alternatives.
    scope.0.iter().find(|name| !read.knows_operation(name)).map(|name| unknown(name, read))
}

/// Suggests alternatives: the operations of the same noun, or the groups.
fn unknown(name: &str, read: &Reader<'_>) -> String {
    let noun = name.split_once('.').map(|(noun, _)| format!("{noun}."));
    let near: Vec<&str> =
        read.operation_names().filter(|known| noun.as_ref().is_some_and(|noun| known.starts_with(noun))).collect();
    let groups = || read.operation_names().filter(|known| known.ends_with(".*") || !known.contains('.'));
    let there = if near.is_empty() { std::iter::once(Operations::ALL).chain(groups()).collect() } else { near };
    let name: String = name.chars().take(SHOWN).collect();
    format!("scope: there is no operation `{name}`; there are {}", there.join(", "))
}
