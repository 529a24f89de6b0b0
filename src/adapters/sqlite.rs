//! Tables of an SQLite file that belongs to another program. It is asked for its rows in the order of the key; all that is
//! looked for is looked for here, since what its columns hold may be of any type.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{Adapter, LONGEST_VALUE, MOST_BYTES, MOST_ROWS, Rows, Unread, Wanted};
use crate::types::effort;

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
        let key = of.spec.key.first().map(|key| column(key)).unwrap_or_default();
        let sql = format!("SELECT {} FROM {} ORDER BY {key}", columns.join(", "), table.join("."));
        let failed = |error: rusqlite::Error| Unread(error.to_string().chars().take(200).collect());
        let mut statement = conn.prepare(&sql).map_err(failed)?;
        let mut found = statement.query([]).map_err(failed)?;
        let (mut rows, mut bytes) = (Rows::default(), 0);
        while let Some(row) = found.next().map_err(failed)? {
            effort::spend(1);
            if rows.rows.len() == MOST_ROWS || bytes > MOST_BYTES {
                rows.is_cut = true;
                break;
            }
            let values = (0..columns.len()).map(|place| row.get_ref(place).map(text)).collect::<Result<Vec<_>, _>>();
            let values = values.map_err(failed)?;
            bytes += values.iter().flatten().map(String::len).sum::<usize>();
            rows.rows.push(values);
        }
        Ok(rows)
    }

    fn check(&self) -> Result<String, Unread> {
        let conn = self.open()?;
        let count =
            conn.query_row("SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')", [], |row| row.get(0));
        let count: i64 = count.map_err(|error| Unread(error.to_string()))?;
        Ok(format!("has {count} tables"))
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
