//! Whom the walk believes: the key, the newest checkpoint, and the checkpoint that the auditor brought.

use super::finding::Findings;
use super::keys::Keys;
use super::note::{self, Note, VerifierKey};
use super::source::Signed;
use super::{Ask, Unreadable};

pub struct Trust {
    pub keys: Keys,
    /// The newest checkpoint, if its signature is right.
    pub head: Option<Note>,
    /// The auditor's checkpoint.
    pub since: Option<Note>,
    /// How many entries the log should have, as far as anything says so.
    pub size: Option<u64>,
}

impl Trust {
    pub fn establish(
        ask: &Ask<'_>,
        vkey: Result<String, String>,
        head: Signed,
        findings: &mut Findings,
    ) -> Result<Trust, Unreadable> {
        let mut trust = Trust { keys: keys(ask, vkey, findings)?, head: None, since: None, size: head.size };
        let claimed = head.size;
        match trust.verified(head.note) {
            Ok(note) => {
                trust.size = Some(note.size);
                trust.head = Some(note);
            }
            Err(why) => findings.add(None, format!("the newest checkpoint{} is bad: {why}", of(claimed))),
        }
        if let Some(flaw) = head.flaw {
            findings.add(None, format!("the newest checkpoint{} is bad: {flaw}", of(trust.size)));
        }
        if let Some(text) = ask.since {
            let note = Note::parse(text).map_err(Unreadable::GivenCheckpoint)?;
            match trust.verified(Ok(note)) {
                Ok(note) => trust.since = Some(note),
                Err(why) => findings.add(None, format!("the checkpoint that you hold is not of this log: {why}")),
            }
        }
        Ok(trust)
    }

    /// The note, if it is signed by the log's key.
    pub fn verified(&self, note: Result<Note, String>) -> Result<Note, String> {
        let note = note?;
        self.keys.verify(&note)?;
        Ok(note)
    }

    /// The same for a checkpoint that is kept.
    pub fn published(&self, note: Result<Note, String>) -> Result<Note, String> {
        let note = note?;
        self.keys.verify_published(&note)?;
        Ok(note)
    }
}

fn of(size: Option<u64>) -> String {
    size.map(|size| format!(" of {size} entries")).unwrap_or_default()
}

/// The stored keys, unless the auditor's own is none of them.
fn keys(ask: &Ask<'_>, stored: Result<String, String>, findings: &mut Findings) -> Result<Keys, Unreadable> {
    let given = ask.vkey.map(str::trim_end);
    let parse = |text| VerifierKey::parse(text).map(|key| (text, key)).map_err(Unreadable::GivenKey);
    let given = given.map(parse).transpose()?;
    let stored = stored.and_then(|text| Keys::parse(&text));
    let keys = match (given, stored) {
        (None, Ok(stored)) => stored,
        (given, Err(why)) => {
            findings.add(None, format!("the stored verifier key is bad: {why}"));
            given.map_or_else(Keys::none, |(text, key)| Keys::only(text, key))
        }
        (Some((text, key)), Ok(stored)) => judged(text, key, stored, findings),
    };
    if let Some(key) = keys.newest().filter(|key| !is_origin(key.origin())) {
        findings.add(None, format!("`{}` is no name of a log: <host>/<company ULID>/<generation>", key.origin()));
    }
    Ok(keys)
}

/// What the auditor's key says of the stored ones.
fn judged(text: &str, key: VerifierKey, stored: Keys, findings: &mut Findings) -> Keys {
    if stored.newest() == Some(&key) {
        return stored;
    }
    let Some(last) = stored.end_of(&key) else {
        findings.add(None, "the stored verifier key is not the one that you gave");
        return Keys::only(text, key);
    };
    let message = format!(
        "the key that you gave signed the {last} entries before it. From here on, another key signs, for which yours does not vouch: the machine's owner replaced it (`ok audit rekey`). If that was legitimate, ask them for the new key and give that"
    );
    findings.add(Some(last + 1), message);
    stored
}

/// `<host>/<company ULID>/<generation>`
fn is_origin(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let [host, company, generation] = parts.as_slice() else { return false };
    let is_ulid = company.len() == 26 && company.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    !host.is_empty() && is_ulid && note::number(generation).is_some_and(|number| number > 0)
}
