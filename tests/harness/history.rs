//! What a log says and the tables that it led to. `snapshots/log/histories.jsonl` holds some as the version of their time wrote
//! them. More are recorded with `OK_RECORD=/tmp/h.jsonl cargo test`, a line for each company that a test makes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use ok::store::event::{Event, Moment};
use ok::store::open::{self, Mode};
use ok::types::time::Time;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
pub struct History {
    /// The test that made it.
    pub name: String,
    pub entries: Vec<Entry>,
    pub tables: BTreeMap<String, Table>,
}

#[derive(Serialize, Deserialize)]
pub struct Entry {
    pub seq: i64,
    pub at: i64,
    pub by: String,
    pub event: Value,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub columns: Vec<String>,
    /// In order, whatever order they were written in.
    pub rows: Vec<Vec<Value>>,
}

/// The tables that these entries lead to.
pub fn folded(entries: &[Entry]) -> Connection {
    let fresh = Connection::open_in_memory().unwrap();
    fresh.execute_batch(&ok::store::schema()).unwrap();
    for Entry { seq, at, by, event } in entries {
        let (event, by) = (Event::read(event.clone()).unwrap(), by.parse().unwrap());
        event.fold(&Moment { conn: &fresh, seq: *seq, at: Time(*at), by: &by }).unwrap();
    }
    fresh
}

/// The tables that have rows.
pub fn tables(conn: &Connection) -> rusqlite::Result<BTreeMap<String, Table>> {
    let sql =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(sql)?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut tables = BTreeMap::new();
    for name in names {
        let table = table(conn, &name, &[])?;
        if !table.rows.is_empty() {
            tables.insert(name, table);
        }
    }
    Ok(tables)
}

/// The rows of a table; of all its columns where none are named.
pub fn table(conn: &Connection, name: &str, columns: &[String]) -> rusqlite::Result<Table> {
    let listed = match columns {
        [] => "*".to_owned(),
        some => some.join(", "),
    };
    let mut statement = conn.prepare(&format!("SELECT {listed} FROM {name}"))?;
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let row = |row: &rusqlite::Row<'_>| (0..columns.len()).map(|at| row.get_ref(at).map(cell)).collect();
    let mut rows: Vec<Vec<Value>> = statement.query_map([], row)?.collect::<Result<_, _>>()?;
    rows.sort_by_key(|row| Value::from(row.clone()).to_string());
    Ok(Table { columns, rows })
}

fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(std::str::from_utf8(text).unwrap()),
        ValueRef::Blob(bytes) => json!({ "blob": hex::encode(bytes) }),
    }
}

/// The state file of a company that is recorded when its test ends, where that is asked for.
pub struct Recorder(pub PathBuf);

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(file) = std::env::var_os("OK_RECORD")
            && !std::thread::panicking()
            && let Ok(conn) = open::connect(&self.0, Mode::Read)
            && let Some(history) = recorded(&conn)
        {
            let line = serde_json::to_string(&history).unwrap() + "\n";
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
    }
}

/// The history of a log in which nothing is erased. Its policies are not kept: they would be most of it.
fn recorded(conn: &Connection) -> Option<History> {
    let mut entries = Vec::new();
    for seq in 1..=ok::log::read::last_seq(conn).ok()? {
        let logged = ok::log::read::one(conn, seq).ok()?;
        let mut event = logged.event?;
        if let Some(Value::Object(files)) = event.get_mut("files") {
            files.clear();
        }
        entries.push(Entry { seq, at: logged.at.0, by: logged.actor, event });
    }
    let tables = tables(&folded(&entries)).ok()?;
    let name = std::thread::current().name()?.to_owned();
    (!entries.is_empty()).then_some(History { name, entries, tables })
}
