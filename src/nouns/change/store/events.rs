//! The events of changes.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{COLUMNS, get};
use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::{End, Over, Settles};
use crate::{inbox, parsed, to_json};
use types::change::{ChangeState, ChangeTarget, EvalCase, RejectedBy, ReviewVerdict};
use types::id::{ActorId, Id};
use types::impact::{TrialTerms, Trialled};
use types::inbox::ItemKind;
use types::quoted::quoted;

const CHANGE: Table = Table { name: "change", key: "id" };
const REVIEW: Table = Table { name: "change_review", key: "seq" };

events! {
    /// Somebody proposed a change.
    ChangeProposed = "change_proposed" {
        id: Id, target: ChangeTarget, base_version: i64, hash: String, reason: String, commit: Option<String>,
        rolls_back: Option<i64>, files: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        on_behalf_of: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
        /// Which view, of a change to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_id: Option<String>,
        /// Who may review what a pipeline proposed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notified: Vec<ActorId>,
        /// The token that it was proposed with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<Id>,
    } about [id] => {
        says: "proposed {id:a change}[ of the view `{target_id}`][: «{reason}»]",
        content: Content::SHOWN.hiding(&["files", "token_id"]), tables: &[CHANGE], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(proposed),
        notify: Notify::AndShow(notify_reviewers),
        news: None,
    }
    /// Somebody else reviewed a change.
    ChangeReviewed = "change_reviewed" {
        id: Id, author: ActorId, verdict: ReviewVerdict, note: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
        /// The token that it was given with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<Id>,
    } about [id, author] => {
        says: "{verdict=approve?approved|requested changes to} {id:a change}[: «{note}»]",
        content: Content::SHOWN.hiding(&["token_id"]), tables: &[CHANGE, REVIEW], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(reviewed),
        notify: Notify::AndShow(|event, moment| {
            if event.verdict == ReviewVerdict::Approve {
                inbox::resolve(moment, event.id.as_str())?;
            }
            inbox::mention(moment, &event.id, &event.note)
        }),
        news: None,
    }
    /// A change's tests ran.
    EvalsRun = "evals_run" {
        id: Id, author: ActorId, hash: String, cases: Vec<EvalCase>,
    } about [id, author] => {
        says: "ran the tests of {id:a change}",
        content: Content::COUNTED, tables: &[CHANGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(tested), notify: Notify::Nobody, news: None,
    }
    /// A change's canary started; no answer is affected.
    CanaryStarted = "canary_started" {
        id: Id, author: ActorId, terms: TrialTerms,
    } about [id, author] => {
        says: "started a canary of {id:a change}",
        content: Content::SHOWN, tables: &[CHANGE], memory: Memory::Trial, settles: Settles::Nothing,
        fold: Some(started), notify: Notify::Nobody, news: None,
    }
    /// A canary's figures so far.
    CanaryMeasured = "canary_measured" {
        id: Id, author: ActorId, trialled: Trialled,
    } about [id, author] => {
        says: "measured the canary of {id:a change}",
        content: Content::COUNTED.minor(), tables: &[CHANGE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(measured), notify: Notify::Nobody, news: None,
    }
    /// A canary was aborted: too many decisions would have differed.
    CanaryAborted = "canary_aborted" {
        id: Id, author: ActorId, reason: String, trialled: Trialled,
        /// What its author is told: the figures too, where they may read the audit.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        notice: String,
    } about [id, author] => {
        says: "aborted the canary of {id:a change}[: «{reason}»]",
        content: Content::COUNTED, tables: &[CHANGE], memory: Memory::Trial, settles: Settles::Nothing,
        fold: Some(aborted),
        notify: Notify::AndShow(|event, moment| {
            let title = format!("the trial of your change {} has ended: {}", event.id, event.notice);
            inbox::add(moment, &event.author, ItemKind::Decision, event.id.as_str(), &title)
        }),
        news: None,
    }
    /// A change was promoted.
    ChangePromoted = "change_promoted" {
        id: Id, author: ActorId, version: i64,
    } about [id, author] => {
        says: "promoted {id:a change} to version {version}",
        content: Content::SHOWN, tables: &[CHANGE], memory: Memory::Trial,
        settles: Settles::Ends(ended_by_promotion),
        fold: Some(promoted),
        notify: Notify::AndShow(notify_superseded),
        news: None,
    }
    /// A change was rejected, or withdrawn by its author.
    ChangeRejected = "change_rejected" {
        id: Id, author: ActorId, reason: String, withdrawn: bool,
    } about [id, author] => {
        says: "{withdrawn?withdrew|rejected} {id:a change}[: «{reason}»]",
        content: Content::SHOWN, tables: &[CHANGE], memory: Memory::Trial,
        settles: Settles::Ends(|event, _| {
            let why = if event.withdrawn { "was taken back" } else { "was rejected" };
            Ok(End::thing(&event.id, why))
        }),
        fold: Some(rejected), notify: Notify::AndShow(notify_author),
        news: None,
    }
}

/// Returns what a promotion ends: the change itself, and open changes with an earlier base.
fn ended_by_promotion(event: &ChangePromoted, conn: &Connection) -> rusqlite::Result<Vec<End>> {
    let ChangePromoted { id, version, .. } = event;
    let superseded = super::open_before(conn, *version)?.into_iter().filter(|other| other != id.as_str());
    let superseded =
        superseded.map(|other| End { over: Over::Thing(other), because: format!("{id} came into force first") });
    Ok(End::thing(id, "came into force by other means").into_iter().chain(superseded).collect())
}

fn notify_reviewers(event: &ChangeProposed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} proposes policies ({}): waits for a review", moment.by, quoted(&event.reason));
    let add = |actor| inbox::add(moment, actor, ItemKind::Alert, event.id.as_str(), &title);
    event.notified.iter().try_for_each(add)?;
    inbox::mention(moment, &event.id, &event.reason)
}

/// Notifies the authors of open changes that these are superseded.
fn notify_superseded(event: &ChangePromoted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let open = super::open_before(moment.conn, event.version)?;
    inbox::resolve(moment, event.id.as_str())?;
    for other in open.iter().filter(|other| *other != event.id.as_str()) {
        inbox::resolve(moment, other)?;
        let author = get(moment.conn, other)?.map(|change| change.author).filter(|author| author != moment.by);
        let title = format!("your change {other} was superseded: {} came into force first; propose it anew", event.id);
        author.map_or(Ok(()), |author| inbox::add(moment, &author, ItemKind::Decision, other, &title))?;
    }
    Ok(())
}

fn notify_author(event: &ChangeRejected, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let ChangeRejected { id, author, reason, withdrawn } = event;
    inbox::resolve(moment, id.as_str())?;
    let why = if reason.is_empty() { String::new() } else { format!(": {}", quoted(reason)) };
    if !withdrawn {
        let title = format!("your change {id} was rejected{why}");
        inbox::add(moment, author, ItemKind::Decision, id.as_str(), &title)?;
    }
    inbox::mention(moment, id, reason)
}

fn proposed(event: &ChangeProposed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = format!(
        "INSERT INTO change ({COLUMNS}, files) \
         VALUES (?, ?, 'proposed', ?, ?, ?, ?, ?, ?, NULL, '[]', ?, ?, NULL, NULL, ?, ?, ?, NULL, ?)"
    );
    moment.conn.prepare_cached(&sql)?.execute(params![
        event.id.as_str(),
        event.target.name(),
        event.base_version,
        event.hash,
        event.reason,
        event.commit,
        event.rolls_back,
        moment.by.as_str(),
        moment.at.0,
        moment.at.0,
        to_json(&event.on_behalf_of)?,
        event.issuer.as_ref().map(ActorId::as_str),
        event.target_id,
        to_json(&event.files)?
    ])?;
    // A separate statement, as below: a file of an earlier version lacks this column, and is verified unchanged.
    if let Some(token) = &event.token_id {
        let sql = "UPDATE change SET token_id = ? WHERE id = ?";
        moment.conn.prepare_cached(sql)?.execute([token.as_str(), event.id.as_str()])?;
    }
    Ok(Touched::Nothing)
}

/// Sets the state after a review; a change in canary stays there.
fn reviewed(event: &ChangeReviewed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let ChangeReviewed { id, verdict, note, issuer, token_id, .. } = event;
    moment
        .conn
        .prepare_cached("INSERT INTO change_review (change, by, verdict, note, at, issuer) VALUES (?, ?, ?, ?, ?, ?)")?
        .execute(params![
            id.as_str(),
            moment.by.as_str(),
            verdict.name(),
            note,
            moment.at.0,
            issuer.as_ref().map(ActorId::as_str)
        ])?;
    if let Some(token) = token_id {
        let sql = "UPDATE change_review SET token_id = ? WHERE seq = ?";
        moment.conn.prepare_cached(sql)?.execute(params![token.as_str(), moment.conn.last_insert_rowid()])?;
    }
    if let Some(change) = get(moment.conn, id.as_str())?.filter(|change| change.state != ChangeState::Canary) {
        let state = if change.is_reviewed(|_| true) { ChangeState::Approved } else { ChangeState::InReview };
        became(moment, id, state)?;
    }
    Ok(Touched::Nothing)
}

fn tested(event: &EvalsRun, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE change SET evals = ?, updated_at = ? WHERE id = ?";
    let row = params![to_json(&event.cases)?, moment.at.0, event.id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::Nothing)
}

fn started(event: &CanaryStarted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE change SET terms = ?, trialled = ? WHERE id = ?";
    let row = params![to_json(&event.terms)?, to_json(&Trialled::default())?, event.id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    became(moment, &event.id, ChangeState::Canary)?;
    Ok(Touched::Trial)
}

fn measured(event: &CanaryMeasured, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    has_shown(moment.conn, &event.id, &event.trialled)?;
    Ok(Touched::Nothing)
}

fn aborted(event: &CanaryAborted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    has_shown(moment.conn, &event.id, &event.trialled)?;
    // Reviews were given before this was known.
    moment.conn.prepare_cached("DELETE FROM change_review WHERE change = ?")?.execute([event.id.as_str()])?;
    became(moment, &event.id, ChangeState::InReview)?;
    Ok(Touched::Trial)
}

fn has_shown(conn: &Connection, id: &Id, trialled: &Trialled) -> rusqlite::Result<()> {
    let sql = "UPDATE change SET trialled = ? WHERE id = ?";
    conn.prepare_cached(sql)?.execute(params![to_json(trialled)?, id.as_str()])?;
    Ok(())
}

fn rejected(event: &ChangeRejected, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let state = if event.withdrawn { ChangeState::Withdrawn } else { ChangeState::Rejected };
    became(moment, &event.id, state)?;
    let rejection = RejectedBy { by: moment.by.clone(), reason: event.reason.clone(), at: moment.at };
    let row = params![to_json(&rejection)?, event.id.as_str()];
    moment.conn.prepare_cached("UPDATE change SET rejection = ? WHERE id = ?")?.execute(row)?;
    Ok(Touched::Trial)
}

fn promoted(event: &ChangePromoted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let (conn, id) = (moment.conn, event.id.as_str());
    became(moment, &event.id, ChangeState::Promoted)?;
    conn.prepare_cached("UPDATE change SET version = ? WHERE id = ?")?.execute(params![event.version, id])?;
    let (target, back): (ChangeTarget, Option<i64>) = conn
        .prepare_cached("SELECT target, rolls_back FROM change WHERE id = ?")?
        .query_row([id], |row| Ok((parsed(row, 0)?, row.get(1)?)))?;
    // Changes with an earlier base can no longer be promoted, whatever their target.
    conn.prepare_cached(
        "UPDATE change SET state = 'superseded', updated_at = ?1 \
         WHERE id != ?2 AND base_version < ?3 AND state IN ('proposed', 'in_review', 'approved', 'canary')",
    )?
    .execute(params![moment.at.0, id, event.version])?;
    if let Some(back) = back {
        conn.prepare_cached(
            "UPDATE change SET state = 'rolled_back', updated_at = ?1 \
             WHERE target = ?2 AND state = 'promoted' AND version > ?3 AND id != ?4",
        )?
        .execute(params![moment.at.0, target.name(), back, id])?;
    }
    Ok(Touched::Trial)
}

fn became(moment: &Moment<'_>, id: &Id, state: ChangeState) -> rusqlite::Result<()> {
    let sql = "UPDATE change SET state = ?, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![state.name(), moment.at.0, id.as_str()])?;
    Ok(())
}
