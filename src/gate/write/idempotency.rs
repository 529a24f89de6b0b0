//! The same `Idempotency-Key` again: the stored answer, and no second effect. Kept are answers with an entry of
//! their own: done, denied, waiting. Anything else had no effect and is simply asked again.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::decide::question;
use crate::declare::operation::Act;
use crate::declare::spec::Spec;
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::write::reply::Reply;
use crate::write::work::Idem;
use log::idem::KeptAnswer;
use types::caller::Caller;
use types::canonical;
use types::refusal::{Code, Fault, Refusal, Stop};

/// A request that came with a key.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    pub key: [u8; 32],
    /// What it asks, as a keyed hash.
    pub asked: [u8; 32],
}

/// Keys are kept as HMACs, bound to who used them where.
pub(crate) fn key(secret: &[u8; 32], caller: &Caller, spec: &Spec, idem: &Idem) -> Option<[u8; 32]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(b"ok/idem/v1");
    let under = caller.under.as_ref().map(|under| under.as_str());
    for part in [caller.actor().as_str(), spec.route.method.name(), &idem.path, &idem.key].into_iter().chain(under) {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part.as_bytes());
    }
    Some(mac.finalize().into_bytes().into())
}

/// Returns the fingerprint of a request, independent of the order of its fields. The log keeps a digest of it and of
/// the answer permanently, so it is an HMAC, from which nobody can guess erased content.
pub(crate) fn fingerprint(secret: &[u8; 32], value: &Value) -> Result<[u8; 32], Fault> {
    let wrong = |_| Fault::Broken("the sealing key has another length".into());
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).map_err(wrong)?;
    mac.update(b"ok/asked/v1\0");
    mac.update(&canonical::to_vec(value)?);
    Ok(mac.finalize().into_bytes().into())
}

/// Returns the stored answer to the same request. The caller must still be allowed to read at all, and to read what the
/// answer says.
pub(crate) fn answer(read: &Reader<'_>, act: &dyn Act, kept: KeptAnswer, asked: &[u8; 32]) -> Result<Reply, Stop> {
    if kept.is_erased() {
        let message = "this Idempotency-Key was used, and the answer has been erased since; use another key";
        return Err(Refusal::conflict(message).into());
    }
    if kept.request != *asked {
        let message = "this Idempotency-Key was used for another request";
        return Err(Refusal::new(Code::IdempotencyMismatch, message).into());
    }
    let (world, caller) = (read.world(), read.caller());
    let reading = question::Asker::new(world, caller, &Target::Actor(caller.actor()), read.now()).seeing("me.read");
    if !reading.is_allowed() {
        let message = format!("policy denied me.read: {}", reading.reason());
        return Err(Refusal::new(Code::Denied, message).into());
    }
    // What was done under a delegation was answered to whoever did it: they read it again in their own right.
    let own = Caller { under: None, ..caller.clone() };
    let (status, body) = match kept.status {
        400.. => (kept.status, kept.body),
        _ => match act.shown_again(kept.body, &read.acting_as(&own)) {
            Ok(body) => (kept.status, body),
            Err(Stop::Refused(refusal)) => (refusal.code.status(), refusal.body()),
            Err(failed) => return Err(failed),
        },
    };
    Ok(Reply {
        status,
        body,
        next: None,
        is_partial: false,
        partial_from: None,
        is_repeated: true,
        audit: world.stamped.clone(),
        policy: world.stamp.seq,
        decision: None,
    })
}

/// The answer to keep with the record of what was done.
pub(crate) fn done(idem: Option<Keyed>, spec: &Spec, body: &[u8]) -> Result<Option<KeptAnswer>, Fault> {
    let Some(Keyed { key, asked: request }) = idem else { return Ok(None) };
    Ok(Some(KeptAnswer { key, request, status: spec.route.status, body: without(body, spec.route.once())? }))
}

/// The answer to keep with the record of a refusal or a wait.
pub(crate) fn refused(idem: Option<Keyed>, spec: &Spec, refusal: &Refusal) -> Option<KeptAnswer> {
    // What waits with a secret for an answer is carried out by a later call: that one is not answered from here.
    let is_later = refusal.code == Code::NeedsApproval && spec.route.once().is_some();
    let Keyed { key, asked: request } = idem.filter(|_| !is_later)?;
    Some(KeptAnswer { key, request, status: refusal.code.status(), body: refusal.body() })
}

/// An answer without the field that is shown only once.
pub(crate) fn without(body: &[u8], secret: Option<&str>) -> Result<Vec<u8>, Fault> {
    let Some(field) = secret else { return Ok(body.to_vec()) };
    let mut value: Value = serde_json::from_slice(body)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove(field);
    }
    Ok(serde_json::to_vec(&value)?)
}
