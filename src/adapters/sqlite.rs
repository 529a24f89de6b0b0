//! Tables of an SQLite file that belongs to another program. It is asked for all its rows; what is looked for is looked for here,
//! and put into order here, since what its columns hold may be of any type.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::ranked::First;
use super::{Adapter, LONGEST, LONGEST_VALUE, Rows, Unread, Wanted};
use types::effort;

pub struct Sqlite {
    pub file: PathBuf,
}

/// Opens another program's file. Ours are opened by `store::open`, which asserts their settings; this one's are its owner's.
#[allow(clippy::disallowed_methods, reason = "no file of ours: no settings are asserted")]
pub fn connect(file: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, flags)
}

impl Sqlite {
    fn open(&self) -> Result<Connection, Unread> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = connect(&self.file, flags);
        // A column that is not there is an error, and no text.
        let strict = opened.and_then(|conn| {
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
            Ok(conn)
        });
        strict.map_err(|error| {
            tracing::warn!(file = %self.file.display(), %error, "another system's file cannot be read");
            Unread("its file cannot be read".into())
        })
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Adapter for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn rows(&self, wanted: &Wanted<'_>) -> Result<Rows, Unread> {
        let conn = self.open()?;
        let (of, source) = (wanted.of, wanted.source);
        let column = |field: &str| quoted(source.column(field));
        let columns: Vec<String> = of.spec.fields.keys().map(|name| column(name)).collect();
        let table: Vec<String> = source.table.split('.').map(quoted).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), table.join("."));
        let failed = |error: rusqlite::Error| Unread(error.to_string().chars().take(200).collect());
        let mut statement = conn.prepare(&sql).map_err(failed)?;
        let mut found = statement.query([]).map_err(failed)?;
        let (mut first, begun) = (First::of(wanted), Instant::now());
        while let Some(row) = found.next().map_err(failed)? {
            effort::spend(1);
            let values = (0..columns.len()).map(|place| row.get_ref(place).map(text)).collect::<Result<Vec<_>, _>>();
            first.take(values.map_err(failed)?);
            if begun.elapsed() > LONGEST {
                first.cut();
                break;
            }
        }
        Ok(first.rows())
    }

    fn check(&self) -> Result<String, Unread> {
        let conn = self.open()?;
        let count =
            conn.query_row("SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')", [], |row| row.get(0));
        let count: i64 = count.map_err(|error| Unread(error.to_string()))?;
        Ok(format!("has {count} table{}", if count == 1 { "" } else { "s" }))
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).chars().take(LONGEST_VALUE).collect()),
        // It fits no field.
        ValueRef::Blob(_) => Some("\u{0}".into()),
    }
}
