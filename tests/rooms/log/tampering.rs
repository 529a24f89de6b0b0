//! Whatever is done to a log without its key is found, with the first bad entry; a clean log never alarms.

use super::sample::{Event, Pieces, chain, key, leaf_hash, note, root};
use ok::log::verify::{Ask, Report, verify_sqlite};
use proptest::prelude::*;
use proptest::sample::Index;

fn assert_bad(reports: [Report; 2], seq: u64) {
    for report in reports {
        assert!(!report.ok);
        assert_eq!(report.first_bad_seq, Some(seq), "{report:#?}");
        assert!(report.vouched < seq);
    }
}

fn flip(bytes: &mut [u8], at: &Index, flip: u8) {
    bytes[at.index(bytes.len())] ^= flip;
}

/// The smallest size, from `seq` on, of which there is a signed root.
fn signed_from(seq: u64, size: u64, every: usize) -> u64 {
    seq.next_multiple_of(every as u64).min(size)
}

/// How often a checkpoint is published.
fn every() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 7, 60, 100, 256, 1000])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn a_clean_log_never_alarms(size in 0..600_u64, every in every(), held in any::<Index>()) {
        let pieces = Pieces::plain(size, every);
        let held = held.index(size as usize + 1);
        let hashes: Vec<_> = pieces.entries[..held].iter().map(|entry| leaf_hash(&entry.1)).collect();
        let since = note(&key(), held, &root(&hashes));
        let vkey = String::from_utf8(pieces.vkey.clone()).unwrap();
        for report in pieces.verdicts(&Ask { since: Some(&since), vkey: Some(&vkey), ..Ask::default() }) {
            prop_assert!(report.ok, "{:#?}", report);
            prop_assert_eq!((report.size, report.checked, report.vouched), (size, size, size));
        }
    }

    #[test]
    fn a_flipped_byte_of_a_leaf_is_found(size in 1..600_u64, every in every(), k in any::<Index>(), at in any::<Index>(), by in 1..=255_u8) {
        let seq = k.index(size as usize) as u64 + 1;
        let mut pieces = Pieces::plain(size, every);
        flip(pieces.leaf(seq), &at, by);
        let [state, export] = pieces.verdicts(&Ask::default());
        // A line end inside a leaf makes two lines in an export.
        assert_bad([state.clone(), if pieces.leaf(seq).contains(&b'\n') { state } else { export }], seq);
    }

    #[test]
    fn a_flipped_byte_of_a_salt_or_payload_is_found(size in 1..600_u64, k in any::<Index>(), at in any::<Index>(), by in 1..=255_u8, salt in any::<bool>()) {
        let k = k.index(size as usize);
        let mut pieces = Pieces::plain(size, 50);
        let payload = &mut pieces.payloads[k];
        flip(if salt { &mut payload.1 } else { &mut payload.2 }.as_mut().unwrap(), &at, by);
        for report in pieces.verdicts(&Ask::default()) {
            prop_assert_eq!((report.ok, report.first_bad_seq), (false, Some(k as u64 + 1)));
            prop_assert_eq!(report.vouched, k as u64);
        }
    }

    #[test]
    fn a_flipped_byte_of_a_tile_is_found(size in 256..600_u64, at in 0..8192_usize, by in 1..=255_u8) {
        let mut pieces = Pieces::plain(size, 256);
        pieces.tiles.get_mut(&(0, 0)).unwrap()[at] ^= by;
        let [state, _] = pieces.verdicts(&Ask::default());
        // The entries are as signed.
        prop_assert_eq!((state.ok, state.first_bad_seq, state.vouched), (false, None, size));
    }

    #[test]
    fn a_flipped_byte_of_a_checkpoint_is_found(size in 1..600_u64, every in every(), k in any::<Index>(), at in any::<Index>(), by in 1..=255_u8, in_note in any::<bool>()) {
        let mut pieces = Pieces::plain(size, every);
        let k = k.index(pieces.published.len() + 1);
        let checkpoint = pieces.published.get_mut(k).unwrap_or(&mut pieces.head);
        flip(if in_note { &mut checkpoint.note } else { &mut checkpoint.root }, &at, by);
        let [state, export] = pieces.verdicts(&Ask::default());
        prop_assert_eq!((state.ok, state.first_bad_seq), (false, None), "no entry is at fault");
        prop_assert_eq!(export.ok, !in_note);
    }

    #[test]
    fn a_deleted_entry_is_found(size in 1..600_u64, every in every(), k in any::<Index>(), renumber in any::<bool>()) {
        let k = k.index(size as usize);
        let mut pieces = Pieces::plain(size, every);
        pieces.entries.remove(k);
        pieces.payloads.remove(k);
        if renumber {
            pieces.renumber();
        }
        assert_bad(pieces.verdicts(&Ask::default()), k as u64 + 1);
    }

    #[test]
    fn swapped_entries_are_found(size in 2..600_u64, every in every(), a in any::<Index>(), b in any::<Index>()) {
        let (a, b) = (a.index(size as usize), b.index(size as usize));
        prop_assume!(a != b);
        let mut pieces = Pieces::plain(size, every);
        pieces.entries.swap(a, b);
        pieces.payloads.swap(a, b);
        pieces.renumber();
        assert_bad(pieces.verdicts(&Ask::default()), a.min(b) as u64 + 1);
    }

    #[test]
    fn an_inserted_forgery_is_found(size in 0..600_u64, every in every(), k in any::<Index>()) {
        let k = k.index(size as usize + 1);
        let mut pieces = Pieces::plain(size, every);
        let prev = k.checked_sub(1).map_or([0; 32], |before| leaf_hash(&pieces.entries[before].1));
        let forged = Event { actor: "usr_forger".into(), ..Event::new(k as u64 + 1) };
        pieces.entries.insert(k, (0, forged.leaf(&prev)));
        pieces.payloads.insert(k, (0, forged.salt, forged.body));
        pieces.renumber();
        assert_bad(pieces.verdicts(&Ask::default()), k as u64 + 1);
    }

    #[test]
    fn an_inserted_copy_is_found(size in 1..600_u64, every in every(), from in any::<Index>(), to in any::<Index>()) {
        let (from, to) = (from.index(size as usize), to.index(size as usize + 1));
        let mut pieces = Pieces::plain(size, every);
        pieces.entries.insert(to, pieces.entries[from].clone());
        pieces.payloads.insert(to, pieces.payloads[from].clone());
        pieces.renumber();
        // Of two equal neighbours the first stands in its place.
        let bad = if from == to { to + 1 } else { to };
        assert_bad(pieces.verdicts(&Ask::default()), bad as u64 + 1);
    }

    #[test]
    fn a_truncated_log_is_found(size in 1..600_u64, every in every(), left in any::<Index>()) {
        let left = left.index(size as usize);
        let mut pieces = Pieces::plain(size, every);
        pieces.entries.truncate(left);
        pieces.payloads.truncate(left);
        assert_bad(pieces.verdicts(&Ask::default()), left as u64 + 1);
    }

    /// Where the stored tree still has the true hash, the entry is named; elsewhere the first signed size behind it.
    #[test]
    fn a_recalculated_tail_is_found(size in 1..600_u64, every in every(), k in any::<Index>()) {
        let k = k.index(size as usize);
        let mut events: Vec<Event> = (1..=size).map(Event::new).collect();
        events[k].actor = "usr_forger".into();
        let mut pieces = Pieces::plain(size, every);
        pieces.entries = (1..).zip(chain(&events)).collect();
        let seq = k as u64 + 1;
        let signed = signed_from(seq, size, every);
        let [state, export] = pieces.verdicts(&Ask::default());
        prop_assert_eq!(state.first_bad_seq, Some(if seq <= size / 256 * 256 { seq } else { signed }));
        prop_assert_eq!(export.first_bad_seq, Some(signed));
        prop_assert!(state.vouched < seq && export.vouched < seq);
    }

    #[test]
    fn an_erased_payload_must_be_declared_by_a_later_entry(size in 2..300_u64, a in any::<Index>(), b in any::<Index>(), declared in any::<bool>()) {
        let (gone, forgets) = (a.index(size as usize), b.index(size as usize));
        prop_assume!(gone != forgets);
        let mut events: Vec<Event> = (1..=size).map(Event::new).collect();
        (events[gone].salt, events[gone].body) = (None, None);
        events[forgets] = Event::of(forgets as u64 + 1, if declared { "context_forgotten" } else { "context_kept" });
        events[forgets].refs = vec![format!("event:{}", gone + 1)];
        for report in Pieces::of(&events, 64).verdicts(&Ask::default()) {
            let fine = declared && forgets > gone;
            prop_assert_eq!((report.ok, report.redacted), (fine, u64::from(fine)));
            prop_assert_eq!(report.first_bad_seq, (!fine).then_some(gone as u64 + 1));
        }
    }

    /// Whoever has the key can sign another history, but not for someone who remembers this one.
    #[test]
    fn a_fork_or_rollback_is_found_by_who_remembers(size in 1..300_u64, k in any::<Index>(), held in any::<Index>(), rolled_back in any::<bool>()) {
        let (k, held) = (k.index(size as usize), held.index(size as usize) + 1);
        let mut events: Vec<Event> = (1..=size).map(Event::new).collect();
        let hashes: Vec<_> = chain(&events).iter().map(|leaf| leaf_hash(leaf)).collect();
        let since = note(&key(), held, &root(&hashes[..held]));
        if rolled_back { events.truncate(k) } else { events[k].actor = "usr_forger".into() }
        let found = held > k;
        let expected = (rolled_back && found).then_some(k as u64 + 1);
        for report in Pieces::of(&events, 64).verdicts(&Ask { since: Some(&since), ..Ask::default() }) {
            prop_assert_eq!((report.ok, report.first_bad_seq), (!found, expected));
            let word = if rolled_back { "truncated or rolled back" } else { "fork" };
            prop_assert!(report.problems.iter().all(|problem| problem.message.starts_with(word)));
        }
    }
}

