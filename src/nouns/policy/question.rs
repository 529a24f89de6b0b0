//! Turns a question into a call that could be made: its operation, caller and target.

use std::str::FromStr as _;

use serde_json::Value;

use crate::actor::resource::ACTOR;
use crate::company::COMPANY;
use gate::{Entry, Inquiry, Reader, Target};
use policy::Ruling;
use store::runs::Run;
use types::actor::KillScope;
use types::caller::{Caller, Who};
use types::id::{ActorId, Id};
use types::impact::Decision;
use types::near::nearest;
use types::refusal::{Fault, Refusal, Stop};

/// Returns the delegation under which the call would be made: one that the asker may see.
pub(super) fn under(actor: &ActorId, named: Option<&str>, read: &Reader<'_>) -> Result<Option<Id>, Stop> {
    // A run's delegation applies in the run only: outside of it, its agent has none.
    let own = |caller: &Caller| *actor == caller.actor() && caller.run.is_none();
    let mine = || read.caller().under.clone().filter(|_| own(read.caller()));
    let Some(id) = named else { return Ok(mine()) };
    let found = read.delegation(id)?.filter(|delegation| delegation.terms.to == *actor);
    match found.filter(|delegation| read.sees(&read.delegation_target(delegation))) {
        Some(delegation) => Ok(Some(Id::stored(&delegation.terms.id))),
        None => Err(Refusal::field("under", format!("{actor} was given no delegation `{id}`")).into()),
    }
}

/// The target of a call, as asked.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// The company, or the caller itself.
    Nothing,
    Id(&'a str),
    /// The target that the operation finds by this input.
    Input(&'a Value),
}

/// Returns the operation that an input field names.
pub(crate) fn operation(field: &str, name: &str) -> Result<&'static Entry, Refusal> {
    let all = || crate::OPERATIONS.iter().map(|entry| entry.spec.name);
    let unknown = || {
        let near = nearest(name, all()).map(|near| format!("; did you mean `{near}`?"));
        Refusal::field(field, format!("there is no operation `{name}`{}", near.unwrap_or_default()))
    };
    crate::OPERATIONS.iter().find(|entry| entry.spec.name == name).ok_or_else(unknown)
}

/// Returns an actor as the caller of an operation; an asker's own calls keep the issuer of their token. An open operation has
/// no particular caller.
pub(super) fn caller(actor: &ActorId, entry: &Entry, read: &Reader<'_>) -> Caller {
    let who = if entry.spec.route.is_open() { Who::Visitor } else { Who::Holder(actor.clone()) };
    let issuer = read.caller().issuer.clone().filter(|_| *actor == read.caller().actor());
    Caller { issuer, ..Caller::new(who, read.caller().channel) }
}

/// Returns a run of the actor that the asker may see.
pub(super) fn own_run(actor: &ActorId, id: &str, read: &Reader<'_>) -> Result<Run, Stop> {
    let run = read.run(id)?.filter(|run| run.agent == *actor && read.sees(&read.run_target(run)));
    run.ok_or_else(|| Refusal::field("run", format!("{actor} has no run `{id}`")).into())
}

/// Returns the target run, if only steps of runs can perform the operation.
pub(super) fn run_about(entry: &Entry, target: &Target, read: &Reader<'_>) -> Result<Option<Run>, Fault> {
    let about = target.thing("Run").filter(|_| entry.spec.route.is_in_run());
    Ok(about.map(|about| read.run(&about.id)).transpose()?.flatten())
}

/// Returns the same caller in a step of a run, as it is now, if the run is theirs and not over.
pub(super) fn at_work(caller: Caller, run: Option<&Run>, read: &Reader<'_>) -> Result<Caller, Fault> {
    match run.filter(|run| run.agent == caller.actor() && !run.status.is_over()) {
        Some(run) => {
            let Caller { under, run, channel, .. } = read.caller_of(run)?;
            Ok(Caller { under, run, channel, ..caller })
        }
        None => Ok(caller),
    }
}

/// Returns the target in the company at `then`; 404 if the asker may not see it now.
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
        About::Nothing if entry.spec.about.contains(&&COMPANY) => Ok(Target::Company),
        About::Nothing if entry.spec.about.contains(&&ACTOR) => named(caller.actor().as_str(), entry, caller, then),
        About::Nothing => {
            let message = format!("{} needs a target: {}", entry.spec.name, kinds(entry));
            return Err(Refusal::field("target", message).into());
        }
    };
    // Ask the same questions for an absent target as for a hidden one.
    let target = found.inspect_err(|_| {
        let _ = read.sees(&entry.spec.absent(None));
    })?;
    if let Some(switch) = target.thing("KillSwitch")
        && let Ok(scope) = KillScope::from_str(&switch.id)
        && let Some(id) = scope.actor()
    {
        read.known(id)?;
    }
    if read.sees(&target) {
        return Ok(target);
    }
    // A hidden target is reported like an absent one.
    match (about, &target) {
        (About::Id(_), Target::Actor(_)) | (About::Input(_) | About::Nothing, _) => Err(Refusal::not_found().into()),
        (About::Id(id), _) => Err(none(id, entry).into()),
    }
}

fn none(id: &str, entry: &Entry) -> Refusal {
    Refusal::field(
        "target",
        format!("{} is about {}: there is none with the id `{id}` that you may see", entry.spec.name, kinds(entry)),
    )
}

fn named(id: &str, entry: &Entry, caller: &Caller, read: &Reader<'_>) -> Result<Target, Stop> {
    let read = read.acting_as(caller);
    for noun in entry.spec.about {
        if let Some(target) = (noun.find)(id, &read)? {
            return Ok(target);
        }
    }
    // An unknown actor is reported as not found, as everywhere.
    let somebody = ActorId::from_str(id).ok().map(Target::Actor);
    match somebody.filter(|target| entry.spec.about.iter().any(|noun| noun.has(target))) {
        Some(_) => Err(Refusal::not_found().into()),
        None => Err(none(id, entry).into()),
    }
}

/// Formats the kinds of targets like `Company or Team`.
fn kinds(entry: &Entry) -> String {
    let kinds: Vec<&str> = entry.spec.about.iter().map(|noun| noun.name).collect();
    kinds.join(" or ")
}

/// Returns the gate's answer. A caller who may not see the target gets not found, and one outside a run that only agents in
/// runs can, whatever the policies say of the operation itself.
pub(super) fn answer(entry: &Entry, inquiry: &Inquiry<'_>) -> (Decision, Ruling, Option<String>) {
    let denied = |why: &str| {
        let ruling = Ruling::Deny { because: Vec::new(), fault: None, why: None };
        (Decision::Deny, ruling, Some(why.to_owned()))
    };
    let about = inquiry.target().thing("Run").map(|run| run.id.as_str());
    let own = inquiry.caller().run.as_ref().map(|run| run.run.as_str());
    if entry.spec.route.is_in_run() && (own.is_none() || about.is_some_and(|about| own != Some(about))) {
        return denied("only the agent of a run can do this, as a step of the run, until the run ends");
    }
    let ruling = inquiry.ruling();
    let decision = ruling.decision();
    if decision == Decision::Deny || inquiry.is_seen_by_caller() {
        return (decision, ruling, None);
    }
    denied("its target is hidden from them: not found")
}

/// Checks whether the asker may read the policies themselves: their text, and what they read.
pub(super) fn sees_policies(read: &Reader<'_>) -> bool {
    read.may("policy.read", &Target::Company)
}
