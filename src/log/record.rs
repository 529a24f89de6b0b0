//! A leaf and its payload, as bytes. The field order below is the canonical order of RFC 8785, so writing a leaf needs
//! no sorting; a test holds it against a real canonicaliser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::types::canonical;
use crate::types::event::Event;
use crate::types::id::{ActorId, Id};
use crate::types::refusal::Fault;
use crate::types::scope::Scopes;
use crate::types::target::Target;
use crate::types::time::Time;

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

/// What is to be logged.
#[derive(Clone, Debug)]
pub struct Entry {
    pub actor: ActorId,
    pub event: Event,
    pub decision: Decision,
    pub policy: PolicyStamp,
    /// HMAC of the request's idempotency key.
    pub idem: Option<[u8; 32]>,
    /// The operation and the policies that determined the decision.
    pub gate: GateNote,
}

/// How the gate came to its decision, kept in the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateNote {
    pub operation: String,
    pub channel: String,
    pub policies: Vec<String>,
    /// All on whose behalf it was done, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ActorId>,
    /// SHA-256 of the answer that is kept for the request's idempotency key, hex; on the first event of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The question, on the first of the events that one decision leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// What was asked, as far as the entry's actor and the directory at that moment do not tell it: enough to ask again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub by: By,
    /// What the token was limited to; empty for everything that its holder may do.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub scopes: Scopes,
    /// Who issued the token, where that is not its holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<ActorId>,
    pub target: Target,
    /// What the operation was given, but for what can be erased. None where policies see nothing of it, and where it was too
    /// large to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The kinds of approval that were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
    /// The delegation that it was asked under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<Id>,
    /// The break-glass grant because of which they counted as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glass: Option<Id>,
}

/// As whom a question was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Actor,
    Visitor,
    Server,
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

#[derive(Serialize)]
struct Payload<'a> {
    event: &'a Event,
    gate: &'a GateNote,
}

/// What is stored of one entry.
pub struct Sealed {
    pub leaf: Vec<u8>,
    pub payload: Vec<u8>,
}

/// Where an entry stands in the log.
pub struct Place<'a> {
    pub origin: &'a str,
    pub seq: i64,
    pub prev: [u8; 32],
    pub ts: Time,
    pub salt: [u8; 32],
}

/// Serialises an entry: the only time its bytes are made.
pub fn seal(entry: &Entry, refs: &[String], place: &Place<'_>) -> Result<Sealed, Fault> {
    let payload = canonical::to_vec(&Payload { event: &entry.event, gate: &entry.gate })?;
    let leaf = Leaf {
        actor: entry.actor.as_str(),
        c: BASE64.encode(commitment(&place.salt, &payload)),
        decision: entry.decision,
        idem: entry.idem.map(|mac| BASE64.encode(mac)),
        origin: place.origin,
        policy: &entry.policy,
        prev: BASE64.encode(place.prev),
        refs,
        seq: place.seq,
        ts: place.ts.0,
        r#type: entry.event.kind().name(),
        v: 1,
    };
    let leaf = serde_json::to_vec(&leaf)?;
    if leaf.len() > MAX_LEAF {
        return Err(Fault::Broken(format!("an entry of {} bytes is over the log's {MAX_LEAF}", leaf.len())));
    }
    Ok(Sealed { leaf, payload })
}

fn commitment(salt: &[u8; 32], payload: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(b"ok/payload/v1\0").chain_update(salt).chain_update(payload).finalize().into()
}