#[test]
fn a_log_with_tiles_of_tiles_is_checked_in_full() {
    let mut pieces = Pieces::plain(65_536 + 300, 16_384);
    let tile = pieces.tiles[&(1, 0)].clone();
    let edited = String::from_utf8(pieces.leaf(40_000).clone()).unwrap().replace("run_started", "run_stopped");
    let db = pieces.sqlite();
    let set_tile = |hashes: &[u8]| db.execute("UPDATE log_tile SET hashes = ? WHERE level = 1", [hashes]).unwrap();
    let check = || {
        let report = verify_sqlite(&db, &Ask::default()).unwrap();
        (report.ok, report.first_bad_seq, report.vouched)
    };
    let size = 65_536 + 300;
    assert_eq!(check(), (true, None, size));
    let mut altered = tile.clone();
    altered[5 * 32] ^= 1;
    set_tile(&altered);
    assert_eq!(check(), (false, None, size), "the entries are as signed: what is beside them is not");
    set_tile(&tile);
    let leaves = |hashes: &[u8]| db.execute("UPDATE log_tile SET hashes = ? WHERE level = 0 AND idx = 3", [hashes]);
    leaves(&[0; 256 * 32]).unwrap();
    let report = verify_sqlite(&db, &Ask::default()).unwrap();
    assert_eq!((report.first_bad_seq, report.vouched), (None, size));
    let message = "the stored tree is wrong: tile (0, 3) is not that of the entries 769 to 1024, which are as signed";
    assert!(report.problems.iter().any(|problem| problem.message == message), "{:?}", report.problems);
    leaves(&pieces.tiles[&(0, 3)]).unwrap();
    assert_eq!(check(), (true, None, size));
    db.execute("UPDATE log_entry SET leaf = CAST(? AS BLOB) WHERE seq = 40000", [edited]).unwrap();
    assert_eq!(check().1, Some(40_000));
    db.execute("DELETE FROM log_tile WHERE level = 1", ()).unwrap();
    assert_eq!(check().1, Some(40_000), "a tile that is missing blames no entry");
}
