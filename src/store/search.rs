//! The search index: which rows contain which words (SQLite's FTS5). How well a row matches is computed from what the
//! reader may read, not here, because a rank reveals something about all texts that it is computed from.
//!
//! Always true: the index is a fold like any table. It contains nothing personal and nothing that can be erased. Texts
//! with a label are in columns of their own, so nobody can find anything by texts that they may not read.

use rusqlite::{Connection, OptionalExtension as _, params};
use unicode_normalization::char::decompose_canonical;

use super::event::Table;
use types::field::Label;

pub(crate) const TABLE: Table = Table { name: "search_row", key: "printf('%019d', number)" };

/// What a row is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub open: String,
    pub confidential: String,
    pub untrusted: String,
}

impl Texts {
    pub fn add(&mut self, label: Option<Label>, text: &str) {
        let texts = match label {
            None => &mut self.open,
            Some(Label::Confidential) => &mut self.confidential,
            Some(Label::Untrusted) => &mut self.untrusted,
            Some(Label::Personal) => return,
        };
        texts.push_str(text);
        texts.push('\n');
    }
}

/// What is indexed: a record by its collection and its id, or a task.
#[derive(Clone, Copy)]
pub(crate) struct Thing<'a> {
    pub place: &'a str,
    pub id: &'a str,
}

/// The place of tasks; no collection can have this name.
pub const TASKS: &str = "-tasks";

pub(crate) fn put(conn: &Connection, thing: Thing<'_>, texts: &Texts) -> rusqlite::Result<()> {
    let Thing { place, id } = thing;
    let known: Option<i64> = conn
        .prepare_cached("SELECT number FROM search_row WHERE place = ? AND id = ?")?
        .query_row([place, id], |row| row.get(0))
        .optional()?;
    let number = match known {
        Some(number) => {
            conn.prepare_cached("DELETE FROM search WHERE rowid = ?")?.execute([number])?;
            number
        }
        None => {
            conn.prepare_cached("INSERT INTO search_row (place, id) VALUES (?, ?)")?.execute([place, id])?;
            conn.last_insert_rowid()
        }
    };
    let Texts { open, confidential, untrusted } = texts;
    conn.prepare_cached("INSERT INTO search (rowid, open, confidential, untrusted) VALUES (?, ?, ?, ?)")?
        .execute(params![number, open, confidential, untrusted])?;
    Ok(())
}

pub(crate) fn remove(conn: &Connection, thing: Thing<'_>) -> rusqlite::Result<()> {
    let which = [thing.place, thing.id];
    conn.prepare_cached(
        "DELETE FROM search WHERE rowid IN (SELECT number FROM search_row WHERE place = ? AND id = ?)",
    )?
    .execute(which)?;
    conn.prepare_cached("DELETE FROM search_row WHERE place = ? AND id = ?")?.execute(which)?;
    Ok(())
}

/// Takes out all of a place.
pub(crate) fn clear(conn: &Connection, place: &str) -> rusqlite::Result<()> {
    conn.execute("DELETE FROM search WHERE rowid IN (SELECT number FROM search_row WHERE place = ?)", [place])?;
    conn.execute("DELETE FROM search_row WHERE place = ?", [place])?;
    Ok(())
}

/// What is looked for: words, all of which must be there, the last one also as a beginning; and the labels whose texts are
/// searched besides what has none.
#[derive(Clone, Debug)]
pub struct Words {
    words: Vec<String>,
    labels: Vec<Label>,
}

impl Words {
    /// The words of a text; none where it has neither letter nor digit.
    pub fn of(text: &str) -> Option<Words> {
        let words: Vec<String> = tokens(text).collect();
        (!words.is_empty()).then_some(Words { words, labels: Vec::new() })
    }

    /// How often each word stands in a text, the last one also as a beginning, and how many words the text has.
    pub fn counted(&self, text: &str) -> (Vec<u32>, u32) {
        let (mut counts, mut length) = (vec![0; self.words.len()], 0);
        for token in tokens(text) {
            length += 1;
            for (number, (word, count)) in self.words.iter().zip(&mut counts).enumerate() {
                let is_last = number + 1 == self.words.len();
                *count += u32::from(*word == token || is_last && token.starts_with(word));
            }
        }
        (counts, length)
    }

