//! The stored tiles (C2SP `tlog-tiles`): each full one present, and each hash in it that of the tree.
//!
//! Tiles only speed up proofs, but they are a second copy of every leaf hash, so they tell which leaf was changed.

use super::finding::Findings;
use super::merkle::{self, Hash};
use super::source::Tiles;
use std::collections::BTreeMap;

pub(super) const WIDTH: u64 = 256;
const TILE_BYTES: usize = 256 * 32;

/// Compares the tree with the stored tiles as it grows, holding one tile a level.
pub struct TileCheck<'a> {
    store: &'a dyn Tiles,
    /// The number of entries that decides which tiles there must be.
    size: u64,
    open: BTreeMap<u32, Open>,
}

/// The tile of one level that is being compared, unless it is absent or unusable.
struct Open {
    index: u64,
    hashes: Option<Vec<u8>>,
}

impl<'a> TileCheck<'a> {
    pub fn new(store: &'a dyn Tiles, size: u64) -> TileCheck<'a> {
        TileCheck { store, size, open: BTreeMap::new() }
    }

    /// Compares the hash with the stored one of its leaf. Which of the two is wrong, a signed root tells.
    pub fn leaf_agrees(&mut self, seq: u64, hash: &Hash, findings: &mut Findings) -> bool {
        self.stored(0, seq - 1, findings).is_none_or(|stored| stored == *hash)
    }

    /// Compares an inner node with the stored one, if tiles hold nodes of its height. Where the tile below was found to
    /// differ already, this one is right if it goes with that.
    pub fn check_node(&mut self, height: u32, index: u64, node: &Hash, findings: &mut Findings) {
        let level = height / 8;
        if !height.is_multiple_of(8) {
            return;
        }
        let Some(stored) = self.stored(level, index, findings) else { return };
        if stored != *node && self.root_below(level, index) != Some(stored) {
            let (from, to) = ((index << height) + 1, (index + 1) << height);
            findings.add(None, format!("the stored tree is wrong at level {level}, above the entries {from} to {to}"));
        }
    }

    /// The stored hash of a node, if there must be a tile that holds it and it is usable.
    fn stored(&mut self, level: u32, index: u64, findings: &mut Findings) -> Option<Hash> {
        let (tile, slot) = (index / WIDTH, index % WIDTH);
        if (tile + 1) * WIDTH > self.size >> (8 * level) {
            return None;
        }
        if self.open.get(&level).is_none_or(|open| open.index != tile) {
            let hashes = self.fetch(level, tile);
            if let Err(why) = &hashes {
                findings.add(None, format!("the stored tree is incomplete: tile ({level}, {tile}) {why}"));
            }
            self.open.insert(level, Open { index: tile, hashes: hashes.ok() });
        }
        let hashes = self.open.get(&level)?.hashes.as_ref()?;
        hashes.as_chunks::<32>().0.get(usize::try_from(slot).ok()?).copied()
    }

    /// Reports tiles that the size does not imply.
    pub fn finish(&self, findings: &mut Findings) {
        match self.store.extra(self.size) {
            Ok(0) => {}
            Ok(count) => findings.add(None, format!("the stored tree has {count} tiles too many")),
            Err(why) => findings.add(None, format!("the names of the stored tiles {why}")),
        }
    }

    fn fetch(&self, level: u32, index: u64) -> Result<Vec<u8>, String> {
        match self.store.tile(level, index)? {
            Some(hashes) if hashes.len() == TILE_BYTES => Ok(hashes),
            Some(hashes) => Err(format!("has {} bytes instead of {TILE_BYTES}", hashes.len())),
            None => Err("is missing".into()),
        }
    }

    /// The root of the stored tile below a stored node.
    fn root_below(&self, level: u32, index: u64) -> Option<Hash> {
        let hashes = self.fetch(level - 1, index).ok()?;
        Some(merkle::root_of(hashes.as_chunks::<32>().0.iter().copied()))
    }
}
