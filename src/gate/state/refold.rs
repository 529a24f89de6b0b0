//! Whether the tables match the log. The log is tamper-evident, the tables are not: editing them by hand changes what
//! is allowed without leaving an entry. Folding the log again, separately, reveals that.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, Rows, Statement};

use crate::decide::usage;
use crate::state::difference::Difference;
use crate::state::soundness;
use log::{index, published, read};
use store::event::{EventKind, Moment, Table};
use store::{SCHEMAS, brain, open, shape};
use types::id::ActorId;
use types::refusal::Fault;
use types::time::SECOND;

/// The tables that are a fold of the log: those that the events say they change.
fn folded() -> BTreeSet<Table> {
    EventKind::all().flat_map(|kind| kind.tables().collect::<Vec<_>>()).collect()
}

/// The tables that are missing. Where there are any, the others cannot be compared.
pub fn absent(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    soundness::absent(conn)
}

/// Looks at the tables and at the file around them. Empty means that all is as the log says.
pub fn compare(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let mut differences = tables(conn)?;
    differences.extend(file(conn)?);
    Ok(differences)
}

/// Indexes that lists and lookups need and no fold does: what is folded again is spared them.
const UNUSED: [&str; 5] = ["_by_age ", "_by_status ", "token_by_holder ", "token_live ", "directory_row_admin "];

/// Folds the whole log into an empty database and compares the tables. Takes room on the disk for the tables, and in memory
/// neither for them nor for the log.
pub fn tables(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    let fresh = open::scratch()?;
    let is_used = |statement: &&str| !UNUSED.iter().any(|index| statement.contains(index));
    // As of the file's own version: a file that is only read is not brought up to date. (The log has a migration of its own.)
    let seen = shape::version(conn)?.saturating_sub(1);
    let schema: Vec<&str> = SCHEMAS.iter().take(seen).flat_map(|sql| sql.lines()).filter(is_used).collect();
    fresh.execute_batch(&schema.join("\n"))?;
    fresh.execute_batch("BEGIN")?;
    fold(conn, &fresh)?;
    let mut differences = Vec::new();
    for Table { name: table, key } in folded() {
        let looked = is_alike(table, conn, &fresh).and_then(|alike| match alike {
            true => Ok(()),
            false => difference(table, key, (Some(conn), &fresh), &mut differences),
        });
        differences.extend(unreadable(table, looked)?);
    }
    // Each collection that the events made is a table.
    for collection in brain::collections(&fresh)? {
        let (name, is_there) = (brain::table::name(collection.name()), brain::has_collection(conn, collection.name())?);
        if !is_there || !is_alike(&name, conn, &fresh)? {
            difference(&name, "id", (is_there.then_some(conn), &fresh), &mut differences)?;
        }
    }
    Ok(differences)
}

/// Returns what the comparison cannot check, one line each.
pub fn not_checked(conn: &Connection) -> Result<Vec<String>, Fault> {
    let seconds = published::SLACK_MS / SECOND;
    Ok(vec![
        format!("the words that searches find things by: {}", unfolded(conn)?.join(", ")),
        format!("when a checkpoint was published, to {seconds} s, and whether one is missing so close to another"),
    ])
}

/// The indexes of words, with the tables that SQLite keeps them in: no event says what stands in their rows.
fn unfolded(conn: &Connection) -> Result<Vec<String>, Fault> {
    let sql =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('virtual', 'shadow') ORDER BY name";
    let names = conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}

/// What of the file is no table that the log's events make.
pub fn file(conn: &Connection) -> Result<Vec<Difference>, Fault> {
    // Whoever edits the index hides events from those who look for them.
    let astray = index::astray(conn)?.map(|seq| Difference {
        table: "log_index".into(),
        key: seq.to_string(),
        message: "does not lead where the leaves say".into(),
    });
    let mut found: Vec<Difference> = astray.into_iter().collect();
    found.extend(published::amiss(conn)?.into_iter().map(|amiss| Difference {
        table: "log_checkpoint".into(),
        key: amiss.place,
        message: amiss.what.into(),
    }));
    let sound = soundness::findings(conn).map(|findings| found.extend(findings));
    found.extend(unreadable("(any)", sound)?);
    Ok(found)
}

