//! Approvals as policies see them.

use serde_json::Value;

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use types::refusal::Stop;

pub static APPROVAL: Resource = Resource {
    noun: Noun {
        name: "Approval",
        doc: "A call that waits for people.",
        sight: Some("approval.read"),
        own: None,
        facts: &[
            FactSpec::actor("requester", ""),
            FactSpec::text("operation", ""),
            FactSpec::actors("approvers", "who may decide it now, by approvals.yaml"),
            FactSpec::actors("behalf", "on whose behalf it was asked"),
            FactSpec::actor("issuer", "who issued the token that it was asked with, where that is not the requester")
                .optional(),
        ],
        staged: Staged::Rows { list: "approvals", complete: |thing, _| thing },
    },
    title: None,
    brief: Resource::says_nothing,
    find,
    state: |_, _| Ok(Value::Null),
};

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.approval(id)?.filter(|approval| approval.created_at <= read.now());
    Ok(found.map(|approval| read.approval_target(&approval)))
}
