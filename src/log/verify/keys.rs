//! The keys of a log: the one that signs it now and, if that one replaces a lost key, the former ones.
//!
//! The claim that a key was replaced stands beside the log, and the log must support it: the last checkpoint of the
//! former key is signed by the next key too, and the entry after it is a `log_rekeyed` that names both. Nothing shows
//! that the former key agreed, so a verifier who holds the former key is told up to where that key vouches for the log.

use super::finding::Findings;
use super::note::{self, Note, VerifierKey};
use super::source::Payload;

pub const REKEYED: &str = "log_rekeyed";
/// More replaced keys than any log can have.
const MOST: usize = 1_000;

pub struct Keys {
    /// Oldest first.
    former: Vec<Former>,
    newest: Option<Known>,
}

struct Known {
    text: String,
    key: VerifierKey,
}

struct Former {
    known: Known,
    /// The size of the log that it signed last.
    last: u64,
    /// Whether the entry that names the next key was met.
    is_met: bool,
}

/// Which entries a key signs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct KeySpan {
    /// The verifier key.
    pub vkey: String,
    /// The first entry that it signs. If greater than 1, the machine's owner put this key in place of the one before it, which
    /// was lost and signed nothing from here on.
    pub from: u64,
    /// The last entry that it signs; none for the key that signs now.
    pub to: Option<u64>,
}

/// What is told of the next key in the entry that begins with it.
#[derive(serde::Deserialize)]
struct KeyPayload {
    event: Named,
}

#[derive(serde::Deserialize)]
struct Named {
    from: String,
    to: String,
    size: u64,
}

impl Keys {
    /// Reads the lines that lie beside a log: its key, then `<size> <key>` for each one before it, newest first.
    pub fn parse(text: &str) -> Result<Keys, String> {
        let mut lines = text.split('\n');
        let newest = Known::parse(lines.next().unwrap_or_default())?;
        let mut former = lines.take(MOST).map(Former::parse).collect::<Result<Vec<_>, _>>()?;
        former.reverse();
        let ascends = former.is_sorted_by(|a, b| a.last < b.last);
        let is_one_log = former.iter().all(|before| before.known.key.origin() == newest.key.origin());
        if !ascends || !is_one_log {
            return Err("the keys before it are not those of one log, in order".into());
        }
        Ok(Keys { former, newest: Some(newest) })
    }

    pub fn only(text: &str, key: VerifierKey) -> Keys {
        Keys { former: Vec::new(), newest: Some(Known { text: text.into(), key }) }
    }

    pub fn none() -> Keys {
        Keys { former: Vec::new(), newest: None }
    }

    /// The key that signs now.
    pub fn newest(&self) -> Option<&VerifierKey> {
        self.newest.as_ref().map(|known| &known.key)
    }

    /// Up to where this former key signed.
    pub fn end_of(&self, key: &VerifierKey) -> Option<u64> {
        self.former.iter().find(|former| former.known.key == *key).map(|former| former.last)
    }

    pub fn verify(&self, note: &Note) -> Result<(), String> {
        let former = self.former.iter().find(|former| note.size <= former.last);
        let known = former.map(|former| &former.known).or(self.newest.as_ref());
        let known = known.ok_or("there is no verifier key to check it with")?;
        note.verify(&known.key).map_err(|error| error.to_string())
    }

    /// Checks a published checkpoint: one that hands the log over to the next key must be signed by both keys.
    pub fn verify_published(&self, note: &Note) -> Result<(), String> {
        self.verify(note)?;
        let Some(at) = self.former.iter().position(|former| former.last == note.size) else { return Ok(()) };
        let next = self.after(at).ok_or("there is no key after it")?;
        note.verify(&next.key).map_err(|error| format!("the key of the entries after it did not sign it over: {error}"))
    }

    /// Whether the tree of this size is the last that a former key signed.
    pub fn hands_over_at(&self, size: u64) -> bool {
        self.former.iter().any(|former| former.last == size)
    }

    /// Compares the entry with what is claimed of the keys.
    pub fn meet(&mut self, seq: u64, kind: &str, payload: Option<&Payload>, findings: &mut Findings) {
        let at = self.former.iter().position(|former| former.last.checked_add(1) == Some(seq));
        if kind != REKEYED {
            if at.is_some() {
                findings.add(Some(seq), "another key signs from here on, and it does not say so");
            }
            return;
        }
        let named = payload.and_then(|payload| serde_json::from_slice::<KeyPayload>(&payload.body).ok());
        let is_as_claimed = at.zip(named).is_some_and(|(at, KeyPayload { event })| {
            let is = |known: Option<&Known>, text: &str| known.is_some_and(|known| known.text == text);
            let former = self.former.get(at).map(|former| &former.known);
            event.size.checked_add(1) == Some(seq) && is(former, &event.from) && is(self.after(at), &event.to)
        });
        if !is_as_claimed {
            findings.add(Some(seq), "the keys that it names are not those beside the log");
        }
        if let Some(former) = at.and_then(|at| self.former.get_mut(at)) {
            former.is_met = true;
        }
    }

    /// Reports the changes of a key that no entry tells.
    pub fn finish(&self, size: u64, findings: &mut Findings) {
        for former in self.former.iter().filter(|former| !former.is_met && former.last >= size) {
            findings.add(None, format!("a key ends at {} entries, and no entry after that says so", former.last));
        }
    }

    pub fn spans(&self) -> Vec<KeySpan> {
        let ends = self.former.iter().map(|former| (&former.known, Some(former.last)));
        let mut from = 1;
        let span = |(known, to): (&Known, Option<u64>)| {
            let span = KeySpan { vkey: known.text.clone(), from, to };
            from = to.map_or(from, |to| to.saturating_add(1));
            span
        };
        ends.chain(self.newest.iter().map(|known| (known, None))).map(span).collect()
    }

    fn after(&self, at: usize) -> Option<&Known> {
        self.former.get(at + 1).map(|former| &former.known).or(self.newest.as_ref())
    }
}

impl Known {
    fn parse(text: &str) -> Result<Known, String> {
        let key = VerifierKey::parse(text).map_err(|error| error.to_string())?;
        Ok(Known { text: text.into(), key })
    }
}

impl Former {
    fn parse(line: &str) -> Result<Former, String> {
        let (last, key) =
            line.split_once(' ').ok_or("an earlier key must be followed by the size that it signed last")?;
        let last = note::number(last).filter(|last| *last < u64::MAX);
        let last = last.ok_or("the size that a key signed last must be a whole number")?;
        Ok(Former { known: Known::parse(key)?, last, is_met: false })
    }
}
