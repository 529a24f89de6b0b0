//! Knowledge as shown to people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::Reader;
use store::knowledge::Knowledge;
use types::field::Label;
use types::id::ActorId;
use types::knowledge::{DocumentType, KnowledgeKind, KnowledgeStatus, Origin, SourceKind};
use types::refusal::Stop;
use types::time::Time;

/// The parts of its content: as proposed; below, as edited by the steward who accepted it.
pub(super) const PROPOSED: &str = "statement";
pub(super) const EDITED: &str = "edited";

/// What there is of a document besides its entry.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShownDocument {
    pub content_type: DocumentType,
    /// Of its text.
    pub bytes: u32,
    /// How many passages are indexed.
    pub chunks: u32,
}

/// An entry of knowledge.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShownKnowledge {
    pub id: String,
    pub kind: KnowledgeKind,
    /// What it says, or a document's name; none where it is erased.
    pub statement: Option<String>,
    pub topics: Vec<String>,
    /// Whom it concerns: a team, a person, or else the whole company.
    pub scope: Option<ActorId>,
    pub status: KnowledgeStatus,
    /// Of a document.
    #[serde(default)]
    pub document: Option<ShownDocument>,
    /// Why it was quarantined.
    pub reasons: Vec<String>,
    /// Labels of what its run had read; a run that reads this entry gets them, too.
    pub labels: Vec<Label>,
    pub origin: Origin,
    pub source: SourceKind,
    /// Where exactly it comes from, as its proposer said.
    pub reference: Option<String>,
    /// How sure its proposer is, in percent.
    pub confidence: Option<u8>,
    pub proposed_by: ActorId,
    /// The run in which it was learnt.
    pub run: Option<String>,
    pub supersedes: Option<String>,
    pub superseded_by: Option<String>,
    pub decided_by: Option<ActorId>,
    pub expires_at: Option<Time>,
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
}

/// Returns an entry's statement and reference. An entry edited on acceptance never shows its proposed words again, not even if
/// the edited ones are erased.
pub(super) fn statement(entry: &Knowledge, read: &Reader<'_>) -> Result<(Option<String>, Option<String>), Stop> {
    let text = |part: &str, field: &str| -> Result<Option<String>, Stop> {
        let kept = read.kept(&entry.id, part)?;
        Ok(kept.and_then(|kept| Some(kept.get(field)?.as_str()?.to_owned())))
    };
    let said = text(if entry.edited { EDITED } else { PROPOSED }, "statement")?;
    Ok((said, text(PROPOSED, "reference")?))
}

/// Returns an entry as shown to its reader, whose run is marked: as having read untrusted data if anybody outside could have
/// written it, and data with the labels that it was learnt from.
pub(super) fn shown(entry: Knowledge, read: &Reader<'_>) -> Result<ShownKnowledge, Stop> {
    marked(&entry, read);
    let (statement, reference) = statement(&entry, read)?;
    let document = match entry.kind {
        KnowledgeKind::Document => read.document(&entry.id)?.map(|of| ShownDocument {
            content_type: of.content_type,
            bytes: of.bytes,
            chunks: of.chunks,
        }),
        _ => None,
    };
    Ok(ShownKnowledge { document, ..with(entry, statement, reference) })
}

/// Marks the run that is shown this entry as having read it.
pub(super) fn marked(entry: &Knowledge, read: &Reader<'_>) {
    entry.labels.iter().for_each(|label| read.mark(*label));
    if entry.origin == Origin::Untrusted {
        read.mark(Label::Untrusted);
    }
    if entry.person.is_some() {
        read.mark(Label::Personal);
    }
}

pub(super) fn with(entry: Knowledge, statement: Option<String>, reference: Option<String>) -> ShownKnowledge {
    let scope = entry.person.or(entry.team);
    ShownKnowledge {
        id: entry.id,
        kind: entry.kind,
        statement,
        topics: entry.topics,
        scope,
        status: entry.status,
        document: None,
        reasons: entry.reasons,
        labels: entry.labels,
        origin: entry.origin,
        source: entry.source,
        reference,
        confidence: entry.confidence,
        proposed_by: entry.proposer,
        run: entry.run,
        supersedes: entry.supersedes,
        superseded_by: entry.superseded_by,
        decided_by: entry.decided_by,
        expires_at: entry.expires_at,
        version: entry.version,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
    }
}
