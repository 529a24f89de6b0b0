//! The Cedar resource of tokens.

use std::collections::BTreeMap;

use serde_json::json;

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target, Thing};
use policy::testing::{Cast, Row, Sample};
use store::tokens::Token;
use types::refusal::Fault;

pub static TOKEN: Resource = Resource {
    noun: Noun {
        name: "Token",
        doc: "What somebody signs in with.",
        sight: Some("token.list"),
        own: None,
        facts: &[FactSpec::actor("holder", "")],
        staged: Staged::Rows { list: "tokens", complete: |thing, _| thing, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find: |id, read| Ok(read.token(id)?.filter(|token| token.created_at <= read.now()).as_ref().map(target_of)),
    state: |target, read| {
        let token = read.token(&target.id())?;
        Ok(json!(token.map(|token| json!({ "scopes": token.scopes, "ended": token.ended }))))
    },
};

fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let token = |holder| Row::new("tokens", format!("tok_{holder}")).with("holder", holder);
    let shown = ["max", "lea", "ana", "pia", "bot", "bot0"];
    cast.everybody.iter().map(|holder| Sample::own(holder, &shown, token(holder))).collect()
}

pub(super) fn target_of(token: &Token) -> Target {
    Thing::new("Token", &token.id).actor("holder", &token.holder).into()
}

/// Decides which tokens a caller sees, each only once.
pub struct SeenTokens<'a> {
    read: &'a Reader<'a>,
    known: BTreeMap<String, bool>,
}

impl<'a> SeenTokens<'a> {
    pub fn of(read: &'a Reader<'a>) -> SeenTokens<'a> {
        SeenTokens { read, known: BTreeMap::new() }
    }

    pub fn sees(&mut self, id: &str) -> Result<bool, Fault> {
        if let Some(seen) = self.known.get(id) {
            return Ok(*seen);
        }
        let seen = self.read.token(id)?.is_some_and(|token| self.read.sees(&target_of(&token)));
        self.known.insert(id.to_owned(), seen);
        Ok(seen)
    }
}