/// What is stored and cannot be read is a difference like any other.
fn unreadable(table: &'static str, looked: Result<(), Fault>) -> Result<Option<Difference>, Fault> {
    match looked {
        Ok(()) => Ok(None),
        Err(fault) if fault.is_of_a_value() => {
            let message = format!("contains a value that cannot be read ({fault})");
            Ok(Some(Difference { table: table.into(), key: "a row".into(), message }))
        }
        Err(fault) => Err(fault),
    }
}

fn fold(conn: &Connection, fresh: &Connection) -> Result<(), Fault> {
    let mut tally = usage::Tally::into(fresh);
    read::decided(conn, 0, read::last_seq(conn)?, &mut |entry| {
        // Erased contents fold nothing: only such may be erased.
        let Some(payload) = &entry.payload else { return Ok(()) };
        let broken = |what: &str| Fault::Broken(format!("event {} has no {what}", entry.seq));
        let by: ActorId = entry.actor.parse().map_err(|_| broken("actor"))?;
        let kind = EventKind::named(&entry.kind).ok_or_else(|| broken("type that is known"))?;
        tally.count(&entry, &by, &kind, payload)?;
        if usage::is_counted(&kind) {
            tally.write()?;
        }
        let event = kind.logged(payload)?;
        event.fold(&Moment { conn: fresh, seq: entry.seq, at: entry.at, by: &by })?;
        Ok(())
    })?;
    tally.write()
}

/// Whether both sides hold the same rows in the same order as they are stored: as a rule, for the same events made both. Where
/// they do not, only a walk by their keys tells whether they differ.
fn is_alike(table: &str, stored: &Connection, folded: &Connection) -> Result<bool, Fault> {
    let sql = format!("SELECT * FROM {table}");
    let (mut stored, mut folded) = (stored.prepare(&sql)?, folded.prepare(&sql)?);
    let columns = folded.column_count();
    if stored.column_count() != columns {
        return Ok(false);
    }
    let (mut stored, mut folded) = (stored.query([])?, folded.query([])?);
    loop {
        match (stored.next()?, folded.next()?) {
            (None, None) => return Ok(true),
            (Some(left), Some(right)) => {
                for column in 0..columns {
                    if left.get_ref(column)? != right.get_ref(column)? {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
    }
}

/// Walks both sides in the order of their keys; a table that is not there is empty.
fn difference(
    table: &str,
    key: &str,
    (stored, folded): (Option<&Connection>, &Connection),
    found: &mut Vec<Difference>,
) -> Result<(), Fault> {
    let name = table.trim_matches('"').to_owned();
    let differs = |key: &str, message: &str| Difference {
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
                found.push(differs(key, "is in the table, but no event made it"));
                stored.as_mut().map_or(Ok(()), Walk::go)?;
            }
            (left, Some(key)) if left.is_none_or(|left| key < left) => {
                found.push(differs(key, "was made by an event, but is not in the table"));
                folded.go()?;
            }
            (Some(key), _) if stored.as_ref().is_some_and(|stored| stored.row != folded.row) => {
                found.push(differs(key, "differs from what the events made of it"));
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

    /// What is no fold: what was made with the file, which `soundness` looks at.
    const OTHERS: &[&str] = &["instance"];

    #[test]
    fn every_table_is_compared_or_known_to_be_no_fold() {
        let schema = store::schema();
        let names = schema.split("CREATE TABLE ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        for name in names {
            let folded = folded().iter().any(|table| table.name == name);
            assert!(folded != OTHERS.contains(&name), "{name}");
        }
    }
}
