//! Whether the tables are what the log says. The log is tamper-evident, the tables are not: whoever edits them by hand
//! changes what is allowed without leaving an entry. Folding the log again, apart, shows it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, Rows, Statement};
use schemars::JsonSchema;
use serde::Serialize;

use super::{done, past, soundness};
use crate::log::{index, read};
use crate::store::event::{EventKind, Moment, Table};
use crate::store::{brain, open};
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

/// Folds the whole log into an empty database and compares the tables. Empty means equal. Takes room on the disk for the
/// tables, and in memory neither for them nor for the log.
pub fn compare(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let fresh = open::scratch()?;
    fresh.execute_batch(crate::store::SCHEMA)?;
    fresh.execute_batch("BEGIN")?;
    for seq in 1..=read::last_seq(conn)? {
        let logged = read::one(conn, seq)?;
        let at = logged.at;
        done::count(&fresh, &logged)?;
        // Erased contents fold nothing: only such may be erased.
        let Some((actor, event)) = past::event_of(logged)? else { continue };
        event.fold(&Moment { conn: &fresh, seq, at, by: &actor })?;
    }
    let mut differences = Vec::new();
    for Table { name: table, key } in folded() {
        difference(table, key, (Some(conn), &fresh), &mut differences)?;
    }
    // Each collection that the events made is a table.
    for collection in brain::collections(&fresh)? {
        let stored = brain::collection(conn, collection.name())?.map(|_| conn);
        difference(&brain::table::name(collection.name()), "id", (stored, &fresh), &mut differences)?;
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

/// Walks both sides in the order of their keys; a table that is not there is empty.
fn difference(
    table: &str,
    key: &str,
    (stored, folded): (Option<&Connection>, &Connection),
    found: &mut Vec<Difference>,
) -> Result<(), Fault> {
    let name = table.trim_matches('"').to_owned();
    let told = |key: &str, message: &str| Difference {
        table: name.clone().into(),
        key: key.to_owned(),
        message: message.into(),
    };
    let sql = format!("SELECT CAST({key} AS TEXT) AS sorted, * FROM {table} ORDER BY sorted");
    let mut stored = stored.map(|conn| conn.prepare(&sql)).transpose()?;
    let mut folded = folded.prepare(&sql)?;
    let mut stored = stored.as_mut().map(|statement| Walk::of(statement)).transpose()?;
    let mut folded = Walk::of(&mut folded)?;
    loop {
        let (left, right) = (stored.as_ref().and_then(Walk::key), folded.key());
        match (left, right) {
            (None, None) => return Ok(()),
            (Some(key), right) if right.is_none_or(|right| key < right) => {
                found.push(told(key, "is in the table, but no event made it"));
                stored.as_mut().map_or(Ok(()), Walk::go)?;
            }
            (left, Some(key)) if left.is_none_or(|left| key < left) => {
                found.push(told(key, "was made by an event, but is not in the table"));
                folded.go()?;
            }
            (Some(key), _) if stored.as_ref().is_some_and(|stored| stored.row != folded.row) => {
                found.push(told(key, "differs from what the events made of it"));
                stored.as_mut().map_or(Ok(()), Walk::go)?;
                folded.go()?;
            }
            _ => {
                stored.as_mut().map_or(Ok(()), Walk::go)?;
                folded.go()?;
            }
        }
    }
}

/// The rows of one side, one at a time.
struct Walk<'a> {
    rows: Rows<'a>,
    columns: usize,
    /// The row where it stands, its key first; none after the last.
    row: Option<(String, Vec<Value>)>,
}

impl<'a> Walk<'a> {
    fn of(statement: &'a mut Statement<'_>) -> Result<Walk<'a>, Fault> {
        let columns = statement.column_count();
        let mut walk = Walk { rows: statement.query([])?, columns, row: None };
        walk.go()?;
        Ok(walk)
    }

    fn key(&self) -> Option<&str> {
        self.row.as_ref().map(|row| row.0.as_str())
    }

    fn go(&mut self) -> Result<(), Fault> {
        let columns = self.columns;
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(String, Vec<Value>)> {
            Ok((row.get(0)?, (1..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?))
        };
        self.row = self.rows.next()?.map(read).transpose()?;
        Ok(())
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
