//! Tables that are listed newest first. Each declares once how it is read, and by which columns somebody's own rows are
//! found, so that whoever sees few rows of many is not kept waiting for a look at all of them.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};

use super::Position;

/// How a table is listed.
pub struct List<T: 'static> {
    pub table: &'static str,
    pub columns: &'static str,
    /// Which of its rows there are: a condition that its index by age has, or `TRUE`.
    pub there: &'static str,
    /// When a row is somebody's own: conditions on `?4`, their id or what else they are listed by. Each is answered by an index
    /// that goes on with age and id.
    pub own: &'static [&'static str],
    pub read: fn(&Row<'_>) -> rusqlite::Result<T>,
    /// Adds what stands in other tables.
    pub complete: fn(&Connection, T) -> rusqlite::Result<T>,
    pub position: fn(&T) -> Position,
}

impl<T> List<T> {
    /// Rows after a position.
    pub fn after(&self, conn: &Connection, from: &Position, limit: usize) -> rusqlite::Result<Vec<T>> {
        self.rows(conn, "?4 IS NULL", None, from, limit)
    }

    /// The rows after a position of any of these, or those that are listed by something else.
    pub fn own_after(
        &self,
        conn: &Connection,
        whose: &[&str],
        from: &Position,
        limit: usize,
    ) -> rusqlite::Result<Vec<T>> {
        let mut found = BTreeMap::new();
        for (own, whose) in self.own.iter().flat_map(|own| whose.iter().map(move |whose| (own, whose))) {
            let rows = self.rows(conn, own, Some(whose), from, limit)?;
            found.extend(rows.into_iter().map(|row| ((self.position)(&row), row)));
        }
        Ok(found.into_values().take(limit).collect())
    }

    fn rows(
        &self,
        conn: &Connection,
        which: &str,
        whose: Option<&str>,
        from: &Position,
        limit: usize,
    ) -> rusqlite::Result<Vec<T>> {
        let given = params![from.at, from.id, limit as i64, whose];
        let mut query = conn.prepare_cached(&self.sql(which))?;
        let rows: Vec<T> = query.query_map(given, self.read)?.collect::<rusqlite::Result<_>>()?;
        rows.into_iter().map(|row| (self.complete)(conn, row)).collect()
    }

    /// The first condition on the age is the one that an index seeks.
    pub fn sql(&self, which: &str) -> String {
        let List { table, columns, there, .. } = self;
        format!(
            "SELECT {columns} FROM {table} WHERE {there} AND {which} AND created_at <= ?1 AND (created_at < ?1 OR id > ?2) \
             ORDER BY created_at DESC, id LIMIT ?3"
        )
    }
}

/// For a table whose rows stand alone.
pub fn whole<T>(_: &Connection, row: T) -> rusqlite::Result<T> {
    Ok(row)
}
