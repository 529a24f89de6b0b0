//! Accepts, rejects and retracts knowledge entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::propose::wrong_statement;
use super::shown::{EDITED, ShownKnowledge, shown, statement};
use super::{KNOWLEDGE, find};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::knowledge::Knowledge;
use store::knowledge::events::{KnowledgeAccepted, KnowledgeRejected, KnowledgeRetracted};
use types::id::Id;
use types::knowledge::KnowledgeStatus;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The maximum characters of a note.
const LONGEST_NOTE: usize = 500;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Acceptance {
    /// The entry.
    #[arg(value_name = "KNOWLEDGE")]
    pub id: String,
    /// A note to the proposer; at most 500 characters. It stays in the log permanently.
    #[serde(default)]
    #[schemars(length(max = 500))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// A corrected statement that replaces the proposed one: at most 2000 characters. It can be erased.
    #[schemars(length(min = 1, max = 2000), extend("x-erasable" = true))]
    #[arg(long, value_name = "STATEMENT")]
    pub edit: Option<String>,
    /// The version of the entry that the change was made from; it must be the current one.
    #[arg(long)]
    pub version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Verdict {
    /// The entry.
    #[arg(value_name = "KNOWLEDGE")]
    pub id: String,
    /// The reason, sent to the proposer. At most 500 characters. It stays in the log permanently.
    #[serde(default)]
    #[schemars(length(max = 500))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// The version of the entry that the change was made from; it must be the current one.
    #[arg(long)]
    pub version: Option<i64>,
}

/// Accept knowledge.
pub enum Accept {}

impl Change for Accept {
    const SPEC: Spec = Spec {
        name: "knowledge.accept",
        doc: "Accept a proposed or quarantined knowledge entry. From now on it is recalled, and the entry that it \
              supersedes is not.",
        scope: Reach::Full,
        route: post("/knowledge/{id}/accept").made_from("version"),
        about: &[&KNOWLEDGE],
        events: &[KnowledgeAccepted::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "accepts the knowledge entry {id}";
    type Input = Acceptance;
    type Output = ShownKnowledge;

    fn target(input: &Acceptance, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Acceptance, draft: &mut Draft<'_>) -> Result<ShownKnowledge, Stop> {
        let entry = standing(&input.id, &input.note, KnowledgeStatus::is_open, draft.read())?;
        if entry.expires_at.is_some_and(|at| at <= permit.now()) {
            return Err(Refusal::conflict(format!("{} has expired", entry.id)).into());
        }
        may_replace(&entry, draft.read())?;
        let edit = input.edit;
        if let Some(wrong) = edit.as_deref().and_then(wrong_statement) {
            return Err(Refusal::field("edit", wrong).into());
        }
        if edit.is_none() && statement(&entry, draft.read())?.0.is_none() {
            let message =
                format!("the statement of {} has been erased: give it in `edit`, or reject the entry", entry.id);
            return Err(Refusal::conflict(message).into());
        }
        let id = Id::stored(&entry.id);
        draft.record(KnowledgeAccepted {
            id: id.clone(),
            proposer: entry.proposer.clone(),
            supersedes: entry.supersedes.as_deref().map(Id::stored),
            edited: edit.is_some(),
            note: input.note,
        })?;
        if let Some(text) = &edit {
            let kept = Map::from_iter([("statement".to_owned(), Value::from(text.clone()))]);
            draft.record(ContentKept { id, part: EDITED.into(), kept })?;
        }
        let entry = Knowledge { edited: edit.is_some(), ..entry };
        let decided = decided(entry, KnowledgeStatus::Accepted, &permit, draft.read())?;
        Ok(ShownKnowledge { statement: edit.or(decided.statement), ..decided })
    }
}

/// Checks that the caller could retract the entry that this one supersedes: accepting this one ends that one.
fn may_replace(entry: &Knowledge, read: &Reader<'_>) -> Result<(), Stop> {
    let Some(old) = &entry.supersedes else { return Ok(()) };
    let Some(old) = read.knowledge(old)? else { return Ok(()) };
    if old.status == KnowledgeStatus::Superseded {
        let message =
            format!("{} supersedes {}, which another entry has since superseded: propose it again", entry.id, old.id);
        return Err(Refusal::conflict(message).into());
    }
    if old.status != KnowledgeStatus::Accepted {
        return Ok(());
    }
    if read.may("knowledge.retract", &read.knowledge_target(&old)) {
        return Ok(());
    }
    let message = format!("{} supersedes {}, which you may not retract", entry.id, old.id);
    Err(Refusal::conflict(message).into())
}

/// Reject knowledge.
pub enum Reject {}

impl Change for Reject {
    const SPEC: Spec = Spec {
        name: "knowledge.reject",
        doc: "Reject a proposed or quarantined knowledge entry, or withdraw one's own.",
        scope: Reach::Full,
        route: post("/knowledge/{id}/reject").made_from("version"),
        about: &[&KNOWLEDGE],
        events: &[KnowledgeRejected::KIND],
    };
    const SAYS: &'static str = "rejects the knowledge entry {id}";
    type Input = Verdict;
    type Output = ShownKnowledge;

    fn target(input: &Verdict, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Verdict, draft: &mut Draft<'_>) -> Result<ShownKnowledge, Stop> {
        let entry = standing(&input.id, &input.note, KnowledgeStatus::is_open, draft.read())?;
        let (id, proposer) = (Id::stored(&entry.id), entry.proposer.clone());
        draft.record(KnowledgeRejected { id, proposer, note: input.note })?;
        decided(entry, KnowledgeStatus::Rejected, &permit, draft.read())
    }
}

/// Retract knowledge.
pub enum Retract {}

impl Change for Retract {
    const SPEC: Spec = Spec {
        name: "knowledge.retract",
        doc: "Retract an accepted knowledge entry that is not true. It is no longer recalled.",
        scope: Reach::Full,
        route: post("/knowledge/{id}/retract").made_from("version"),
        about: &[&KNOWLEDGE],
        events: &[KnowledgeRetracted::KIND],
    };
    const SAYS: &'static str = "retracts the knowledge entry {id}";
    type Input = Verdict;
    type Output = ShownKnowledge;

    fn target(input: &Verdict, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Verdict, draft: &mut Draft<'_>) -> Result<ShownKnowledge, Stop> {
        let is_accepted = |status| status == KnowledgeStatus::Accepted;
        let entry = standing(&input.id, &input.note, is_accepted, draft.read())?;
        let (id, proposer) = (Id::stored(&entry.id), entry.proposer.clone());
        draft.record(KnowledgeRetracted { id, proposer, note: input.note })?;
        decided(entry, KnowledgeStatus::Retracted, &permit, draft.read())
    }
}

/// Returns an entry in a status that allows the decision.
fn standing(
    id: &str,
    note: &str,
    stands: impl Fn(KnowledgeStatus) -> bool,
    read: &Reader<'_>,
) -> Result<Knowledge, Stop> {
    let entry = find(id, read)?;
    if note.chars().count() > LONGEST_NOTE {
        return Err(Refusal::field("note", format!("must have at most {LONGEST_NOTE} characters")).into());
    }
    if stands(entry.status) { Ok(entry) } else { Err(Refusal::conflict(format!("{id} is {}", entry.status)).into()) }
}

fn decided<O>(
    entry: Knowledge,
    status: KnowledgeStatus,
    permit: &Permit<O>,
    read: &Reader<'_>,
) -> Result<ShownKnowledge, Stop> {
    let (version, updated_at) = (entry.version + 1, permit.now());
    shown(Knowledge { status, version, updated_at, decided_by: Some(permit.actor()), ..entry }, read)
}
