//! The single walk from the first entry to the last.
//!
//! Always true: entries are visited in order, each once; the tree contains every leaf hash up to the first entry that
//! is absent or unreadable, and from there on no root is claimed.

use super::finding::Findings;
use super::keys::REKEYED;
use super::leaf::Leaf;
use super::link::{Links, Standing};
use super::mark::Marks;
use super::merkle::{self, Hash, Tree};
use super::note::Note;
use super::payload::Payloads;
use super::source::{Entry, Payload, Signed, Stored};
use super::tile::{TileCheck, WIDTH};
use super::trust::Trust;
use super::{Ask, Report, Unreadable};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// As many entries are told of whose stored hash is another.
const MOST_SUSPECTS: usize = 1_000;

/// Checks a stored log. What its source found wrong already comes in `findings`.
pub fn walk<E, P>(stored: Stored<'_, E, P>, ask: &Ask<'_>, mut findings: Findings) -> Result<Report, Unreadable>
where
    E: Iterator<Item = Result<Entry, String>>,
    P: Iterator<Item = Signed>,
{
    let trust = Trust::establish(ask, stored.vkey, stored.head, &mut findings)?;
    let not_checked = not_checked(ask);
    let mut walk = Walk {
        tiles: stored.tiles.map(|tiles| TileCheck::new(tiles, trust.size.unwrap_or(0))),
        trust,
        suspects: Vec::new(),
        range: ask.from.unwrap_or(1)..=ask.to.unwrap_or(u64::MAX),
        findings,
        next: 1,
        tree: Tree::default(),
        whole: true,
        base: None,
        vouched: 0,
        links: Links::new(),
        payloads: Payloads::default(),
        marks: Marks::new(stored.published),
        not_checked,
    };
    walk.compare_roots();
    for entry in stored.entries {
        match entry {
            Ok(entry) => walk.take(entry),
            Err(why) => {
                walk.findings.add_leaf(walk.next, format!("the log cannot be read from here on: {why}"));
                break;
            }
        }
    }
    Ok(walk.finish())
}

struct Walk<'a, P> {
    trust: Trust,
    range: RangeInclusive<u64>,
    findings: Findings,
    /// The number due next.
    next: u64,
    tree: Tree,
    /// Whether the tree has all entries so far.
    whole: bool,
    /// The tree without the last two entries.
    base: Option<Tree>,
    vouched: u64,
    links: Links,
    tiles: Option<TileCheck<'a>>,
    /// Entries whose hash is not the stored one, until a signed root tells which of the two is wrong.
    suspects: Vec<u64>,
    payloads: Payloads,
    marks: Marks<P>,
    not_checked: Vec<String>,
}

/// What an auditor asks not to be checked, or gives nothing to check with.
fn not_checked(ask: &Ask<'_>) -> Vec<String> {
    let mut said = Vec::new();
    match (ask.from.filter(|from| *from > 1), ask.to) {
        (None, None) => {}
        (Some(from), None) => said.push(format!("the payloads of the entries before {from}")),
        (None, Some(to)) => said.push(format!("the payloads of the entries after {to}")),
        (Some(from), Some(to)) => said.push(format!("the payloads of the entries before {from} and after {to}")),
    }
    if ask.vkey.is_none() {
        said.push("whether the key beside the log is the one that it was begun with: no key was given".into());
    }
    if ask.since.is_none() {
        said.push("whether it is as long as it once was: no older checkpoint was given".into());
    }
    said
}

