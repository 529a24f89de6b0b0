//! The chain of `prev` links, and which entry is at fault if it breaks.
//!
//! Entry m states the hash of entry m-1. If the hash differs, one of the two was changed. Entry m+1 decides: if it
//! confirms m, then m is untouched and m-1 was changed; otherwise m was. For the last entry the signed root decides.

use super::finding::Findings;
use super::leaf::Leaf;
use super::merkle::{Hash, Tree};
use super::note::Note;

pub struct Links {
    before: Option<Before>,
    /// How far the number inside the last leaf was from its place.
    shift: i128,
    dispute: Option<Dispute>,
}

/// What is remembered of the entry before.
struct Before {
    hash: Hash,
    ts: u64,
    standing: Standing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A signed root covers it.
    Vouched,
    /// Already found to be bad.
    Blamed,
    Open,
}

/// Entry `seq` says that the hash of the entry before is `claimed`, which it is not.
struct Dispute {
    seq: u64,
    hash: Hash,
    claimed: Hash,
}

impl Links {
    pub fn new() -> Links {
        let before = Before { hash: [0; 32], ts: 0, standing: Standing::Vouched };
        Links { before: Some(before), shift: 0, dispute: None }
    }

    /// Follows the chain to the next entry.
    pub fn follow(&mut self, seq: u64, leaf: &Leaf<'_>, hash: Hash, mut standing: Standing, findings: &mut Findings) {
        let confirmed = self.before.as_ref().is_some_and(|before| before.hash == leaf.prev);
        self.settle(confirmed, findings);
        let shift = i128::from(leaf.seq) - i128::from(seq);
        if shift != 0 {
            standing = Standing::Blamed;
            if shift != self.shift {
                findings.add_leaf(seq, format!("position {seq} has an entry numbered {}", leaf.seq));
            }
        }
        if let Some(before) = &self.before {
            if leaf.ts < before.ts {
                findings.add_leaf(seq, "its time is before that of the entry before");
            }
            let adjacent = shift <= self.shift && hash != before.hash;
            if adjacent && !confirmed && before.standing != Standing::Blamed {
                if standing == Standing::Blamed && shift == 0 || before.standing == Standing::Vouched {
                    findings.add_leaf(seq, "its link to the entry before is wrong");
                    standing = Standing::Blamed;
                } else {
                    self.dispute = Some(Dispute { seq, hash, claimed: leaf.prev });
                }
            }
        }
        self.shift = shift;
        self.before = Some(Before { hash, ts: leaf.ts, standing });
    }

    /// Goes on after a leaf that cannot be read, and of which only the hash is known.
    pub fn pass_unreadable(&mut self, hash: Hash, findings: &mut Findings) {
        self.settle(false, findings);
        let ts = self.before.as_ref().map_or(0, |before| before.ts);
        self.before = Some(Before { hash, ts, standing: Standing::Blamed });
    }

    /// Goes on after entries that are absent.
    pub fn pass_gap(&mut self, findings: &mut Findings) {
        self.settle(false, findings);
        self.before = None;
    }

    /// A signed root has said whether the last entry is as signed.
    pub fn judge(&mut self, standing: Standing) {
        if let Some(before) = &mut self.before {
            before.standing = standing;
        }
    }

    pub fn in_dispute(&self) -> bool {
        self.dispute.is_some()
    }

    /// Settles a dispute about the last two entries: the signed root shows whether the older once had the hash that
    /// the newer claims. `base` is the tree without the two.
    pub fn settle_last(&mut self, base: Option<Tree>, head: Option<&Note>, findings: &mut Findings) {
        let Some(dispute) = &self.dispute else { return };
        let confirmed = base.zip(head).is_some_and(|(mut claimed, head)| {
            claimed.push(dispute.claimed, |_, _, _| ());
            claimed.push(dispute.hash, |_, _, _| ());
            head.size == dispute.seq && head.root == claimed.root()
        });
        self.settle(confirmed, findings);
    }

    fn settle(&mut self, confirmed: bool, findings: &mut Findings) {
        let Some(dispute) = self.dispute.take() else { return };
        if confirmed {
            findings.add_leaf(dispute.seq - 1, "it was changed: the next entry contains another hash of it");
        } else {
            findings.add_leaf(dispute.seq, "its link to the entry before is wrong");
            self.judge(Standing::Blamed);
        }
    }
}
