//! From the words of a question to a call that could be made: the operation, the one who would make it, and what it would
//! be about.

use std::str::FromStr as _;

use serde_json::Value;

use crate::gate::{Entry, Inquiry, Reader, ResourceKind, Target};
use crate::operations;
use crate::operations::event;
use crate::policy::Ruling;
use crate::types::actor::KillScope;
use crate::types::caller::{Caller, Who};
use crate::types::id::{ActorId, Id};
use crate::types::impact::Decision;
use crate::types::refusal::{Refusal, Stop};

/// The delegation that somebody's call would be made under: one that the asker may see.
pub(super) fn under(actor: &ActorId, named: Option<&str>, read: &Reader<'_>) -> Result<Option<Id>, Stop> {
    let mine = || read.caller().under.clone().filter(|_| *actor == read.caller().actor());
    let Some(id) = named else { return Ok(mine()) };
    let found = read.delegation(id)?.filter(|delegation| delegation.terms.to == *actor);
    match found.filter(|delegation| read.sees(&read.delegation_target(delegation))) {
        Some(delegation) => Ok(Some(Id::stored(&delegation.terms.id))),
        None => Err(Refusal::field("under", format!("{actor} was given no delegation `{id}`")).into()),
    }
}

/// What a call would be about, in words.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// The company, or the caller itself.
    Nothing,
    Id(&'a str),
    /// Whatever the operation finds in this input.
    Input(&'a Value),
}

/// The operation of a name.
pub(super) fn entry(name: &str) -> Result<&'static Entry, Refusal> {
    let unknown = || Refusal::field("op", format!("there is no operation `{name}`"));
    operations::ALL.iter().find(|entry| entry.spec.name == name).ok_or_else(unknown)
}

/// Somebody as the caller of an operation. An open one asks for nobody in particular.
pub(super) fn caller(actor: &ActorId, entry: &Entry, read: &Reader<'_>) -> Caller {
    let who = if entry.spec.route.open { Who::Visitor } else { Who::Holder(actor.clone()) };
    Caller::new(who, read.caller().channel)
}

/// What the call would be about in the company as `then` has it; 404 where the asker may not see that now.
pub(super) fn target(
    about: About<'_>,
    entry: &'static Entry,
    caller: &Caller,
    read: &Reader<'_>,
    then: &Reader<'_>,
) -> Result<Target, Stop> {
    let found = match about {
        About::Input(value) => {
            let missing = entry.arguments().missing(value);
            if !missing.is_empty() {
                let message = format!("lacks {}; give all of them, or name the target", missing.join(", "));
                return Err(Refusal::field("input", message).into());
            }
            let call = entry.prepare(value.clone()).map_err(|bad| Refusal::field("input", bad))?;
            call.target(&then.acting_as(caller))
        }
        About::Id(id) => named(id, entry, caller, then),
        About::Nothing if entry.spec.about.contains(&ResourceKind::Company) => Ok(Target::Company),
        About::Nothing if entry.spec.about.contains(&ResourceKind::Actor) => {
            named(caller.actor().as_str(), entry, caller, then)
        }
        About::Nothing => {
            let message = format!("name what {} is about: {}", entry.spec.name, kinds(entry));
            return Err(Refusal::field("target", message).into());
        }
    };
    let target = found.inspect_err(|_| read.look_in_vain(entry.spec.about))?;
    if let Target::KillSwitch { scope: KillScope::Actor(id) | KillScope::Team(id), .. } = &target {
        read.known(id)?;
    }
    if read.sees(&target) {
        return Ok(target);
    }
    // What may not be seen is told just as what is not there.
    match (about, &target) {
        (About::Id(_), Target::Actor(_)) | (About::Input(_) | About::Nothing, _) => Err(Refusal::not_found().into()),
        (About::Id(id), _) => Err(none(id, entry).into()),
    }
}

fn none(id: &str, entry: &Entry) -> Refusal {
    Refusal::field("target", format!("{} is about {}, and `{id}` is none", entry.spec.name, kinds(entry)))
}

fn named(id: &str, entry: &Entry, caller: &Caller, read: &Reader<'_>) -> Result<Target, Stop> {
    let about = |kind| entry.spec.about.contains(&kind);
    if about(ResourceKind::Company) && id == "company" {
        return Ok(Target::Company);
    }
    if about(ResourceKind::KillSwitch)
        && let Ok(scope) = KillScope::from_str(id)
    {
        return Ok(Target::KillSwitch { scope, engage: true });
    }
    if about(ResourceKind::Token)
        && let Some(token) = read.token(id)?.filter(|token| token.created_at <= read.now())
    {
        return Ok(Target::Token { id: token.id, holder: token.holder });
    }
    if about(ResourceKind::Approval)
        && let Some(approval) = read.approval(id)?.filter(|approval| approval.created_at <= read.now())
    {
        return Ok(read.approval_target(&approval));
    }
    if about(ResourceKind::Delegation)
        && let Some(delegation) = read.delegation(id)?.filter(|delegation| delegation.created_at <= read.now())
    {
        return Ok(read.delegation_target(&delegation));
    }
    if about(ResourceKind::Webhook)
        && let Some(webhook) = read.webhook(id)?.filter(|webhook| webhook.created_at <= read.now())
    {
        return Ok(read.webhook_target(&webhook, None));
    }
    if about(ResourceKind::BreakGlass)
        && let Some(grant) = read.glass(id)?.filter(|grant| grant.created_at <= read.now())
    {
        return Ok(read.glass_target(&grant));
    }
    if about(ResourceKind::Change)
        && let Some(change) = read.change(id)?.filter(|change| change.created_at <= read.now())
    {
        return Ok(read.change_target(&change));
    }
    if about(ResourceKind::Event)
        && let Ok(seq) = id.strip_prefix("event:").unwrap_or(id).parse()
        && let Some(event) = read.event(seq)?.filter(|event| event.at <= read.now())
    {
        return Ok(event::as_target(&event, &read.acting_as(caller))?);
    }
    if let Ok(actor) = ActorId::from_str(id)
        && about(if actor.is_team() { ResourceKind::Team } else { ResourceKind::Actor })
    {
        read.actor(&actor)?;
        return Ok(Target::Actor(actor));
    }
    Err(none(id, entry).into())
}

/// `Company or Team`
fn kinds(entry: &Entry) -> String {
    let kinds: Vec<&str> = entry.spec.about.iter().map(|kind| kind.name()).collect();
    kinds.join(" or ")
}

/// What the gate would answer. Who may not see the target is told that there is none, whatever the policies say of the
/// operation itself.
pub(super) fn answer(inquiry: &Inquiry<'_>) -> (&'static str, Ruling, Option<String>) {
    let ruling = inquiry.ruling();
    let decision = ruling.decision();
    if decision == Decision::Deny || inquiry.is_seen_by_caller() {
        return (decision.name(), ruling, None);
    }
    (
        Decision::Deny.name(),
        Ruling::Deny { because: Vec::new(), fault: None, why: None },
        Some("its target is hidden from them: not found".into()),
    )
}

/// Whether the asker may read the policies themselves: their text, and what they read.
pub(super) fn sees_policies(read: &Reader<'_>) -> bool {
    read.may("policy.read", &Target::Company)
}
