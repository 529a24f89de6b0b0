//! Tokens as policies see them.

use serde_json::json;

use gate::{FactSpec, Noun, Resource, Staged, Target, Thing};
use policy::testing::{Cast, Row, Sample};
use store::tokens::Token;
use types::id::ActorId;

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
    token_of(&token.id, &token.holder)
}

/// A token of which no more is known.
pub fn token_of(id: &str, holder: &ActorId) -> Target {
    Thing::new("Token", id).actor("holder", holder).into()
}
