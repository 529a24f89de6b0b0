//! Reading events back: in order, by type, actor or what they are about.

use std::borrow::Cow;
use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::{Connection, Row, params_from_iter};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::index;
use super::record::{Decision, PolicyStamp};
use types::effort;
use types::refusal::Fault;
use types::time::Time;

/// Which events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these types; empty means all.
    pub kinds: Vec<&'static str>,
    /// Done by this actor.
    pub actor: Option<String>,
    /// About each of these ids.
    pub refs: Vec<String>,
}

/// One event, as stored.
#[derive(Clone, Debug)]
pub struct Logged {
    pub seq: i64,
    pub at: Time,
    pub actor: String,
    pub kind: String,
    pub refs: Vec<String>,
    pub decision: Decision,
    /// Base64 of the hash of the leaf before.
    pub prev: String,
    /// The event with its `type`; `None` once erased.
    pub event: Option<Value>,
    /// The token that the call was made with, if one was; none once erased.
    pub token_id: Option<String>,
    /// All on whose behalf it was done, the nearest first; empty once erased.
    pub on_behalf_of: Vec<String>,
    /// Under which version of the policies it was decided.
    pub policy: PolicyStamp,
    /// The ids of the policies that determined it; empty once erased.
    pub policies: Vec<String>,
    /// The operation that was decided, on the first event that its decision led to; none once erased.
    pub decided: Option<String>,
}

/// Which way to read, and from where.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Events after this seq, oldest first.
    After(i64),
    /// Events after the first and up to the second seq, oldest first.
    Between(i64, i64),
    /// All events, newest first.
    Newest,
}

const CHUNK: i64 = 512;

#[derive(Deserialize)]
struct LeafView {
    actor: String,
    decision: Decision,
    policy: PolicyStamp,
    prev: String,
    refs: Vec<String>,
    ts: i64,
    r#type: String,
}

#[derive(Deserialize)]
struct PayloadView {
    event: Value,
    #[serde(default)]
    gate: GateView,
}

#[derive(Default, Deserialize)]
struct GateView {
    #[serde(default)]
    token_id: Option<String>,
    #[serde(default)]
    on_behalf_of: Vec<String>,
    #[serde(default)]
    policies: Vec<String>,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    asked: Option<IgnoredAny>,
}

impl Filter {
    fn matches(&self, logged: &Logged) -> bool {
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| *kind == logged.kind))
            && self.actor.as_ref().is_none_or(|actor| *actor == logged.actor)
            && self.refs.iter().all(|id| logged.refs.contains(id))
    }

    /// The index keys that narrow the search most; none if nothing does.
    fn keys(&self) -> Vec<i64> {
        if let Some(id) = self.refs.first() {
            vec![index::key("ref", id)]
        } else if !self.kinds.is_empty() {
            self.kinds.iter().map(|kind| index::key("type", kind)).collect()
        } else {
            self.actor.iter().map(|actor| index::key("actor", actor)).collect()
        }
    }
}

/// Hands each matching event to `each`, until it breaks or the log ends.
pub fn scan(
    conn: &Connection,
    order: Order,
    filter: &Filter,
    each: &mut dyn FnMut(Logged) -> Result<ControlFlow<()>, Fault>,
) -> Result<(), Fault> {
    let (mut at, to, descending) = match order {
        Order::After(seq) => (seq, i64::MAX, false),
        Order::Between(seq, to) => (seq, to, false),
        Order::Newest => (i64::MAX, i64::MAX, true),
    };
    let keys = filter.keys();
    loop {
        let seqs = chunk(conn, at, descending, &keys)?;
        let Some(last) = seqs.last().copied() else { return Ok(()) };
        at = last;
        for seq in seqs {
            if seq > to {
                return Ok(());
            }
            effort::spend(1);
            let logged = one(conn, seq)?;
            if filter.matches(&logged) && each(logged)?.is_break() {
                return Ok(());
            }
        }
    }
}

/// The next seqs that may match: by index where it reaches, and all of the newest, which it does not cover yet.
fn chunk(conn: &Connection, at: i64, descending: bool, keys: &[i64]) -> Result<Vec<i64>, Fault> {
    let direction = if descending { "DESC" } else { "ASC" };
    // One lower bound: given two, SQLite would use either.
    let (above, below) = if descending { (0, at) } else { (at, i64::MAX) };
    let entries =
        format!("SELECT seq FROM log_entry WHERE seq > ?1 AND seq < ?2 ORDER BY seq {direction} LIMIT {CHUNK}");
    if keys.is_empty() {
        return seqs(conn, &entries, &[above, below]);
    }
    let mut found = seqs(conn, &entries, &[above.max(index::covered(last_seq(conn)?)), below])?;
    // Each key gives some of its seqs; beyond the nearest end of those that have more, nothing is known yet.
    let mut end: Option<i64> = None;
    for key in keys {
        let (some, more) = index::seqs(conn, *key, at, descending)?;
        let nearer = |end: i64, last: i64| if descending { end.max(last) } else { end.min(last) };
        if let (true, Some(last)) = (more, some.last().copied()) {
            end = Some(end.map_or(last, |end| nearer(end, last)));
        }
        found.extend(some);
    }
    found.retain(|seq| end.is_none_or(|end| if descending { *seq >= end } else { *seq <= end }));
    found.sort_unstable();
    found.dedup();
    if descending {
        found.reverse();
    }
    found.truncate(CHUNK as usize);
    Ok(found)
}

