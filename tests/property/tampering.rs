//! Whatever byte of a closed state file's log is changed, the verifier says so.

use std::path::Path;

use ok::log::verify::{Ask, verify_sqlite};
use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::json;

use super::run;
use crate::harness::Test;
use crate::harness::prove::law;

/// What no checkpoint covers: who owns the file now (signed on its own), when a head was written, and an index that is made from the leaves.
const UNSIGNED: &[(&str, &str)] = &[
    ("log_head", "epoch"),
    ("log_head", "owner"),
    ("log_head", "ts"),
    ("log_checkpoint", "ts"),
    // Derived from the leaves: `audit verify` makes it again and compares.
    ("log_index", "key"),
    ("log_index", "tile"),
    ("log_index", "offsets"),
];

/// A company of a few hundred events, erased content and several checkpoints among them, closed.
async fn closed(folder: &Path) {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    assert_eq!(test.post("/tick", &mia, json!({})).await.status, 403);
    let refused = test.last_seq().await;
    test.post("/context/forget", &test.admin, json!({ "events": [refused], "reason": "a law" })).await;
    for number in 0..270 {
        test.clock.advance(if number % 50 == 0 { 1_000 } else { 0 });
        test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send", "reason": number.to_string() })).await;
    }
    let closed = test.closed().await;
    std::fs::copy(closed.path().join("state.db"), folder.join("state.db")).unwrap();
}

fn columns(conn: &Connection) -> Vec<(String, String)> {
    let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
               WHERE t.type = 'table' AND t.name LIKE 'log\\_%' ESCAPE '\\' ORDER BY 1, c.cid";
    let found = conn
        .prepare(sql)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<Vec<_>, _>>();
    found.unwrap()
}

/// Changes one bit of a value, wherever it is.
fn flipped(cell: Cell, at: &Index, bit: u8) -> Option<Cell> {
    Some(match cell {
        Cell::Integer(number) => Cell::Integer(number ^ (1 << (at.index(5) * 8 + usize::from(bit)))),
        Cell::Blob(mut bytes) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            Cell::Blob(bytes)
        }
        Cell::Text(text) if !text.is_empty() => {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << (bit % 7);
            Cell::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => return None,
    })
}

#[test]
fn any_changed_byte_of_the_log_is_found() {
    let folder = tempfile::tempdir().unwrap();
    run(closed(folder.path()));
    let path = folder.path().join("state.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = MEMORY").unwrap();
    let clean = verify_sqlite(&conn, &Ask::default()).unwrap();
    assert!(clean.ok && clean.redacted == 1 && clean.size > 270, "{clean:#?}");
    let columns: Vec<_> = columns(&conn)
        .into_iter()
        .filter(|(table, column)| !UNSIGNED.contains(&(table.as_str(), column.as_str())))
        .collect();
    assert!(columns.len() >= 15, "{columns:?}");
    proptest!(law(250), |(column in any::<Index>(), row in any::<Index>(), at in any::<Index>(), bit in 0..8_u8)| {
        let (table, column) = &columns[column.index(columns.len())];
                let ids: Vec<i64> = conn.prepare(&format!("SELECT rowid FROM {table} ORDER BY 1")).unwrap()
            .query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        let id = ids[row.index(ids.len())];
        let cell = conn.query_row(&format!("SELECT {column} FROM {table} WHERE rowid = ?"), [id], |row| row.get(0)).unwrap();
        let Some(changed) = flipped(cell, &at, bit) else { return Ok(()) };
        conn.execute_batch("BEGIN").unwrap();
        let done = conn.execute(&format!("UPDATE {table} SET {column} = ? WHERE rowid = ?"), params![changed, id]);
        let report = verify_sqlite(&conn, &Ask::default()).unwrap();
        conn.execute_batch("ROLLBACK").unwrap();
        prop_assert!(done.is_err() || !report.ok, "a changed {}.{} of row {} was not found", table, column, id);
    });
}
