//! The Cedar resource of break-glass grants.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::testing::{Cast, Row, Sample};
use types::id::ActorId;
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
        staged: Staged::Rows { list: "break_glass", complete: |thing, _| thing, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state,
};

/// Returns sample grants of everybody, opened with their own token and with one issued by another.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let of = |holder: &ActorId| -> Vec<Sample> {
        let grant = |what: &str, peers: u32| {
            Row::new("break_glass", format!("bgl_{what}.{holder}")).with("holder", holder).with("peers", peers)
        };
        let issued = [("issued", 2), ("alone", 1)].map(|(what, peers)| grant(what, peers).with("issuer", "ana"));
        let issued = issued.into_iter().filter(|_| holder.as_str() != "ana");
        [grant("own", 2)].into_iter().chain(issued).map(|row| Sample::of(holder, row)).collect()
    };
    cast.everybody.iter().flat_map(of).collect()
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.break_glass(id)?.filter(|grant| grant.created_at <= read.now());
    Ok(found.map(|grant| read.break_glass_target(&grant)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let grant = read.break_glass(&target.id())?;
    Ok(json!(grant.map(|grant| json!({ "expires_at": grant.expires_at, "reviewed": grant.review.is_some() }))))
}
