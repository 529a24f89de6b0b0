//! The table of a collection: its DDL, and the mapping of records to rows.
//!
//! Always true: names of tables and columns come from validated names only; a table's DDL follows from its definition only,
//! whatever it was before.

use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};
use serde_json::{Map, Value};

use super::Record;
use crate::parsed;
use types::collection::Collection;
use types::condition::Scalar;
use types::field::{Field, FieldKind, Label};
use types::time::Time;

/// The prefix of such tables.
pub const PREFIX: &str = "brain_";

pub fn name(collection: &str) -> String {
    format!("\"{PREFIX}{collection}\"")
}

/// Returns the column of a field, or of a built-in field of records.
pub fn column(field: &str) -> String {
    match field {
        "id" | "version" | "created_by" | "created_at" | "updated_by" | "updated_at" => field.to_owned(),
        field => format!("\"f_{field}\""),
    }
}

/// Returns a SQL expression for a field's value in another type: the columns of convertible types hold the same, except for
/// integers.
pub fn converted(field: Option<&Field>, called: &str, into: FieldKind) -> String {
    let column = column(called);
    let was_whole = field.is_some_and(|field| field.kind == FieldKind::Integer);
    if was_whole && into != FieldKind::Integer { format!("{column} * 10000") } else { column }
}

/// Returns the fields that are columns: personal data is stored apart, where it can be erased.
pub fn columns(of: &Collection) -> impl Iterator<Item = (&String, &Field)> {
    of.spec.fields.iter().filter(|(_, field)| field.label != Some(Label::Personal))
}

const fn affinity(kind: FieldKind) -> &'static str {
    if kind.is_counted() { "INTEGER" } else { "TEXT" }
}

/// Returns the DDL: the table itself first, then its indexes.
pub fn made_by(of: &Collection) -> Vec<String> {
    let table = name(of.name());
    let fields: String = columns(of)
        .map(|(name, field)| {
            let null = if field.required { " NOT NULL" } else { "" };
            format!(", {} {}{null}", column(name), affinity(field.kind))
        })
        .collect();
    let mut made = vec![format!(
        "CREATE TABLE {table} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, created_by TEXT NOT NULL, created_at INTEGER \
         NOT NULL, updated_by TEXT NOT NULL, updated_at INTEGER NOT NULL{fields}) STRICT"
    )];
    let mut index = |what: &str, unique: bool, columns: String| {
        let unique = if unique { "UNIQUE " } else { "" };
        made.push(format!("CREATE {unique}INDEX \"{PREFIX}{}.{what}\" ON {table} ({columns})", of.name()));
    };
    index("age", false, "created_at DESC, id".into());
    index("maker", false, "created_by, created_at DESC, id".into());
    if of.spec.retention.is_some_and(|kept| kept.record_days.is_some()) {
        index("changed", false, "updated_at, id".into());
    }
    if !of.spec.key.is_empty() {
        index("key", true, of.spec.key.iter().map(|field| column(field)).collect::<Vec<_>>().join(", "));
    }
    for (name, field) in columns(of) {
        if field.unique {
            index(&format!("unique.{name}"), true, column(name));
        }
        if field.index || matches!(field.kind, FieldKind::Actor | FieldKind::Team) {
            index(name, false, format!("{}, created_at DESC, id", column(name)));
        }
    }
    made
}

/// Inserts a record into its table.
pub fn insert(conn: &Connection, of: &Collection, record: &Record) -> rusqlite::Result<()> {
    let columns: String = columns(of).map(|(name, _)| format!(", {}", column(name))).collect();
    let values = self::columns(of).map(|(name, _)| stored(of, name, record.fields.get(name)));
    let own = [
        Sql::Text(record.id.clone()),
        Sql::Integer(record.version),
        Sql::Text(record.created_by.to_string()),
        Sql::Integer(record.created_at.0),
        Sql::Text(record.updated_by.to_string()),
        Sql::Integer(record.updated_at.0),
    ];
    let given: Vec<Sql> = own.into_iter().chain(values).collect();
    let sql = format!(
        "INSERT INTO {} (id, version, created_by, created_at, updated_by, updated_at{columns}) VALUES ({})",
        name(of.name()),
        vec!["?"; given.len()].join(", ")
    );
    conn.prepare_cached(&sql)?.execute(params_from_iter(given)).map(drop)
}

/// Returns the start of a query whose rows `read` parses.
pub fn select(of: &Collection) -> String {
    format!("SELECT {} FROM {}", selected(of), name(of.name()))
}

/// Returns the columns that `read` parses.
pub fn selected(of: &Collection) -> String {
    let fields: String = columns(of).map(|(name, _)| format!(", {}", column(name))).collect();
    format!("id, version, created_by, created_at, updated_by, updated_at{fields}")
}

pub fn read(row: &Row<'_>, of: &Collection) -> rusqlite::Result<Record> {
    let mut fields = Map::new();
    for (place, (name, field)) in (6..).zip(columns(of)) {
        if let Some(value) = shown(field.kind, row.get_ref(place)?) {
            fields.insert(name.clone(), value);
        }
    }
    Ok(Record {
        id: row.get(0)?,
        version: row.get(1)?,
        created_by: parsed(row, 2)?,
        created_at: Time(row.get(3)?),
        updated_by: parsed(row, 4)?,
        updated_at: Time(row.get(5)?),
        fields,
    })
}

/// Converts a column's value to JSON.
fn shown(kind: FieldKind, stored: ValueRef<'_>) -> Option<Value> {
    match stored {
        ValueRef::Integer(number) => Some(kind.of_number(number)),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).ok()?;
            match kind {
                FieldKind::Choices | FieldKind::Json => serde_json::from_str(text).ok(),
                _ => Some(text.into()),
            }
        }
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

pub fn to_sql(scalar: &Scalar) -> Sql {
    match scalar {
        Scalar::Number(number) => Sql::Integer(*number),
        Scalar::Text(text) => Sql::Text(text.clone()),
    }
}

/// Converts a field's value for its column; null if there is none.
pub fn stored(of: &Collection, field: &str, value: Option<&Value>) -> Sql {
    let kind = of.field(field).map(|field| field.kind);
    let scalar = kind.zip(value).and_then(|(kind, value)| Scalar::of(kind, value));
    scalar.as_ref().map_or(Sql::Null, to_sql)
}
