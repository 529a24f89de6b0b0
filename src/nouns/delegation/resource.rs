//! The Cedar resource of delegations.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target, delegation_thing};
use types::refusal::{Fault, Stop};

pub static DELEGATION: Resource = Resource {
    noun: Noun {
        name: "Delegation",
        doc: "What somebody lets another do on their behalf.",
        sight: Some("delegation.read"),
        own: None,
        facts: &[
            FactSpec::actor("giver", ""),
            FactSpec::actor("taker", ""),
            FactSpec::actors("chain", "all on whose behalf the taker acts"),
        ],
        staged: Staged::Made(|id, company| company.terms(id).map(delegation_thing)),
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state,
};

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.delegation(id)?.filter(|delegation| delegation.created_at <= read.now());
    Ok(found.map(|delegation| read.delegation_target(&delegation)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    Ok(json!(read.delegation(&target.id())?.map(|given| json!({ "status": given.terms.status }))))
}
