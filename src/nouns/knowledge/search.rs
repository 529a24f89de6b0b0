//! Searches accepted knowledge by words, within what the caller may read.

use std::collections::BTreeMap;

use super::document::{passages, readable};
use super::shown::{marked, statement};
use gate::Reader;
use store::search::Words;
use types::refusal::Stop;

/// The maximum number of entries examined, newest first; below, of passages of documents.
const LOOKED_AT: usize = 2_000;
const PASSAGES: usize = 500;

/// An entry that contains the words.
pub struct Known {
    pub id: String,
    pub title: String,
    /// The statement, and the passages of a document with any of the words.
    pub texts: Vec<String>,
}

/// Returns the entries and documents that contain all of the words.
pub fn known(words: &Words, read: &Reader<'_>) -> Result<Vec<Known>, Stop> {
    let accepted = read.accepted_knowledge(&[], LOOKED_AT)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for passage in passages(&readable(&accepted, read), words, PASSAGES, read)? {
        texts.entry(passage.document).or_default().push(passage.text);
    }
    let mut found = Vec::new();
    for entry in accepted {
        let is_over = entry.expires_at.is_some_and(|at| at <= read.now());
        if is_over || !read.may("knowledge.read", &read.knowledge_target(&entry)) {
            continue;
        }
        let (Some(said), _) = statement(&entry, read)? else { continue };
        let mut of = texts.remove(&entry.id).unwrap_or_default();
        of.push(said.clone());
        if words.are_all_in(&of.join("\n")) {
            marked(&entry, read);
            found.push(Known { id: entry.id, title: said, texts: of });
        }
    }
    Ok(found)
}
