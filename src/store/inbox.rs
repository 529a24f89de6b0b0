//! What each person should look at. Items come and go with their subjects, as the log tells them; whether one was read
//! is the reader's own mark.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::actors::{self, Status};
use super::changes;
use super::{Position, parsed};
use crate::types::actor::{ActorKind, KillScope};
use crate::types::approval::ApprovalStatus;
use crate::types::change::ReviewVerdict;
use crate::types::event::Event;
use crate::types::id::{ActorId, Id};
use crate::types::inbox::ItemKind;
use crate::types::mention::mentions;
use crate::types::time::Time;

/// One thing to look at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Item {
    pub id: String,
    #[serde(skip)]
    pub actor: ActorId,
    pub kind: ItemKind,
    /// The id of what it is about.
    pub subject: String,
    #[schemars(extend("x-names" = "text"))]
    pub title: String,
    pub created_at: Time,
    pub read_at: Option<Time>,
    /// Set once there is nothing left to do about it.
    pub resolved_at: Option<Time>,
}

const COLUMNS: &str = "id, actor, kind, subject, title, created_at, read_at, resolved_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        id: row.get(0)?,
        actor: parsed(row, 1)?,
        kind: parsed(row, 2)?,
        subject: row.get(3)?,
        title: row.get(4)?,
        created_at: Time(row.get(5)?),
        read_at: row.get::<_, Option<i64>>(6)?.map(Time),
        resolved_at: row.get::<_, Option<i64>>(7)?.map(Time),
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Item>> {
    let sql = format!("SELECT {COLUMNS} FROM inbox WHERE id = ?");
    conn.prepare_cached(&sql)?.query_row([id], read).optional()
}

/// An actor's items after a position, newest first: all, or those that are not over. What waits for something is over when
/// it is resolved; what only tells something, when it is read.
pub fn after(
    conn: &Connection,
    actor: &ActorId,
    all: bool,
    from: &Position,
    limit: usize,
) -> rusqlite::Result<Vec<Item>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM inbox \
         WHERE actor = ?1 AND (?2 OR resolved_at IS NULL AND (kind IN ('approval', 'alert') OR read_at IS NULL)) AND (created_at < ?3 OR (created_at = ?3 AND id > ?4)) \
         ORDER BY created_at DESC, id LIMIT ?5"
    );
    let rows = params![actor.as_str(), all, from.at, from.id, limit as i64];
    conn.prepare_cached(&sql)?.query_map(rows, read)?.collect()
}

/// Whether an actor's inbox tells of an event at `at` about `subject`: the event put something there or settled it, or is
/// one more about a thing that the actor was told of. Being named in a text shows that text alone.
pub fn tells(conn: &Connection, actor: &ActorId, subject: &str, at: Time) -> rusqlite::Result<bool> {
    // A kill switch of an actor is told of by its scope.
    let sql = "SELECT EXISTS (SELECT 1 FROM inbox WHERE actor = ?1 AND subject IN (?2, 'actor:' || ?2) \
               AND (created_at = ?3 OR resolved_at = ?3 OR (?4 AND kind <> 'mention')))";
    // What somebody answers for has a life of its own.
    let thing = subject.parse::<ActorId>().is_err();
    conn.prepare_cached(sql)?.query_row(params![actor.as_str(), subject, at.0, thing], |row| row.get(0))
}

pub fn position(item: &Item) -> Position {
    Position { at: item.created_at.0, id: item.id.clone() }
}

/// What an event puts into inboxes, and what it settles there.
pub(super) fn fold(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    subject(conn, at, by, event)?;
    assigned(conn, at, by, event)?;
    mentioned(conn, at, by, event)
}

