//! Leaves, notes and keys are read strictly: one form each.

use super::sample::{self, Event, ORIGIN};
use ok::log::verify::leaf::Leaf;
use ok::log::verify::note::{Note, NoteError, VerifierKey};
use proptest::prelude::*;

fn leaf() -> String {
    String::from_utf8(Event::new(4).leaf(&[3; 32])).unwrap()
}

#[test]
fn a_leaf_is_read() {
    let text = leaf();
    let leaf = Leaf::parse(text.as_bytes()).unwrap();
    assert_eq!((leaf.origin, leaf.seq, leaf.prev, leaf.kind), (ORIGIN, 4, [3; 32], "run_started"));
    assert_eq!(leaf.refs, ["run_1", "run_2"]);
}

#[test]
fn a_leaf_has_the_canonical_form_of_the_writers_library() {
    let text = leaf();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), text);
}

proptest! {
    #[test]
    fn any_text_in_canonical_form_is_read(actor in any::<String>()) {
        let plain = "\"agt_01JZ0000000000000000000000\"";
        let actor = serde_json_canonicalizer::to_string(&actor).unwrap();
        prop_assert!(Leaf::parse(leaf().replace(plain, &actor).as_bytes()).is_ok());
    }

    #[test]
    fn nothing_makes_the_readers_panic(bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), text in any::<String>()) {
        let mut spliced = leaf().into_bytes();
        let at = at.index(spliced.len());
        spliced.splice(at..at, bytes);
        let _ = Leaf::parse(&spliced);
        let _ = (Note::parse(&text), VerifierKey::parse(&text));
    }
}

#[test]
fn a_leaf_in_any_other_form_is_refused() {
    let changes = [
        ("{\"actor\"", "{ \"actor\""),
        ("\"v\":1}", "\"v\":1} "),
        ("\"v\":1}", "\"v\":2}"),
        ("\"v\":1}", "\"v\":1,\"w\":1}"),
        ("\"v\":1}", "\"v\":1,\"v\":1}"),
        ("\"seq\":4,", "\"seq\":4.0,"),
        ("\"seq\":4,", "\"seq\":04,"),
        ("\"seq\":4,", "\"seq\":-4,"),
        ("\"seq\":4,", "\"seq\":4e0,"),
        ("\"seq\":4,", "\"seq\":,"),
        ("\"seq\":4,", "\"seq\":\"4\","),
        ("\"seq\":4,", "\"seq\":9007199254740992,"),
        ("\"seq\":4,", "\"seq\":99999999999999999999999,"),
        ("\"seq\":4,\"ts\":1700000000001", "\"ts\":1700000000001,\"seq\":4"),
        ("\"seq\":4,\"ts\"", "\"seq\":4,\"seq\":4,\"ts\""),
        ("run_1\",\"run_2", "run_2\",\"run_1"),
        ("run_1\",\"run_2", "run_1\",\"run_1"),
        ("\"run_2\"]", "\"run_2\",]"),
        ("allow", "perhaps"),
        ("agt_", "\\u0061gt_"),
        ("agt_", "agt\\/"),
        ("agt_", "\\u000a"),
        ("agt_", "\\u001F"),
        ("agt_", "\t"),
        ("\"seq\":4}", "\"seq\":0}"),
        ("\"hash\":\"", "\"hash\":\"A"),
        ("\"prev\":\"AwMD", "\"prev\":\"AwM"),
        ("AwM=\"", "AwN=\""),
        ("AwM=\"", "AwM\""),
    ];
    for (from, to) in changes {
        let changed = leaf().replacen(from, to, 1);
        assert_ne!(changed, leaf(), "{from}");
        assert!(Leaf::parse(changed.as_bytes()).is_err(), "{changed}");
    }
    assert!(Leaf::parse(leaf().replace("agt_", &"a".repeat(65_535)).as_bytes()).is_err());
    assert!(Leaf::parse(b"\xff").is_err());
    for end in 0..leaf().len() {
        assert!(Leaf::parse(&leaf().as_bytes()[..end]).is_err());
    }
}

fn key() -> VerifierKey {
    VerifierKey::parse(&sample::vkey(&sample::key())).unwrap()
}

#[test]
fn a_note_verifies_also_among_signatures_of_witnesses() {
    let text = sample::note(&sample::key(), 5, &[1; 32]);
    let note = Note::parse(&text).unwrap();
    assert_eq!((note.origin.as_str(), note.size, note.root), (ORIGIN, 5, [1; 32]));
    assert_eq!(note.verify(&key()), Ok(()));
    let witnessed = format!("{text}— witness.example/w1 {}\n", sample::b64([2; 76]));
    assert_eq!(Note::parse(&witnessed).unwrap().verify(&key()), Ok(()));
    let stranger = VerifierKey::parse(&sample::vkey(&ed25519_dalek::SigningKey::from_bytes(&[8; 32]))).unwrap();
    assert_eq!(note.verify(&stranger), Err(NoteError::Unsigned));
}

#[test]
fn a_note_in_any_other_form_is_refused() {
    let good = sample::note(&sample::key(), 5, &[1; 32]);
    let changes = [
        ("\n5\n", "\n05\n"),
        ("\n5\n", "\n+5\n"),
        ("\n5\n", "\n5 \n"),
        ("\n5\n", "\n\n"),
        ("\n5\n", "\n18446744073709551616\n"),
        ("\n5\n", "\n5\nmore\n"),
        ("AQE=\n", "AQF=\n"),
        ("AQE=\n", "AQE\n"),
        ("AQE=\n", "AQEBAQE=\n"),
        ("\n\n", "\n"),
        ("\n\n", "\n\n\n"),
        ("— ", "- "),
        ("ok.example", "ok example"),
        ("ok.example", "ok+example"),
    ];
    for (from, to) in changes {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        assert!(Note::parse(&changed).is_err(), "{changed}");
    }
    assert!(Note::parse(good.trim_end()).is_err());
    assert!(Note::parse(&format!("{good}\n")).is_err());
    let (body, _) = good.split_once('—').unwrap();
    assert!(Note::parse(body).is_err());
}

#[test]
fn every_flipped_byte_of_a_note_or_a_key_is_found() {
    let good = sample::note(&sample::key(), 5, &[1; 32]);
    for (text, is_note) in [(good.clone(), true), (sample::vkey(&sample::key()), false)] {
        for (at, flip) in (0..text.len()).flat_map(|at| (1..=255).map(move |flip| (at, flip))) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= flip;
            let Ok(changed) = std::str::from_utf8(&bytes) else { continue };
            let (note, vkey) = if is_note { (changed, None) } else { (good.as_str(), Some(changed)) };
            let key = vkey.map_or(Ok(key()), VerifierKey::parse);
            let verdict = key.and_then(|key| Note::parse(note)?.verify(&key));
            assert!(verdict.is_err(), "{changed}");
        }
    }
}