impl<P: Iterator<Item = Signed>> Walk<'_, P> {
    fn take(&mut self, entry: Entry) {
        let due = self.next;
        let Some(seq) = u64::try_from(entry.seq).ok().filter(|seq| *seq >= due) else {
            self.findings.add_leaf(due, format!("its position has an entry numbered {}", entry.seq));
            return;
        };
        if seq > due {
            let message =
                if seq == due + 1 { "it is missing".into() } else { format!("{due} to {} are missing", seq - 1) };
            self.findings.add_leaf(due, message);
            self.pass_gap();
        }
        match entry.leaf {
            Ok(bytes) => self.take_leaf(seq, &bytes, entry.payload),
            Err(why) => {
                self.findings.add_leaf(seq, why);
                self.pass_gap();
            }
        }
        self.next = seq + 1;
        self.compare_roots();
    }

    fn take_leaf(&mut self, seq: u64, bytes: &[u8], payload: Result<Option<Payload>, String>) {
        let hash = merkle::leaf_hash(bytes);
        let agrees = self.tiles.as_mut().is_none_or(|tiles| tiles.leaf_agrees(seq, &hash, &mut self.findings));
        if !agrees && self.suspects.len() < MOST_SUSPECTS {
            self.suspects.push(seq);
        }
        self.grow(seq, hash);
        let leaf = match Leaf::parse(bytes) {
            Ok(leaf) => leaf,
            Err(why) => {
                self.findings.add_leaf(seq, why.to_string());
                return self.links.pass_unreadable(hash, &mut self.findings);
            }
        };
        let ours = self.trust.keys.newest().is_none_or(|key| key.origin() == leaf.origin);
        if !ours {
            self.findings.add_leaf(seq, format!("it is an entry of the log `{}`", leaf.origin));
        }
        let standing = if agrees && ours { Standing::Open } else { Standing::Blamed };
        self.links.follow(seq, &leaf, hash, standing, &mut self.findings);
        self.payloads.declare(&leaf);
        let held = payload.as_ref().ok().and_then(Option::as_ref);
        self.trust.keys.meet(seq, leaf.kind, held, &mut self.findings);
        if self.range.contains(&seq) || leaf.kind == REKEYED {
            self.payloads.check(seq, &leaf, payload, &mut self.findings);
        }
    }

    fn grow(&mut self, seq: u64, hash: Hash) {
        if !self.whole {
            return;
        }
        if self.trust.head.as_ref().is_some_and(|head| head.size == seq + 1) {
            self.base = Some(self.tree.clone());
        }
        let Walk { tree, tiles, findings, .. } = self;
        tree.push(hash, |height, index, node| {
            if let Some(tiles) = tiles {
                tiles.check_node(height, index, node, findings);
            }
        });
    }

    fn pass_gap(&mut self) {
        self.whole = false;
        self.links.pass_gap(&mut self.findings);
    }

    /// Compares the tree with every signed root of its present size.
    fn compare_roots(&mut self) {
        let size = self.next - 1;
        let root_at = |note: &Note| (note.size == size).then_some(note.root);
        let published = self.marks.at(size, &self.trust, &mut self.findings).map(|note| note.root);
        if published.is_none() && self.trust.keys.hands_over_at(size) {
            self.findings.add(None, format!("no checkpoint of {size} entries hands the log over to the key after it"));
        }
        let head = self.trust.head.as_ref().and_then(root_at);
        let since = self.trust.since.as_ref().and_then(root_at);
        if published.or(head).or(since).is_none() {
            return;
        }
        let root = self.whole.then(|| self.tree.root());
        for signed in published.into_iter().chain(head) {
            self.judge(size, root == Some(signed));
        }
        if since.is_some() && since != root {
            let message = format!("fork: the log does not contain the checkpoint of size {size} that you hold");
            self.findings.add(None, message);
        }
    }

    /// A signed root says whether the entries up to here are as signed. If they are not, and their links hold, then
    /// the last of them at least is not, for every true entry vouches for all before it.
    fn judge(&mut self, size: u64, is_right: bool) {
        if is_right && !self.findings.has_bad_leaf() {
            self.clear();
        } else {
            self.blame();
        }
        if is_right && !self.findings.has_bad_leaf() {
            self.vouched = size;
            self.links.judge(Standing::Vouched);
        } else if !is_right && !self.findings.has_bad_leaf() && !self.links.in_dispute() {
            let from = self.vouched + 1;
            self.findings
                .add_leaf(size, format!("the signed root covers other entries: some of {from} to {size} were changed"));
            self.links.judge(Standing::Blamed);
        }
    }

    /// The entries are as signed, so what is stored beside them is wrong.
    fn clear(&mut self) {
        let tiles: BTreeSet<u64> = self.suspects.drain(..).map(|seq| (seq - 1) / WIDTH).collect();
        for tile in tiles {
            let (from, to) = (tile * WIDTH + 1, (tile + 1) * WIDTH);
            let what = format!(
                "the stored tree is wrong: tile (0, {tile}) is not that of the entries {from} to {to}, which are as signed"
            );
            self.findings.add(None, what);
        }
    }

    fn blame(&mut self) {
        for seq in self.suspects.drain(..) {
            self.findings.add_leaf(seq, "it is not the entry whose hash is stored in the tree");
        }
    }

    fn finish(mut self) -> Report {
        let size = self.next - 1;
        self.blame();
        self.links.settle_last(self.base.take(), self.trust.head.as_ref(), &mut self.findings);
        self.compare_sizes(size);
        self.marks.finish(size, &self.trust, &mut self.findings);
        self.trust.keys.finish(size, &mut self.findings);
        self.payloads.finish(&mut self.findings);
        if let Some(tiles) = &self.tiles {
            tiles.finish(&mut self.findings);
        }
        let first_bad_seq = self.findings.first_bad();
        let vouched = first_bad_seq.map_or(self.vouched, |bad| self.vouched.min(bad.saturating_sub(1)));
        let problems = self.findings.into_problems();
        Report {
            ok: problems.is_empty(),
            checked: self.payloads.checked,
            size,
            root: STANDARD.encode(self.tree.root()),
            vouched,
            first_bad_seq,
            problems,
            redacted: self.payloads.redacted,
            keys: self.trust.keys.spans(),
            not_checked: self.not_checked,
        }
    }

    fn compare_sizes(&mut self, size: u64) {
        if let Some(head) = &self.trust.head {
            let signed = head.size;
            if size < signed {
                self.findings
                    .add_leaf(size + 1, format!("it is missing: {signed} entries are signed, {size} are here"));
            } else if size > signed {
                self.findings
                    .add_leaf(signed + 1, format!("it is not signed: {signed} entries are signed, {size} are here"));
            }
        }
        if let Some(since) = self.trust.since.as_ref().filter(|since| since.size > size) {
            let held = since.size;
            let message =
                format!("truncated or rolled back: you hold a checkpoint of size {held}, the log has {size} entries");
            self.findings.add(Some(size + 1), message);
        }
    }
}
