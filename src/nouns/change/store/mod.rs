//! The table of changes and their outcomes.

pub mod events;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::list::List;
use super::{Position, json, json_or_null, parsed, parsed_or_null};
use types::change::{ChangeState, ChangeTarget, EvalCase, RejectedBy, ReviewVerdict};
use types::id::ActorId;
use types::impact::{TrialTerms, Trialled};
use types::time::Time;

/// A proposal, without its files.
#[derive(Clone, Debug)]
pub struct ProposedChange {
    pub id: String,
    pub target: ChangeTarget,
    /// Which one, where there are several: the view's name.
    pub target_id: Option<String>,
    pub state: ChangeState,
    /// The base version.
    pub base_version: i64,
    /// The hash of its files.
    pub hash: String,
    pub reason: String,
    /// The commit it comes from.
    pub commit: Option<String>,
    /// The version that it rolls back to.
    pub rolls_back: Option<i64>,
    pub author: ActorId,
    /// On whose behalf it was proposed.
    pub behalf: Vec<ActorId>,
    /// The issuer of the token that it was proposed with, if not the author.
    pub issuer: Option<ActorId>,
    /// That token; `None` in folds, as in reviews.
    pub token_id: Option<String>,
    /// The version that it became when promoted.
    pub version: Option<i64>,
    /// Empty until its evals have run.
    pub evals: Vec<EvalCase>,
    /// The terms of its canary.
    pub terms: Option<TrialTerms>,
    /// The results of its canary, as recorded.
    pub trialled: Option<Trialled>,
    /// Who rejected or withdrew it, and why.
    pub rejection: Option<RejectedBy>,
    pub created_at: Time,
    pub updated_at: Time,
    /// In chronological order.
    pub reviews: Vec<Review>,
}

/// One person's review.
#[derive(Clone, Debug)]
pub struct Review {
    pub by: ActorId,
    pub verdict: ReviewVerdict,
    pub note: String,
    pub at: Time,
    /// The issuer of the token used, if not the reviewer.
    pub issuer: Option<ActorId>,
    pub token_id: Option<String>,
}

impl ProposedChange {
    /// Returns a new proposal without content.
    pub fn proposed(id: String, target: ChangeTarget, author: ActorId, now: Time) -> ProposedChange {
        ProposedChange {
            id,
            target,
            target_id: None,
            state: ChangeState::Proposed,
            base_version: 0,
            hash: String::new(),
            reason: String::new(),
            commit: None,
            rolls_back: None,
            author,
            behalf: Vec::new(),
            issuer: None,
            token_id: None,
            version: None,
            evals: Vec::new(),
            terms: None,
            trialled: None,
            rejection: None,
            created_at: now,
            updated_at: now,
            reviews: Vec::new(),
        }
    }

    /// Checks that, among each reviewer's last review for which `counts` holds, there is at least one and all approve.
    pub fn is_reviewed(&self, counts: impl Fn(&Review) -> bool) -> bool {
        let is_yes = |review: &&Review| review.verdict == ReviewVerdict::Approve;
        let last = self.reviews.iter().enumerate().filter(|(at, _)| self.is_last(*at)).map(|(_, review)| review);
        let standing: Vec<&Review> = last.filter(|review| counts(review)).collect();
        !standing.is_empty() && standing.iter().all(is_yes)
    }

    /// Checks whether it is its reviewer's last review.
    pub fn is_last(&self, at: usize) -> bool {
        let mut since = self.reviews.iter().skip(at);
        since.next().is_some_and(|review| since.all(|later| later.by != review.by))
    }
}

const COLUMNS: &str = "id, target, state, base_version, hash, reason, commit_id, rolls_back, author, version, evals, \
                       created_at, updated_at, terms, trialled, behalf, issuer, target_id, rejection";
/// Same, as shown to people, with the token, which files of earlier versions lack.
const SHOWN: &str = "id, target, state, base_version, hash, reason, commit_id, rolls_back, author, version, evals, \
                     created_at, updated_at, terms, trialled, behalf, issuer, target_id, rejection, token_id";

fn read(row: &Row<'_>) -> rusqlite::Result<ProposedChange> {
    Ok(ProposedChange {
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
        token_id: None,
        target_id: row.get(17)?,
        rejection: json_or_null(row, 18)?,
        reviews: Vec::new(),
    })
}

fn read_shown(row: &Row<'_>) -> rusqlite::Result<ProposedChange> {
    Ok(ProposedChange { token_id: row.get(19)?, ..read(row)? })
}

fn with_reviews(conn: &Connection, change: ProposedChange) -> rusqlite::Result<ProposedChange> {
    reviewed(conn, change, "NULL")
}

fn with_reviews_shown(conn: &Connection, change: ProposedChange) -> rusqlite::Result<ProposedChange> {
    reviewed(conn, change, "token_id")
}

