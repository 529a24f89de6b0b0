//! Events of knowledge. Statements are entries of their own (`content_kept`), which can be erased.

use rusqlite::params;
use serde_json::json;

use super::documents::{self, CHUNK, DOCUMENT, Document};
use super::vectors::VECTORS;
use crate::event::{Author, Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::outbox::News;
use crate::settles::Settles;
use crate::{inbox, to_json};
use types::field::Label;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::knowledge::{DocumentType, KnowledgeKind, KnowledgeStatus, Origin, SourceKind};
use types::quoted::quoted;
use types::target::Thing;
use types::time::Time;
use types::webhook::Topic;

const KNOWLEDGE: Table = Table { name: "knowledge", key: "id" };
const TOPIC: Table = Table { name: "knowledge_topic", key: "topic || ' ' || knowledge" };

events! {
    /// A knowledge entry was proposed.
    KnowledgeProposed = "knowledge_proposed" {
        id: Id, kind: KnowledgeKind, topics: Vec<String>, team: Option<ActorId>, person: Option<ActorId>, origin: Origin,
        source: SourceKind, labels: Vec<Label>, confidence: Option<u8>, proposer: ActorId, run: Option<Id>,
        supersedes: Option<Id>,
        expires_at: Option<Time>, notified: Vec<ActorId>,
    } about [id, proposer, person, notified] => {
        says: "proposed the knowledge entry `{id}`",
        content: Content::SHOWN, tables: &[KNOWLEDGE, TOPIC], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(proposed), notify: Notify::AndShow(notify_of_proposal), news: None,
    }
    /// A document was read and indexed: its passages are found by their words.
    DocumentIndexed = "document_indexed" {
        id: Id, proposer: ActorId, team: Option<ActorId>, person: Option<ActorId>, origin: Origin, status: KnowledgeStatus,
        content_type: DocumentType, bytes: u32, chunks: u32, bounds: Vec<(u32, u32)>,
    } about [id, proposer, person] => {
        says: "indexed the document `{id}`: {chunks#passage}",
        content: Content::SHOWN.hiding(&["bounds"]), tables: &[DOCUMENT, CHUNK], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(indexed), notify: Notify::Nobody, news: Some(news_of_indexing),
    }
    /// A proposed knowledge entry was quarantined, for these reasons.
    KnowledgeQuarantined = "knowledge_quarantined" {
        id: Id, proposer: ActorId, reasons: Vec<String>, notified: Vec<ActorId>,
    } about [id, proposer, notified] => {
        says: "quarantined the knowledge entry `{id}`[: {reasons}]",
        content: Content::SHOWN, tables: &[KNOWLEDGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(quarantined), notify: Notify::AndShow(notify_of_quarantine), news: None,
    }
    /// A knowledge entry was accepted: it is recalled from now on, and the one that it supersedes is not.
    KnowledgeAccepted = "knowledge_accepted" {
        id: Id, proposer: ActorId, supersedes: Option<Id>, edited: bool, note: String,
    } about [id, proposer] => {
        says: "accepted the knowledge entry `{id}` of @{proposer}[: «{note}»]",
        content: Content::SHOWN, tables: &[KNOWLEDGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(accepted), notify: Notify::AndShow(|event, moment| notify_proposer(moment, &event.id, &event.proposer, "accepted", &event.note)),
        news: None,
    }
    /// A knowledge entry was rejected.
    KnowledgeRejected = "knowledge_rejected" {
        id: Id, proposer: ActorId, note: String,
    } about [id, proposer] => {
        says: "rejected the knowledge entry `{id}` of @{proposer}[: «{note}»]",
        content: Content::SHOWN, tables: &[KNOWLEDGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| became(moment, &event.id, KnowledgeStatus::Rejected)),
        notify: Notify::AndShow(|event, moment| notify_proposer(moment, &event.id, &event.proposer, "rejected", &event.note)),
        news: None,
    }
    /// An accepted knowledge entry was retracted.
    KnowledgeRetracted = "knowledge_retracted" {
        id: Id, proposer: ActorId, note: String,
    } about [id, proposer] => {
        says: "retracted the knowledge entry `{id}` of @{proposer}[: «{note}»]",
        content: Content::SHOWN, tables: &[KNOWLEDGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| became(moment, &event.id, KnowledgeStatus::Retracted)),
        notify: Notify::AndShow(|event, moment| notify_proposer(moment, &event.id, &event.proposer, "retracted", &event.note)),
        news: None,
    }
    /// A knowledge entry expired; recorded by the tick.
    KnowledgeExpired = "knowledge_expired" {
        id: Id, proposer: ActorId,
    } about [id, proposer] => {
        says: "recorded that the knowledge entry `{id}` expired",
        content: Content::SHOWN, tables: &[KNOWLEDGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| became(moment, &event.id, KnowledgeStatus::Expired)),
        notify: Notify::Nobody, news: None,
    }
    /// Texts of a knowledge entry are sent to an embedding model.
    EmbeddingRequested = "embedding_requested" {
        id: Id, model: String, first: u32, chunks: u32, proposer: ActorId,
    } about [id] => {
        says: "sent texts of the knowledge entry `{id}` to {model} for embedding",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
    /// Texts of a knowledge entry were embedded: from now on they are also found by meaning.
    KnowledgeEmbedded = "knowledge_embedded" {
        id: Id, model: String, dimensions: u32, first: u32, chunks: u32, proposer: ActorId,
    } about [id] => {
        says: "embedded the knowledge entry `{id}` with {model}: {chunks#passage}",
        content: Content::SHOWN, tables: &[VECTORS], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(embedded), notify: Notify::Nobody, news: None,
    }
    /// A question was sent to an embedding model. The question is not stored.
    QuestionEmbedded = "question_embedded" {
        asker: ActorId, model: String, characters: u32,
    } about [asker] => {
        says: "embedded a question with {model}",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
}

/// Sent to webhooks of those who may read the document.
fn news_of_indexing(event: &DocumentIndexed, _: &Author<'_>) -> Option<News> {
    let DocumentIndexed { id, proposer, team, person, origin, status, chunks, .. } = event;
    let thing = Thing::new("Knowledge", id.as_str()).actor("proposer", proposer);
    let thing = thing.maybe("person", person.as_ref()).maybe("team", team.as_ref());
    let thing = thing.text("kind", KnowledgeKind::Document.name()).text("origin", origin.name());
    Some(News {
        topic: Topic::KnowledgeIndexed.name(),
        only: None,
        of: None,
        about: Some(("knowledge.read", thing.text("status", status.name()).into())),
        data: json!({ "knowledge_id": id, "document_id": id, "chunks": chunks }),
    })
}

fn proposed(event: &KnowledgeProposed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT INTO knowledge (id, kind, topics, team, person, status, origin, source, reasons, labels, edited, confidence, \
               proposer, run, supersedes, expires_at, version, created_at, updated_at) \
               VALUES (?, ?, ?, ?, ?, 'proposed', ?, ?, '[]', ?, FALSE, ?, ?, ?, ?, ?, 1, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.id.as_str(),
        event.kind.name(),
        to_json(&event.topics)?,
        event.team.as_ref().map(ActorId::as_str),
        event.person.as_ref().map(ActorId::as_str),
        event.origin.name(),
        event.source.name(),
        to_json(&event.labels)?,
        event.confidence,
        event.proposer.as_str(),
        event.run.as_ref().map(Id::as_str),
        event.supersedes.as_ref().map(Id::as_str),
        event.expires_at.map(|at| at.0),
        moment.at.0,
        moment.at.0
    ])?;
    let mut topic = moment.conn.prepare_cached("INSERT INTO knowledge_topic (topic, knowledge) VALUES (?, ?)")?;
    for name in &event.topics {
        topic.execute([name, event.id.as_str()])?;
    }
    Ok(Touched::Nothing)
}

fn indexed(event: &DocumentIndexed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let DocumentIndexed { id, content_type, bytes, chunks, bounds, .. } = event;
    let document = Document { content_type: *content_type, bytes: *bytes, chunks: *chunks };
    documents::index(moment, id, &document, bounds)
}

fn accepted(event: &KnowledgeAccepted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE knowledge SET status = 'superseded', superseded_by = ?, version = version + 1, updated_at = ? \
               WHERE id = ? AND status = 'accepted'";
    if let Some(old) = &event.supersedes {
        moment.conn.prepare_cached(sql)?.execute(params![event.id.as_str(), moment.at.0, old.as_str()])?;
    }
    let sql = "UPDATE knowledge SET edited = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![event.edited, event.id.as_str()])?;
    became(moment, &event.id, KnowledgeStatus::Accepted)
}

fn became(moment: &Moment<'_>, id: &Id, status: KnowledgeStatus) -> rusqlite::Result<Touched> {
    let sql = "UPDATE knowledge SET status = ?, decided_by = ?, version = version + 1, updated_at = ? WHERE id = ?";
    let row = params![status.name(), moment.by.as_str(), moment.at.0, id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::Nothing)
}

fn quarantined(event: &KnowledgeQuarantined, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE knowledge SET status = 'quarantined', reasons = ?, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&event.reasons)?, moment.at.0, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

fn notify_of_proposal(event: &KnowledgeProposed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} proposes knowledge", event.proposer);
    event.notified.iter().try_for_each(|one| inbox::add(moment, one, ItemKind::Knowledge, event.id.as_str(), &title))
}

fn notify_of_quarantine(event: &KnowledgeQuarantined, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} proposes knowledge that is quarantined: {}", event.proposer, event.reasons.join("; "));
    event.notified.iter().try_for_each(|one| inbox::add(moment, one, ItemKind::Knowledge, event.id.as_str(), &title))
}

fn notify_proposer(moment: &Moment<'_>, id: &Id, proposer: &ActorId, became: &str, note: &str) -> rusqlite::Result<()> {
    inbox::resolve(moment, id.as_str())?;
    let end = if note.is_empty() { String::new() } else { format!(": {}", quoted(note)) };
    let title = format!("{} {became} knowledge that you proposed{end}", moment.by);
    if proposer == moment.by { Ok(()) } else { inbox::add(moment, proposer, ItemKind::Decision, id.as_str(), &title) }
}

fn embedded(event: &KnowledgeEmbedded, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql =
        "INSERT OR REPLACE INTO knowledge_vectors (knowledge, model, first, chunks, dimensions) VALUES (?, ?, ?, ?, ?)";
    let KnowledgeEmbedded { id, model, dimensions, first, chunks, .. } = event;
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), model, first, chunks, dimensions])?;
    Ok(Touched::Nothing)
}
