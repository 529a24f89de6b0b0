//! Changes on their way, and what became of them.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Position, json, json_or_null, parsed, parsed_or_null, to_json};
use crate::types::change::{ChangeState, ChangeTarget, EvalCase, ReviewVerdict};
use crate::types::event::Event;
use crate::types::id::ActorId;
use crate::types::impact::{TrialTerms, Trialled};
use crate::types::time::Time;

/// A proposal, without its files.
#[derive(Clone, Debug)]
pub struct Change {
    pub id: String,
    pub target: ChangeTarget,
    pub state: ChangeState,
    /// The version that it was made from.
    pub base_version: i64,
    /// The hash of its files.
    pub hash: String,
    pub reason: String,
    /// The commit that it comes from.
    pub commit: Option<String>,
    /// The version that it goes back to.
    pub rolls_back: Option<i64>,
    pub author: ActorId,
    /// On whose behalf it was proposed.
    pub behalf: Vec<ActorId>,
    /// Who issued the token that it was proposed with, where that is not the author.
    pub issuer: Option<ActorId>,
    /// The version that it became.
    pub version: Option<i64>,
    /// Empty until its evals were run.
    pub evals: Vec<EvalCase>,
    /// How it is tried, or was.
    pub terms: Option<TrialTerms>,
    /// What the trial has shown, as recorded.
    pub trialled: Option<Trialled>,
    pub created_at: Time,
    pub updated_at: Time,
    /// In the order in which they were made.
    pub reviews: Vec<Review>,
}

/// One person's review.
#[derive(Clone, Debug)]
pub struct Review {
    pub by: ActorId,
    pub verdict: ReviewVerdict,
    pub note: String,
    pub at: Time,
}

impl Change {
    /// Whether somebody else's last word on it is yes, and nobody's is no.
    pub fn is_reviewed(&self) -> bool {
        let last: BTreeMap<&ActorId, ReviewVerdict> =
            self.reviews.iter().map(|review| (&review.by, review.verdict)).collect();
        !last.is_empty() && last.values().all(|verdict| *verdict == ReviewVerdict::Approve)
    }
}

const COLUMNS: &str = "id, target, state, base_version, hash, reason, commit_id, rolls_back, author, version, evals, \
                       created_at, updated_at, terms, trialled, behalf, issuer";

fn read(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        id: row.get(0)?,
        target: parsed(row, 1)?,
        state: parsed(row, 2)?,
        base_version: row.get(3)?,
        hash: row.get(4)?,
        reason: row.get(5)?,
        commit: row.get(6)?,
        rolls_back: row.get(7)?,
        author: parsed(row, 8)?,
        version: row.get(9)?,
        evals: json(row, 10)?,
        created_at: Time(row.get(11)?),
        updated_at: Time(row.get(12)?),
        terms: json_or_null(row, 13)?,
        trialled: json_or_null(row, 14)?,
        behalf: json(row, 15)?,
        issuer: parsed_or_null(row, 16)?,
        reviews: Vec::new(),
    })
}

fn with_reviews(conn: &Connection, mut change: Change) -> rusqlite::Result<Change> {
    change.reviews = conn
        .prepare_cached("SELECT by, verdict, note, at FROM change_review WHERE change = ? ORDER BY seq")?
        .query_map([&change.id], |row| {
            Ok(Review { by: parsed(row, 0)?, verdict: parsed(row, 1)?, note: row.get(2)?, at: Time(row.get(3)?) })
        })?
        .collect::<Result<_, _>>()?;
    Ok(change)
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Change>> {
    let sql = format!("SELECT {COLUMNS} FROM change WHERE id = ?");
    let found = conn.prepare_cached(&sql)?.query_row([id], read).optional()?;
    found.map(|change| with_reviews(conn, change)).transpose()
}

/// The files that a change would put into force, by path.
pub fn files(conn: &Connection, id: &str) -> rusqlite::Result<BTreeMap<String, String>> {
    conn.prepare_cached("SELECT files FROM change WHERE id = ?")?.query_row([id], |row| json(row, 0))
}

/// An actor's open change with exactly this content, made from this version.
pub fn open(conn: &Connection, author: &ActorId, hash: &str, base: i64) -> rusqlite::Result<Option<Change>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM change WHERE hash = ?1 AND author = ?2 AND base_version = ?3 \
         AND state IN ('proposed', 'in_review', 'approved', 'canary') ORDER BY id LIMIT 1"
    );
    let found = conn.prepare_cached(&sql)?.query_row(params![hash, author.as_str(), base], read).optional()?;
    found.map(|change| with_reviews(conn, change)).transpose()
}