/// Whom an event makes answer for somebody, and what it makes of somebody.
fn assigned(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    let (id, person, title) = match event {
        Event::ActorAdded { id, owner: Some(owner), .. } | Event::OwnerChanged { id, owner } => {
            (id, Some(owner), format!("you answer for {id} now"))
        }
        Event::ActorAdded { id, lead, .. } | Event::LeadChanged { id, lead } => {
            (id, lead.as_ref(), format!("you lead {id} now"))
        }
        Event::ActorOffboarded { id, .. } => (id, None, String::new()),
        Event::DelegationGranted { id, from, to, .. } => {
            let title = format!("{from} lets you act on their behalf");
            return add(conn, at, to, ItemKind::Assignment, id.as_str(), &title);
        }
        Event::DelegationRevoked { id, .. } | Event::DelegationExpired { id, .. } => {
            return resolve(conn, at, id.as_str());
        }
        Event::RoleChanged { id, to, .. } if id != by => {
            let title = format!("your role is {to} now");
            return add_as(conn, at, id, ItemKind::Assignment, (id.as_str(), &format!("{id}::role")), &title);
        }
        Event::TeamChanged { id, to, .. } => return moved(conn, at, by, id, to.as_ref()),
        _ => return Ok(()),
    };
    resolve(conn, at, id.as_str())?;
    if matches!(event, Event::LeadChanged { .. }) {
        led_before(conn, at, by, id)?;
    }
    let told = person.filter(|person| *person != by);
    told.map_or(Ok(()), |person| add(conn, at, person, ItemKind::Assignment, id.as_str(), &title))
}

/// Who leads a team no longer, before somebody else or nobody does.
fn led_before(conn: &Connection, at: Time, by: &ActorId, team: &ActorId) -> rusqlite::Result<()> {
    let before = actors::get(conn, team)?.and_then(|team| team.lead).filter(|lead| lead != by);
    let title = format!("you no longer lead {team}");
    before.map_or(Ok(()), |lead| add(conn, at, &lead, ItemKind::Assignment, team.as_str(), &title))
}

/// Tells who is in another team now; of an agent or a team, whoever answers for it or leads it.
fn moved(conn: &Connection, at: Time, by: &ActorId, id: &ActorId, to: Option<&ActorId>) -> rusqlite::Result<()> {
    let Some(actor) = actors::get(conn, id)? else { return Ok(()) };
    let where_to = to.map_or_else(|| "no team".to_owned(), ActorId::to_string);
    let (told, title) = match actor.kind {
        ActorKind::Person => (Some(actor.id), format!("you are in {where_to} now")),
        ActorKind::Team => (actor.lead, format!("{id} is in {where_to} now")),
        ActorKind::Agent | ActorKind::OutsideAgent => (actor.owner, format!("{id} is in {where_to} now")),
    };
    let told = told.filter(|told| told != by);
    told.map_or(Ok(()), |told| {
        add_as(conn, at, &told, ItemKind::Assignment, (id.as_str(), &format!("{id}::team")), &title)
    })
}

/// Whom somebody names in what they write to others.
fn mentioned(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    let (id, text) = match event {
        Event::ApprovalDecided { id, note, .. }
        | Event::ChangeReviewed { id, note, .. }
        | Event::GlassReviewed { id, note, .. } => (id, note),
        Event::ChangeProposed { id, reason, .. }
        | Event::ChangeRejected { id, reason, .. }
        | Event::GlassBroken { id, reason, .. } => (id, reason),
        _ => return Ok(()),
    };
    let title = format!("{by} mentions you in {id}");
    for person in mentions(text).iter().filter(|person| *person != by) {
        if actors::get(conn, person)?.is_some_and(|actor| actor.status == Status::Active) {
            add(conn, at, person, ItemKind::Mention, id.as_str(), &title)?;
        }
    }
    Ok(())
}

