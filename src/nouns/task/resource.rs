//! Declares tasks as a resource of policies.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use gate::{Brief, Directory, FactSpec, Noun, Reader, Resource, Staged, Target, Thing};
use policy::testing::{Cast, Row, Sample, other_than};
use store::tasks::{Task, TaskRef};
use types::id::ActorId;
use types::refusal::{Fault, Stop};
use types::target::Fact;
use types::task::TaskStatus;

pub static TASK: Resource = Resource {
    noun: Noun {
        name: "Task",
        doc: "Something to do.",
        sight: Some("task.read"),
        own: None,
        facts: &[
            FactSpec::actor("creator", ""),
            FactSpec::actor("owner", "who is to do it").optional(),
            FactSpec::text("status", "open, assigned, running, waiting, completed, cancelled, failed")
                .one_of("open", || TaskStatus::ALL.iter().map(|status| status.name()).collect()),
            FactSpec::actors("leads", "who leads the owner's team").linked().derived(),
        ],
        staged: Staged::Rows { list: "tasks", complete: |thing, company| with_leads(thing, "owner", company), samples },
    },
    title: Some(|target, read| Ok(read.task(&target.id())?.map(|task| task.title))),
    version: Some(|task, read| Ok(read.task(&task.id())?.map_or(0, |task| task.version))),
    brief,
    find,
    state,
};

/// Returns sample tasks that everybody created or owns, and tasks that agents do for them.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let of = |who: &ActorId| -> Vec<Sample> {
        let task = |what: &str, creator: &str| Row::new("tasks", format!("tsk_{what}.{who}")).with("creator", creator);
        let agents = cast.agents.iter().enumerate();
        let handed_on = agents.map(|(number, agent)| task(&format!("for{number}"), who.as_str()).with("owner", agent));
        let own = [task("wanted", who.as_str()), task("given", other_than(who)).with("owner", who)];
        own.into_iter().chain(handed_on).map(|row| Sample::own(who, &["max", "zoe"], row)).collect()
    };
    cast.everybody.iter().flat_map(of).collect()
}

/// Adds the lead of the team of the actor named by `whose`.
pub(crate) fn with_leads(thing: Thing, whose: &str, company: &dyn Directory) -> Thing {
    let team = match thing.fact(whose) {
        Some(Fact::Actor(id)) => company.card(id).and_then(|card| card.actor.team.as_ref()),
        _ => None,
    };
    let lead = team.and_then(|team| company.card(team)).and_then(|card| card.actor.lead.clone());
    thing.actors("leads", lead)
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.task(id)?.filter(|task| task.created_at <= read.now());
    Ok(found.map(|task| read.task_target(&task)))
}

/// Summarises the task as it is now.
fn brief(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    let Some(Task { owner, status, priority, due_at, .. }) = read.task(&target.id())? else { return Ok(Brief::new()) };
    let mut brief = vec![("status", status.to_string()), ("priority", priority.to_string())];
    brief.extend(owner.map(|owner| ("owner", owner.to_string())));
    brief.extend(due_at.map(|due_at| ("due", due_at.to_string())));
    for TaskRef { place, thing, .. } in read.task_refs(&target.id())? {
        let (place, thing) = read.shown_link((&place, &thing))?;
        brief.push(("about", format!("{place} {thing}")));
    }
    Ok(brief)
}

/// Returns the state to which approvals are bound: what people have set, and whether it is closed. That an agent works on it or
/// waits does not count: its own run may be the requester.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let Some(task) = read.task(&target.id())? else { return Ok(Value::Null) };
    let refs = read.task_refs(&task.id)?.into_iter().map(|one| json!([one.place, one.thing, one.note]));
    // Hashed, because not every reader of the log may see a task's references.
    let refs = hex::encode(Sha256::digest(Value::from_iter(refs).to_string()));
    let closed = task.status.is_closed().then_some(task.status);
    Ok(json!({ "owner": task.owner, "closed": closed, "refs_sha256": refs }))
}
