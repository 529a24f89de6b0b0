//! A log folded again, as its events say.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use ok::store::actors::{self, Actor};
use ok::store::break_glass::{self, BreakGlass};
use ok::store::event::{Event, Moment};
use ok::store::kills::{self, Kill};
use ok::store::{delegations, history};
use ok::types::delegation::Terms;
use rusqlite::Connection;

/// The tables that a log leads to. No event writes to a table that it does not declare.
pub fn refolded(conn: &Connection) -> Connection {
    let fresh = Connection::open_in_memory().unwrap();
    fresh.execute_batch(&ok::store::schema()).unwrap();
    let written = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&written);
    let note = move |_, _: &str, table: &str, _| {
        seen.lock().unwrap().insert(table.to_owned());
    };
    fresh.update_hook(Some(note)).unwrap();
    for seq in 1..=ok::log::read::last_seq(conn).unwrap() {
        let logged = ok::log::read::one(conn, seq).unwrap();
        ok::gate::decide::usage::count(&fresh, &logged).unwrap();
        let Some(event) = logged.event else { continue };
        let (event, by) = (Event::read(event).unwrap(), logged.actor.parse().unwrap());
        written.lock().unwrap().clear();
        event.fold(&Moment { conn: &fresh, seq, at: logged.at, by: &by }).unwrap();
        let kind = event.kind();
        for table in written.lock().unwrap().iter() {
            // Of the tables of collections, and of what they are made by, one stands for all.
            let name = match table.as_str() {
                // The words are kept by SQLite in tables of its own.
                name if name.starts_with("search") => "search_row",
                name if name.starts_with("knowledge_words") => "knowledge_chunk",
                name if name.starts_with("brain_") || name == "sqlite_master" => "record_version",
                name => name,
            };
            let declared = kind.tables().any(|one| one.name == name);
            assert!(declared, "the fold of {} writes to {table}, which it does not declare", kind.name);
        }
        if kind.memory.is_directory() {
            assert_remembered(conn, seq, &fresh);
        }
    }
    fresh
}

/// The directory after an entry, as the history in `conn` tells it, is what the tables were then.
fn assert_remembered(conn: &Connection, seq: i64, then: &Connection) {
    fn assert_same<E: history::Entry + Debug + PartialEq>(conn: &Connection, seq: i64, mut was: Vec<E>) {
        let mut remembered = history::standing::<E>(conn, seq).unwrap();
        remembered.sort_by_key(history::Entry::id);
        was.sort_by_key(history::Entry::id);
        assert_eq!(remembered, was, "after the event {seq}");
    }
    let live = delegations::all_live(then).unwrap().into_iter().map(|one| one.terms);
    assert_same::<Actor>(conn, seq, actors::all(then).unwrap());
    assert_same::<Kill>(conn, seq, kills::all(then).unwrap());
    assert_same::<BreakGlass>(conn, seq, break_glass::unreviewed(then).unwrap());
    assert_same::<Terms>(conn, seq, live.filter(|terms| terms.status.is_live()).collect());
}
