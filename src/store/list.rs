//! Tables that are listed newest first. Each declares once how it is read, and which columns find the rows that belong
//! to somebody, so that a caller who may see few of many rows need not wait for a scan of all of them.

use std::collections::BTreeSet;

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
    /// Those of them by which a row is also shown to whoever owns that agent, or leads their team.
    pub theirs: &'static [&'static str],
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

    /// Somebody's own rows after a position, with those of `others` that they are shown; or those that are listed by something
    /// else. Only what is returned is read whole.
    pub fn own_after(
        &self,
        conn: &Connection,
        (whose, others): (&str, &[&str]),
        from: &Position,
        limit: usize,
    ) -> rusqlite::Result<Vec<T>> {
        let theirs = self.theirs.iter().flat_map(|own| others.iter().map(move |whose| (own, whose)));
        let mut found = BTreeSet::new();
        for (own, whose) in self.own.iter().map(|own| (own, &whose)).chain(theirs) {
            let mut query = conn.prepare_cached(&self.select("created_at, id", own))?;
            let places = query.query_map(params![from.at, from.id, limit as i64, whose], |row| {
                Ok(Position { at: row.get(0)?, id: row.get(1)? })
            })?;
            found.extend(places.collect::<rusqlite::Result<Vec<Position>>>()?);
        }
        let sql = format!("SELECT {} FROM {} WHERE id = ?", self.columns, self.table);
        let mut query = conn.prepare_cached(&sql)?;
        let row = |place: Position| (self.complete)(conn, query.query_row([place.id], self.read)?);
        found.into_iter().take(limit).map(row).collect()
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
        self.select(self.columns, which)
    }

    fn select(&self, columns: &str, which: &str) -> String {
        let List { table, there, .. } = self;
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
