//! Whether checkpoints were published as a writer does it, by their times and those of the entries.

use ok::log::published::amiss;
use rusqlite::{Connection, params};

const MISSING: &str = "one is missing that was due";

/// What is found, of entries by their times, and checkpoints by their sizes and times.
fn found(times: &[i64], checkpoints: &[(i64, i64)]) -> Vec<(String, &'static str)> {
    let conn = Connection::open_in_memory().unwrap();
    let tables =
        "CREATE TABLE log_entry (seq INTEGER, leaf BLOB); CREATE TABLE log_checkpoint (size INTEGER, ts INTEGER)";
    conn.execute_batch(tables).unwrap();
    for (seq, ts) in (1_i64..).zip(times) {
        let leaf = format!("{{\"ts\":{ts}}}").into_bytes();
        conn.execute("INSERT INTO log_entry VALUES (?, ?)", params![seq, leaf]).unwrap();
    }
    for (size, ts) in checkpoints {
        conn.execute("INSERT INTO log_checkpoint VALUES (?, ?)", params![size, ts]).unwrap();
    }
    amiss(&conn).unwrap().into_iter().map(|amiss| (amiss.place, amiss.what)).collect()
}

fn one(place: &str, what: &'static str) -> (String, &'static str) {
    (place.to_owned(), what)
}

#[test]
fn a_log_as_it_is_written_has_nothing_amiss() {
    assert_eq!(found(&[], &[]), []);
    assert_eq!(found(&[5, 5, 900, 20_000, 20_000], &[(3, 1_900), (5, 20_000)]), []);
    // A batch of many entries is published at its end, and what is not due yet is not missing.
    assert_eq!(found(&[7; 700], &[(700, 7)]), []);
    assert_eq!(found(&[7, 7, 900], &[]), []);
    // Published once more when the log got another key, long after.
    assert_eq!(found(&[7, 900_000], &[(1, 899_000), (2, 900_000)]), []);
}

#[test]
fn a_missing_checkpoint_is_told_once() {
    assert_eq!(found(&[0, 20_000, 40_000], &[(3, 40_000)]), [one("after 0", MISSING)]);
    assert_eq!(found(&[0, 20_000, 40_000], &[(1, 0), (2, 20_000)]), [one("after 2", MISSING)]);
    assert_eq!(found(&[0, 20_000, 40_000, 60_000], &[(1, 0)]), [one("after 1", MISSING)]);
    let full = [&[1; 256][..], &[2]].concat();
    assert_eq!(found(&full, &[(257, 2)]), [one("after 0", MISSING)]);
}

#[test]
fn a_false_date_is_told() {
    let early = "is dated before the last entry that it covers";
    assert_eq!(found(&[5_000], &[(1, 4_999)]), [one("1", early)]);
    let late = "is dated after the entry that came after it";
    assert_eq!(found(&[0, 5_000], &[(1, 15_001), (2, 15_001)]), [one("1", late)]);
}
