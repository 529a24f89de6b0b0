//! The tree and its proofs against the recursive definitions and the vectors of the certificate-transparency tests.

use super::sample::{self, Hash, consistency, inclusion, leaf_hash, root};
use ok::log::verify::merkle::{self, Tree};
use ok::log::verify::note::VerifierKey;
use ok::log::verify::proof::{ProofError, check_consistency, check_inclusion};

const LEAVES: [&str; 8] =
    ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

#[test]
fn the_tree_has_the_reference_roots() {
    let mut tree = Tree::default();
    for (size, expected) in ROOTS.iter().enumerate() {
        assert_eq!((tree.size(), hex::encode(tree.root())), (size as u64, expected.to_string()));
        let Some(leaf) = LEAVES.get(size) else { break };
        tree.push(merkle::leaf_hash(&hex::decode(leaf).unwrap()), |_, _, _| ());
    }
}

fn hashes(count: u64) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

#[test]
fn the_tree_is_the_recursive_tree_and_names_its_nodes() {
    let hashes = hashes(300);
    let mut tree = Tree::default();
    for (size, hash) in (1..).zip(&hashes) {
        tree.push(*hash, |height, index, node| {
            let first = (index as usize) << height;
            assert_eq!(root(&hashes[first..first + (1 << height)]), *node);
        });
        assert_eq!(root(&hashes[..size]), tree.root());
    }
}

#[test]
fn inclusion_proofs_verify_and_altered_ones_do_not() {
    let hashes = hashes(70);
    for n in 1..=70 {
        let whole = root(&hashes[..n]);
        for m in 0..n {
            let (path, size) = (inclusion(m, &hashes[..n]), n as u64);
            let holds = |index: usize, path: &[Hash]| merkle::includes(index as u64, hashes[m], size, path, &whole);
            assert!(holds(m, &path));
            assert!(!holds(n, &path) && (n == 1 || !holds((m + 1) % n, &path)));
            for altered in alterations(&path) {
                assert!(!holds(m, &altered), "leaf {m} of {n}");
            }
        }
    }
}

#[test]
fn consistency_proofs_verify_and_altered_ones_do_not() {
    let hashes = hashes(70);
    let roots: Vec<Hash> = (0..=70).map(|n| root(&hashes[..n])).collect();
    for n in 1..=70 {
        for m in 1..=n {
            let path = consistency(m, &hashes[..n], true);
            let holds = |path: &[Hash], old: &Hash, new: &Hash| merkle::extends((m as u64, old), (n as u64, new), path);
            assert!(holds(&path, &roots[m], &roots[n]));
            assert!(!holds(&path, &roots[m - 1], &roots[n]) && !holds(&path, &roots[m], &roots[n - 1]));
            for altered in alterations(&path) {
                assert!(!holds(&altered, &roots[m], &roots[n]), "{m} to {n}");
            }
        }
        assert!(merkle::extends((0, &roots[0]), (n as u64, &roots[n]), &[]));
        assert!(!merkle::extends((n as u64, &roots[n]), (0, &roots[0]), &[]));
    }
}

/// The path with a hash changed, dropped, doubled or added.
fn alterations(path: &[Hash]) -> Vec<Vec<Hash>> {
    let mut all = vec![[path, &[[9; 32]]].concat(), [&[[9; 32]], path].concat()];
    for i in 0..path.len() {
        let (mut flipped, mut dropped, mut doubled) = (path.to_vec(), path.to_vec(), path.to_vec());
        flipped[i][i] ^= 1;
        dropped.remove(i);
        doubled.insert(i, path[i]);
        all.extend([flipped, dropped, doubled]);
    }
    all
}

fn text(head: &str, path: &[Hash], note: &str) -> String {
    let lines: String = path.iter().map(|hash| format!("{}\n", sample::b64(hash))).collect();
    format!("{head}{lines}\n{note}")
}

#[test]
fn proof_texts_verify_against_what_the_auditor_holds() {
    let leaves: Vec<[u8; 8]> = (0..70_u64).map(u64::to_be_bytes).collect();
    let (hashes, signer) = (hashes(70), sample::key());
    let key = VerifierKey::parse(&sample::vkey(&signer)).unwrap();
    let note = |n: usize| sample::note(&signer, n, &root(&hashes[..n]));
    for (m, n) in [(1, 1), (3, 7), (8, 64), (69, 70), (70, 70)] {
        let head = format!("c2sp.org/tlog-proof@v1\nindex {}\n", m - 1);
        let proof = text(&head, &inclusion(m - 1, &hashes[..n]), &note(n));
        assert_eq!(check_inclusion(&proof, &leaves[m - 1], &key).unwrap().size, n as u64);
        assert_eq!(check_inclusion(&proof, b"other", &key), Err(ProofError::NotIncluded { seq: m as u64 }));
        let head = format!("ok/consistency-proof@v1\nfrom {m}\nto {n}\n");
        let proof = text(&head, &consistency(m, &hashes[..n], true), &note(n));
        assert_eq!(check_consistency(&proof, &note(m), &key).unwrap().size, n as u64);
        let forked = sample::note(&signer, m, &[5; 32]);
        assert_eq!(check_consistency(&proof, &forked, &key), Err(ProofError::Fork { from: m as u64, to: n as u64 }));
    }
    let proof = text("ok/consistency-proof@v1\nfrom 3\nto 6\n", &consistency(3, &hashes[..6], true), &note(7));
    assert_eq!(check_consistency(&proof, &note(3), &key), Err(ProofError::OtherEnd { to: 6, signed: 7 }));
    assert_eq!(check_consistency(&proof, &note(4), &key), Err(ProofError::OtherStart { from: 3, held: 4 }));
    assert!(matches!(check_inclusion(&proof, b"", &key), Err(ProofError::Malformed(_))));
    let stranger = sample::vkey(&ed25519_dalek::SigningKey::from_bytes(&[8; 32]));
    assert!(check_consistency(&proof, &note(3), &VerifierKey::parse(&stranger).unwrap()).is_err());
}
