//! The Merkle tree of RFC 6962 (SHA-256), as a verifier needs it: hashes, a tree that grows in O(log n) memory, and the
//! two proof checks of RFC 9162.

use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

/// SHA-256(0x00 ‖ leaf), RFC 6962 §2.1.
pub fn leaf_hash(leaf: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(leaf).finalize().into()
}

/// SHA-256(0x01 ‖ left ‖ right), RFC 6962 §2.1.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// A tree that only grows. It keeps the roots of its complete subtrees, largest first: one for each bit set in `size`.
#[derive(Clone, Default)]
pub struct Tree {
    size: u64,
    peaks: Vec<Hash>,
}

impl Tree {
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf hash. `completed(height, index, hash)` hears of every inner node that is complete from now on.
    pub fn push(&mut self, leaf: Hash, mut completed: impl FnMut(u32, u64, &Hash)) {
        let mut node = leaf;
        for height in 1..=self.size.trailing_ones() {
            let Some(left) = self.peaks.pop() else { break };
            node = node_hash(&left, &node);
            completed(height, self.size >> height, &node);
        }
        self.peaks.push(node);
        self.size += 1;
    }

    /// The root; that of the empty tree is SHA-256 of nothing.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev().copied();
        match peaks.next() {
            Some(smallest) => peaks.fold(smallest, |right, left| node_hash(&left, &right)),
            None => Sha256::digest([]).into(),
        }
    }
}

/// The root of a complete subtree, given the hashes on its ground.
pub fn root_of(hashes: impl IntoIterator<Item = Hash>) -> Hash {
    let mut tree = Tree::default();
    hashes.into_iter().for_each(|hash| tree.push(hash, |_, _, _| ()));
    tree.root()
}

/// Whether `path` proves that the leaf hash stands at `index` in the tree of `size` and `root` (RFC 9162 §2.1.3.2).
pub fn includes(index: u64, leaf: Hash, size: u64, path: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut first, mut last, mut node) = (index, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if first & 1 == 1 || first == last {
            node = node_hash(sibling, &node);
            skip_to_right_child(&mut first, &mut last);
        } else {
            node = node_hash(&node, sibling);
        }
        (first, last) = (first >> 1, last >> 1);
    }
    last == 0 && node == *root
}

/// Whether `path` proves that the tree of `old` is a prefix of the tree of `new`, each given by size and root
/// (RFC 9162 §2.1.4.2). The empty tree is a prefix of every tree, and every tree of itself; both need an empty path.
pub fn extends(old: (u64, &Hash), new: (u64, &Hash), path: &[Hash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == new_size {
        return path.is_empty() && old_root == new_root;
    }
    if old_size == 0 {
        return path.is_empty() && *old_root == Tree::default().root();
    }
    if old_size > new_size || path.is_empty() {
        return false;
    }
    let implied = old_size.is_power_of_two().then_some(old_root);
    let mut nodes = implied.into_iter().chain(path);
    let Some(start) = nodes.next() else { return false };
    let shared = (old_size - 1).trailing_ones();
    let (mut first, mut last) = ((old_size - 1) >> shared, (new_size - 1) >> shared);
    let (mut older, mut newer) = (*start, *start);
    for node in nodes {
        if last == 0 {
            return false;
        }
        if first & 1 == 1 || first == last {
            older = node_hash(node, &older);
            newer = node_hash(node, &newer);
            skip_to_right_child(&mut first, &mut last);
        } else {
            newer = node_hash(&newer, node);
        }
        (first, last) = (first >> 1, last >> 1);
    }
    last == 0 && older == *old_root && newer == *new_root
}

/// On the right edge a node without a right sibling moves up unhashed.
fn skip_to_right_child(first: &mut u64, last: &mut u64) {
    let levels = if *first == 0 { 0 } else { first.trailing_zeros() };
    (*first, *last) = (*first >> levels, *last >> levels);
}
