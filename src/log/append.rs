//! The growing end of the log. Entries are staged in the caller's transaction of the state file, and what is committed
//! ends with a signed head, so no unsigned entry is ever durable. After a failed commit the tail in memory is worthless:
//! resume.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::checkpoint::Signer;
use super::head::{self, Head, Mark, Tip};
use super::idem::{self, KeptAnswer};
use super::index::Unindexed;
use super::journal::{Batch, Journal, NotCommitted};
use super::read::{self, Published};
use super::record::{self, Entry, Place};
use super::tree::{FullTile, Hash, Peaks, TILE, TILE_HEIGHT, Tree, leaf_hash};
use types::refusal::Fault;
use types::time::{SECOND, Time};

/// The log's tables.
pub const SCHEMA: &str = include_str!("schema.sql");

/// A checkpoint is published at least this often while the log grows.
pub(super) const PUBLISH_MS: i64 = SECOND;
pub(super) const PUBLISH_EVENTS: u64 = 256;
/// More owners than a state file can have had.
const MOST_OWNERS: i64 = 1 << 40;

pub struct Tail {
    pub(super) signer: Signer,
    /// The lines of the keys before this one, each after its line end.
    former: String,
    tree: Tree,
    unindexed: Unindexed,
    pub(super) prev: Hash,
    pub(super) ts: Time,
    epoch: i64,
    /// The signature under it.
    owner: [u8; 64],
    pub(super) published: (u64, Time),
    /// The head that the open batch continues; none before the log has begun.
    pub(super) after: Option<Mark>,
    open: Open,
}

/// What the open batch holds beside its entries.
#[derive(Default)]
struct Open {
    kept: Vec<(u64, [u8; 32])>,
    erased: Vec<i64>,
    forgotten: Vec<Vec<u8>>,
    published: Vec<Published>,
    /// Its own checkpoint is to be published.
    publishes: bool,
}

impl Tail {
    /// Before the first entry of a log.
    pub fn create(signer: Signer, now: Time) -> Tail {
        Tail {
            signer,
            former: String::new(),
            tree: Tree::default(),
            unindexed: Unindexed::default(),
            prev: [0; 32],
            ts: now,
            epoch: 0,
            owner: [0; 64],
            published: (0, now),
            after: None,
            open: Open::default(),
        }
    }

    /// Picks up a log where it was left. Refuses one whose head this key did not sign or whose tree does not lead to it.
    pub fn resume(conn: &Connection, signer: Signer) -> Result<Tail, Fault> {
        let Tip { head, epoch, owner } = head::tip(conn)?.ok_or_else(no_head)?;
        if signer.vkey() != head.vkey() {
            return Err(another_key());
        }
        if signer.sign(head.size, &head.root) != head.note || signer.sign_owner(epoch)[..] != owner[..] {
            return Err(astray());
        }
        let former = head.vkeys.get(head.vkey().len()..).unwrap_or_default().to_owned();
        Tail::at(conn, head, signer, former, epoch)
    }

    /// Picks up a log whose key is lost, with another one, which signs the newest checkpoint over: kept for good, it bears
    /// both signatures. Whether the log is whole is for the caller to know.
    pub fn adopt(conn: &Connection, signer: Signer, now: Time) -> Result<Tail, Fault> {
        let Tip { head, epoch, .. } = head::tip(conn)?.ok_or_else(no_head)?;
        let former = format!("\n{} {}", head.size, head.vkeys);
        let note = format!("{}{}", head.note, signer.signature(head.size, &head.root));
        let mut tail = Tail::at(conn, head.clone(), signer, former, epoch)?;
        tail.publish(conn, &Head { note, ..head }, now)?;
        Ok(tail)
    }

