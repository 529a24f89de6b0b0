//! The RFC 6962 tree as it grows: the peaks give the root, the unfinished tiles give the next full tile
//! (C2SP tlog-tiles: 256 hashes, one level of tiles for every eight of the tree).

use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

/// Hashes in a full tile.
pub const TILE: usize = 256;
/// Tree levels that one level of tiles spans.
pub const TILE_HEIGHT: u32 = 8;

pub fn leaf_hash(leaf: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(leaf).finalize().into()
}

pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The roots of the perfect subtrees of a growing row, largest first, with their heights.
#[derive(Clone, Debug, Default)]
pub struct Peaks(Vec<(u32, Hash)>);

impl Peaks {
    /// Adds a subtree of the given height to the right.
    pub fn push(&mut self, mut height: u32, mut hash: Hash) {
        while let Some((top, left)) = self.0.last().copied() {
            if top != height {
                break;
            }
            self.0.pop();
            hash = node_hash(&left, &hash);
            height += 1;
        }
        self.0.push((height, hash));
    }

    /// The root of what was pushed; of nothing, SHA-256 of nothing (RFC 6962 §2.1).
    pub fn root(&self) -> Hash {
        let mut peaks = self.0.iter().rev().map(|(_, hash)| *hash);
        match peaks.next() {
            None => Sha256::digest([]).into(),
            Some(last) => peaks.fold(last, |right, left| node_hash(&left, &right)),
        }
    }

    /// The root of a row of equal subtrees.
    pub fn root_of(hashes: &[Hash]) -> Hash {
        let mut peaks = Peaks::default();
        hashes.iter().for_each(|hash| peaks.push(0, *hash));
        peaks.root()
    }
}

/// A tile that has just become full.
#[derive(Debug, PartialEq, Eq)]
pub struct FullTile {
    pub level: u32,
    pub index: u64,
    pub hashes: Vec<Hash>,
}

/// The tree's growing edge.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    size: u64,
    peaks: Peaks,
    /// The unfinished tile of each level, fewer than 256 hashes each.
    open: Vec<Vec<Hash>>,
}

impl Tree {
    /// Rebuilds the edge from its unfinished tiles, lowest level first.
    pub fn resume(size: u64, open: Vec<Vec<Hash>>) -> Tree {
        let mut peaks = Peaks::default();
        for (level, hashes) in open.iter().enumerate().rev() {
            hashes.iter().for_each(|hash| peaks.push(level as u32 * TILE_HEIGHT, *hash));
        }
        Tree { size, peaks, open }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn root(&self) -> Hash {
        self.peaks.root()
    }

    /// Adds a leaf hash and returns the tiles that it completes.
    pub fn push(&mut self, hash: Hash) -> Vec<FullTile> {
        self.peaks.push(0, hash);
        self.size += 1;
        let mut full = Vec::new();
        let mut carry = Some(hash);
        for level in 0_u32.. {
            let Some(hash) = carry.take() else { break };
            if self.open.len() <= level as usize {
                self.open.push(Vec::with_capacity(TILE));
            }
            let Some(open) = self.open.get_mut(level as usize) else { break };
            open.push(hash);
            if open.len() == TILE {
                let hashes = std::mem::replace(open, Vec::with_capacity(TILE));
                carry = Some(Peaks::root_of(&hashes));
                let index = (self.size >> ((level + 1) * TILE_HEIGHT)) - 1;
                full.push(FullTile { level, index, hashes });
            }
        }
        full
    }
}
