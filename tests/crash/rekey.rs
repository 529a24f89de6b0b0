//! A new signing key whose making is cut off: either the old key is in force or the new one, never neither and never both.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::company;
use crate::cli::Place;

/// Points in time at which it dies, from its start to its end.
const POINTS: u32 = 8;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if file.file_type().unwrap().is_file() {
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}

/// A copy of a company whose key is lost.
fn bereft(of: &Path) -> Place {
    let place = Place::new();
    copy(of, &place.path().join(".ok"));
    std::fs::remove_file(place.path().join(".ok/state.db.key")).unwrap();
    place
}

/// How often the log says that its key was replaced.
fn replaced(place: &Place) -> usize {
    let told = place.ok("log --type log_rekeyed --format json").stdout;
    serde_json::from_str::<Value>(&told).unwrap()["events"].as_array().unwrap().len()
}

/// It is written to, and what was written verifies.
fn goes_on(place: &Place) {
    let written = place.ana("token issue");
    assert_eq!(written.code, 0, "{written}");
    let verified = place.ok("audit verify");
    assert_eq!(verified.code, 0, "{verified}");
}

#[test]
fn without_its_key_a_company_is_read_and_whatever_would_write_says_what_to_do() {
    let (original, _) = company();
    let place = bereft(&original.path().join(".ok"));
    let before = std::fs::read(place.path().join(".ok/state.db")).unwrap();
    for reads in ["actor list", "actor show ana", "kill --list", "policy explain tick", "inbox", "log", "audit verify"]
    {
        let read = place.ana(reads);
        assert!(read.code == 0 && !read.stdout.is_empty(), "{read}");
    }
    // A refusal would have to be recorded.
    for writes in ["token issue", "kill global --reason x", "tick", "serve --bind 127.0.0.1:0"] {
        let refused = place.ana(writes);
        assert_eq!(refused.code, 1, "{refused}");
        assert!(refused.stderr.contains("state.db.key") && refused.stderr.contains("`ok audit rekey`"), "{refused}");
    }
    assert!(before == std::fs::read(place.path().join(".ok/state.db")).unwrap(), "nothing was written");
    let mut there = std::fs::read_dir(place.path().join(".ok")).unwrap().map(|file| file.unwrap().file_name());
    assert!(there.all(|name| !name.to_string_lossy().contains("key")), "no key was made");
    assert_eq!(place.ok("audit rekey").code, 0);
    goes_on(&place);
}

#[test]
fn a_key_that_was_only_begun_is_never_read() {
    let (original, _) = company();
    let place = bereft(&original.path().join(".ok"));
    std::fs::write(place.path().join(".ok/state.db.key.part.new"), "4f").unwrap();
    assert_eq!(place.ok("audit rekey").code, 0);
    goes_on(&place);
    assert!(!place.path().join(".ok/state.db.key.part.new").exists());
}

#[test]
fn a_key_whose_replacement_is_killed_is_the_old_one_or_the_new_one() {
    let (original, _) = company();
    let folder = original.path().join(".ok");
    let begun = Instant::now();
    assert_eq!(bereft(&folder).ok("audit rekey").code, 0);
    let whole = begun.elapsed();
    let mut outcomes = [0, 0];
    for point in 0..=POINTS {
        let place = bereft(&folder);
        let mut dying = place.command(&["audit", "rekey"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * point / POINTS);
        dying.kill().unwrap();
        dying.wait().unwrap();
        let verified = place.ok("audit verify");
        assert_eq!(verified.code, 0, "{point}: {verified}");
        let done = replaced(&place);
        outcomes[done] += 1;
        let key = place.path().join(".ok/state.db.key");
        match done {
            // As long as the log does not say otherwise, the key that was lost and is found again signs it.
            0 if point % 2 == 0 => {
                assert!(!key.exists(), "{point}: a key that signs nothing");
                std::fs::copy(folder.join("state.db.key"), &key).unwrap();
                goes_on(&place);
                assert_eq!(replaced(&place), 0);
            }
            _ => {
                if !key.exists() {
                    let again = place.ok("audit rekey");
                    assert_eq!(again.code, 0, "{point}: {again}");
                }
                goes_on(&place);
                assert_eq!(replaced(&place), 1, "{point}: it is replaced once");
                // What signed before signs no more.
                std::fs::copy(folder.join("state.db.key"), &key).unwrap();
                assert_ne!(place.ana("token issue").code, 0, "{point}: the old key signs still");
            }
        }
    }
    assert!(outcomes[0] > 0, "every one came to its end before it was killed");
}

/// Where nobody can hit with a clock: the log is signed with the new key, and its file has not got its name yet.
#[test]
fn a_log_that_is_signed_over_is_gone_on_with_by_the_key_that_signed_it() {
    let (original, _) = company();
    let place = bereft(&original.path().join(".ok"));
    assert_eq!(place.ok("audit rekey").code, 0);
    let folder = place.path().join(".ok");
    let signing = std::fs::read(folder.join("state.db.key")).unwrap();
    std::fs::rename(folder.join("state.db.key"), folder.join("state.db.key.part")).unwrap();
    assert_eq!(place.ok("audit verify").code, 0);
    assert_eq!(place.ana("token issue").code, 1, "no key has its name yet");
    // The lost one is found before that: it signs no more, and is not written over.
    let lost = std::fs::read(original.path().join(".ok/state.db.key")).unwrap();
    std::fs::write(folder.join("state.db.key"), &lost).unwrap();
    let refused = place.ok("audit rekey");
    assert!(refused.code == 1 && refused.stderr.contains("state.db.key.part"), "{refused}");
    assert_eq!(std::fs::read(folder.join("state.db.key")).unwrap(), lost);
    std::fs::remove_file(folder.join("state.db.key")).unwrap();
    assert_eq!(place.ok("audit rekey").code, 0);
    assert_eq!(std::fs::read(folder.join("state.db.key")).unwrap(), signing);
    assert_eq!(replaced(&place), 1);
    goes_on(&place);
}
