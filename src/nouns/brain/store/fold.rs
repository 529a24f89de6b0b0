//! Folds events into collections and their records.

use std::collections::BTreeMap;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use super::{Record, collection, origin, table};
use crate::event::Moment;
use crate::search::{self, Texts, Thing};
use crate::to_json;
use types::brain::Written;
use types::collection::Collection;
use types::id::Id;

/// A migration of a collection's table, and which fields absorb the values of others.
pub(super) struct Remaking<'a> {
    pub name: &'a str,
    pub version: i64,
    /// `None` if the collection is retired.
    pub definition: Option<&'a Collection>,
    /// The previous names of its fields.
    pub renamed: &'a BTreeMap<String, String>,
    /// The fields that are merged into others.
    pub merged: &'a BTreeMap<String, String>,
    /// The defaults that existing records get in new fields.
    pub filled: &'a BTreeMap<String, Value>,
}

/// Migrates a collection's table: creates the new one with the rows of the old.
pub(super) fn remade(to: &Remaking<'_>, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let (conn, name) = (moment.conn, to.name);
    let old = collection(conn, name)?.map(|(old, _)| old);
    let Some(new) = to.definition else {
        conn.execute_batch(&format!("DROP TABLE IF EXISTS {}", table::name(name)))?;
        conn.execute("DELETE FROM collection WHERE name = ?", [name])?;
        return search::clear(conn, name);
    };
    let kept = "INSERT OR REPLACE INTO collection (name, definition, version, changed_at) VALUES (?, ?, ?, ?)";
    let row = params![name, to_json(new)?, to.version, moment.at.0];
    if old.as_ref().is_some_and(|old| old.spec.fields == new.spec.fields && table::made_by(old) == table::made_by(new))
    {
        // Only the semantics have changed; the records stay as they are.
        return conn.execute(kept, row).map(drop);
    }
    if old.is_some() {
        conn.execute_batch(&format!("ALTER TABLE {} RENAME TO {}", table::name(name), table::name(OLD)))?;
        // Indexes keep their names when a table is renamed, and the new table needs these names.
        for index in indexes(conn, OLD)? {
            conn.execute_batch(&format!("DROP INDEX \"{index}\""))?;
        }
    }
    let made = table::made_by(new);
    let (first, indexes) = made.split_first().map_or(("", made.as_slice()), |(first, rest)| (first.as_str(), rest));
    conn.execute_batch(first)?;
    if let Some(old) = &old {
        copy(conn, old, new, to)?;
        conn.execute_batch(&format!("DROP TABLE {}", table::name(OLD)))?;
    }
    indexes.iter().try_for_each(|index| conn.execute_batch(index))?;
    conn.execute(kept, row)?;
    if old.is_some() { index_anew(conn, new) } else { Ok(()) }
}

/// Rebuilds the search index: which fields are searched, and with which label, may have changed.
fn index_anew(conn: &Connection, of: &Collection) -> rusqlite::Result<()> {
    search::clear(conn, of.name())?;
    let mut rows = conn.prepare(&format!("{} ORDER BY id", table::select(of)))?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let record = table::read(row, of)?;
        search::put(conn, Thing { place: of.name(), id: &record.id }, &texts(of, &record.fields))?;
    }
    Ok(())
}

/// Returns a record's searchable texts.
fn texts(of: &Collection, fields: &Map<String, Value>) -> Texts {
    let mut texts = Texts::default();
    for (name, field) in of.spec.fields.iter().filter(|(_, field)| field.kind.is_searched()) {
        match fields.get(name) {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).for_each(|one| texts.add(field.label, one)),
            value => value.and_then(Value::as_str).into_iter().for_each(|text| texts.add(field.label, text)),
        }
    }
    texts
}

/// The name of the old table during a migration; no collection can have it.
const OLD: &str = "-old";

fn indexes(conn: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")?
        .query_map([format!("{}{name}", table::PREFIX)], |row| row.get(0))?
        .collect()
}