    /// Returns how well a text matches, from how often each word occurs in it and how many words it has, compared with
    /// texts of a usual length: BM25 (Robertson and Zaragoza, 2009) without the weight of rare words, which would
    /// reveal something about all existing texts.
    pub fn rank(&self, counts: &[u32], length: u32, usual: f64) -> f64 {
        const SATURATION: f64 = 1.2;
        const BY_LENGTH: f64 = 0.75;
        let length = SATURATION * (1.0 - BY_LENGTH + BY_LENGTH * f64::from(length) / usual.max(1.0));
        let weight = |count: &u32| f64::from(*count) * (SATURATION + 1.0) / (f64::from(*count) + length);
        counts.iter().map(weight).sum()
    }

    /// Whether each of the words stands in a text.
    pub fn are_all_in(&self, text: &str) -> bool {
        self.counted(text).0.iter().all(|count| *count > 0)
    }

    /// Where the first of the words begins in a text, in characters.
    pub fn first_in(&self, text: &str) -> Option<usize> {
        let plain: Vec<char> = text.chars().map(plain).collect();
        let is_at = |at: usize, word: &str| word.chars().enumerate().all(|(more, c)| plain.get(at + more) == Some(&c));
        (0..plain.len()).find(|at| self.words.iter().any(|word| is_at(*at, word)))
    }

    #[must_use]
    pub fn within(&self, labels: &[Label]) -> Words {
        Words { words: self.words.clone(), labels: labels.to_vec() }
    }

    /// As FTS5 reads it. Words hold letters and digits alone: nothing in them is an operator.
    pub(super) fn expression(&self) -> String {
        let has = |label| self.labels.contains(&label);
        let columns =
            [("open", true), ("confidential", has(Label::Confidential)), ("untrusted", has(Label::Untrusted))];
        let columns: Vec<&str> =
            columns.iter().filter(|(_, is_searched)| *is_searched).map(|(name, _)| *name).collect();
        let words: Vec<String> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        format!("{{{}}} : ({}*)", columns.join(" "), words.join(" "))
    }
}

impl Words {
    /// Any of the words, as FTS5 reads it: in an index of one text a row.
    pub(super) fn any(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        format!("{}*", words.join(" OR "))
    }
}

/// The words of a text as the index has them: without accents, in small letters.
fn tokens(text: &str) -> impl Iterator<Item = String> {
    let whole = |word: &str| word.chars().map(plain).collect();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(whole)
}

fn plain(c: char) -> char {
    let mut base = None;
    decompose_canonical(c, |part| base = base.or(Some(part)));
    let base = base.unwrap_or(c);
    base.to_lowercase().next().unwrap_or(base)
}

/// Which hits come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Those that fit best in the eyes of somebody who reads everything.
    Best,
    /// Those of the records that were made last.
    Newest,
}

impl First {
    pub(super) fn sql(self) -> &'static str {
        match self {
            First::Best => "score, id",
            First::Newest => "id DESC",
        }
    }
}

/// The ids of a place that hold the words, those first that fit best in the eyes of somebody who reads everything.
pub fn ids(conn: &Connection, place: &str, words: &Words, limit: usize) -> rusqlite::Result<Vec<String>> {
    let order = First::Best.sql();
    conn.prepare_cached(&format!("{HITS} SELECT id FROM hits ORDER BY {order} LIMIT ?3"))?
        .query_map(params![words.expression(), place, limit as i64], |row| row.get(0))?
        .collect()
}

/// What the words ?1 are found in, of the place ?2.
pub(super) const HITS: &str = "WITH hits (id, score) AS MATERIALIZED (\
    SELECT row.id, bm25(search) FROM search JOIN search_row AS row ON row.number = search.rowid \
    WHERE search MATCH ?1 AND row.place = ?2)";
