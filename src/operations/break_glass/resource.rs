//! Break-glass grants as policies see them.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use types::refusal::{Fault, Stop};

pub static BREAK_GLASS: Resource = Resource {
    noun: Noun {
        name: "BreakGlass",
        doc: "A grant to proceed without approval for a limited time.",
        sight: Some("break_glass.list"),
        own: None,
        facts: &[
            FactSpec::actor("holder", ""),
            FactSpec::number("peers", "how many admins there are beside the holder, or were within three days"),
            FactSpec::actor("issuer", "who issued the token that it was opened with, where that is not the holder")
                .optional(),
        ],
        staged: Staged::Rows { list: "break_glass", complete: |thing, _| thing },
    },
    title: None,
    brief: Resource::says_nothing,
    find,
    state,
};

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.break_glass(id)?.filter(|grant| grant.created_at <= read.now());
    Ok(found.map(|grant| read.break_glass_target(&grant)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let grant = read.break_glass(&target.id())?;
    Ok(json!(grant.map(|grant| json!({ "expires_at": grant.expires_at, "reviewed": grant.review.is_some() }))))
}
