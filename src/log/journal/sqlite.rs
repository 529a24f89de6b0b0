//! The log in the state file itself: what is staged is the log, and one transaction holds it with the tables.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::Connection;
use serde::Deserialize;

use super::{Batch, Journal, NotCommitted, Passage, Row, Since};
use crate::head::{self, Tip};
use crate::idem::{self, KeptAnswer};
use crate::read;
use types::refusal::Fault;

pub struct InFile;

impl Journal for InFile {
    fn is_shared(&self) -> bool {
        false
    }

    fn tip(&self, file: &Connection) -> Result<Option<Tip>, Fault> {
        head::tip(file)
    }

    fn read(&self, file: &Connection, since: Since, most: usize) -> Result<Passage, Fault> {
        let size = head::mark(file)?.map_or(0, |mark| mark.size);
        let last = size.min(since.entries.saturating_add(most as u64));
        let mut rows = Vec::new();
        for seq in since.entries + 1..=last {
            let (leaf, payload) = read::stored(file, seq)?;
            let kept = kept(file, seq, &leaf)?;
            rows.push(Row { leaf, payload, kept });
        }
        let published = read::published(file, since.published, size)?;
        Ok(Passage { rows, published })
    }

    /// Nobody else can write as long as the transaction is open, so the head that stands in the file is compared with, and
    /// what is staged need not be stored again.
    fn commit(&self, batch: &Batch<'_>) -> Result<(), NotCommitted> {
        NotCommitted::unless_at(batch.after, head::mark(batch.file)?)
    }
}

#[derive(Deserialize)]
struct Keyed {
    idem: Option<String>,
}

/// The answer that is kept with an entry: with the first of those that one call led to.
fn kept(file: &Connection, seq: u64, leaf: &[u8]) -> Result<Option<KeptAnswer>, Fault> {
    let Some(text) = serde_json::from_slice::<Keyed>(leaf)?.idem else { return Ok(None) };
    let before = if seq > 1 { serde_json::from_slice::<Keyed>(&read::stored(file, seq - 1)?.0)?.idem } else { None };
    let key = BASE64.decode(&text).ok().and_then(|key| key.try_into().ok());
    match key.filter(|_| before.as_ref() != Some(&text)) {
        Some(key) => Ok(idem::stored(file, &key)?.filter(|kept| !kept.is_erased())),
        None => Ok(None),
    }
}
