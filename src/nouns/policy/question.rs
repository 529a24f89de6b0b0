//! From the words of a question to a call that could be made: the operation, the one who would make it, and what it would
//! be about.

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

/// The delegation that somebody's call would be made under: one that the asker may see.
pub(super) fn under(actor: &ActorId, named: Option<&str>, read: &Reader<'_>) -> Result<Option<Id>, Stop> {
    // What a run is done under binds the run: outside of it, its agent holds none.
    let own = |caller: &Caller| *actor == caller.actor() && caller.run.is_none();
    let mine = || read.caller().under.clone().filter(|_| own(read.caller()));
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

/// The operation that a field of the input names.
pub(crate) fn operation(field: &str, name: &str) -> Result<&'static Entry, Refusal> {
    let all = || crate::OPERATIONS.iter().map(|entry| entry.spec.name);
    let unknown = || {
        let near = nearest(name, all()).map(|near| format!("; did you mean `{near}`?"));
        Refusal::field(field, format!("there is no operation `{name}`{}", near.unwrap_or_default()))
    };
    crate::OPERATIONS.iter().find(|entry| entry.spec.name == name).ok_or_else(unknown)
}

/// Somebody as the caller of an operation; whoever asks about themselves, with the token that they ask with. An open one asks for
/// nobody in particular.
pub(super) fn caller(actor: &ActorId, entry: &Entry, read: &Reader<'_>) -> Caller {
    let who = if entry.spec.route.is_open() { Who::Visitor } else { Who::Holder(actor.clone()) };
    let issuer = read.caller().issuer.clone().filter(|_| *actor == read.caller().actor());
    Caller { issuer, ..Caller::new(who, read.caller().channel) }
}

/// The run that is named: one of the actor's, that the asker may see.
pub(super) fn own_run(actor: &ActorId, id: &str, read: &Reader<'_>) -> Result<Run, Stop> {
    let run = read.run(id)?.filter(|run| run.agent == *actor && read.sees(&read.run_target(run)));
    run.ok_or_else(|| Refusal::field("run", format!("{actor} has no run `{id}`")).into())
}

/// The run that a call is about, where only steps of runs can make it.
pub(super) fn run_about(entry: &Entry, target: &Target, read: &Reader<'_>) -> Result<Option<Run>, Fault> {
    let about = target.thing("Run").filter(|_| entry.spec.route.is_in_run());
    Ok(about.map(|about| read.run(&about.id)).transpose()?.flatten())
}

/// The same caller in a step of a run, as it stands now, if it is theirs and not over.
pub(super) fn at_work(caller: Caller, run: Option<&Run>, read: &Reader<'_>) -> Result<Caller, Fault> {
    match run.filter(|run| run.agent == caller.actor() && !run.status.is_over()) {
        Some(run) => {
            let Caller { under, run, channel, .. } = read.caller_of(run)?;
            Ok(Caller { under, run, channel, ..caller })
        }
        None => Ok(caller),
    }
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
        About::Nothing if entry.spec.about.contains(&&COMPANY) => Ok(Target::Company),
        About::Nothing if entry.spec.about.contains(&&ACTOR) => named(caller.actor().as_str(), entry, caller, then),
        About::Nothing => {
            let message = format!("{} needs a target: {}", entry.spec.name, kinds(entry));
            return Err(Refusal::field("target", message).into());
        }
    };
    // What is absent is asked about as what is hidden is.
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
    // What may not be seen is told just as what is not there.
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
    // Somebody who is not there is not found, as they are wherever they are named.
    let somebody = ActorId::from_str(id).ok().map(Target::Actor);
    match somebody.filter(|target| entry.spec.about.iter().any(|noun| noun.has(target))) {
        Some(_) => Err(Refusal::not_found().into()),
        None => Err(none(id, entry).into()),
    }
}

/// `Company or Team`
fn kinds(entry: &Entry) -> String {
    let kinds: Vec<&str> = entry.spec.about.iter().map(|noun| noun.name).collect();
    kinds.join(" or ")
}

/// What the gate would answer. Who may not see the target is told that there is none, and who is not at work that only agents at
/// work can, whatever the policies say of the operation itself.
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

/// Whether the asker may read the policies themselves: their text, and what they read.
pub(super) fn sees_policies(read: &Reader<'_>) -> bool {
    read.may("policy.read", &Target::Company)
}
