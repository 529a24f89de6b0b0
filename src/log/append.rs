//! The growing end of the log. Entries go in inside the caller's transaction, and the same transaction ends with a
//! signed head, so no unsigned entry is ever durable. After a failed commit the tail in memory is worthless: resume.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::checkpoint::Signer;
use super::index::Unindexed;
use super::record::{self, Entry, Place};
use super::tree::{FullTile, Hash, Peaks, TILE, TILE_HEIGHT, Tree, leaf_hash};
use crate::types::refusal::Fault;
use crate::types::time::{SECOND, Time};

/// The log's tables.
pub const SCHEMA: &str = include_str!("schema.sql");

/// A checkpoint is published at least this often while the log grows.
const PUBLISH_MS: i64 = SECOND;
const PUBLISH_EVENTS: u64 = 256;
/// More owners than a state file can have had.
const MOST_OWNERS: i64 = 1 << 40;

/// The log's newest state, as sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    pub ts: Time,
    pub note: String,
    /// The verifier key and, where it stands in for a lost one, those before it: a line each, as
    /// docs/concepts/log-format.md has them.
    pub vkeys: String,
}

impl Head {
    /// The key that the log is signed with now.
    pub fn vkey(&self) -> &str {
        self.vkeys.lines().next().unwrap_or_default()
    }
}

pub struct Tail {
    signer: Signer,
    /// The lines of the keys before this one, each after its line end.
    former: String,
    tree: Tree,
    unindexed: Unindexed,
    prev: Hash,
    ts: Time,
    epoch: i64,
    /// The signature under it.
    owner: [u8; 64],
    published: (u64, Time),
}

impl Tail {
    /// Begins a log.
    pub fn create(conn: &Connection, signer: Signer, now: Time) -> Result<Tail, Fault> {
        let mut tail = Tail {
            signer,
            former: String::new(),
            tree: Tree::default(),
            unindexed: Unindexed::default(),
            prev: [0; 32],
            ts: now,
            epoch: 0,
            owner: [0; 64],
            published: (0, now),
        };
        tail.take_over(conn)?;
        Ok(tail)
    }

    /// Picks up a log where it was left. Refuses one whose head this key did not sign or whose tree does not lead to it.
    pub fn resume(conn: &Connection, signer: Signer) -> Result<Tail, Fault> {
        let head = head(conn)?.ok_or_else(|| Fault::Broken("the log has no head".into()))?;
        if signer.vkey() != head.vkey() {
            return Err(another_key());
        }
        let (epoch, owner) = owner(conn)?;
        if signer.sign(head.size, &head.root) != head.note || signer.sign_owner(epoch)[..] != owner[..] {
            return Err(astray());
        }
        let former = head.vkeys.get(head.vkey().len()..).unwrap_or_default().to_owned();
        Tail::at(conn, head, signer, former, epoch)
    }

    /// Picks up a log whose key is lost, with another one, which signs the newest checkpoint over: kept for good, it bears
    /// both signatures. Whether the log is whole is for the caller to know.
    pub fn adopt(conn: &Connection, signer: Signer, now: Time) -> Result<Tail, Fault> {
        let head = head(conn)?.ok_or_else(|| Fault::Broken("the log has no head".into()))?;
        let (epoch, _) = owner(conn)?;
        let former = format!("\n{} {}", head.size, head.vkeys);
        let note = format!("{}{}", head.note, signer.signature(head.size, &head.root));
        conn.execute("DELETE FROM log_checkpoint WHERE size = ?", [head.size as i64])?;
        let mut tail = Tail::at(conn, head.clone(), signer, former, epoch)?;
        tail.publish(conn, &Head { note, ..head }, now)?;
        Ok(tail)
    }

