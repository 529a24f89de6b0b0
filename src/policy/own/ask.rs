//! From the parts of a question to its answer.

use std::sync::Arc;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{EntityType, EntityUID};

use super::Wrong;
use super::read::{Circumstances, Few, Found, Thing};
use super::reader::bare;
use crate::policy::{Closed, Facts, Question, Ruling, Slice, Snapshot};

/// Asks one question after another. What two in a row have in common is gathered once.
pub struct Asker<'a> {
    snapshot: &'a Snapshot,
    last: Option<Last>,
}

/// What a question said, but for its resource.
struct Last {
    action: EntityUid,
    subject: Arc<Thing>,
    circumstances: Arc<Circumstances>,
    /// The entities that it describes, once a second question has said the same.
    common: Option<Common>,
}

struct Common {
    entities: Few,
    slice: Slice,
    /// A type of resource that the action is known to take.
    takes: Option<EntityType>,
}

impl<'a> Asker<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Asker<'a> {
        Asker { snapshot, last: None }
    }

    /// The answer. Wants at least 2 MiB of stack.
    pub fn ask(
        &mut self,
        subject: &Arc<Thing>,
        action: &EntityUid,
        resource: &Thing,
        circumstances: &Arc<Circumstances>,
    ) -> Result<Ruling, Wrong> {
        let snapshot = self.snapshot;
        let common = self.common(subject, action, circumstances);
        if common.as_ref().is_none_or(|common| common.takes.as_ref() != Some(resource.kind())) {
            applies(snapshot, subject, action, resource)?;
        }
        let entities = entities(snapshot, [&subject.found, &resource.found, &circumstances.found])?;
        let slice = match common {
            Some(common) => {
                common.takes.get_or_insert_with(|| resource.kind().clone());
                common.slice.and(entities.into_iter().filter(|one| !common.has(one)))
            }
            None => Slice::new(snapshot, action, entities),
        };
        Ok(snapshot.decide(&Question {
            principal: &subject.uid,
            action,
            resource: &resource.uid,
            entities: &slice,
            facts: &circumstances.facts,
            input: None,
            approvals: &[],
        }))
    }

    fn common(
        &mut self,
        subject: &Arc<Thing>,
        action: &EntityUid,
        circumstances: &Arc<Circumstances>,
    ) -> Option<&mut Common> {
        let snapshot = self.snapshot;
        let same = |last: &Last| {
            Arc::ptr_eq(&last.subject, subject)
                && Arc::ptr_eq(&last.circumstances, circumstances)
                && last.action == *action
        };
        if !self.last.as_ref().is_some_and(same) {
            let (subject, circumstances) = (Arc::clone(subject), Arc::clone(circumstances));
            self.last = Some(Last { action: action.clone(), subject, circumstances, common: None });
            return None;
        }
        let last = self.last.as_mut()?;
        Some(last.common.get_or_insert_with(|| {
            let entities = [&subject.found, &circumstances.found].into_iter().flat_map(|found| &found.described);
            let entities: Few = entities.cloned().collect();
            let slice = Slice::new(snapshot, action, entities.iter().cloned());
            Common { entities, slice, takes: None }
        }))
    }
}

impl Common {
    fn has(&self, one: &Closed) -> bool {
        self.entities.iter().any(|own| Arc::ptr_eq(own.entity(), one.entity()))
    }
}

/// All that a question looks at: every entity once, and the context.
pub fn gathered(
    snapshot: &Snapshot,
    subject: &Thing,
    action: &EntityUid,
    resource: &Thing,
    circumstances: &Circumstances,
) -> Result<(Few, Facts), Wrong> {
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
fn entities(snapshot: &Snapshot, parts: [&Found; 3]) -> Result<Few, Wrong> {
    let mut all = Few::new();
    let known = |all: &[Closed], uid: &EntityUID| all.iter().position(|closed| closed.entity().uid() == uid);
    for closed in parts.iter().flat_map(|part| &part.described) {
        let uid = closed.entity().uid();
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
