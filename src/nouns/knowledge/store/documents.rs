//! Documents: knowledge entries with a text, searchable by passage (SQLite's FTS5).
//!
//! Always true: passages are in the index as long as the text they are cut from is kept. Erasing the text erases them.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::event::{Moment, Table};
use crate::memory::Touched;
use crate::search::Words;
use crate::{content, parsed, to_json};
use types::id::Id;
use types::knowledge::DocumentType;

pub(crate) const DOCUMENT: Table = Table { name: "document", key: "knowledge" };
pub(crate) const CHUNK: Table = Table { name: "knowledge_chunk", key: "printf('%019d', number)" };

/// The part of an entry's content that holds a document's text.
pub const PART: &str = "document";
/// The maximum number of passages per document.
pub const MOST_CHUNKS: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub content_type: DocumentType,
    /// The size of its text.
    pub bytes: u32,
    pub chunks: u32,
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Document>> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Document { content_type: parsed(row, 0)?, bytes: row.get(1)?, chunks: row.get(2)? })
    };
    conn.prepare_cached("SELECT content_type, bytes, chunks FROM document WHERE knowledge = ?")?
        .query_row([id], read)
        .optional()
}

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The document's entry.
    pub knowledge: String,
    /// Its number in the document, from 1.
    pub chunk: u32,
    /// Where it starts in the document's text, in bytes; below, where it ends.
    pub first: u32,
    pub after: u32,
    pub text: String,
}

/// Returns passages of these documents with any of the words, best first by global statistics, which not every reader may know.
pub fn passages(conn: &Connection, of: &[String], words: &Words, limit: usize) -> rusqlite::Result<Vec<Passage>> {
    let sql = "SELECT chunk.knowledge, chunk.chunk, chunk.first, chunk.after, knowledge_words.text FROM knowledge_words \
               JOIN knowledge_chunk AS chunk ON chunk.number = knowledge_words.rowid \
               WHERE knowledge_words MATCH ?1 AND chunk.knowledge IN (SELECT value FROM json_each(?2)) \
               ORDER BY bm25(knowledge_words), chunk.number LIMIT ?3";
    conn.prepare_cached(sql)?.query_map(params![words.any(), to_json(&of)?, limit as i64], read_passage)?.collect()
}

/// Returns one passage of a document.
pub fn passage(conn: &Connection, of: &str, chunk: u32) -> rusqlite::Result<Option<Passage>> {
    let sql = "SELECT chunk.knowledge, chunk.chunk, chunk.first, chunk.after, knowledge_words.text FROM knowledge_chunk AS chunk \
               JOIN knowledge_words ON knowledge_words.rowid = chunk.number WHERE chunk.knowledge = ? AND chunk.chunk = ?";
    conn.prepare_cached(sql)?.query_row(params![of, chunk], read_passage).optional()
}

fn read_passage(row: &rusqlite::Row<'_>) -> rusqlite::Result<Passage> {
    Ok(Passage {
        knowledge: row.get(0)?,
        chunk: row.get(1)?,
        first: row.get(2)?,
        after: row.get(3)?,
        text: row.get(4)?,
    })
}

/// Indexes a document with the passages of its text.
pub(super) fn index(
    moment: &Moment<'_>,
    id: &Id,
    document: &Document,
    bounds: &[(u32, u32)],
) -> rusqlite::Result<Touched> {
    let id = id.as_str();
    moment
        .conn
        .prepare_cached("INSERT INTO document (knowledge, content_type, bytes, chunks) VALUES (?, ?, ?, ?)")?
        .execute(params![id, document.content_type.name(), document.bytes, document.chunks])?;
    // An erased text has no passages.
    let kept = content::get(moment.conn, id, PART)?;
    let Some(text) = kept.as_ref().and_then(|kept| kept.get("text")?.as_str()) else { return Ok(Touched::Nothing) };
    let mut row = moment.conn.prepare_cached(
        "INSERT INTO knowledge_chunk (number, knowledge, chunk, first, after) VALUES (?, ?, ?, ?, ?)",
    )?;
    let mut words = moment.conn.prepare_cached("INSERT INTO knowledge_words (rowid, text) VALUES (?, ?)")?;
    for (place, (first, after)) in bounds.iter().take(MOST_CHUNKS).enumerate() {
        let number = moment.seq * MOST_CHUNKS as i64 + place as i64;
        row.execute(params![number, id, place as i64 + 1, first, after])?;
        words.execute(params![number, text.get(*first as usize..*after as usize).unwrap_or_default()])?;
    }
    Ok(Touched::Nothing)
}

pub(crate) fn forgotten(moment: &Moment<'_>, id: &Id, part: &str) -> rusqlite::Result<()> {
    if part != PART {
        return Ok(());
    }
    let words = "DELETE FROM knowledge_words WHERE rowid IN (SELECT number FROM knowledge_chunk WHERE knowledge = ?)";
    moment.conn.prepare_cached(words)?.execute([id.as_str()])?;
    moment.conn.prepare_cached("DELETE FROM knowledge_chunk WHERE knowledge = ?")?.execute([id.as_str()])?;
    Ok(())
}