/// What comes and goes with its subject.
fn subject(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::ApprovalRequested { id, summary, approvers, .. } => {
            let title = format!("{by} {summary}: waits for you");
            approvers.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Approval, id.as_str(), &title))
        }
        Event::ApprovalReminded { id, requester, approvers, .. } => {
            let title = format!("{requester} {}: still waits for you", summary(conn, id)?);
            approvers.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Approval, id.as_str(), &title))
        }
        Event::ApprovalEscalated { id, requester, approvers, .. } => {
            let title = format!("{requester} {}: has waited long and now waits for you too", summary(conn, id)?);
            approvers.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Approval, id.as_str(), &title))
        }
        // Others are still needed: the request stays with everybody.
        Event::ApprovalDecided { outcome: ApprovalStatus::Pending, .. } => Ok(()),
        Event::ApprovalDecided { id, requester, outcome, .. } => {
            resolve(conn, at, id.as_str())?;
            if *outcome == ApprovalStatus::Approved { Ok(()) } else { tell(conn, at, requester, id, *outcome) }
        }
        Event::ApprovalUsed { id, requester } => tell(conn, at, requester, id, ApprovalStatus::Used),
        Event::ApprovalStale { id, requester, reason } => {
            resolve(conn, at, id.as_str())?;
            let title = format!("your request is stale ({reason}): {}", summary(conn, id)?);
            add(conn, at, requester, ItemKind::Decision, id.as_str(), &title)
        }
        Event::ApprovalCancelled { id, .. } | Event::ApprovalExpired { id } => resolve(conn, at, id.as_str()),
        Event::ChangeProposed { .. }
        | Event::ChangeReviewed { .. }
        | Event::ChangePromoted { .. }
        | Event::ChangeRejected { .. }
        | Event::CanaryAborted { .. } => change(conn, at, by, event),
        Event::GlassBroken { .. } | Event::GlassUsed { .. } | Event::GlassReviewed { .. } => glass(conn, at, by, event),
        // The first time counts.
        Event::InboxItemRead { item } => conn
            .prepare_cached("UPDATE inbox SET read_at = ? WHERE id = ? AND read_at IS NULL")?
            .execute(params![at.0, item])
            .map(drop),
        Event::TokenIssued { id, holder, issuer: Some(issuer), .. } => {
            // An agent's tokens are always another's to issue.
            let person = actors::get(conn, holder)?.filter(|holder| holder.kind == ActorKind::Person);
            let title = format!("{issuer} issued a token for you");
            person.map_or(Ok(()), |person| add(conn, at, &person.id, ItemKind::Alert, id.as_str(), &title))
        }
        Event::TokenRevoked { id, .. } | Event::TokenExpired { id, .. } => resolve(conn, at, id.as_str()),
        Event::WebhookDisabled { id, host, reason, told, .. } => {
            let title = format!("nothing is sent to {host} any more: {reason}");
            told.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Alert, id.as_str(), &title))
        }
        Event::WebhookUpdated { id, enabled: true, .. } | Event::WebhookDeleted { id, .. } => {
            resolve(conn, at, id.as_str())
        }
        Event::KillSwitch { scope: scope @ KillScope::Actor(id), engaged: true, .. } => {
            let answers = conn
                .prepare_cached("SELECT coalesce(owner, id) FROM actor WHERE id = ?")?
                .query_row([id.as_str()], |row| parsed::<ActorId>(row, 0))
                .optional()?;
            let title = format!("a kill switch stops {id}");
            answers.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Alert, &scope.to_string(), &title))
        }
        Event::KillSwitch { scope, engaged: false, .. } => resolve(conn, at, &scope.to_string()),
        _ => Ok(()),
    }
}

