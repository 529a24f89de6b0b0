//! A tiny log writer for tests. It is naive on purpose: trees by the recursive definition of RFC 6962 §2.1, everything
//! in memory. What it makes can be tampered with field by field before it is laid down as a state file or an export.

use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer, SigningKey};
use ok::log::verify::{Ask, Report, verify_export, verify_sqlite};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Mutex;

pub type Hash = [u8; 32];
pub const ORIGIN: &str = "ok.example/01JZ0000000000000000000000/1";

pub fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

pub fn b64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

pub fn sha(parts: &[&[u8]]) -> Hash {
    Sha256::digest(parts.concat()).into()
}

pub fn leaf_hash(leaf: &[u8]) -> Hash {
    sha(&[&[0], leaf])
}

/// MTH of RFC 6962 §2.1, over leaf hashes.
pub fn root(hashes: &[Hash]) -> Hash {
    match hashes {
        [] => sha(&[]),
        [one] => *one,
        _ => {
            let (left, right) = hashes.split_at(hashes.len().next_power_of_two() / 2);
            sha(&[&[1], &root(left), &root(right)])
        }
    }
}

/// PATH of RFC 6962 §2.1.1.
pub fn inclusion(m: usize, hashes: &[Hash]) -> Vec<Hash> {
    if hashes.len() < 2 {
        return vec![];
    }
    let k = hashes.len().next_power_of_two() / 2;
    let (left, right) = hashes.split_at(k);
    let (mut path, other) = if m < k { (inclusion(m, left), right) } else { (inclusion(m - k, right), left) };
    path.push(root(other));
    path
}

/// SUBPROOF of RFC 6962 §2.1.2.
pub fn consistency(m: usize, hashes: &[Hash], is_whole: bool) -> Vec<Hash> {
    if m == hashes.len() {
        return if is_whole { vec![] } else { vec![root(hashes)] };
    }
    let k = hashes.len().next_power_of_two() / 2;
    let (left, right) = hashes.split_at(k);
    let (mut path, other) =
        if m <= k { (consistency(m, left, is_whole), right) } else { (consistency(m - k, right, false), left) };
    path.push(root(other));
    path
}

fn key_id(key: &SigningKey) -> Vec<u8> {
    sha(&[ORIGIN.as_bytes(), b"\n\x01", key.verifying_key().as_bytes()])[..4].to_vec()
}

pub fn vkey(key: &SigningKey) -> String {
    let blob = [&[1], key.verifying_key().as_bytes().as_slice()].concat();
    format!("{ORIGIN}+{}+{}", hex::encode(key_id(key)), b64(blob))
}

pub fn note(key: &SigningKey, size: usize, root: &Hash) -> String {
    let body = format!("{ORIGIN}\n{size}\n{}\n", b64(root));
    let blob = [key_id(key), key.sign(body.as_bytes()).to_bytes().to_vec()].concat();
    format!("{body}\n— {ORIGIN} {}\n", b64(blob))
}

/// The fields of a leaf that tests vary.
#[derive(Clone)]
pub struct Event {
    pub seq: u64,
    pub ts: u64,
    pub actor: String,
    pub kind: &'static str,
    pub refs: Vec<String>,
    pub salt: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
    pub commitment: Hash,
}

impl Event {
    pub fn new(seq: u64) -> Event {
        Event::of(seq, "run_started")
    }

    pub fn of(seq: u64, kind: &'static str) -> Event {
        let body = format!("{{\"event\":{{\"n\":{seq},\"type\":\"{kind}\"}},\"gate\":{{}}}}").into_bytes();
        let salt = sha(&[b"salt", &seq.to_be_bytes()]).to_vec();
        Event {
            seq,
            ts: 1_700_000_000_000 + seq / 3,
            actor: "agt_01JZ0000000000000000000000".into(),
            kind,
            refs: vec!["run_1".into(), "run_2".into()],
            commitment: sha(&[b"ok/payload/v1\0", &salt, &body]),
            salt: Some(salt),
            body: Some(body),
        }
    }

