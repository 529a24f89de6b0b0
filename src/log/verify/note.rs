//! Checkpoints (C2SP `tlog-checkpoint`) in signed notes (C2SP `signed-note`), and the keys that verify them.
//!
//! Parsing is strict: a text has at most one reading, and every byte of it is either signed or part of a signature.
//! Signatures by unknown keys (witnesses) are kept out of the way; the log's own must verify.

use super::merkle::Hash;
use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

/// The algorithm byte of Ed25519 in `signed-note`.
const ED25519: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("the checkpoint is malformed: {0}")]
    Malformed(&'static str),
    #[error("the verifier key is malformed: {0}")]
    Key(&'static str),
    #[error("the checkpoint is of the log `{found}`, not of `{expected}`")]
    Origin { found: String, expected: String },
    #[error("the checkpoint bears no signature of the log's key")]
    Unsigned,
    #[error("the signature on the checkpoint is wrong")]
    Signature,
}

use NoteError::Malformed;

/// A parsed checkpoint. It proves nothing until [`Note::verify`] says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    body: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    key_id: [u8; 4],
    bytes: Vec<u8>,
}

impl Note {
    pub fn parse(text: &str) -> Result<Note, NoteError> {
        let (head, tail) = text.split_once("\n\n").ok_or(Malformed("no blank line before the signatures"))?;
        let lines: Vec<&str> = head.split('\n').collect();
        let [origin, size, root] = lines.as_slice() else {
            return Err(Malformed("it must have an origin, a size and a root, one line each"));
        };
        if !is_name(origin) {
            return Err(Malformed("the origin must be a name without spaces or `+`"));
        }
        let tail = tail.strip_suffix('\n').ok_or(Malformed("the last line does not end"))?;
        Ok(Note {
            origin: (*origin).into(),
            size: number(size).ok_or(Malformed("the size must be a whole number without leading zeroes"))?,
            root: hash(root).ok_or(Malformed("the root must be 32 bytes in base64"))?,
            body: format!("{head}\n"),
            signatures: tail.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?,
        })
    }

    /// Checks that this is a checkpoint of the key's log, signed with that key.
    pub fn verify(&self, key: &VerifierKey) -> Result<(), NoteError> {
        if self.origin != key.name {
            return Err(NoteError::Origin { found: self.origin.clone(), expected: key.name.clone() });
        }
        let mut ours = self.signatures.iter().filter(|s| s.name == key.name && s.key_id == key.id).peekable();
        if ours.peek().is_none() {
            return Err(NoteError::Unsigned);
        }
        ours.try_for_each(|signature| key.verify(self.body.as_bytes(), &signature.bytes))
    }
}

impl NoteSignature {
    fn parse(line: &str) -> Result<NoteSignature, NoteError> {
        let rest = line.strip_prefix("— ").ok_or(Malformed("a signature line must begin with `— `"))?;
        let (name, blob) =
            rest.split_once(' ').ok_or(Malformed("a signature line must have a name and a signature"))?;
        let blob = STANDARD.decode(blob).map_err(|_| Malformed("a signature must be base64"))?;
        let (key_id, bytes) = blob.split_first_chunk().ok_or(Malformed("a signature must contain a key id"))?;
        if !is_name(name) || bytes.is_empty() {
            return Err(Malformed("a signature line must have a name and a signature"));
        }
        Ok(NoteSignature { name: name.into(), key_id: *key_id, bytes: bytes.into() })
    }
}

/// The public half of a log's signing key, under the log's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: [u8; 4],
    key: VerifyingKey,
}

impl VerifierKey {
    /// Parses `<origin>+<key id>+<base64(0x01 ‖ public key)>`.
    pub fn parse(text: &str) -> Result<VerifierKey, NoteError> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::Key("it must have a name, a key id and a key, with `+` between them"));
        };
        let blob = STANDARD.decode(key).map_err(|_| NoteError::Key("the key must be base64"))?;
        let Some((&ED25519, key)) = blob.split_first() else {
            return Err(NoteError::Key("the algorithm must be Ed25519"));
        };
        let key = key.try_into().map_err(|_| NoteError::Key("the key must have 32 bytes"))?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| NoteError::Key("the key is not a point of the curve"))?;
        let expected = key_id(name, &key);
        if !is_name(name) || id != hex::encode(expected) {
            return Err(NoteError::Key("the key id is not that of the name and the key"));
        }
        Ok(VerifierKey { name: name.into(), id: expected, key })
    }

    /// The key's name, which is the log's origin.
    pub fn origin(&self) -> &str {
        &self.name
    }

    /// Checks a signature with this key.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), NoteError> {
        let signature = Signature::from_slice(signature).map_err(|_| NoteError::Signature)?;
        self.key.verify_strict(message, &signature).map_err(|_| NoteError::Signature)
    }
}

/// The first four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key).
fn key_id(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let digest: Hash =
        Sha256::new().chain_update(name).chain_update([b'\n', ED25519]).chain_update(key.as_bytes()).finalize().into();
    let [a, b, c, d, ..] = digest;
    [a, b, c, d]
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

/// A decimal number in its only form: no sign, no leading zeroes.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// 32 bytes in padded base64 (RFC 4648 §4), in their only form.
pub(super) fn hash(text: &str) -> Option<Hash> {
    let mut bytes = [0; 33];
    match STANDARD.decode_slice(text, &mut bytes) {
        Ok(32) => bytes.first_chunk().copied(),
        _ => None,
    }
}
