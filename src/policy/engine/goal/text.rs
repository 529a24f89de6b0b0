//! Texts that a pattern matches, and that it does not.

use cedar_policy_core::ast::{Pattern, PatternElem};

/// What is like an address, by what its pattern has in it: no address of anybody (RFC 2606).
const ADDRESSES: [(char, &str); 3] = [('@', "x@x.invalid"), (':', "https://x.invalid/"), ('.', "x.invalid")];

pub fn like(pattern: &Pattern) -> String {
    let chars = pattern.iter().map(|element| match element {
        PatternElem::Char(c) => *c,
        PatternElem::Wildcard => 'x',
    });
    chars.collect()
}

/// None where everything is like it.
pub fn unlike(pattern: &Pattern) -> Option<&'static str> {
    let has = |wanted: char| pattern.iter().any(|element| matches!(element, PatternElem::Char(c) if *c == wanted));
    let addresses = ADDRESSES.into_iter().filter(|(sign, _)| has(*sign)).map(|(_, text)| text);
    addresses.chain(["x", ""]).find(|text| !pattern.wildcard_match(text))
}
