//! The tables of requests for approval and of their votes.

pub mod events;

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use serde_json::{Map, Value};

use super::list::List;
use super::{Position, json, json_or_null, parsed, parsed_or_null};
use types::approval::{ApprovalStatus, Notice, Verdict};
use types::caller::{Caller, Channel, Who};
use types::id::{ActorId, Id};
use types::run::RunFacts;
use types::time::Time;

/// A parked call.
#[derive(Clone, Debug)]
pub struct Approval {
    pub id: String,
    /// The requester.
    pub actor: ActorId,
    pub operation: String,
    pub target: String,
    /// The call as a sentence with its subject: `adds new2 as member to team:ops`.
    pub summary: String,
    /// The input, without its erasable part.
    pub input: serde_json::Value,
    /// The erasable part of the input, shown to those concerned. `None` once erased.
    pub erasable: Option<Map<String, Value>>,
    /// The target as it was at the request.
    pub resource: serde_json::Value,
    pub channel: Channel,
    /// The required kinds of approval, all of them.
    pub kinds: Vec<String>,
    /// SHA-256 of the exact call without its erasable part, hex.
    pub digest: String,
    pub reason: String,
    pub status: ApprovalStatus,
    pub created_at: Time,
    pub expires_at: Time,
    pub ended_at: Option<Time>,
    /// Why it became stale.
    pub stale: Option<String>,
    /// The delegation used for the request; below, on whose behalf it was made.
    pub under: Option<String>,
    pub behalf: Vec<ActorId>,
    /// The token of the request, or of the run that made it; `None` for the state file's holder.
    pub token_id: Option<String>,
    /// The issuer of that token, if not the actor.
    pub issuer: Option<ActorId>,
    /// The run that made the call, with its state at that time.
    pub run: Option<RunFacts>,
    /// In chronological order.
    pub decisions: Vec<Decided>,
}

impl Approval {
    /// Returns the requester as a caller, to decide the call again or carry it out.
    pub fn requester(&self) -> Caller {
        let under = self.under.as_deref().map(Id::stored);
        let run = self.run.clone().map(Arc::new);
        let token = self.token_id.as_deref().map(Id::stored);
        Caller {
            under,
            run,
            token,
            issuer: self.issuer.clone(),
            ..Caller::new(Who::Holder(self.actor.clone()), self.channel)
        }
    }

    /// Checks whether it can still be decided or carried out.
    pub fn is_open(&self, now: Time) -> bool {
        matches!(self.status, ApprovalStatus::Pending | ApprovalStatus::Approved) && self.expires_at > now
    }

    /// Returns the whole input of the call, without erased parts.
    pub fn whole_input(&self) -> Value {
        let mut whole = self.input.clone();
        if let (Some(fields), Some(more)) = (whole.as_object_mut(), &self.erasable) {
            fields.extend(more.clone());
        }
        whole
    }
}

/// One person's decision.
#[derive(Clone, Debug)]
pub struct Decided {
    pub by: ActorId,
    pub kind: String,
    pub verdict: Verdict,
    pub note: String,
    pub at: Time,
    /// The token of the decision; `None` for the state file's holder.
    pub token_id: Option<String>,
    /// The issuer of that token, if not the person deciding.
    pub issuer: Option<ActorId>,
}

const COLUMNS: &str = "id, actor, operation, target, input, resource, channel, kinds, digest, reason, status, \
                       created_at, expires_at, ended_at, under, behalf, issuer, summary, erasable, stale, run, token_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get(0)?,
        actor: parsed(row, 1)?,
        operation: row.get(2)?,
        target: row.get(3)?,
        input: json(row, 4)?,
        resource: json(row, 5)?,
        channel: parsed(row, 6)?,
        kinds: json(row, 7)?,
        digest: row.get(8)?,
        reason: row.get(9)?,
        status: parsed(row, 10)?,
        created_at: Time(row.get(11)?),
        expires_at: Time(row.get(12)?),
        ended_at: row.get::<_, Option<i64>>(13)?.map(Time),
        under: row.get(14)?,
        behalf: json(row, 15)?,
        issuer: parsed_or_null(row, 16)?,
        summary: row.get(17)?,
        erasable: json_or_null(row, 18)?,
        stale: row.get(19)?,
        run: json_or_null(row, 20)?,
        token_id: row.get(21)?,
        decisions: Vec::new(),
    })
}