fn seqs(conn: &Connection, sql: &str, values: &[i64]) -> Result<Vec<i64>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let seqs = statement.query_map(params_from_iter(values), |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(seqs)
}

/// One entry.
pub fn one(conn: &Connection, seq: i64) -> Result<Logged, Fault> {
    let (leaf, body): (Vec<u8>, Option<Vec<u8>>) = conn
        .prepare_cached("SELECT leaf, body FROM log_entry WHERE seq = ?")?
        .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let leaf: LeafView = serde_json::from_slice(&leaf)?;
    let payload = body.map(|body| serde_json::from_slice::<PayloadView>(&body)).transpose()?;
    let (event, gate) = payload.map(|payload| (payload.event, payload.gate)).unzip();
    let gate: GateView = gate.unwrap_or_default();
    Ok(Logged {
        seq,
        at: Time(leaf.ts),
        actor: leaf.actor,
        kind: leaf.r#type,
        refs: leaf.refs,
        decision: leaf.decision,
        prev: leaf.prev,
        event,
        token_id: gate.token_id,
        on_behalf_of: gate.on_behalf_of,
        policy: leaf.policy,
        policies: gate.policies,
        decided: gate.asked.map(|_| gate.operation),
    })
}

/// One entry, read for the decision in it.
#[derive(Clone, Debug)]
pub struct Decided {
    pub seq: i64,
    pub at: Time,
    pub actor: String,
    pub kind: String,
    pub decision: Decision,
    /// Under which key its answer may be kept.
    pub idem: Option<Vec<u8>>,
    /// The payload as it is stored; `None` once erased.
    pub payload: Option<Vec<u8>>,
}

#[derive(Deserialize)]
struct DecidedView<'a> {
    #[serde(borrow)]
    actor: Cow<'a, str>,
    decision: Decision,
    #[serde(borrow)]
    idem: Option<Cow<'a, str>>,
    ts: i64,
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

/// Hands the entries after `seq` to `each`, up to and with `last`, oldest first. Takes memory for one entry, and holds no
/// read of the file open for long.
pub fn decided(
    conn: &Connection,
    mut seq: i64,
    last: i64,
    each: &mut dyn FnMut(Decided) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let sql = format!("SELECT seq, leaf, body FROM log_entry WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT {CHUNK}");
    let mut statement = conn.prepare_cached(&sql)?;
    while seq < last {
        let mut rows = statement.query([seq, last])?;
        let before = seq;
        while let Some(row) = rows.next()? {
            seq = row.get(0)?;
            let view: DecidedView<'_> =
                serde_json::from_slice(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
            each(Decided {
                seq,
                at: Time(view.ts),
                actor: view.actor.into_owned(),
                kind: view.r#type.into_owned(),
                decision: view.decision,
                idem: view.idem.and_then(|key| BASE64.decode(key.as_bytes()).ok()),
                payload: row.get(2)?,
            })?;
        }
        if seq == before {
            break;
        }
    }
    Ok(())
}

/// What stands of an entry: its leaf, and salt and body unless they were erased.
type Bytes = (Vec<u8>, Option<([u8; 32], Vec<u8>)>);

pub(super) fn stored(conn: &Connection, seq: u64) -> Result<Bytes, Fault> {
    let mut statement = conn.prepare_cached("SELECT leaf, salt, body FROM log_entry WHERE seq = ?")?;
    Ok(statement.query_row([seq as i64], |row| {
        let (salt, body): (Option<[u8; 32]>, Option<Vec<u8>>) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, salt.zip(body)))
    })?)
}

/// The number of the newest entry of this time or before; 0 where there is none. Times never go back.
pub fn last_until(conn: &Connection, at: Time) -> Result<i64, Fault> {
    let (mut below, mut above) = (0, last_seq(conn)? + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if one(conn, middle)?.at <= at { below = middle } else { above = middle }
    }
    Ok(below)
}

/// The newest event number.
pub fn last_seq(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached("SELECT coalesce(max(seq), 0) FROM log_entry")?.query_row([], |row| row.get(0))?)
}

/// A published checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub size: u64,
    pub root: Vec<u8>,
    pub at: Time,
    pub note: String,
}

/// Published checkpoints of fewer than `before` entries, newest first.
pub fn checkpoints(conn: &Connection, before: u64, limit: usize) -> Result<Vec<Published>, Fault> {
    let mut statement = conn
        .prepare_cached("SELECT size, root, ts, note FROM log_checkpoint WHERE size < ? ORDER BY size DESC LIMIT ?")?;
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let rows = statement.query_map([before, limit as i64], checkpoint)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Published checkpoints of more than `after` entries and at the most `last`, oldest first.
pub(super) fn published(conn: &Connection, after: u64, last: u64) -> Result<Vec<Published>, Fault> {
    let sql = "SELECT size, root, ts, note FROM log_checkpoint WHERE size > ? AND size <= ? ORDER BY size";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([after as i64, last as i64], checkpoint)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<Published> {
    let (size, at): (i64, i64) = (row.get(0)?, row.get(2)?);
    Ok(Published { size: size as u64, root: row.get(1)?, at: Time(at), note: row.get(3)? })
}