/// How many changes of an actor are open.
pub fn count_open(conn: &Connection, author: &ActorId) -> rusqlite::Result<usize> {
    let sql =
        "SELECT count(*) FROM change WHERE author = ? AND state IN ('proposed', 'in_review', 'approved', 'canary')";
    let count: i64 = conn.prepare_cached(sql)?.query_row([author.as_str()], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The change that is tried now.
pub fn tried(conn: &Connection) -> rusqlite::Result<Option<Change>> {
    let sql = format!("SELECT {COLUMNS} FROM change WHERE state = 'canary' ORDER BY id LIMIT 1");
    conn.prepare_cached(&sql)?.query_row([], read).optional()
}

/// Changes after a position, newest first.
pub fn after(conn: &Connection, from: &Position, limit: usize) -> rusqlite::Result<Vec<Change>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM change WHERE created_at < ?1 OR (created_at = ?1 AND id > ?2) \
         ORDER BY created_at DESC, id LIMIT ?3"
    );
    let rows: Vec<Change> = conn
        .prepare_cached(&sql)?
        .query_map(params![from.at, from.id, limit as i64], read)?
        .collect::<Result<_, _>>()?;
    rows.into_iter().map(|change| with_reviews(conn, change)).collect()
}

pub fn position(change: &Change) -> Position {
    Position { at: change.created_at.0, id: change.id.clone() }
}

/// Open changes that were made from a version before this one.
pub fn open_before(conn: &Connection, version: i64) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT id FROM change WHERE base_version < ? AND state IN ('proposed', 'in_review', 'approved', 'canary') ORDER BY id",
    )?
    .query_map([version], |row| row.get(0))?
    .collect()
}

/// The newest change that came with a commit: what a repository declares.
pub fn declared(conn: &Connection) -> rusqlite::Result<Option<Change>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM change WHERE commit_id IS NOT NULL AND state NOT IN ('rejected', 'withdrawn') \
         ORDER BY created_at DESC, version IS NULL DESC, version DESC, id DESC LIMIT 1"
    );
    conn.prepare_cached(&sql)?.query_row([], read).optional()
}

