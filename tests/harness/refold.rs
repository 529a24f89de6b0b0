//! A log folded again, as its events say.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use ok::store::event::{Event, Moment};
use rusqlite::Connection;

/// The tables that a log leads to. No event writes to a table that it does not declare.
pub fn refolded(conn: &Connection) -> Connection {
    let fresh = Connection::open_in_memory().unwrap();
    fresh.execute_batch(ok::store::SCHEMA).unwrap();
    let written = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&written);
    let note = move |_, _: &str, table: &str, _| {
        seen.lock().unwrap().insert(table.to_owned());
    };
    fresh.update_hook(Some(note)).unwrap();
    for seq in 1..=ok::log::read::last_seq(conn).unwrap() {
        let logged = ok::log::read::one(conn, seq).unwrap();
        let Some(event) = logged.event else { continue };
        let (event, by) = (Event::read(event).unwrap(), logged.actor.parse().unwrap());
        written.lock().unwrap().clear();
        event.fold(&Moment { conn: &fresh, at: logged.at, by: &by }).unwrap();
        let kind = event.kind();
        for table in written.lock().unwrap().iter() {
            // Of the tables of collections, and of what they are made by, one stands for all.
            let name = if table.starts_with("brain_") || table == "sqlite_master" { "record_version" } else { table };
            let declared = kind.tables().any(|one| one.name == name);
            assert!(declared, "the fold of {} writes to {table}, which it does not declare", kind.name);
        }
    }
    fresh
}