fn with_decisions(conn: &Connection, mut approval: Approval) -> rusqlite::Result<Approval> {
    approval.decisions = conn
        .prepare_cached(
            "SELECT by, kind, verdict, note, at, issuer, token_id FROM approval_decision WHERE approval = ? ORDER BY at, by",
        )?
        .query_map([&approval.id], |row| {
            Ok(Decided {
                by: parsed(row, 0)?,
                kind: row.get(1)?,
                verdict: parsed(row, 2)?,
                note: row.get(3)?,
                at: Time(row.get(4)?),
                issuer: parsed_or_null(row, 5)?,
                token_id: row.get(6)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(approval)
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Approval>> {
    let found = conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM approval WHERE id = ?"))?
        .query_row([id], read)
        .optional()?;
    found.map(|approval| with_decisions(conn, approval)).transpose()
}

/// Returns the open approvals with this digest: pending, or granted and not used yet. They differ in their erasable part.
pub fn open(conn: &Connection, digest: &str, now: Time) -> rusqlite::Result<Vec<Approval>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM approval WHERE digest = ? AND status IN ('pending', 'approved') AND expires_at > ?"
    );
    let found: Vec<Approval> =
        conn.prepare_cached(&sql)?.query_map(params![digest, now.0], read)?.collect::<Result<_, _>>()?;
    found.into_iter().map(|approval| with_decisions(conn, approval)).collect()
}

/// Checks whether an actor has requested an operation and the request may still be open.
pub fn asks(conn: &Connection, actor: &ActorId, operation: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM approval WHERE actor = ? AND operation = ? AND status IN ('pending', 'approved'))";
    conn.prepare_cached(sql)?.query_row(params![actor.as_str(), operation], |row| row.get(0))
}

/// Returns undecided approvals on one target. Both conditions on the status: the index holds whatever is open.
pub fn pending_about(conn: &Connection, target: &str, now: Time) -> rusqlite::Result<Vec<Approval>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM approval WHERE target = ? AND status IN ('pending', 'approved') AND status = 'pending' \
         AND expires_at > ? ORDER BY id"
    ))?
    .query_map(params![target, now.0], read)?
    .collect()
}

/// Returns the open requests on one target: undecided, or approved and not carried out yet.
pub fn open_about(conn: &Connection, target: &str, now: Time) -> rusqlite::Result<Vec<Approval>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM approval WHERE target = ? AND status IN ('pending', 'approved') AND expires_at > ? ORDER BY id"
    ))?
    .query_map(params![target, now.0], read)?
    .collect()
}

/// Returns the open requests made under a delegation.
pub fn open_under(conn: &Connection, delegation: &str, now: Time) -> rusqlite::Result<Vec<Approval>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM approval WHERE under = ? AND status IN ('pending', 'approved') AND expires_at > ? ORDER BY id"
    ))?
    .query_map(params![delegation, now.0], read)?
    .collect()
}

/// Copies an operation's approvals that were used by a time, of one requester or all, into other tables of the same schema.
pub fn copy_used(
    (from, to): (&Connection, &Connection),
    operation: &str,
    requester: Option<&ActorId>,
    by: Time,
) -> rusqlite::Result<()> {
    let sql = "SELECT * FROM approval WHERE operation = ?1 AND status = 'used' AND ended_at <= ?2 \
               AND (?3 IS NULL OR actor = ?3)";
    let mut select = from.prepare_cached(sql)?;
    let columns = select.column_names().join(", ");
    let places = vec!["?"; select.column_count()].join(", ");
    let mut insert = to.prepare(&format!("INSERT INTO approval ({columns}) VALUES ({places})"))?;
    let mut rows = select.query(params![operation, by.0, requester.map(ActorId::as_str)])?;
    while let Some(row) = rows.next()? {
        let values = (0..row.as_ref().column_count()).map(|at| row.get::<_, Cell>(at));
        insert.execute(params_from_iter(values.collect::<rusqlite::Result<Vec<Cell>>>()?))?;
    }
    Ok(())
}

