//! Embeddings of statements and passages of documents, several in one part of an entry's content, so that they are erased as
//! texts are.

use rusqlite::{Connection, params};

use crate::content;
use crate::event::Table;
use crate::to_json;
use types::vector::{Vector, unpacked};

pub(crate) const VECTORS: Table =
    Table { name: "knowledge_vectors", key: "printf('%s %s %06d', knowledge, model, first)" };

/// The prefix of the parts of an entry's content that hold embeddings.
const PART: &str = "vectors ";
/// The field of such a part.
pub const FIELD: &str = "vectors";

/// Returns the part that holds a model's embeddings, from a passage on.
pub fn part(model: &str, first: u32) -> String {
    format!("{PART}{model} {first}")
}

/// Checks whether a part holds embeddings.
pub fn is_part(part: &str) -> bool {
    part.starts_with(PART)
}

/// The embedding of a passage, or of a statement, which is passage 0 of its entry.
#[derive(Clone, Debug)]
pub struct Embedded {
    pub knowledge: String,
    pub chunk: u32,
    pub vector: Vector,
}

/// Returns the embeddings of these entries by a model, without erased ones.
pub fn of(conn: &Connection, ids: &[String], model: &str) -> rusqlite::Result<Vec<Embedded>> {
    let sql = "SELECT knowledge, first, dimensions FROM knowledge_vectors \
               WHERE knowledge IN (SELECT value FROM json_each(?1)) AND model = ?2 ORDER BY knowledge, first";
    let mut statement = conn.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows = statement.query_map(params![to_json(&ids)?, model], read)?;
    let mut found = Vec::new();
    for row in rows {
        let (knowledge, first, dimensions): (String, u32, u32) = row?;
        let kept = content::get(conn, &knowledge, &part(model, first))?;
        let text = kept.as_ref().and_then(|kept| kept.get(FIELD)?.as_str());
        let vectors = text.and_then(|text| unpacked(text, dimensions as usize)).unwrap_or_default();
        let numbered = (first..).zip(vectors);
        found.extend(numbered.map(|(chunk, vector)| Embedded { knowledge: knowledge.clone(), chunk, vector }));
    }
    Ok(found)
}

/// An accepted entry that lacks some or all embeddings by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    pub id: String,
    /// The first passage without one; 0 for a statement.
    pub first: u32,
}

/// Returns entries after one, by id, that lack some embedding.
pub fn unembedded(conn: &Connection, model: &str, after: &str, limit: usize) -> rusqlite::Result<Vec<Unembedded>> {
    let sql = "SELECT id, first FROM ( \
                 SELECT id, coalesce((SELECT max(vectors.first + vectors.chunks) FROM knowledge_vectors AS vectors \
                                       WHERE vectors.knowledge = id AND vectors.model = ?1), kind = 'document') AS first, \
                        coalesce((SELECT chunks FROM document WHERE document.knowledge = id), 0) AS last \
                   FROM knowledge WHERE status = 'accepted' AND id > ?2) \
               WHERE first <= last ORDER BY id LIMIT ?3";
    let read = |row: &rusqlite::Row<'_>| Ok(Unembedded { id: row.get(0)?, first: row.get(1)? });
    conn.prepare_cached(sql)?.query_map(params![model, after, limit as i64], read)?.collect()
}