pub(super) fn fold(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::ChangeProposed {
            id,
            target,
            base_version,
            hash,
            reason,
            commit,
            rolls_back,
            files,
            on_behalf_of,
            issuer,
            told: _,
        } => {
            let sql = format!(
                "INSERT INTO change ({COLUMNS}, files) \
                 VALUES (?, ?, 'proposed', ?, ?, ?, ?, ?, ?, NULL, '[]', ?, ?, NULL, NULL, ?, ?, ?)"
            );
            conn.prepare_cached(&sql)?.execute(params![
                id.as_str(),
                target.name(),
                base_version,
                hash,
                reason,
                commit,
                rolls_back,
                by.as_str(),
                at.0,
                at.0,
                to_json(on_behalf_of)?,
                issuer.as_ref().map(ActorId::as_str),
                to_json(files)?
            ])?;
            Ok(())
        }
        Event::ChangeReviewed { id, verdict, note, .. } => {
            conn.prepare_cached("INSERT INTO change_review (change, by, verdict, note, at) VALUES (?, ?, ?, ?, ?)")?
                .execute(params![id.as_str(), by.as_str(), verdict.name(), note, at.0])?;
            reviewed(conn, at, id.as_str())
        }
        Event::EvalsRun { id, cases, .. } => {
            conn.prepare_cached("UPDATE change SET evals = ?, updated_at = ? WHERE id = ?")?.execute(params![
                to_json(cases)?,
                at.0,
                id.as_str()
            ])?;
            Ok(())
        }
        Event::CanaryStarted { id, terms, .. } => {
            conn.prepare_cached("UPDATE change SET terms = ?, trialled = ? WHERE id = ?")?.execute(params![
                to_json(terms)?,
                to_json(&Trialled::default())?,
                id.as_str()
            ])?;
            became(conn, at, id.as_str(), ChangeState::Canary)
        }
        Event::CanaryMeasured { id, trialled, .. } => measured(conn, id.as_str(), trialled),
        Event::CanaryAborted { id, trialled, .. } => {
            measured(conn, id.as_str(), trialled)?;
            // They said yes before this was known.
            conn.prepare_cached("DELETE FROM change_review WHERE change = ?")?.execute([id.as_str()])?;
            became(conn, at, id.as_str(), ChangeState::InReview)
        }
        Event::ChangePromoted { id, version, .. } => promoted(conn, at, id.as_str(), *version),
        Event::ChangeRejected { id, withdrawn, .. } => {
            let state = if *withdrawn { ChangeState::Withdrawn } else { ChangeState::Rejected };
            became(conn, at, id.as_str(), state)
        }
        _ => Ok(()),
    }
}

fn measured(conn: &Connection, id: &str, trialled: &Trialled) -> rusqlite::Result<()> {
    let sql = "UPDATE change SET trialled = ? WHERE id = ?";
    conn.prepare_cached(sql)?.execute(params![to_json(trialled)?, id])?;
    Ok(())
}

/// A change under trial stays there; before, its state follows what the reviewers say.
fn reviewed(conn: &Connection, at: Time, id: &str) -> rusqlite::Result<()> {
    let Some(change) = get(conn, id)?.filter(|change| change.state != ChangeState::Canary) else { return Ok(()) };
    let state = if change.is_reviewed() { ChangeState::Approved } else { ChangeState::InReview };
    became(conn, at, id, state)
}

fn promoted(conn: &Connection, at: Time, id: &str, version: i64) -> rusqlite::Result<()> {
    became(conn, at, id, ChangeState::Promoted)?;
    conn.prepare_cached("UPDATE change SET version = ? WHERE id = ?")?.execute(params![version, id])?;
    let target: ChangeTarget =
        conn.prepare_cached("SELECT target FROM change WHERE id = ?")?.query_row([id], |row| parsed(row, 0))?;
    // What was based on the version before can no longer come into force.
    conn.prepare_cached(
        "UPDATE change SET state = 'superseded', updated_at = ?1 \
         WHERE target = ?2 AND id != ?3 AND base_version < ?4 AND state IN ('proposed', 'in_review', 'approved', 'canary')",
    )?
    .execute(params![at.0, target.name(), id, version])?;
    let back: Option<i64> =
        conn.prepare_cached("SELECT rolls_back FROM change WHERE id = ?")?.query_row([id], |row| row.get(0))?;
    if let Some(back) = back {
        conn.prepare_cached(
            "UPDATE change SET state = 'rolled_back', updated_at = ?1 \
             WHERE target = ?2 AND state = 'promoted' AND version > ?3 AND id != ?4",
        )?
        .execute(params![at.0, target.name(), back, id])?;
    }
    Ok(())
}

fn became(conn: &Connection, at: Time, id: &str, state: ChangeState) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE change SET state = ?, updated_at = ? WHERE id = ?")?.execute(params![
        state.name(),
        at.0,
        id
    ])?;
    Ok(())
}
