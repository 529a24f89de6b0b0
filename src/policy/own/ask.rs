//! From the parts of a question to its answer.

use cedar_policy::EntityUid;
use cedar_policy_core::ast::EntityUID;

use super::Wrong;
use super::read::{Circumstances, Found, Thing};
use super::reader::bare;
use crate::policy::{Closed, Facts, Question, Ruling, Slice, Snapshot};

/// The answer. Wants at least 2 MiB of stack.
pub fn ask(
    snapshot: &Snapshot,
    subject: &Thing,
    action: &EntityUid,
    resource: &Thing,
    circumstances: &Circumstances,
) -> Result<Ruling, Wrong> {
    let (entities, facts) = gathered(snapshot, subject, action, resource, circumstances)?;
    let slice = Slice::new(snapshot, action, entities);
    Ok(snapshot.decide(&Question {
        principal: &subject.uid,
        action,
        resource: &resource.uid,
        entities: &slice,
        facts: &facts,
        approvals: &[],
    }))
}

/// All that a question looks at: every entity once, and the context.
pub fn gathered(
    snapshot: &Snapshot,
    subject: &Thing,
    action: &EntityUid,
    resource: &Thing,
    circumstances: &Circumstances,
) -> Result<(Vec<Closed>, Facts), Wrong> {
    applies(snapshot, subject, action, resource)?;
    let entities = entities(snapshot, [&subject.found, &resource.found, &circumstances.found])?;
    Ok((entities, circumstances.facts.clone()))
}

fn applies(snapshot: &Snapshot, subject: &Thing, action: &EntityUid, resource: &Thing) -> Result<(), Wrong> {
    if snapshot.is_known_to_take(action, subject.kind(), resource.kind()) {
        return Ok(());
    }
    let unknown = || Wrong::new(format!("the schema knows no action `{action}`"));
    let known = snapshot.schema().as_ref().get_action_id(action.as_ref()).ok_or_else(unknown)?;
    let ends = [
        ("subject", subject.kind(), known.is_applicable_principal_type(subject.kind())),
        ("resource", resource.kind(), known.is_applicable_resource_type(resource.kind())),
    ];
    match ends.into_iter().find(|(_, _, applies)| !applies) {
        Some((end, kind, _)) => {
            let what = format!("`{action}` does not apply to a {end} of the type `{kind}`");
            Err(Wrong::new(what).within("type").within(end))
        }
        None => Ok(()),
    }
}

/// Every entity once: as it is described, or bare where it is only named. They are few: as many as the schema has references.
fn entities(snapshot: &Snapshot, parts: [&Found; 3]) -> Result<Vec<Closed>, Wrong> {
    let mut all: Vec<Closed> = Vec::with_capacity(4);
    let known = |all: &[Closed], uid: &EntityUID| all.iter().position(|closed| closed.entity().uid() == uid);
    for (uid, closed) in parts.iter().flat_map(|part| &part.described) {
        match known(&all, uid).and_then(|place| all.get(place)) {
            Some(other) if !other.entity().deep_eq(closed.entity()) => {
                return Err(Wrong::new(format!("`{uid}` is described twice, and not alike")));
            }
            Some(_) => {}
            None => all.push(closed.clone()),
        }
    }
    for (part, end) in parts.iter().zip(["subject", "resource", "context"]) {
        for uid in &part.named {
            if known(&all, uid).is_none() {
                all.push(bare(snapshot, uid).map_err(|wrong| wrong.within(end))?);
            }
        }
    }
    Ok(all)
}
