//! Whom the walk believes: the key, the newest checkpoint, and the checkpoint that the auditor brought.

use super::finding::Findings;
use super::note::{self, Note, VerifierKey};
use super::source::Signed;
use super::{Ask, Unreadable};

pub struct Trust {
    pub key: Option<VerifierKey>,
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
        let mut trust = Trust { key: key(ask, vkey, findings)?, head: None, since: None, size: head.size };
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
        let key = self.key.as_ref().ok_or("there is no verifier key to check it with")?;
        note.verify(key).map_err(|e| e.to_string())?;
        Ok(note)
    }
}

fn of(size: Option<u64>) -> String {
    size.map(|size| format!(" of {size} entries")).unwrap_or_default()
}

/// The auditor's key, else the stored one.
fn key(
    ask: &Ask<'_>,
    stored: Result<String, String>,
    findings: &mut Findings,
) -> Result<Option<VerifierKey>, Unreadable> {
    let given = ask.vkey.map(|text| VerifierKey::parse(text.trim_end())).transpose().map_err(Unreadable::GivenKey)?;
    let stored = stored.and_then(|text| VerifierKey::parse(&text).map_err(|e| e.to_string()));
    match (&given, &stored) {
        (_, Err(why)) => findings.add(None, format!("the stored verifier key is bad: {why}")),
        (Some(given), Ok(stored)) if given != stored => {
            findings.add(None, "the stored verifier key is not the one that you gave");
        }
        _ => {}
    }
    if let Some(key) = given.as_ref().or(stored.as_ref().ok()).filter(|key| !is_origin(key.origin())) {
        findings.add(None, format!("`{}` is no name of a log: <host>/<company ULID>/<generation>", key.origin()));
    }
    Ok(given.or(stored.ok()))
}

/// `<host>/<company ULID>/<generation>`
fn is_origin(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let [host, company, generation] = parts.as_slice() else { return false };
    let is_ulid = company.len() == 26 && company.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    !host.is_empty() && is_ulid && note::number(generation).is_some_and(|number| number > 0)
}
