//! Changes as policies see them.

use serde_json::{Value, json};

use crate::gate::{FactSpec, Reader, Resource, Staged, Target};
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::refusal::{Fault, Stop};

pub static CHANGE: Resource = Resource {
    name: "Change",
    doc: "A proposal on its way into force.",
    sight: Some("change.read"),
    own: Some("author"),
    facts: &[
        FactSpec::actor("author", ""),
        FactSpec::text("target", "policy").one_of(ChangeTarget::Policy.name(), targets),
        FactSpec::text("state", "").one_of(ChangeState::Proposed.name(), states),
        FactSpec::flag("reviewed", "somebody else approved exactly this content"),
        FactSpec::number("peers", "how many others could review it"),
        FactSpec::number("admins", "how many admins there are"),
        FactSpec::actors("behalf", "on whose behalf it was proposed"),
        FactSpec::actor("issuer", "who issued the token that it was proposed with, where that is not the author")
            .optional(),
        FactSpec::actors("approvers", "who may decide a request about it that waits"),
    ],
    staged: Staged::Rows { list: "changes", complete: |thing, _| thing },
    find,
    state,
};

fn targets() -> Vec<&'static str> {
    ChangeTarget::ALL.iter().map(|target| target.name()).collect()
}

fn states() -> Vec<&'static str> {
    ChangeState::ALL.iter().map(|state| state.name()).collect()
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.change(id)?.filter(|change| change.created_at <= read.now());
    Ok(found.map(|change| read.change_target(&change)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let change = read.change(&target.id())?;
    Ok(json!(change.map(|change| json!({ "hash": change.hash, "open": change.state.is_open() }))))
}
