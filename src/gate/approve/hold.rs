//! Parks a call that people must approve. A digest fixes exactly what was asked and the state of the thing, so that the
//! approval cannot be used for anything else.

use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::admit::chain;
use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::reader::Reader;
use policy::Ruling;
use store::approvals::events::{ApprovalRequested, ArgumentsKept};
use store::approvals::{self, Approval};
use store::event::Event;
use types::caller::{Caller, Channel};
use types::canonical;
use types::id::{ActorId, Id};
use types::refusal::{Code, Fault, Refusal, Stop};
use types::time::Time;

/// What was asked, by whom, about what, and how that stood.
pub(crate) struct ParkedCall<'a> {
    tenant: String,
    caller: &'a Caller,
    /// On whose behalf.
    pub behalf: Vec<ActorId>,
    entry: &'a Entry,
    input: &'a Value,
    target: &'a Target,
    resource: Value,
}

#[derive(Serialize)]
struct Exact<'a> {
    action: &'a str,
    actor: &'a ActorId,
    arguments: &'a Value,
    /// The run that it is a step of, and which: two equal calls that are made together are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<(&'a str, u32)>,
    /// The delegation that it was asked under.
    #[serde(skip_serializing_if = "Option::is_none")]
    delegation: Option<&'a str>,
    on_behalf_of: &'a [ActorId],
    resource: String,
    resource_version: &'a Value,
    tenant: &'a str,
}

impl<'a> ParkedCall<'a> {
    /// A call of the reader's caller, as it stands now.
    pub fn of(
        read: &Reader<'_>,
        caller: &'a Caller,
        entry: &'a Entry,
        (target, input): (&'a Target, &'a Value),
    ) -> Result<ParkedCall<'a>, Fault> {
        let world = read.world();
        let (tenant, behalf) = (world.instance.ulid.clone(), chain::behalf_about(world, caller, target));
        let resource = read.state_for(&entry.spec.route, target, input)?;
        Ok(ParkedCall { tenant, caller, behalf, entry, input, target, resource })
    }

    /// SHA-256 over the canonical JSON (RFC 8785) of everything that an approval is for, but for what can be erased: the log
    /// keeps it for good, and what few values could be is found again by their digests. That is compared by itself.
    pub fn digest(&self) -> Result<String, Fault> {
        let exact = Exact {
            action: self.entry.spec.name,
            actor: &self.caller.actor(),
            arguments: &self.entry.arguments().parted(self.input).0,
            delegation: self.caller.under.as_ref().map(Id::as_str),
            on_behalf_of: &self.behalf,
            run: self.caller.run.as_ref().map(|run| (run.run.as_str(), run.step())),
            resource: self.target.id(),
            resource_version: &self.resource,
            tenant: &self.tenant,
        };
        Ok(hex::encode(Sha256::digest(canonical::to_vec(&exact)?)))
    }

    /// The requests for exactly this call that are open: undecided, or approved and not carried out yet.
    pub fn open(&self, conn: &Connection, now: Time) -> Result<Vec<Approval>, Fault> {
        let erasable = canonical::to_vec(&self.entry.arguments().parted(self.input).1)?;
        let mut found = Vec::new();
        for open in approvals::open(conn, &self.digest()?, now)? {
            if open.erasable.as_ref().map(canonical::to_vec).transpose()?.as_ref() == Some(&erasable) {
                found.push(open);
            }
        }
        Ok(found)
    }

    fn channel(&self) -> Channel {
        self.caller.channel
    }
}

/// Calls of one actor that may wait at once, or be approved and not yet carried out.
const MOST: usize = 100;

/// Of those of an agent, how many may come from runs that one person asked for: nobody fills its room for the others.
const MOST_FOR_ASKER: usize = 25;

/// Whether one more call of a caller may wait.
pub(crate) fn has_room(conn: &Connection, caller: &Caller) -> Result<(), Stop> {
    let requester = caller.actor();
    let advice = "which is the limit: withdraw one, or have it decided";
    if approvals::open_of(conn, &requester)?.len() >= MOST {
        return Err(Refusal::conflict(format!("{requester} has {MOST} open requests, {advice}")).into());
    }
    if let Some(run) = &caller.run
        && approvals::open_in_runs_of(conn, &requester, &run.asker)? >= MOST_FOR_ASKER
    {
        let whose = format!("{requester} has {MOST_FOR_ASKER} open requests in runs that {} asked for", run.asker);
        return Err(Refusal::conflict(format!("{whose}, {advice}")).into());
    }
    Ok(())
}

/// Returns the refusal for a caller whose call waits for approval.
pub(crate) fn waits(id: &str, operation: &str, kinds: &[String], reason: &str) -> Refusal {
    let message = format!("{operation} needs approval ({}): {reason}", kinds.join(" and "));
    Refusal { approval: Some(id.into()), ..Refusal::new(Code::NeedsApproval, message) }
}

/// Returns the events that park a call. The erasable part of its input is in an event of its own.
pub(crate) fn park(
    id: Id,
    asked: &ParkedCall<'_>,
    ruling: &Ruling,
    expires_at: Time,
    approvers: Vec<ActorId>,
) -> Result<Vec<Event>, Fault> {
    let Ruling::NeedsApproval { kinds, .. } = ruling else {
        return Err(Fault::Broken("only a call that needs approval can be parked".into()));
    };
    let (input, erasable) = asked.entry.arguments().parted(asked.input);
    // The log keeps the sentence for good: what can be erased is not in it.
    let (requester, summary) = (asked.caller.actor(), asked.entry.summary(&input));
    let keeps = !erasable.is_empty();
    let kept = ArgumentsKept { id: id.clone(), requester, arguments: erasable };
    let requested = ApprovalRequested {
        id,
        operation: asked.entry.spec.name.to_owned(),
        target: asked.target.id(),
        summary,
        input,
        resource: asked.resource.clone(),
        kinds: kinds.clone(),
        digest: asked.digest()?,
        reason: ruling.reason().to_owned(),
        channel: asked.channel(),
        expires_at,
        approvers,
        under: asked.caller.under.clone(),
        on_behalf_of: asked.behalf.clone(),
        token_id: asked.caller.token.clone(),
        issuer: asked.caller.issuer.clone(),
        run: asked.caller.run.as_deref().cloned(),
    };
    let kept = keeps.then(|| Event::from(kept));
    Ok([Event::from(requested)].into_iter().chain(kept).collect())
}
