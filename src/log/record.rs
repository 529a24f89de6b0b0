//! A leaf and its payload, as bytes. The field order below is the canonical order of RFC 8785, so writing a leaf needs
//! no sorting; a test holds it against a real canonicaliser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

/// tlog-tiles prefixes an entry with a 16-bit length.
pub const MAX_LEAF: usize = 65_535;

/// The gate's word on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Allow,
    Deny,
    NeedsApproval,
    System,
}

/// Which policy decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyStamp {
    pub hash: String,
    pub seq: i64,
}

/// The maximum nesting depth of arrays and objects in a payload, so that every reader can parse it and put it into an
/// answer.
pub const MAX_DEPTH: usize = 120;

/// What is to be logged: whatever it is, the log takes its kind, the ids that it refers to and its bytes.
pub struct Entry {
    pub actor: ActorId,
    pub kind: &'static str,
    pub refs: Vec<String>,
    /// Canonical JSON (RFC 8785).
    pub payload: Vec<u8>,
    pub decision: Decision,
    pub policy: PolicyStamp,
    /// HMAC of the request's idempotency key.
    pub idem: Option<[u8; 32]>,
}

#[derive(Serialize)]
struct Leaf<'a> {
    actor: &'a str,
    c: String,
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    idem: Option<String>,
    origin: &'a str,
    policy: &'a PolicyStamp,
    prev: String,
    refs: &'a [String],
    seq: i64,
    ts: i64,
    r#type: &'a str,
    v: u8,
}

/// Where an entry stands in the log.
pub struct Place<'a> {
    pub origin: &'a str,
    pub seq: i64,
    pub prev: [u8; 32],
    pub ts: Time,
    pub salt: [u8; 32],
}

/// The leaf of an entry: the only time its bytes are made.
pub fn leaf(entry: &Entry, place: &Place<'_>) -> Result<Vec<u8>, Fault> {
    let leaf = Leaf {
        actor: entry.actor.as_str(),
        c: BASE64.encode(commitment(&place.salt, &entry.payload)),
        decision: entry.decision,
        idem: entry.idem.map(|mac| BASE64.encode(mac)),
        origin: place.origin,
        policy: &entry.policy,
        prev: BASE64.encode(place.prev),
        refs: &entry.refs,
        seq: place.seq,
        ts: place.ts.0,
        r#type: entry.kind,
        v: 1,
    };
    let leaf = serde_json::to_vec(&leaf)?;
    if leaf.len() > MAX_LEAF {
        return Err(Fault::Broken(format!("an entry of {} bytes is over the log's {MAX_LEAF}", leaf.len())));
    }
    Ok(leaf)
}

fn commitment(salt: &[u8; 32], payload: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(b"ok/payload/v1\0").chain_update(salt).chain_update(payload).finalize().into()
}