    fn at(conn: &Connection, head: Head, signer: Signer, former: String, epoch: i64) -> Result<Tail, Fault> {
        let tree = resume_tree(conn, head.size)?;
        if tree.root() != head.root {
            return Err(astray());
        }
        let prev = match head.size {
            0 => [0; 32],
            size => leaf_hash(&conn.query_row("SELECT leaf FROM log_entry WHERE seq = ?", [size as i64], |row| {
                row.get::<_, Vec<u8>>(0)
            })?),
        };
        let published = conn
            .query_row("SELECT size, ts FROM log_checkpoint ORDER BY size DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, i64>(0)? as u64, Time(row.get(1)?)))
            })
            .optional()?
            .unwrap_or((0, head.ts));
        let unindexed = Unindexed::resume(conn, head.size)?;
        let owner = signer.sign_owner(epoch);
        Ok(Tail { signer, former, tree, unindexed, prev, ts: head.ts, epoch, owner, published })
    }

    pub fn origin(&self) -> &str {
        self.signer.origin()
    }

    pub fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The number of the entry that comes next.
    pub fn next(&self) -> i64 {
        i64::try_from(self.size()).unwrap_or(i64::MAX - 1) + 1
    }

    pub fn ts(&self) -> Time {
        self.ts
    }

    /// Which owner of the state file this is, counted from the first.
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Makes this process the owner: a writer with an older epoch is fenced off from now on. A number that no owner can have
    /// had is a fault: the next owner could not be told from it.
    pub fn take_over(&mut self, conn: &Connection) -> Result<(), Fault> {
        let next = self.epoch.checked_add(1).filter(|next| (1..=MOST_OWNERS).contains(next));
        let broken = || Fault::Broken(format!("{} is no number of an owner of the state file", self.epoch));
        self.epoch = next.ok_or_else(broken)?;
        self.owner = self.signer.sign_owner(self.epoch);
        self.write_head(conn)?;
        Ok(())
    }

    /// Refuses to go on if anyone else has written since.
    pub fn fence(&self, conn: &Connection) -> Result<(), Fault> {
        let (size, epoch): (i64, i64) = conn
            .prepare_cached("SELECT size, epoch FROM log_head")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if (size as u64, epoch) == (self.size(), self.epoch) {
            Ok(())
        } else {
            Err(Fault::Broken("another program has written to the state file".into()))
        }
    }

    /// Appends one entry and returns its seq. Nothing is durable until the transaction commits.
    pub fn append(&mut self, conn: &Connection, entry: &Entry, now: Time, salt: [u8; 32]) -> Result<i64, Fault> {
        let seq = self.size() as i64 + 1;
        self.ts = self.ts.max(now);
        let place = Place { origin: self.signer.origin(), seq, prev: self.prev, ts: self.ts, salt };
        let leaf = record::leaf(entry, &place)?;
        conn.prepare_cached("INSERT INTO log_entry (seq, leaf, salt, body) VALUES (?, ?, ?, ?)")?.execute(params![
            seq,
            leaf,
            salt,
            entry.payload
        ])?;
        self.unindexed.push(seq, entry.kind, entry.actor.as_str(), &entry.refs);
        self.prev = leaf_hash(&leaf);
        let full = self.tree.push(self.prev);
        if !full.is_empty() {
            self.unindexed.write(conn)?;
        }
        full.iter().try_for_each(|tile| write_tile(conn, tile))?;
        Ok(seq)
    }

    /// Signs what was appended; the last thing before the commit.
    pub fn seal(&mut self, conn: &Connection, now: Time) -> Result<Head, Fault> {
        let head = self.write_head(conn)?;
        let (size, at) = self.published;
        if head.size >= size + PUBLISH_EVENTS || now.0 >= at.0 + PUBLISH_MS {
            self.publish(conn, &head, now)?;
        }
        Ok(head)
    }

    /// Whether a checkpoint is due that no append has published.
    pub fn publish_due(&self, now: Time) -> bool {
        self.size() > self.published.0 && now.0 >= self.published.1.0 + PUBLISH_MS
    }

    /// Keeps the newest checkpoint for good, unless it is kept already.
    pub fn publish_newest(&mut self, conn: &Connection, now: Time) -> Result<(), Fault> {
        match head(conn)? {
            Some(head) if head.size > self.published.0 => self.publish(conn, &head, now),
            _ => Ok(()),
        }
    }

    fn publish(&mut self, conn: &Connection, head: &Head, now: Time) -> Result<(), Fault> {
        conn.prepare_cached("INSERT OR IGNORE INTO log_checkpoint (size, root, ts, note) VALUES (?, ?, ?, ?)")?
            .execute(params![head.size as i64, head.root, head.ts.0, head.note])?;
        self.published = (head.size, now);
        Ok(())
    }

    fn write_head(&self, conn: &Connection) -> Result<Head, Fault> {
        let root = self.tree.root();
        let head = Head {
            origin: self.origin().to_owned(),
            size: self.size(),
            root,
            ts: self.ts,
            note: self.signer.sign(self.size(), &root),
            vkeys: format!("{}{}", self.signer.vkey(), self.former),
        };
        conn.prepare_cached(
            "INSERT OR REPLACE INTO log_head (id, origin, vkey, size, root, ts, note, epoch, owner) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![head.origin, head.vkeys, head.size as i64, head.root, head.ts.0, head.note, self.epoch, self.owner])?;
        Ok(head)
    }
}