    fn at(conn: &Connection, head: Head, signer: Signer, former: String, epoch: i64) -> Result<Tail, Fault> {
        let tree = resume_tree(conn, head.size)?;
        if tree.root() != head.root {
            return Err(astray());
        }
        let prev = hash_of(conn, head.size)?;
        let published = conn
            .query_row("SELECT size, ts FROM log_checkpoint ORDER BY size DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, i64>(0)? as u64, Time(row.get(1)?)))
            })
            .optional()?
            .unwrap_or((0, head.ts));
        let unindexed = Unindexed::resume(conn, head.size)?;
        let after = Some(Mark { size: head.size, epoch });
        let (owner, open) = (signer.sign_owner(epoch), Open::default());
        Ok(Tail { signer, former, tree, unindexed, prev, ts: head.ts, epoch, owner, published, after, open })
    }

    /// Returns to the contents of the state file after the transaction of the open batch was rolled back.
    pub fn rolled_back(&mut self, conn: &Connection) -> Result<(), Fault> {
        *self = Tail::resume(conn, self.signer.clone())?;
        Ok(())
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

    /// Where it ends: its size, and the hash of its last entry, which all before it lead to.
    pub fn end(&self) -> (u64, Hash) {
        (self.size(), self.prev)
    }

    /// Whether it has come past an end, or to it.
    pub fn has(&self, conn: &Connection, (size, hash): (u64, Hash)) -> Result<bool, Fault> {
        Ok(size <= self.size() && hash_of(conn, size)? == hash)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { size: self.size(), epoch: self.epoch }
    }

    /// Returns the latest time in the log: that of its newest entry or checkpoint. No later entry gets an earlier time,
    /// whatever the machine's clock says.
    pub fn latest(&self) -> Time {
        self.ts().max(self.published.1)
    }

    pub fn ts(&self) -> Time {
        self.ts
    }

    /// Which owner of the state file this is, counted from the first.
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Makes this process the owner with the next batch: from then on, writers with an older epoch are fenced off.
    /// Fails if the epoch is one that no owner can have had, because the next owner could not be told from it.
    pub fn take_over(&mut self) -> Result<(), Fault> {
        let next = self.epoch.checked_add(1).filter(|next| (1..=MOST_OWNERS).contains(next));
        let broken = || Fault::Broken(format!("{} is no number of an owner of the state file", self.epoch));
        self.be_owned(next.ok_or_else(broken)?);
        Ok(())
    }

    pub(super) fn be_owned(&mut self, epoch: i64) {
        self.epoch = epoch;
        self.owner = self.signer.sign_owner(epoch);
    }

    /// Refuses to go on if anyone else has written to the state file since.
    pub fn fence(&self, conn: &Connection) -> Result<(), NotCommitted> {
        NotCommitted::unless_at(self.after, head::mark(conn)?)
    }

    /// Appends one entry and returns its seq. Nothing is durable until the batch is committed.
    pub fn append(&mut self, conn: &Connection, entry: &Entry, now: Time, salt: [u8; 32]) -> Result<i64, Fault> {
        self.ts = self.ts.max(now);
        let place = Place { origin: self.signer.origin(), seq: self.next(), prev: self.prev, ts: self.ts, salt };
        let leaf = record::leaf(entry, &place)?;
        let keys = Keys { kind: entry.kind, actor: entry.actor.as_str(), refs: &entry.refs };
        self.put(conn, &leaf, Some((&salt, &entry.payload)), &keys)
    }

    /// Stages a row: into the file, the index and the tree.
    pub(super) fn put(
        &mut self,
        conn: &Connection,
        leaf: &[u8],
        payload: Option<(&[u8; 32], &[u8])>,
        keys: &Keys<'_>,
    ) -> Result<i64, Fault> {
        let seq = self.next();
        let (salt, body) = payload.unzip();
        conn.prepare_cached("INSERT INTO log_entry (seq, leaf, salt, body) VALUES (?, ?, ?, ?)")?
            .execute(params![seq, leaf, salt, body])?;
        self.unindexed.push(seq, keys.kind, keys.actor, keys.refs);
        self.prev = leaf_hash(leaf);
        let full = self.tree.push(self.prev);
        if !full.is_empty() {
            self.unindexed.write(conn)?;
        }
        full.iter().try_for_each(|tile| write_tile(conn, tile))?;
        Ok(seq)
    }

    /// Keeps an answer with the entry that comes next.
    pub fn keep(&mut self, conn: &Connection, kept: &KeptAnswer, at: Time) -> Result<(), Fault> {
        idem::keep(conn, kept, at)?;
        self.open.kept.push((self.size() + 1, kept.key));
        Ok(())
    }

    /// Erases the content of an entry and the answer that was kept with it. The caller must have appended the entry
    /// that declares the erasure.
    pub fn erase(&mut self, conn: &Connection, seq: i64) -> Result<(), Fault> {
        self.open.forgotten.extend(erase(conn, seq)?);
        self.open.erased.push(seq);
        Ok(())
    }

    /// Signs what was appended, and has it committed; the last thing before the commit of the state file. Gives the new head,
    /// if there is one.
    pub fn commit(
        &mut self,
        journal: &dyn Journal,
        conn: &Connection,
        now: Time,
    ) -> Result<Option<Head>, NotCommitted> {
        let (size, at) = self.published;
        let is_grown = self.after.is_none_or(|after| after.size < self.size());
        let is_due = is_grown && (self.size() >= size + PUBLISH_EVENTS || now.0 >= at.0 + PUBLISH_MS);
        let publishes = (is_due || self.open.publishes) && self.size() > size;
        if self.after == Some(self.mark()) && !publishes {
            return Ok(None);
        }
        let tip = self.tip();
        if publishes {
            self.publish(conn, &tip.head, now)?;
        }
        let Open { kept, erased, forgotten, published, .. } = &self.open;
        let batch = Batch { file: conn, after: self.after, tip: &tip, kept, erased, forgotten, published };
        journal.commit(&batch)?;
        self.after = Some(tip.mark());
        self.open = Open::default();
        head::set(conn, &tip).map_err(NotCommitted::Unknown)?;
        Ok(Some(tip.head))
    }

    /// Whether a checkpoint is due that no append has published.
    pub fn publish_due(&self, now: Time) -> bool {
        self.size() > self.published.0 && now.0 >= self.published.1.0 + PUBLISH_MS
    }

    /// The next batch keeps its checkpoint for good, unless it is kept already; if there is no other, for that alone.
    pub fn publish_newest(&mut self) {
        self.open.publishes = true;
    }

    fn publish(&mut self, conn: &Connection, head: &Head, now: Time) -> Result<(), Fault> {
        // Nothing is published before it happened, nor before what was published before it.
        let at = now.max(self.ts).max(self.published.1);
        let published = Published { size: head.size, root: head.root.to_vec(), at, note: head.note.clone() };
        self.put_checkpoint(conn, &published)?;
        self.open.published.push(published);
        Ok(())
    }

    pub(super) fn put_checkpoint(&mut self, conn: &Connection, published: &Published) -> Result<(), Fault> {
        let Published { size, root, at, note } = published;
        conn.prepare_cached("INSERT OR REPLACE INTO log_checkpoint (size, root, ts, note) VALUES (?, ?, ?, ?)")?
            .execute(params![*size as i64, root, at.0, note])?;
        self.published = (*size, *at);
        Ok(())
    }

    /// The head as it is now, signed.
    pub fn tip(&self) -> Tip {
        let root = self.tree.root();
        let head = Head {
            origin: self.origin().to_owned(),
            size: self.size(),
            root,
            ts: self.ts,
            note: self.signer.sign(self.size(), &root),
            vkeys: format!("{}{}", self.signer.vkey(), self.former),
        };
        Tip { head, epoch: self.epoch, owner: self.owner.to_vec() }
    }
}