    /// Another payload, rightly committed to.
    pub fn holds(&mut self, body: &str) {
        let salt = self.salt.clone().unwrap_or_default();
        self.commitment = sha(&[b"ok/payload/v1\0", &salt, body.as_bytes()]);
        self.body = Some(body.into());
    }

    pub fn leaf(&self, prev: &Hash) -> Vec<u8> {
        let idem =
            if self.seq.is_multiple_of(2) { format!("\"idem\":\"{}\",", b64(sha(&[b"idem"]))) } else { "".into() };
        let refs: Vec<String> = self.refs.iter().map(|r| format!("\"{r}\"")).collect();
        let policy = if self.seq < 3 { ("".into(), 0) } else { (hex::encode(sha(&[b"policy"])), 4) };
        format!(
            "{{\"actor\":\"{}\",\"c\":\"{}\",\"decision\":\"allow\",{idem}\"origin\":\"{ORIGIN}\",\"policy\":{{\"hash\":\"{}\",\
             \"seq\":{}}},\"prev\":\"{}\",\"refs\":[{}],\"seq\":{},\"ts\":{},\"type\":\"{}\",\"v\":1}}",
            self.actor, b64(self.commitment), policy.0, policy.1, b64(prev), refs.join(","), self.seq, self.ts, self.kind
        )
        .into_bytes()
    }
}

/// The leaves of events, each linked to the one before.
pub fn chain(events: &[Event]) -> Vec<Vec<u8>> {
    let mut prev = [0; 32];
    let link = |event: &Event| {
        let leaf = event.leaf(&prev);
        prev = leaf_hash(&leaf);
        leaf
    };
    events.iter().map(link).collect()
}

#[derive(Clone)]
pub struct Checkpoint {
    pub size: i64,
    pub root: Vec<u8>,
    pub note: Vec<u8>,
}

/// Number, salt and body.
type Payload = (i64, Option<Vec<u8>>, Option<Vec<u8>>);

/// A log in pieces.
pub struct Pieces {
    pub entries: Vec<(i64, Vec<u8>)>,
    pub payloads: Vec<Payload>,
    pub tiles: BTreeMap<(i64, i64), Vec<u8>>,
    pub head: Checkpoint,
    pub vkey: Vec<u8>,
    pub origin: Vec<u8>,
    pub published: Vec<Checkpoint>,
}

impl Pieces {
    /// A log of `size` plain events with a checkpoint published at every `every`-th.
    pub fn plain(size: u64, every: usize) -> Pieces {
        Pieces::of(&(1..=size).map(Event::new).collect::<Vec<_>>(), every)
    }

    pub fn of(events: &[Event], every: usize) -> Pieces {
        let leaves = chain(events);
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
        let checkpoint = |size: usize| checkpoint(&hashes[..size]);
        Pieces {
            payloads: events.iter().map(|e| (e.seq as i64, e.salt.clone(), e.body.clone())).collect(),
            entries: (1..).zip(leaves).collect(),
            tiles: tiles(&hashes),
            head: checkpoint(hashes.len()),
            vkey: vkey(&key()).into_bytes(),
            origin: ORIGIN.into(),
            published: (1..=hashes.len()).filter(|size| size.is_multiple_of(every)).map(checkpoint).collect(),
        }
    }

    pub fn leaf(&mut self, seq: u64) -> &mut Vec<u8> {
        &mut self.entries[seq as usize - 1].1
    }

    /// Gives entries and payloads the numbers of their places.
    pub fn renumber(&mut self) {
        (1..).zip(&mut self.entries).for_each(|(place, entry)| entry.0 = place);
        (1..).zip(&mut self.payloads).for_each(|(place, payload)| payload.0 = place);
    }