/// Who is told that somebody goes on without approval, of each use, and what the reviewer said.
fn glass(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::GlassBroken { id, reason, told, .. } => {
            let title = format!("{by} goes on without approval: {reason}");
            told.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Alert, id.as_str(), &title))
        }
        Event::GlassUsed { id, holder, operation, target, skipped, .. } => {
            let title = format!("{holder} did {operation} of {target} without your approval");
            let uses: i64 = conn
                .prepare_cached("SELECT uses FROM glass WHERE id = ?")?
                .query_row([id.as_str()], |row| row.get(0))?;
            let which = format!("{id}.{}", uses + 1);
            skipped.iter().try_for_each(|actor| add_as(conn, at, actor, ItemKind::Alert, (id.as_str(), &which), &title))
        }
        Event::GlassReviewed { id, holder, verdict, .. } => {
            resolve(conn, at, id.as_str())?;
            let title = format!("your going on without approval was {verdict}");
            add(conn, at, holder, ItemKind::Decision, id.as_str(), &title)
        }
        _ => Ok(()),
    }
}

/// Whom a change waits for, and what came of it.
fn change(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::ChangeProposed { id, reason, told, .. } => {
            let title = format!("{by} proposes policies ({reason}): waits for a review");
            told.iter().try_for_each(|actor| add(conn, at, actor, ItemKind::Alert, id.as_str(), &title))
        }
        Event::ChangeReviewed { id, verdict: ReviewVerdict::Approve, .. } => resolve(conn, at, id.as_str()),
        Event::ChangePromoted { id, version, .. } => {
            let superseded = changes::open_before(conn, *version)?;
            resolve(conn, at, id.as_str())?;
            superseded.iter().try_for_each(|other| resolve(conn, at, other))
        }
        Event::ChangeRejected { id, author, reason, withdrawn } => {
            resolve(conn, at, id.as_str())?;
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let title = format!("your change {id} was rejected{why}");
            if *withdrawn { Ok(()) } else { add(conn, at, author, ItemKind::Decision, id.as_str(), &title) }
        }
        Event::CanaryAborted { id, author, told, .. } => {
            let title = format!("the trial of your change {id} has ended: {told}");
            add(conn, at, author, ItemKind::Decision, id.as_str(), &title)
        }
        _ => Ok(()),
    }
}

/// What a call that waits would do.
fn summary(conn: &Connection, approval: &Id) -> rusqlite::Result<String> {
    conn.prepare_cached("SELECT summary FROM approval WHERE id = ?")?.query_row([approval.as_str()], |row| row.get(0))
}

/// Tells a requester what came of their request.
fn tell(conn: &Connection, at: Time, actor: &ActorId, approval: &Id, outcome: ApprovalStatus) -> rusqlite::Result<()> {
    let came = match outcome {
        ApprovalStatus::Used => "was carried out",
        ApprovalStatus::Rejected => "was rejected",
        _ => "has ended",
    };
    let title = format!("your request {came}: {}", summary(conn, approval)?);
    add(conn, at, actor, ItemKind::Decision, approval.as_str(), &title)
}

/// One item for one actor and subject and kind; engaged again, it is new again.
fn add(
    conn: &Connection,
    at: Time,
    actor: &ActorId,
    kind: ItemKind,
    subject: &str,
    title: &str,
) -> rusqlite::Result<()> {
    add_as(conn, at, actor, kind, (subject, subject), title)
}

/// One of several about the same subject: `which` tells them apart.
fn add_as(
    conn: &Connection,
    at: Time,
    actor: &ActorId,
    kind: ItemKind,
    (subject, which): (&str, &str),
    title: &str,
) -> rusqlite::Result<()> {
    // No id of a person or an agent holds a colon, so no two items share an id.
    let id = format!("inb_{}.{which}:{actor}", kind.name());
    conn.prepare_cached(
        "INSERT OR REPLACE INTO inbox (id, actor, kind, subject, title, created_at, read_at, resolved_at) \
         VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
    )?
    .execute(params![id, actor.as_str(), kind.name(), subject, title, at.0])?;
    Ok(())
}

fn resolve(conn: &Connection, at: Time, subject: &str) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE inbox SET resolved_at = ? WHERE subject = ? AND resolved_at IS NULL")?
        .execute(params![at.0, subject])?;
    Ok(())
}
