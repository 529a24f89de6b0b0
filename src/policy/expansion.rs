//! Counts the size of a schema once its types are written out. Cedar writes a type out each time it is named, follows
//! all memberships of each type to the end, and validates each policy for every kind of question that an action allows.
//! So that size is counted first, in one pass over the words.
//!
//! Always true: the count is never less than Cedar's. Names of types are taken without their namespaces.

use std::collections::BTreeMap;

use super::ancestry::{Ancestry, MAX_KIN};
use super::lexer::{Token, Tokens};

/// The most words of all types, written out, and of one.
const MAX_WORDS: usize = 200_000;
const MAX_WORDS_OF_ONE: usize = 10_000;
/// How deep types may nest, written out.
const MAX_DEPTH: usize = 64;
/// The most entity types, and the most actions.
const MAX_TYPES: usize = 1_000;
const MAX_ACTIONS: usize = 2_000;
/// The most pairs of a principal's and a resource's type that actions apply to, all actions together.
const MAX_PAIRS: usize = 5_000;

/// One declaration: its words up to the semicolon.
struct Declaration<'a> {
    at: usize,
    namespace: String,
    words: Vec<&'a str>,
}

/// What a type comes to, written out.
#[derive(Clone, Copy)]
struct Size {
    words: usize,
    depth: usize,
}

/// Where a schema comes to too much, and how.
pub fn too_much(text: &str) -> Option<(usize, String)> {
    let declarations = declarations(text);
    let begins = |declaration: &&Declaration<'_>, word: &str| declaration.words.first() == Some(&word);
    let mut sizes = Sizes { common: BTreeMap::new(), known: BTreeMap::new() };
    for one in declarations.iter().filter(|one| begins(one, "type")) {
        sizes.common.entry(one.words.get(1).copied().unwrap_or_default()).or_default().push(one);
    }
    let (mut words, mut types, mut actions, mut pairs) = (0_usize, 0_usize, 0_usize, 0_usize);
    let (mut groups, mut parents) = (Ancestry::default(), Ancestry::default());
    for one in &declarations {
        let size = sizes.of(one, 0);
        words = words.saturating_add(size.words);
        let wrong = |what: String| Some((one.at, what));
        if size.depth > MAX_DEPTH {
            return wrong(format!("types nest deeper than {MAX_DEPTH}, written out"));
        }
        if size.words > MAX_WORDS_OF_ONE || words > MAX_WORDS {
            return wrong(format!("types come to more than {MAX_WORDS_OF_ONE} words, or all of them to {MAX_WORDS}"));
        }
        let named = one.words.get(1..).unwrap_or_default();
        let mut is_plain = true;
        if begins(&one, "entity") {
            is_plain = parents.declare(&one.namespace, named);
            types += one.names();
        } else if begins(&one, "action") {
            is_plain = groups.declare(&one.namespace, named);
            actions += one.names();
            pairs = pairs.saturating_add(one.pairs());
        }
        if !is_plain {
            return wrong("names with a backslash cannot be distinguished: write them plainly".to_owned());
        }
        if types > MAX_TYPES || actions > MAX_ACTIONS {
            return wrong(format!("more than {MAX_TYPES} entity types, or {MAX_ACTIONS} actions"));
        }
        if pairs > MAX_PAIRS {
            return wrong(format!("actions apply to more than {MAX_PAIRS} pairs of types"));
        }
    }
    let deep = groups.is_too_much(true) || parents.is_too_much(false);
    let what = format!("actions or entity types have more than {MAX_KIN} ancestors and ancestors of ancestors");
    deep.then_some((0, what))
}

/// The declarations of all namespaces.
fn declarations(text: &str) -> Vec<Declaration<'_>> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    let (mut at, mut is_namespace, mut namespace) = (0, false, String::new());
    for Token { text, at: here } in Tokens::new(text) {
        match (text, words.is_empty()) {
            ("namespace", true) => (is_namespace, namespace) = (true, String::new()),
            ("{", true) if is_namespace => is_namespace = false,
            (part, _) if is_namespace => namespace.push_str(part),
            ("}", true) => namespace.clear(),
            (";", _) => {
                found.push(Declaration { at, namespace: namespace.clone(), words: std::mem::take(&mut words) });
            }
            (word, is_first) => {
                at = if is_first { here } else { at };
                // Annotations stand before the word that says what is declared.
                words.push(word);
                if is_annotated(&words) && matches!(word, "type" | "entity" | "action") {
                    words = vec![word];
                }
            }
        }
    }
    if !words.is_empty() {
        found.push(Declaration { at, namespace, words });
    }
    found
}

fn is_annotated(words: &[&str]) -> bool {
    words.first() == Some(&"@")
}

impl Declaration<'_> {
    /// How many types or actions it declares: `entity A, B in [C]`.
    fn names(&self) -> usize {
        let own =
            self.words.iter().take_while(|word| !matches!(**word, "in" | "=" | "{" | "appliesTo" | "enum" | "tags"));
        1 + own.filter(|word| **word == ",").count()
    }

    /// Its actions times the principals and the resources that they apply to.
    fn pairs(&self) -> usize {
        let end = |name: &str| {
            let begun = self.words.iter().skip_while(|word| **word != name);
            let list = begun.take_while(|word| !matches!(**word, "]" | "}"));
            let words = list.filter(|word| word.starts_with(|c: char| c.is_alphanumeric() || c == '_')).count();
            words.saturating_sub(1).max(1)
        };
        self.names().saturating_mul(end("principal")).saturating_mul(end("resource"))
    }
}

struct Sizes<'a> {
    /// By name: several namespaces may have a type of it, and all of them are counted.
    common: BTreeMap<&'a str, Vec<&'a Declaration<'a>>>,
    known: BTreeMap<&'a str, Size>,
}

impl<'a> Sizes<'a> {
    /// Goes no deeper than is allowed; a circle is deeper.
    fn of(&mut self, one: &'a Declaration<'a>, depth: usize) -> Size {
        let own = one.words.iter().filter(|word| **word == "{").count();
        let mut size = Size { words: one.words.len(), depth: own.min(1) };
        if depth > MAX_DEPTH {
            return Size { depth: MAX_DEPTH + 1, ..size };
        }
        let skip = if one.words.first() == Some(&"type") { 2 } else { 1 };
        for word in one.words.iter().skip(skip).copied() {
            if let Some(inner) = self.named(word, depth + 1) {
                size.words = size.words.saturating_add(inner.words);
                size.depth = size.depth.max(inner.depth + 1);
            }
        }
        size
    }

    fn named(&mut self, word: &'a str, depth: usize) -> Option<Size> {
        if let Some(known) = self.known.get(word) {
            return Some(*known);
        }
        let mut all = Size { words: 0, depth: 0 };
        for one in self.common.get(word)?.clone() {
            let size = self.of(one, depth);
            all = Size { words: all.words.saturating_add(size.words), depth: all.depth.max(size.depth) };
        }
        self.known.insert(word, all);
        Some(all)
    }
}
