//! From the parts of a question to its answer.

use std::sync::Arc;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{EntityType, EntityUID};

use super::Wrong;
use super::read::{Circumstances, Thing};
use super::reader::bare;
use super::reader::{Few, Found};
use crate::{Closed, Facts, Question, Ruling, Slice, Snapshot};

/// Asks one question after another. What two in a row have in common is gathered once.
pub struct Evaluator<'a> {
    snapshot: &'a Snapshot,
    last: Option<Last>,
}

/// What a question said, but for its resource.
struct Last {
    action: EntityUid,
    subject: Arc<Thing>,
    circumstances: Arc<Circumstances>,
    /// The entities of both, once a second question has said the same; none where they do not go together.
    common: Option<Option<Common>>,
}

struct Common {
    entities: Few,
    slice: Slice,
    /// Those of them that are only named: a resource may describe them.
    named: Vec<EntityUID>,
    /// A type of resource that the action is known to take.
    takes: Option<EntityType>,
}

impl<'a> Evaluator<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Evaluator<'a> {
        Evaluator { snapshot, last: None }
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
            applies(snapshot, action, subject.kind(), resource.kind())?;
        }
        let slice = match common.filter(|common| !common.is_described_by(resource)) {
            Some(common) => {
                common.takes.get_or_insert_with(|| resource.kind().clone());
                common.slice.and(gather(snapshot, &common.entities, [(&resource.found, "resource")])?)
            }
            None => {
                let parts =
                    [(&subject.found, "subject"), (&resource.found, "resource"), (&circumstances.found, "context")];
                Slice::new(snapshot, action, gather(snapshot, &[], parts)?)
            }
        };
        Ok(snapshot.decide(&Question {
            principal: &subject.uid,
            action,
            resource: &resource.uid,
            entities: &slice,
            facts: &circumstances.facts,
            input: None,
            approvals: &[],
            supposed: None,
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
        let common = || Common::of(snapshot, action, subject, circumstances);
        last.common.get_or_insert_with(common).as_mut()
    }
}

impl Common {
    fn of(snapshot: &Snapshot, action: &EntityUid, subject: &Thing, circumstances: &Circumstances) -> Option<Common> {
        let parts = [&subject.found, &circumstances.found];
        // What is wrong with them the question tells that has them all.
        let entities = gather(snapshot, &[], [(parts[0], "subject"), (parts[1], "context")]).ok()?;
        let slice = Slice::new(snapshot, action, entities.iter().cloned());
        let named = parts.iter().flat_map(|part| &part.named).cloned().collect();
        Some(Common { entities, slice, named, takes: None })
    }

    fn is_described_by(&self, resource: &Thing) -> bool {
        let is_named = |closed: &Closed| self.named.iter().any(|uid| same(uid, closed.entity().uid()));
        !self.named.is_empty() && resource.found.described.iter().any(is_named)
    }
}

/// Ids differ sooner than types.
fn same(one: &EntityUID, other: &EntityUID) -> bool {
    one.eid() == other.eid() && one.entity_type() == other.entity_type()
}

/// All that a question looks at: every entity once, and the context.
pub fn gathered(
    snapshot: &Snapshot,
    subject: &Thing,
    action: &EntityUid,
    resource: &Thing,
    circumstances: &Circumstances,
) -> Result<(Few, Facts), Wrong> {
    applies(snapshot, action, subject.kind(), resource.kind())?;
    let parts = [(&subject.found, "subject"), (&resource.found, "resource"), (&circumstances.found, "context")];
    Ok((gather(snapshot, &[], parts)?, circumstances.facts.clone()))
}

/// Whether the schema lets an action be asked about these types.
pub fn applies(
    snapshot: &Snapshot,
    action: &EntityUid,
    subject: &EntityType,
    resource: &EntityType,
) -> Result<(), Wrong> {
    if snapshot.is_known_to_take(action, subject, resource) {
        return Ok(());
    }
    let unknown = || Wrong::new(format!("the schema knows no action `{action}`"));
    let known = snapshot.schema().as_ref().get_action_id(action.as_ref()).ok_or_else(unknown)?;
    let ends = [
        ("subject", subject, known.is_applicable_principal_type(subject)),
        ("resource", resource, known.is_applicable_resource_type(resource)),
    ];
    match ends.into_iter().find(|(_, _, applies)| !applies) {
        Some((end, kind, _)) => {
            let what = format!("`{action}` does not apply to a {end} of the type `{kind}`");
            Err(Wrong::new(what).within("type").within(end))
        }
        None => Ok(()),
    }
}

/// Every entity once, beside those that are `there`: as it is described, or bare where it is only named. They are few: as many
/// as the schema has references.
fn gather<const PARTS: usize>(
    snapshot: &Snapshot,
    there: &[Closed],
    parts: [(&Found, &'static str); PARTS],
) -> Result<Few, Wrong> {
    let mut all = Few::new();
    let known = |all: &[Closed], uid: &EntityUID| {
        there
            .iter()
            .chain(all)
            .find(|closed| same(closed.entity().uid(), uid))
            .map(|closed| Arc::clone(closed.entity()))
    };
    for closed in parts.iter().flat_map(|(part, _)| &part.described) {
        let entity = closed.entity();
        match known(&all, entity.uid()) {
            // What was read once is the same everywhere.
            Some(other) if Arc::ptr_eq(&other, entity) || other.deep_eq(entity) => {}
            Some(_) => return Err(Wrong::new(format!("`{}` is described twice, and not alike", entity.uid()))),
            None => all.push(closed.clone()),
        }
    }
    for (part, end) in parts {
        for uid in &part.named {
            if known(&all, uid).is_none() {
                all.push(bare(snapshot, uid).map_err(|wrong| wrong.within(end))?);
            }
        }
    }
    Ok(all)
}
