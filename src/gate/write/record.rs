//! What the gate has recorded: an event, who did it, and how the gate came to let it happen.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use log::record::{self, Decision, MAX_DEPTH, PolicyStamp};
use store::event::Event;
use types::canonical;
use types::id::{ActorId, Id};
use types::json::nests_beyond;
use types::refusal::{Fault, Refusal, Stop};
use types::run::RunFacts;
use types::scope::Scopes;
use types::target::Target;

/// What is to be recorded.
#[derive(Clone, Debug)]
pub struct Entry {
    pub actor: ActorId,
    pub event: Event,
    pub decision: Decision,
    pub policy: PolicyStamp,
    /// HMAC of the request's idempotency key.
    pub idem: Option<[u8; 32]>,
    /// The operation and the policies that determined the decision.
    pub gate: GateRecord,
}

impl Entry {
    /// What follows from it by itself, recorded beside it.
    pub fn followed_by(&self, event: impl Into<Event>) -> Entry {
        Entry { actor: ActorId::system(), event: event.into(), decision: Decision::System, ..self.clone() }
    }
}

/// How the gate came to its decision, kept in the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRecord {
    pub operation: String,
    pub channel: String,
    pub policies: Vec<String>,
    /// The token that the call was made with, or with which the call's run was begun. None for the holder of the state
    /// file, visitors and the server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<Id>,
    /// All on whose behalf it was done, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ActorId>,
    /// SHA-256 of the answer that is kept for the request's idempotency key, hex; on the first event of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The question, on the first of the events that one decision leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<RecordedQuestion>,
}

/// What was asked, as far as the entry's actor and the directory at that moment do not tell it: enough to ask again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedQuestion {
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
    pub break_glass: Option<Id>,
    /// The run that it was a step of, as it stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunFacts>,
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
struct Payload<'a> {
    event: &'a Event,
    gate: &'a GateRecord,
}

/// All of them as the log takes them; refused where one could not be read again.
pub(crate) fn all_for_log(entries: &[Entry]) -> Result<Vec<record::Entry>, Stop> {
    let logged = entries.iter().map(Entry::for_log).collect::<Result<Vec<_>, _>>()?;
    if logged.iter().any(|entry| nests_beyond(MAX_DEPTH, &entry.payload)) {
        return Err(Refusal::conflict(format!("what is to be recorded nests more than {MAX_DEPTH} deep")).into());
    }
    Ok(logged)
}

impl Entry {
    /// What the event is about, and the token that the call was made with: so all that was done with a token can be found.
    fn refs(&self) -> Vec<String> {
        let token = self.gate.token_id.iter().map(|token| token.as_str().to_owned());
        let refs: BTreeSet<String> = self.event.subjects().into_iter().chain(token).collect();
        refs.into_iter().collect()
    }

    /// As the log takes it.
    pub fn for_log(&self) -> Result<record::Entry, Fault> {
        Ok(record::Entry {
            actor: self.actor.clone(),
            kind: self.event.kind().name,
            refs: self.refs(),
            payload: canonical::to_vec(&Payload { event: &self.event, gate: &self.gate })?,
            decision: self.decision,
            policy: self.policy.clone(),
            idem: self.idem,
        })
    }
}
