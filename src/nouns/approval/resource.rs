//! The Cedar resource of approvals.

use serde_json::Value;

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::testing::{Cast, Row, Sample, other_than};
use types::id::ActorId;
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
            FactSpec::actor("issuer", "who issued the token used to request it, if not the requester").optional(),
        ],
        staged: Staged::Rows { list: "approvals", complete: |thing, _| thing, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state: |_, _| Ok(Value::Null),
};

/// Returns sample requests to decide; for the first operation also their own, and some that others made.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let operations = ["actor.add"].into_iter().chain(cast.texts(|_| true)).enumerate();
    operations.flat_map(|operation| cast.everybody.iter().flat_map(move |who| requests(who, operation))).collect()
}

fn requests(who: &ActorId, (number, operation): (usize, &str)) -> Vec<Sample> {
    let other = other_than(who);
    let request = |what: &str, requester: &str, approvers: &[&str]| {
        let row = Row::new("approvals", format!("apr_{what}{number}.{who}"));
        let row = row.with("requester", requester).with("operation", operation).with("approvers", approvers);
        let issued = what == "issued" && who.as_str() != "ana";
        Sample::own(who, &[], if issued { row.with("issuer", "ana") } else { row })
    };
    let mut all = vec![request("for", other, &[who.as_str()])];
    if number == 0 {
        let own = ["of", "issued"].map(|what| request(what, who.as_str(), &["ana"]));
        all.extend(own);
        all.extend([request("self", who.as_str(), &[who.as_str()]), request("other", other, &[])]);
        // By somebody with teams below theirs.
        all.push(request("above", "zoe", &[who.as_str()]));
    }
    all
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.approval(id)?.filter(|approval| approval.created_at <= read.now());
    Ok(found.map(|approval| read.approval_target(&approval)))
}