fn reviewed(conn: &Connection, mut change: ProposedChange, token: &str) -> rusqlite::Result<ProposedChange> {
    let sql = format!("SELECT by, verdict, note, at, issuer, {token} FROM change_review WHERE change = ? ORDER BY seq");
    change.reviews = conn
        .prepare_cached(&sql)?
        .query_map([&change.id], |row| {
            Ok(Review {
                by: parsed(row, 0)?,
                verdict: parsed(row, 1)?,
                note: row.get(2)?,
                at: Time(row.get(3)?),
                issuer: parsed_or_null(row, 4)?,
                token_id: row.get(5)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(change)
}

/// Returns a change as shown to people.
pub fn whole(conn: &Connection, id: &str) -> rusqlite::Result<Option<ProposedChange>> {
    let sql = format!("SELECT {SHOWN} FROM change WHERE id = ?");
    let found = conn.prepare_cached(&sql)?.query_row([id], read_shown).optional()?;
    found.map(|change| with_reviews_shown(conn, change)).transpose()
}

/// Returns the open changes proposed or reviewed with a token.
pub fn open_with(conn: &Connection, token: &str) -> rusqlite::Result<Vec<ProposedChange>> {
    let sql = format!(
        "SELECT {SHOWN} FROM change WHERE state IN ('proposed', 'in_review', 'approved', 'canary') AND id IN \
         (SELECT id FROM change WHERE token_id = ?1 AND state IN ('proposed', 'in_review', 'approved', 'canary') \
          UNION SELECT change FROM change_review WHERE token_id = ?1) ORDER BY id"
    );
    let open: Vec<ProposedChange> =
        conn.prepare_cached(&sql)?.query_map([token], read_shown)?.collect::<rusqlite::Result<_>>()?;
    open.into_iter().map(|change| with_reviews_shown(conn, change)).collect()
}

/// Returns the last change of the same content that somebody other than its author rejected.
pub fn rejected_before(conn: &Connection, change: &ProposedChange) -> rusqlite::Result<Option<ProposedChange>> {
    let sql = format!(
        "SELECT {SHOWN} FROM change WHERE hash = ?1 AND state = 'rejected' AND id <> ?2 \
         AND rejection ->> 'by' <> author ORDER BY updated_at DESC LIMIT 1"
    );
    conn.prepare_cached(&sql)?.query_row(params![change.hash, change.id], read_shown).optional()
}

/// Returns a change as folds see it.
pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<ProposedChange>> {
    let sql = format!("SELECT {COLUMNS} FROM change WHERE id = ?");
    let found = conn.prepare_cached(&sql)?.query_row([id], read).optional()?;
    found.map(|change| with_reviews(conn, change)).transpose()
}

/// Returns a change's files by path.
pub fn files(conn: &Connection, id: &str) -> rusqlite::Result<BTreeMap<String, String>> {
    conn.prepare_cached("SELECT files FROM change WHERE id = ?")?.query_row([id], |row| json(row, 0))
}

/// Returns an actor's open changes, oldest first.
pub fn open(conn: &Connection, author: &ActorId) -> rusqlite::Result<Vec<ProposedChange>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM change WHERE author = ? AND state IN ('proposed', 'in_review', 'approved', 'canary') \
         ORDER BY id"
    );
    let open: Vec<ProposedChange> =
        conn.prepare_cached(&sql)?.query_map([author.as_str()], read)?.collect::<rusqlite::Result<_>>()?;
    open.into_iter().map(|change| with_reviews(conn, change)).collect()
}

/// Counts an actor's open changes.
pub fn count_open(conn: &Connection, author: &ActorId) -> rusqlite::Result<usize> {
    let sql =
        "SELECT count(*) FROM change WHERE author = ? AND state IN ('proposed', 'in_review', 'approved', 'canary')";
    let count: i64 = conn.prepare_cached(sql)?.query_row([author.as_str()], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Returns the change in canary.
pub fn tried(conn: &Connection) -> rusqlite::Result<Option<ProposedChange>> {
    let sql = format!("SELECT {COLUMNS} FROM change WHERE state = 'canary' ORDER BY id LIMIT 1");
    conn.prepare_cached(&sql)?.query_row([], read).optional()
}

/// How changes are listed.
pub const LIST: List<ProposedChange> = List {
    table: "change",
    columns: SHOWN,
    there: "TRUE",
    own: &["author = ?4"],
    theirs: &[],
    read: read_shown,
    complete: with_reviews_shown,
    position,
};

pub fn position(change: &ProposedChange) -> Position {
    Position { at: change.created_at.0, id: change.id.clone() }
}

/// Returns open changes with a base before this version.
pub fn open_before(conn: &Connection, version: i64) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT id FROM change WHERE base_version < ? AND state IN ('proposed', 'in_review', 'approved', 'canary') ORDER BY id",
    )?
    .query_map([version], |row| row.get(0))?
    .collect()
}

/// Returns the newest change that came with a commit: what a repository declares.
pub fn declared(conn: &Connection) -> rusqlite::Result<Option<ProposedChange>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM change WHERE commit_id IS NOT NULL AND state NOT IN ('rejected', 'withdrawn') \
         ORDER BY created_at DESC, version IS NULL DESC, version DESC, id DESC LIMIT 1"
    );
    conn.prepare_cached(&sql)?.query_row([], read).optional()
}