/// Returns the newest approvals of an operation that people decided, except one.
pub fn decided_like(conn: &Connection, operation: &str, but: &str, limit: usize) -> rusqlite::Result<Vec<Approval>> {
    let rows: Vec<Approval> = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM approval WHERE operation = ? AND id <> ? AND status IN ('used', 'approved', 'rejected') \
             ORDER BY created_at DESC, id LIMIT ?"
        ))?
        .query_map(params![operation, but, limit as i64], read)?
        .collect::<Result<_, _>>()?;
    rows.into_iter().map(|approval| with_decisions(conn, approval)).collect()
}

/// Returns the newest requests for an operation on a target, whatever their outcome.
pub fn asked_about(conn: &Connection, operation: &str, target: &str, limit: usize) -> rusqlite::Result<Vec<Approval>> {
    let rows: Vec<Approval> = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM approval WHERE operation = ? AND target = ? ORDER BY created_at DESC, id LIMIT ?"
        ))?
        .query_map(params![operation, target, limit as i64], read)?
        .collect::<Result<_, _>>()?;
    rows.into_iter().map(|approval| with_decisions(conn, approval)).collect()
}

/// Returns the ids of an actor's own open requests.
pub fn open_of(conn: &Connection, actor: &ActorId) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT id FROM approval WHERE actor = ? AND status IN ('pending', 'approved') ORDER BY id")?
        .query_map([actor.as_str()], |row| row.get(0))?
        .collect()
}

/// Returns the open requests made with a token or decided with it.
pub fn open_with(conn: &Connection, token: &str, now: Time) -> rusqlite::Result<Vec<Approval>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM approval WHERE status IN ('pending', 'approved') AND expires_at > ?2 AND id IN \
         (SELECT id FROM approval WHERE token_id = ?1 AND status IN ('pending', 'approved') \
          UNION SELECT approval FROM approval_decision WHERE token_id = ?1) ORDER BY id"
    ))?
    .query_map(params![token, now.0], read)?
    .collect()
}

/// Counts an actor's open requests from runs that `asker` requested.
pub fn open_in_runs_of(conn: &Connection, actor: &ActorId, asker: &ActorId) -> rusqlite::Result<usize> {
    let sql =
        "SELECT count(*) FROM approval WHERE actor = ? AND status IN ('pending', 'approved') AND run ->> '$.asker' = ?";
    let count = conn.prepare_cached(sql)?.query_row([actor.as_str(), asker.as_str()], |row| row.get::<_, i64>(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// How approvals are listed.
pub const LIST: List<Approval> = List {
    table: "approval",
    columns: COLUMNS,
    there: "TRUE",
    own: &["actor = ?4", "id IN (SELECT subject FROM inbox WHERE actor = ?4)"],
    theirs: &[],
    read,
    complete: with_decisions,
    position,
};

pub fn position(approval: &Approval) -> Position {
    Position { at: approval.created_at.0, id: approval.id.clone() }
}

/// Returns open approvals past their expiry.
pub fn overdue(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT id FROM approval WHERE status IN ('pending', 'approved') AND expires_at <= ? \
         ORDER BY expires_at, id LIMIT ?",
    )?
    .query_map(params![now.0, limit as i64], |row| row.get(0))?
    .collect()
}

/// The maximum number of undecided approvals examined per tick, oldest first.
const MOST_PENDING: u32 = 10_000;

/// Returns undecided approvals requested by a time and not expired at `now`, oldest first.
pub fn pending_since(conn: &Connection, by: Time, now: Time) -> rusqlite::Result<Vec<Approval>> {
    let rows: Vec<Approval> = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM approval WHERE status = 'pending' AND expires_at > ?1 AND created_at <= ?2 \
             ORDER BY created_at, id LIMIT {MOST_PENDING}"
        ))?
        .query_map(params![now.0, by.0], read)?
        .collect::<Result<_, _>>()?;
    rows.into_iter().map(|approval| with_decisions(conn, approval)).collect()
}

/// Returns the notices sent for an approval, by kind.
pub fn notices(conn: &Connection, id: &str) -> rusqlite::Result<BTreeSet<(String, Notice)>> {
    conn.prepare_cached("SELECT kind, notice FROM approval_notice WHERE approval = ?")?
        .query_map([id], |row| Ok((row.get(0)?, parsed(row, 1)?)))?
        .collect()
}
