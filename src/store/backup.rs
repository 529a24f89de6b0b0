//! A copy of the state file as of one moment.

use std::path::Path;

use rusqlite::Connection;

use super::open::{OpenError, name};

/// Writes a compact copy into the file at `to`, which must be empty. The connection may be one that only reads; the
/// file that it has open is not written.
pub fn copy(conn: &Connection, to: &Path) -> Result<(), OpenError> {
    let named = |error| name(to, error);
    let path = to.to_str().ok_or_else(|| OpenError::ReadOnly(to.into(), "its name is not UTF-8".into()))?;
    // SQLite counts the copy among the files that `query_only` protects; the state file itself is open read-only.
    conn.execute_batch("PRAGMA query_only = OFF").map_err(named)?;
    let copied = conn.execute("VACUUM INTO ?", [path]).map(drop).map_err(named);
    conn.execute_batch("PRAGMA query_only = ON").map_err(named)?;
    copied
}