fn astray() -> Fault {
    Fault::Broken("the log does not lead to its signed head; run `ok audit verify`, nothing was changed".into())
}

fn another_key() -> Fault {
    let message = "the key beside the state file is not the one that this log is signed with: put its own back; if that is lost, \
                   move this one away and run `ok audit rekey`. Nothing was changed";
    Fault::Broken(message.into())
}

/// Which owner the state file has, and the signature under that.
fn owner(conn: &Connection) -> Result<(i64, Vec<u8>), Fault> {
    Ok(conn.query_row("SELECT epoch, owner FROM log_head", [], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

fn write_tile(conn: &Connection, tile: &FullTile) -> Result<(), Fault> {
    conn.prepare_cached("INSERT INTO log_tile (level, idx, hashes) VALUES (?, ?, ?)")?.execute(params![
        tile.level,
        tile.index as i64,
        tile.hashes.as_flattened()
    ])?;
    Ok(())
}

/// The sealed head, if the log has begun.
pub fn head(conn: &Connection) -> Result<Option<Head>, Fault> {
    Ok(conn
        .prepare_cached("SELECT origin, size, root, ts, note, vkey FROM log_head")?
        .query_row([], |row| {
            Ok(Head {
                origin: row.get(0)?,
                size: row.get::<_, i64>(1)? as u64,
                root: row.get(2)?,
                ts: Time(row.get(3)?),
                note: row.get(4)?,
                vkeys: row.get(5)?,
            })
        })
        .optional()?)
}

/// Erases the content of an entry; the leaf stays. The caller has appended the entry that declares it.
pub fn erase(conn: &Connection, seq: i64) -> Result<(), Fault> {
    conn.execute("UPDATE log_entry SET salt = NULL, body = NULL WHERE seq = ?", [seq])?;
    Ok(())
}

fn resume_tree(conn: &Connection, size: u64) -> Result<Tree, Fault> {
    let mut open = Vec::new();
    for level in 0_u32.. {
        let complete = size.checked_shr(level * TILE_HEIGHT).unwrap_or(0);
        if complete == 0 {
            break;
        }
        let first = complete - complete % TILE as u64;
        let row = match level {
            0 => open_leaves(conn, first, complete)?,
            _ => (first..complete).map(|index| tile_root(conn, level - 1, index)).collect::<Result<_, _>>()?,
        };
        open.push(row);
    }
    Ok(Tree::resume(size, open))
}

fn open_leaves(conn: &Connection, first: u64, end: u64) -> Result<Vec<Hash>, Fault> {
    let mut statement = conn.prepare("SELECT leaf FROM log_entry WHERE seq > ? AND seq <= ? ORDER BY seq")?;
    let leaves = statement.query_map([first as i64, end as i64], |row| row.get::<_, Vec<u8>>(0))?;
    Ok(leaves.map(|leaf| leaf.map(|bytes| leaf_hash(&bytes))).collect::<Result<_, _>>()?)
}

/// The root of a full tile.
pub(super) fn tile_root(conn: &Connection, level: u32, index: u64) -> Result<Hash, Fault> {
    Ok(Peaks::root_of(&tile(conn, level, index)?))
}

/// The hashes of a full tile.
pub(super) fn tile(conn: &Connection, level: u32, index: u64) -> Result<Vec<Hash>, Fault> {
    let blob: Vec<u8> = conn
        .prepare_cached("SELECT hashes FROM log_tile WHERE level = ? AND idx = ?")?
        .query_row(params![level, index as i64], |row| row.get(0))?;
    let (hashes, rest) = blob.as_chunks::<32>();
    if hashes.len() == TILE && rest.is_empty() {
        Ok(hashes.to_vec())
    } else {
        Err(Fault::Broken(format!("tile {level}/{index} of the log has {} bytes", blob.len())))
    }
}
