//! The events of people, agents and teams.

use rusqlite::params;

use super::{COLUMNS, get};
use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::{End, Settles};
use crate::{inbox, to_json};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;
use types::inbox::ItemKind;

const ACTOR: Table = Table { name: "actor", key: "id" };
const DEFINITION: Table = Table { name: "agent_definition", key: "actor" };

events! {
    /// A person, an agent or a team joined.
    ActorAdded = "actor_added" {
        id: ActorId, kind: ActorKind, name: String, role: Role, team: Option<ActorId>, lead: Option<ActorId>,
        owner: Option<ActorId>, skills: Vec<String>, trust: Trust,
    } about [id, team, lead, owner] => {
        says: "added @{id} as {kind=person?:role|:kind}",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(added), notify: Notify::AndShow(notify_of_new), news: None,
    }
    /// An agent was hired by this definition; the event before added it.
    ActorHired = "actor_hired" {
        id: ActorId, #[schemars(extend("x-names" = "json"))] definition: serde_json::Value,
    } about [id] => {
        says: "hired @{id}",
        content: Content::SHOWN, tables: &[DEFINITION], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(hired), notify: Notify::Nobody, news: None,
    }
    /// An actor's trust tier changed.
    TrustChanged = "trust_changed" {
        id: ActorId, from: Trust, to: Trust, reason: String,
    } about [id] => {
        says: "set the trust of @{id} from {from} to {to}[: «{reason}»]",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "trust", Some(event.to.name()))), notify: Notify::Nobody,
        news: None,
    }
    /// A person's role changed.
    RoleChanged = "role_changed" {
        id: ActorId, from: Role, to: Role,
    } about [id] => {
        says: "changed the role of @{id} from {from} to {to}",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "role", Some(event.to.name()))),
        notify: Notify::AndShow(notify_of_role), news: None,
    }
    /// A person, an agent or a team moved to another team, or to none.
    TeamChanged = "team_changed" {
        id: ActorId, from: Option<ActorId>, to: Option<ActorId>,
    } about [id, from, to] => {
        says: "moved @{id} {to?to|out of their team}[ @{to}]",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "team", event.to.as_ref().map(ActorId::as_str))),
        notify: Notify::AndShow(notify_of_team), news: None,
    }
    /// A person, an agent or a team was renamed.
    ActorRenamed = "actor_renamed" {
        id: ActorId, name: String,
    } about [id] => {
        says: "renamed `{id}` to «{name}»",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "name", Some(&event.name))), notify: Notify::Nobody,
        news: None,
    }
    /// An actor was offboarded: their tokens and requests ended. Or a team without members was removed.
    ActorOffboarded = "actor_offboarded" {
        id: ActorId, reason: String, successor: Option<ActorId>,
    } about [id, successor] => {
        says: "offboarded @{id}[: «{reason}»]",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, "was offboarded"))),
        fold: Some(|event, moment| set(moment, &event.id, "status", Some("offboarded"))),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// An agent's owner changed.
    OwnerChanged = "owner_changed" {
        id: ActorId, owner: ActorId,
    } about [id, owner] => {
        says: "made @{owner} the owner of @{id}",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "owner", Some(event.owner.as_str()))),
        notify: Notify::AndShow(|event, moment| answers_for(moment, &event.id, &event.owner)), news: None,
    }
    /// A team's lead changed, or was removed.
    LeadChanged = "lead_changed" {
        id: ActorId, lead: Option<ActorId>,
    } about [id, lead] => {
        says: "{lead?made|left} [@{lead} the lead of ]@{id}{lead?| without a lead}",
        content: Content::SHOWN, tables: &[ACTOR], memory: Memory::Actors, settles: Settles::Nothing,
        fold: Some(|event, moment| set(moment, &event.id, "lead", event.lead.as_ref().map(ActorId::as_str))),
        notify: Notify::AndShow(notify_of_lead), news: None,
    }
}

fn added(event: &ActorAdded, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let text = |id: &Option<ActorId>| id.as_ref().map(ActorId::to_string);
    let sql = format!("INSERT INTO actor ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)");
    moment.conn.prepare_cached(&sql)?.execute(params![
        event.id.as_str(),
        event.kind.name(),
        event.name,
        event.role.name(),
        text(&event.team),
        text(&event.lead),
        text(&event.owner),
        to_json(&event.skills)?,
        event.trust.name(),
        moment.at.0
    ])?;
    Ok(Touched::Actor(event.id.clone()))
}