/// Copies the rows: each field from its previous name, converted to its current type.
fn copy(conn: &Connection, old: &Collection, new: &Collection, to: &Remaking<'_>) -> rusqlite::Result<()> {
    let was = |name: &String| to.renamed.get(name).unwrap_or(name).clone();
    let kept =
        |name: &String| old.field(&was(name)).filter(|field| new.field(name).is_some_and(|new| new.kind == field.kind));
    let own = "id, version, created_by, created_at, updated_by, updated_at";
    let (mut into, mut from, mut values) = (own.to_owned(), own.to_owned(), Vec::new());
    for (name, field) in table::columns(new) {
        into.push_str(&format!(", {}", table::column(name)));
        let old_field = old.field(&was(name));
        match (kept(name), old_field, &field.default) {
            (Some(_), ..) => from.push_str(&format!(", {}", taken_over(&was(name), to.merged.get(name)))),
            (None, Some(_), _) => from.push_str(&format!(", {}", table::converted(old_field, &was(name), field.kind))),
            (None, None, Some(default)) => {
                from.push_str(", ?");
                values.push(table::stored(new, name, Some(default)));
            }
            (None, None, None) => from.push_str(", NULL"),
        }
    }
    let sql = format!("INSERT INTO {} ({into}) SELECT {from} FROM {}", table::name(new.name()), table::name(OLD));
    conn.execute(&sql, rusqlite::params_from_iter(values))?;
    to.filled.iter().try_for_each(|(name, value)| note_filled(conn, new, name, value))
}

/// Adds a new field's default to the records' last versions: `as_of` now must equal the records as they are.
fn note_filled(conn: &Connection, of: &Collection, field: &str, value: &Value) -> rusqlite::Result<()> {
    let sql = format!(
        "UPDATE record_version AS noted SET fields = json_set(fields, ?, json(?)) WHERE collection = ? AND EXISTS \
         (SELECT 1 FROM {} AS record WHERE record.id = noted.id AND record.version = noted.version)",
        table::name(of.name())
    );
    conn.execute(&sql, params![format!("$.\"{field}\""), to_json(value)?, of.name()])?;
    Ok(())
}

/// Returns a value, or else that of the field merged into it.
fn taken_over(was: &str, merged: Option<&String>) -> String {
    let column = table::column(was);
    merged.map_or_else(|| column.clone(), |other| format!("COALESCE({column}, {})", table::column(other)))
}

/// Writes a version of a record, and the record itself.
pub(super) fn put(
    moment: &Moment<'_>,
    of: &Collection,
    id: &Id,
    version: i64,
    fields: &Map<String, Value>,
) -> rusqlite::Result<()> {
    search::put(moment.conn, Thing { place: of.name(), id: id.as_str() }, &texts(of, fields))?;
    let values: Vec<Sql> = table::columns(of).map(|(name, _)| table::stored(of, name, fields.get(name))).collect();
    let stamp = [Sql::Integer(version), Sql::Text(moment.by.to_string()), Sql::Integer(moment.at.0)];
    if version > 1 {
        let set: String = table::columns(of).map(|(name, _)| format!(", {} = ?", table::column(name))).collect();
        let sql = format!(
            "UPDATE {} SET version = ?, updated_by = ?, updated_at = ?{set} WHERE id = ?",
            table::name(of.name())
        );
        let given = stamp.iter().cloned().chain(values.iter().cloned()).chain([Sql::Text(id.to_string())]);
        if moment.conn.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(given))? > 0 {
            return Ok(());
        }
    }
    // Otherwise it is new, or was deleted.
    let first = if version > 1 { origin(moment.conn, of.name(), id.as_str())? } else { None };
    let (created_by, created_at) = first.map_or((moment.by.clone(), moment.at), |first| (first.by, first.at));
    let (id, fields, updated_by, updated_at) = (id.to_string(), fields.clone(), moment.by.clone(), moment.at);
    table::insert(moment.conn, of, &Record { id, version, fields, created_by, created_at, updated_by, updated_at })
}

/// Adds a version to a record's history.
pub(super) fn add_version(
    moment: &Moment<'_>,
    (collection, id, version): (&str, &Id, i64),
    what: Written,
    fields: &Map<String, Value>,
    run: Option<&Id>,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO record_version (collection, id, version, what, fields, by, run, at, follows, removed) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";
    moment.conn.prepare_cached(sql)?.execute(params![
        collection,
        id.as_str(),
        version,
        what.name(),
        to_json(fields)?,
        moment.by.as_str(),
        run.map(Id::as_str),
        moment.at.0,
        version > 1
    ])?;
    Ok(())
}

pub(super) fn known(moment: &Moment<'_>, name: &str) -> rusqlite::Result<Collection> {
    Ok(super::collection(moment.conn, name)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?.0)
}
