//! Whether the tables are what the log says. The log is tamper-evident, the tables are not: whoever edits them by hand
//! changes what is allowed without leaving an entry. Folding the log again, apart, shows it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::Connection;
use rusqlite::types::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::{past, soundness};
use crate::log::{index, read};
use crate::store::brain;
use crate::store::event::{EventKind, Moment, Table};
use crate::types::refusal::Fault;

/// The tables that are a fold of the log: those that the events say they change.
fn folded() -> BTreeSet<Table> {
    EventKind::all().flat_map(|kind| kind.tables().collect::<Vec<_>>()).collect()
}

/// A row that the log does not account for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    pub table: Cow<'static, str>,
    /// The row's key.
    pub key: String,
    pub message: String,
}

/// Folds the whole log into an empty database and compares the tables. Empty means equal. Takes memory for the tables,
/// not for the log.
pub fn compare(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(crate::store::SCHEMA)?;
    fresh.execute_batch("BEGIN")?;
    for seq in 1..=read::last_seq(conn)? {
        let logged = read::one(conn, seq)?;
        let at = logged.at;
        // Erased contents fold nothing: only such may be erased.
        let Some((actor, event)) = past::event_of(logged)? else { continue };
        event.fold(&Moment { conn: &fresh, at, by: &actor })?;
    }
    let mut differences = Vec::new();
    for Table { name: table, key } in folded() {
        differences.extend(difference(table, &rows(conn, table, key)?, &rows(&fresh, table, key)?));
    }
    // Each collection that the events made is a table.
    for collection in brain::collections(&fresh)? {
        let table = brain::table::name(collection.name());
        let stored =
            if brain::collection(conn, collection.name())?.is_some() { rows(conn, &table, "id")? } else { Vec::new() };
        differences.extend(difference(&table, &stored, &rows(&fresh, &table, "id")?));
    }
    // Whoever edits the index hides events from those who look for them.
    let astray = index::astray(conn)?.map(|seq| Difference {
        table: "log_index".into(),
        key: seq.to_string(),
        message: "does not lead where the leaves say".into(),
    });
    differences.extend(astray);
    differences.extend(soundness::findings(conn)?);
    Ok(differences)
}

type Row = (String, Vec<Value>);

fn rows(conn: &Connection, table: &str, key: &str) -> Result<Vec<Row>, Fault> {
    let mut statement =
        conn.prepare(&format!("SELECT CAST({key} AS TEXT) AS sorted, * FROM {table} ORDER BY sorted"))?;
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, (1..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?))
    };
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// Walks both sides in the order of their keys.
fn difference(table: &str, stored: &[Row], folded: &[Row]) -> Vec<Difference> {
    let name = table.trim_matches('"').to_owned();
    let told = |key: &str, message: &str| Difference {
        table: name.clone().into(),
        key: key.to_owned(),
        message: message.into(),
    };
    let mut found = Vec::new();
    let (mut stored, mut folded) = (stored.iter().peekable(), folded.iter().peekable());
    loop {
        let (left, right) = (stored.peek().map(|row| &row.0), folded.peek().map(|row| &row.0));
        match (left, right) {
            (None, None) => return found,
            (Some(key), right) if right.is_none_or(|right| key < right) => {
                found.push(told(key, "is in the table, but no event made it"));
                stored.next();
            }
            (left, Some(key)) if left.is_none_or(|left| key < left) => {
                found.push(told(key, "was made by an event, but is not in the table"));
                folded.next();
            }
            _ => {
                if let (Some(left), Some(right)) = (stored.next(), folded.next())
                    && left.1 != right.1
                {
                    found.push(told(&left.0, "differs from what the events made of it"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::folded;

    /// What is no fold: what was made with the file and answers to be given again, which `soundness` looks at; and the
    /// log itself.
    const OTHERS: &[&str] = &["instance", "idem"];

    #[test]
    fn every_table_is_compared_or_known_to_be_no_fold() {
        let names =
            crate::store::SCHEMA.split("CREATE TABLE ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        for name in names.filter(|name| !name.starts_with("log_")) {
            let folded = folded().iter().any(|table| table.name == name);
            assert!(folded != OTHERS.contains(&name), "{name}");
        }
    }
}
