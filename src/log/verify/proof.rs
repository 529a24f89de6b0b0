//! The two proof texts that an outsider is handed, checked against a key (and, for consistency, an older checkpoint)
//! that the outsider holds. Nothing in a proof is believed that the signed checkpoint at its end does not bear out.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::merkle::{self, Hash};
use super::note::{self, Note, NoteError, VerifierKey};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    #[error("the proof is malformed: {0}")]
    Malformed(&'static str),
    #[error(transparent)]
    Note(#[from] NoteError),
    #[error("the proof begins at size {from}, but the checkpoint that you hold has size {held}")]
    OtherStart { from: u64, held: u64 },
    #[error("the proof ends at size {to}, but its checkpoint has size {signed}, so nothing signed bears it out")]
    OtherEnd { to: u64, signed: u64 },
    #[error("the leaf is not entry {seq} of the log with the signed root")]
    NotIncluded { seq: u64 },
    #[error("the log of size {to} does not contain the log of size {from} that you hold")]
    Fork { from: u64, to: u64 },
}

use ProofError::Malformed;

/// The first line of a proof that an entry is in the log.
const INCLUSION: &str = "c2sp.org/tlog-proof@v1";

/// An entry that a proof holds, and the checkpoint that covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Included {
    pub seq: u64,
    pub leaf: Vec<u8>,
    pub checkpoint: Note,
}

/// Whether a text is a proof that an entry is in the log.
pub fn is_inclusion(text: &str) -> bool {
    text.lines().next() == Some(INCLUSION)
}

/// Checks a `c2sp.org/tlog-proof@v1` text for the leaf in its extra data.
pub fn check_proof(text: &str, key: &VerifierKey) -> Result<Included, ProofError> {
    let extra = text.lines().nth(1).and_then(|line| line.strip_prefix("extra "));
    let leaf = extra.and_then(|leaf| STANDARD.decode(leaf).ok()).ok_or(Malformed("it does not contain the leaf"))?;
    let checkpoint = check_inclusion(text, &leaf, key)?;
    let (head, _) = split(text)?;
    let seq = labelled(head.split('\n').nth(2), "index ")?.saturating_add(1);
    Ok(Included { seq, leaf, checkpoint })
}

/// Checks a `c2sp.org/tlog-proof@v1` text for the bytes of a leaf. Gives the checkpoint that covers the leaf.
pub fn check_inclusion(text: &str, leaf: &[u8], key: &VerifierKey) -> Result<Note, ProofError> {
    let (head, checkpoint) = split(text)?;
    let mut lines = head.split('\n').peekable();
    expect(lines.next(), INCLUSION)?;
    lines.next_if(|line| line.starts_with("extra "));
    let index = labelled(lines.next(), "index ")?;
    let path = hashes(lines)?;
    checkpoint.verify(key)?;
    if merkle::includes(index, merkle::leaf_hash(leaf), checkpoint.size, &path, &checkpoint.root) {
        Ok(checkpoint)
    } else {
        Err(ProofError::NotIncluded { seq: index.saturating_add(1) })
    }
}

/// Checks an `ok/consistency-proof@v1` text for an older checkpoint that the outsider holds. Gives the newer checkpoint.
pub fn check_consistency(text: &str, older: &str, key: &VerifierKey) -> Result<Note, ProofError> {
    let (head, newer) = split(text)?;
    let mut lines = head.split('\n');
    expect(lines.next(), "ok/consistency-proof@v1")?;
    let from = labelled(lines.next(), "from ")?;
    let to = labelled(lines.next(), "to ")?;
    let path = hashes(lines)?;
    let older = Note::parse(older)?;
    older.verify(key)?;
    newer.verify(key)?;
    if from != older.size {
        return Err(ProofError::OtherStart { from, held: older.size });
    }
    if to != newer.size {
        return Err(ProofError::OtherEnd { to, signed: newer.size });
    }
    if merkle::extends((from, &older.root), (to, &newer.root), &path) {
        Ok(newer)
    } else {
        Err(ProofError::Fork { from, to })
    }
}

fn split(text: &str) -> Result<(&str, Note), ProofError> {
    let (head, checkpoint) = text.split_once("\n\n").ok_or(Malformed("no blank line before the checkpoint"))?;
    Ok((head, Note::parse(checkpoint)?))
}

fn expect(line: Option<&str>, name: &'static str) -> Result<(), ProofError> {
    if line == Some(name) { Ok(()) } else { Err(Malformed("the first line does not name this kind of proof")) }
}

fn labelled(line: Option<&str>, label: &str) -> Result<u64, ProofError> {
    let value = line.and_then(|line| line.strip_prefix(label)).and_then(note::number);
    value.ok_or(Malformed("a line with a number is missing"))
}

fn hashes<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Hash>, ProofError> {
    lines.map(|line| note::hash(line).ok_or(Malformed("a hash must be 32 bytes in base64"))).collect()
}