/// What the index finds an entry by.
pub(super) struct Keys<'a> {
    pub kind: &'a str,
    pub actor: &'a str,
    pub refs: &'a [String],
}

/// The hash of an entry; of the one before the first, zeros.
fn hash_of(conn: &Connection, seq: u64) -> Result<Hash, Fault> {
    if seq == 0 {
        return Ok([0; 32]);
    }
    let leaf = "SELECT leaf FROM log_entry WHERE seq = ?";
    Ok(leaf_hash(&conn.query_row(leaf, [seq as i64], |row| row.get::<_, Vec<u8>>(0))?))
}

fn no_head() -> Fault {
    Fault::Broken("the log has no head".into())
}

fn astray() -> Fault {
    Fault::Broken("the log does not lead to its signed head; run `ok audit verify`, nothing was changed".into())
}

fn another_key() -> Fault {
    let message = "the key beside the state file is not the one that this log is signed with: restore its own; if that is lost, \
                   move this one away and run `ok audit rekey`. Nothing was changed";
    Fault::Broken(message.into())
}

fn write_tile(conn: &Connection, tile: &FullTile) -> Result<(), Fault> {
    conn.prepare_cached("INSERT INTO log_tile (level, idx, hashes) VALUES (?, ?, ?)")?.execute(params![
        tile.level,
        tile.index as i64,
        tile.hashes.as_flattened()
    ])?;
    Ok(())
}

/// Erases the content of an entry and the answer that was kept with it, whose key it gives; the leaf stays.
pub fn erase(conn: &Connection, seq: i64) -> Result<Option<Vec<u8>>, Fault> {
    let mut key = None;
    read::decided(conn, seq - 1, seq, &mut |entry| {
        if let Some(bytes) = entry.idem.as_deref().and_then(|key| key.try_into().ok()) {
            idem::erase(conn, bytes, entry.at)?;
        }
        key = entry.idem;
        Ok(())
    })?;
    conn.execute("UPDATE log_entry SET salt = NULL, body = NULL WHERE seq = ?", [seq])?;
    Ok(key)
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
