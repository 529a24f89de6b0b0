//! Notices what other programs do to a state file that is ours: moving or replacing it, or writing to it. Then nothing is
//! written any more until somebody has looked and started the server again.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rusqlite::Connection;

use types::refusal::Fault;

pub(crate) struct Guard {
    path: PathBuf,
    /// Device and inode.
    file: Option<(u64, u64)>,
    /// SQLite's counter of other connections' commits.
    version: i64,
    broken: Option<String>,
}

impl Guard {
    pub fn new(path: PathBuf, conn: &Connection) -> Result<Guard, Fault> {
        let mut guard = Guard { path, file: None, version: 0, broken: None };
        guard.file = guard.identity();
        guard.version = version(conn)?;
        Ok(guard)
    }

    fn identity(&self) -> Option<(u64, u64)> {
        std::fs::metadata(&self.path).ok().map(|file| (file.dev(), file.ino()))
    }

    /// The file at the path is still the one that was opened.
    pub fn same_file(&mut self) -> Result<(), Fault> {
        if self.file != self.identity() {
            self.broken.get_or_insert_with(|| "the state file was moved or replaced".into());
        }
        self.verdict()
    }

    /// Nobody else has written since.
    pub fn untouched(&mut self, conn: &Connection) -> Result<(), Fault> {
        if version(conn)? != self.version {
            self.broken.get_or_insert_with(|| "another program has written to the state file".into());
        }
        self.verdict()
    }

    /// Starts over with a new connection, whose version counter is its own.
    pub fn reopened(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.version = version(conn)?;
        self.verdict()
    }

    fn verdict(&self) -> Result<(), Fault> {
        match &self.broken {
            Some(why) => Err(Fault::Broken(format!("{why}; look at it, then start the server again"))),
            None => Ok(()),
        }
    }
}

fn version(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}
