//! The parts of a state file, besides the tables that are folded from its log, that the log does not account for: its
//! schema, its indexes, the key that was made with it, and the answers that are kept for retries.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::state::difference::Difference;
use crate::state::open::SCHEMAS;
use crate::write::record::GateRecord;
use log::checkpoint::owner;
use log::verify::note::VerifierKey;
use log::{idem, read};
use store::shape;
use types::refusal::Fault;
use types::time::Time;

/// Problems of the file's pages and indexes that are told.
const MOST: u32 = 100;
/// The first entry: the company began.
const FIRST: i64 = 1;

pub(crate) fn findings(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let mut found = schema(conn)?;
    found.extend(indexes(conn)?);
    found.extend(instance(conn)?);
    found.extend(head(conn)?);
    found.extend(answers(conn)?);
    Ok(found)
}

fn difference(table: &'static str, key: impl Into<String>, message: impl Into<String>) -> Difference {
    Difference { table: table.into(), key: key.into(), message: message.into() }
}

fn schema(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    Ok(shape::strange(conn, SCHEMAS)?.into_iter().map(|what| difference("sqlite_schema", "-", what)).collect())
}

/// The tables that this version makes and the file lacks: nothing can be compared with them.
pub(crate) fn absent(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let mut differences = schema(conn)?;
    differences.retain(|one| one.message.starts_with("the table `") && one.message.ends_with("is missing"));
    Ok(differences)
}

/// An index that lacks rows hides them from whoever looks through it: a token that is not found is not revoked.
fn indexes(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let mut check = conn.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let lines = check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").map(|line| difference("sqlite_schema", "-", line)).collect())
}

/// The company's id stands in the log's name, and a hash of the key that seals cursors in its first entry.
fn instance(conn: &Connection) -> Result<Option<Difference>, Fault> {
    let row = "SELECT ulid, sealing, (SELECT origin FROM log_head) FROM instance";
    let read_row = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Option<String>>(2)?))
    };
    let Some((ulid, sealing, origin)) = conn.query_row(row, [], read_row).optional()? else {
        return Ok(Some(difference("instance", "1", "is missing")));
    };
    if !origin.unwrap_or_default().split('/').any(|part| part == ulid) {
        return Ok(Some(difference("instance", "1", "names another company than the log")));
    }
    let first = read::one(conn, FIRST)?.event.unwrap_or_default();
    let is_same = first.get("seal").and_then(|seal| seal.as_str()) == Some(&hex::encode(Sha256::digest(sealing)));
    Ok((!is_same)
        .then(|| difference("instance", "1", "contains another sealing key than the one created with the log")))
}

/// No event happens after the head was signed, and no owner was there whom the log's key does not know.
fn head(conn: &Connection) -> Result<Option<Difference>, Fault> {
    let (size, ts): (i64, i64) =
        conn.query_row("SELECT size, ts FROM log_head", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let newest = if size > 0 { read::one(conn, size)?.at.0 } else { ts };
    if ts != newest {
        return Ok(Some(difference("log_head", "ts", "is not the time of the newest entry")));
    }
    let (key, epoch, signature): (String, i64, Vec<u8>) =
        conn.query_row("SELECT vkey, epoch, owner FROM log_head", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let key =
        VerifierKey::parse(key.lines().next().unwrap_or_default()).map_err(|error| Fault::Broken(error.to_string()))?;
    let is_signed = key.verify(owner(key.origin(), epoch).as_bytes(), &signature).is_ok();
    Ok((!is_signed).then(|| difference("log_head", "epoch", "is not signed with the log's key")))
}

/// An answer is kept with the record of what it answers, which holds its digest, for as long as it is given again. One too
/// many would be told to whoever asks; without one, what was done would be done again.
fn answers(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let last = read::last_seq(conn)?;
    let Some(newest) = (last > 0).then(|| read::one(conn, last)).transpose()? else { return Ok(Vec::new()) };
    let begun = newest.at.plus_ms(-idem::KEPT_MS);
    let mut given: BTreeMap<Vec<u8>, (String, Time)> = BTreeMap::new();
    // Whoever erased what one call had written erased the answer to it as well.
    let mut erased: BTreeMap<Vec<u8>, Time> = BTreeMap::new();
    read::decided(conn, read::last_until(conn, begun)?, last, &mut |entry| {
        let Some(key) = entry.idem else { return Ok(()) };
        let Some(payload) = entry.payload else {
            erased.insert(key, entry.at.plus_ms(idem::KEPT_MS));
            return Ok(());
        };
        if let Some(answer) = serde_json::from_slice::<Payload>(&payload)?.gate.answer {
            given.insert(key, (answer, entry.at.plus_ms(idem::KEPT_MS)));
        }
        Ok(())
    })?;
    let mut found = Vec::new();
    for idem::Row { key, digest, is_erased, until } in idem::beyond(conn, newest.at)? {
        let message = match given.remove(&key) {
            _ if is_erased && erased.get(&key) == Some(&until) => continue,
            None => "is an answer that no entry was given",
            Some((answer, end)) if digest.map(hex::encode).as_ref() == Some(&answer) && until == end => continue,
            Some(_) => "is not the answer that was recorded",
        };
        found.push(difference("idem", hex::encode(key), message));
    }
    found.extend(
        given
            .into_keys()
            .filter(|key| !erased.contains_key(key))
            .map(|key| difference("idem", hex::encode(key), "is missing: a retry would be carried out")),
    );
    Ok(found)
}

/// What of a payload tells the answer.
#[derive(Deserialize)]
struct Payload {
    gate: GateRecord,
}
