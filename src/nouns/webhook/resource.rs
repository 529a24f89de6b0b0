//! Declares webhook subscriptions as a resource of policies.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use gate::{Directory, FactSpec, Noun, Reader, Resource, Staged, Target, Thing};
use policy::testing::{Cast, Row, Sample};
use types::id::ActorId;
use types::refusal::{Fault, Stop};
use types::target::Fact;

pub static WEBHOOK: Resource = Resource {
    noun: Noun {
        name: "Webhook",
        doc: "A subscription that sends events to an external URL.",
        sight: Some("webhook.read"),
        own: None,
        facts: &[
            FactSpec::actor("owner", ""),
            FactSpec::text("host", "where it is, or would be: hooks.example.com"),
            FactSpec::flag("held", "a kill switch stops its owner").derived(),
        ],
        staged: Staged::Rows { list: "webhooks", complete, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state,
};

fn complete(thing: Thing, company: &dyn Directory) -> Thing {
    let held = matches!(thing.fact("owner"), Some(Fact::Actor(owner)) if company.is_stopped(owner));
    thing.flag("held", held)
}

/// Returns sample webhooks of everybody, and of two owners with each address that policies name.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let row = |owner: &ActorId, number: usize, host: &str| {
        Row::new("webhooks", format!("whk_{owner}{number}")).with("owner", owner).with("host", host)
    };
    let usual = cast.everybody.iter().map(|owner| Sample::of(owner, row(owner, 0, "hooks.example.com")));
    let of_two = cast.everybody.iter().filter(|owner| ["ana", "max"].contains(&owner.as_str()));
    let named = of_two.flat_map(|owner| {
        let hosts = cast.texts(|text| text.contains('.')).enumerate();
        hosts.map(move |(number, host)| Sample::new(row(owner, number + 1, host)))
    });
    usual.chain(named).collect()
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.webhook(id)?.filter(|webhook| webhook.created_at <= read.now());
    Ok(found.map(|webhook| read.webhook_target(&webhook, None)))
}

/// Returns the state to which approvals are bound. The address may hold a secret, so only its hash is recorded.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let address = |url: &str| hex::encode(Sha256::digest(url));
    Ok(json!(read.webhook(&target.id())?.map(|webhook| json!({
        "owner": webhook.owner, "host": webhook.host, "url_sha256": address(&webhook.url), "status": webhook.status,
    }))))
}