    pub fn sqlite(&self) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE TABLE log_entry(seq INTEGER PRIMARY KEY, leaf, salt, body);
             CREATE TABLE log_tile(level, idx, hashes, PRIMARY KEY(level, idx));
             CREATE TABLE log_head(id INTEGER PRIMARY KEY, origin, vkey, size, root, ts, note, epoch);
             CREATE TABLE log_checkpoint(size INTEGER PRIMARY KEY, root, ts, note);
             BEGIN;",
        )
        .unwrap();
        let payloads: BTreeMap<i64, _> = self.payloads.iter().map(|(seq, salt, body)| (*seq, (salt, body))).collect();
        for (seq, leaf) in &self.entries {
            let (salt, body) = payloads.get(seq).map_or((&None, &None), |pair| *pair);
            let mut insert = db.prepare_cached("INSERT INTO log_entry VALUES (?, ?, ?, ?)").unwrap();
            insert.execute((seq, leaf, salt, body)).unwrap();
        }
        for ((level, index), hashes) in &self.tiles {
            db.execute("INSERT INTO log_tile VALUES (?, ?, ?)", (level, index, hashes)).unwrap();
        }
        let Checkpoint { size, root, note } = &self.head;
        let head = "INSERT INTO log_head VALUES (1, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, 0, CAST(? AS TEXT), 1)";
        db.execute(head, (&self.origin, &self.vkey, size, root, note)).unwrap();
        for Checkpoint { size, root, note } in &self.published {
            db.execute("INSERT INTO log_checkpoint VALUES (?, ?, 0, CAST(? AS TEXT))", (size, root, note)).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
        db
    }

    pub fn export(&self, dir: &std::path::Path) {
        let payload = |(seq, salt, body): &Payload| match (salt, body) {
            (Some(salt), Some(body)) => {
                format!("{{\"seq\":{seq},\"salt\":\"{}\",\"payload\":\"{}\"}}\n", b64(salt), b64(body))
            }
            _ => format!("{{\"seq\":{seq}}}\n"),
        };
        let leaves: Vec<Vec<u8>> = self.entries.iter().map(|(_, leaf)| [leaf, &b"\n"[..]].concat()).collect();
        let published: Vec<Vec<u8>> = self.published.iter().map(|c| [&c.note, &b"--\n"[..]].concat()).collect();
        std::fs::write(dir.join("checkpoint"), &self.head.note).unwrap();
        std::fs::write(dir.join("vkey"), [&self.vkey, &b"\n"[..]].concat()).unwrap();
        std::fs::write(dir.join("leaves.jsonl"), leaves.concat()).unwrap();
        std::fs::write(dir.join("payloads.jsonl"), self.payloads.iter().map(payload).collect::<String>()).unwrap();
        std::fs::write(dir.join("checkpoints"), published.concat()).unwrap();
    }

    /// The verdicts on the log as a state file and as an export.
    pub fn verdicts(&self, ask: &Ask<'_>) -> [Report; 2] {
        let dir = tempfile::tempdir().unwrap();
        self.export(dir.path());
        [verify_sqlite(&self.sqlite(), ask).unwrap(), verify_export(dir.path(), ask).unwrap()]
    }
}

/// The checkpoint over leaves. It is made once: a leaf names the one before, so the last of them stands for all.
fn checkpoint(hashes: &[Hash]) -> Checkpoint {
    static MADE: Mutex<BTreeMap<Option<Hash>, Checkpoint>> = Mutex::new(BTreeMap::new());
    let (last, size) = (hashes.last().copied(), hashes.len());
    if let Some(made) = MADE.lock().unwrap().get(&last) {
        return made.clone();
    }
    let root = root(hashes);
    let made = Checkpoint { size: size as i64, note: note(&key(), size, &root).into_bytes(), root: root.to_vec() };
    MADE.lock().unwrap().insert(last, made.clone());
    made
}

fn tiles(leaves: &[Hash]) -> BTreeMap<(i64, i64), Vec<u8>> {
    let (mut tiles, mut level, mut hashes) = (BTreeMap::new(), 0, leaves.to_vec());
    while hashes.len() >= 256 {
        let full = hashes.as_chunks::<256>().0;
        tiles.extend((0..).zip(full).map(|(index, tile)| ((level, index), tile.concat())));
        hashes = full.iter().map(|tile| root(tile)).collect();
        level += 1;
    }
    tiles
}
