//! The state file, opened read-only: for commands that the holder of the file may use, whether a server is running or
//! not.

use rusqlite::{Connection, Transaction};

use super::Context;
use super::exit::Failure;
use crate::gate::state::open::{SCHEMAS, make_way};
use crate::log::head::{self, Head};
use crate::store::open::{self, Mode, OpenError};

/// Opens the state file, which must be there.
pub fn open(context: &Context) -> Result<Connection, Failure> {
    let open = || {
        let conn = open::connect(&context.state, Mode::Read)?;
        open::check(&conn, &context.state, SCHEMAS)?;
        Ok(conn)
    };
    match open() {
        // On a full disk even reading takes a little.
        Err(OpenError::Sqlite(..)) if make_way(&context.state) => Ok(open()?),
        opened => Ok(opened?),
    }
}

/// One moment of the file.
pub fn moment(conn: &mut Connection) -> Result<Transaction<'_>, Failure> {
    Ok(conn.transaction()?)
}

/// The log's newest state.
pub fn head(conn: &Connection) -> Result<Head, Failure> {
    head::head(conn)?.ok_or_else(|| Failure::new("the log has no head"))
}
