//! Counts the memberships of actions and entity types, with everything that follows from them. Cedar keeps all
//! ancestors of each entity type, and for each action also those of each ancestor: a chain of 400 actions takes
//! gigabytes.
//!
//! Always true: the count is never less than Cedar's. A bare name may belong to its own namespace or to none.

use std::collections::BTreeMap;

/// The most pairs of a member and an ancestor; of actions, with each ancestor's own. Each takes some 200 bytes.
pub(super) const MAX_KIN: usize = 100_000;
/// The most that is looked at to find them.
const MAX_LOOKS: usize = 1_000_000;

/// A namespace and what is declared in it.
type Name = (String, String);

/// What something is a member of.
#[derive(Default)]
pub struct Ancestry {
    parents: BTreeMap<Name, Vec<Name>>,
}

impl Ancestry {
    /// Takes in a declaration: its words behind `action` or `entity`. Whether its names can be told apart: with escapes in
    /// them, one name can be written in many ways.
    pub fn declare(&mut self, namespace: &str, words: &[&str]) -> bool {
        let ends = |word: &&&str| matches!(**word, "appliesTo" | "=" | "{" | "tags" | "enum");
        let names: Vec<&str> = words.iter().take_while(|word| !ends(word) && **word != "in").copied().collect();
        let groups = words.get(names.len() + 1..).filter(|_| words.get(names.len()) == Some(&"in")).unwrap_or_default();
        let groups: Vec<&str> = match groups.split_first() {
            Some((&"[", list)) => list.iter().take_while(|word| **word != "]").copied().collect(),
            _ => groups.iter().take_while(|word| !ends(word)).copied().collect(),
        };
        let parents: Vec<Name> =
            groups.split(|word| *word == ",").flat_map(|group| referred(namespace, group)).collect();
        for name in names.split(|word| *word == ",").filter_map(|name| name.last()) {
            self.parents.entry((namespace.to_owned(), bare(name))).or_default().extend(parents.iter().cloned());
        }
        !names.iter().chain(&groups).any(|name| name.contains('\\'))
    }

    /// Whether there are too many pairs of a member and an ancestor; with `theirs`, the ancestors' own are counted too.
    pub fn is_too_much(&self, theirs: bool) -> bool {
        let numbers: BTreeMap<&Name, usize> = self.parents.keys().zip(0..).collect();
        let numbered = |names: &Vec<Name>| names.iter().filter_map(|name| numbers.get(name).copied()).collect();
        let parents: Vec<Vec<usize>> = self.parents.values().map(numbered).collect();
        // Groups that are declared elsewhere have no ancestors here.
        let elsewhere = self.parents.values().flatten().filter(|name| !numbers.contains_key(*name)).count();
        let (mut known, mut pairs, mut looks): (Vec<Vec<usize>>, _, _) = (Vec::new(), elsewhere, 0_usize);
        for member in 0..parents.len() {
            let Some(ancestors) = above(&parents, member, &mut looks) else { return true };
            pairs += ancestors.len();
            if pairs > MAX_KIN {
                return true;
            }
            known.push(ancestors);
        }
        let own = |ancestor: &usize| known.get(*ancestor).map_or(0, Vec::len);
        theirs && pairs + known.iter().flatten().map(own).sum::<usize>() > MAX_KIN
    }
}

/// Everything that one is a member of; none where that takes too long to find.
fn above(parents: &[Vec<usize>], member: usize, looks: &mut usize) -> Option<Vec<usize>> {
    let (mut seen, mut found, mut open) = (vec![false; parents.len()], Vec::new(), vec![member]);
    while let Some(one) = open.pop() {
        for parent in parents.get(one).into_iter().flatten().copied() {
            *looks += 1;
            if let Some(seen) = seen.get_mut(parent).filter(|seen| !**seen) {
                *seen = true;
                found.push(parent);
                open.push(parent);
            }
        }
        if *looks > MAX_LOOKS {
            return None;
        }
    }
    Some(found)
}

fn bare(name: &str) -> String {
    name.trim_matches('"').to_owned()
}

/// What `Team`, `Docs::Team` or `Docs::Action::"read"` may refer to.
fn referred(namespace: &str, words: &[&str]) -> Vec<Name> {
    let Some((name, path)) = words.split_last() else { return Vec::new() };
    let path: Vec<&str> = path.iter().copied().filter(|word| !matches!(*word, ":" | "Action")).collect();
    let spaces = if path.is_empty() { vec![namespace.to_owned(), String::new()] } else { vec![path.join("::")] };
    let mut found: Vec<Name> = spaces.into_iter().map(|space| (space, bare(name))).collect();
    found.dedup();
    found
}