fn hired(event: &ActorHired, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT OR REPLACE INTO agent_definition (actor, definition) VALUES (?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![event.id.as_str(), to_json(&event.definition)?])?;
    Ok(Touched::Nothing)
}

/// Sets one column of an actor.
fn set(moment: &Moment<'_>, id: &ActorId, column: &'static str, value: Option<&str>) -> rusqlite::Result<Touched> {
    let sql = format!("UPDATE actor SET {column} = ? WHERE id = ?");
    moment.conn.prepare_cached(&sql)?.execute(params![value, id.as_str()])?;
    Ok(Touched::Actor(id.clone()))
}

fn notify_of_new(event: &ActorAdded, moment: &Moment<'_>) -> rusqlite::Result<()> {
    match (&event.owner, &event.lead) {
        (Some(owner), _) => answers_for(moment, &event.id, owner),
        (None, lead) => leads(moment, &event.id, lead.as_ref()),
    }
}

/// Notifies the new owner of an agent, and the previous one.
fn answers_for(moment: &Moment<'_>, id: &ActorId, owner: &ActorId) -> rusqlite::Result<()> {
    inbox::resolve(moment, id.as_str())?;
    let before = get(moment.conn, id)?.and_then(|agent| agent.owner).filter(|before| before != owner);
    assign(moment, before.as_ref(), id.as_str(), &format!("you no longer answer for {id}"))?;
    assign(moment, Some(owner), id.as_str(), &format!("you answer for {id} now"))
}

/// Notifies the new lead of a team.
fn leads(moment: &Moment<'_>, id: &ActorId, lead: Option<&ActorId>) -> rusqlite::Result<()> {
    inbox::resolve(moment, id.as_str())?;
    assign(moment, lead, id.as_str(), &format!("you lead {id} now"))
}

/// Notifies somebody of a change in their responsibilities, unless they made it themselves.
fn assign(moment: &Moment<'_>, to: Option<&ActorId>, what: &str, title: &str) -> rusqlite::Result<()> {
    let to = to.filter(|to| *to != moment.by);
    to.map_or(Ok(()), |to| inbox::add(moment, to, ItemKind::Assignment, what, title))
}

/// Notifies the new lead and the previous one.
fn notify_of_lead(event: &LeadChanged, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let LeadChanged { id, lead } = event;
    inbox::resolve(moment, id.as_str())?;
    let before = get(moment.conn, id)?.and_then(|team| team.lead);
    assign(moment, before.as_ref(), id.as_str(), &format!("you no longer lead {id}"))?;
    assign(moment, lead.as_ref(), id.as_str(), &format!("you lead {id} now"))
}

fn notify_of_role(event: &RoleChanged, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let RoleChanged { id, to, .. } = event;
    if id == moment.by {
        return Ok(());
    }
    let (title, which) = (format!("your role is {to} now"), format!("{id}::role"));
    inbox::add_as(moment, id, ItemKind::Assignment, (id.as_str(), &which), &title)
}

/// Notifies the actor whose team changed; for an agent or a team, its owner or lead.
fn notify_of_team(event: &TeamChanged, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let TeamChanged { id, to, .. } = event;
    let Some(actor) = get(moment.conn, id)? else { return Ok(()) };
    let where_to = to.as_ref().map_or_else(|| "no team".to_owned(), ActorId::to_string);
    let (whom, title) = match actor.kind {
        ActorKind::Person => (Some(actor.id), format!("you are in {where_to} now")),
        ActorKind::Team => (actor.lead, format!("{id} is in {where_to} now")),
        ActorKind::Agent | ActorKind::OutsideAgent => (actor.owner, format!("{id} is in {where_to} now")),
    };
    let which = format!("{id}::team");
    whom.filter(|whom| whom != moment.by)
        .map_or(Ok(()), |whom| inbox::add_as(moment, &whom, ItemKind::Assignment, (id.as_str(), &which), &title))
}
