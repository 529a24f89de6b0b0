//! Opening a state file. What a wrapper or a build option could silently change is asserted after opening.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{AccessFlags, access};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rusqlite_migration::{M, Migrations};

/// "ok" and a version of the container, in SQLite's application id.
const APPLICATION_ID: i32 = 0x6f6b_0001;
/// Older libraries have a WAL defect that can lose committed pages.
const OLDEST_SQLITE: i32 = 3_051_003;

/// Why a state file cannot be used, in words for the person at the command line.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot make the folder {0}: {1}")]
    Folder(PathBuf, std::io::Error),
    #[error("there is no state file at {0}")]
    Missing(PathBuf),
    #[error("{0} is not an ok state file")]
    Foreign(PathBuf),
    #[error("{0} was written by a newer version of ok (schema {1}; this one knows {2}); nothing was changed")]
    Newer(PathBuf, i64, usize),
    #[error("{0} cannot be written: {1}")]
    ReadOnly(PathBuf, String),
    #[error("{0} cannot be read: the newest writes are in {0}-wal, which needs a writable folder; copy both there")]
    Unsettled(PathBuf),
    #[error("{0} is damaged: {1}; keep it as it is and restore a backup beside it")]
    Damaged(PathBuf, String),
    #[error(
        "{0} is not as ok writes it: {1}; `ok audit verify` reports everything that is wrong. Keep it as it is and restore a backup beside it"
    )]
    Strange(PathBuf, String),
    #[error("{0}: {1}")]
    Sqlite(PathBuf, rusqlite::Error),
    #[error("the SQLite library reports {0} for `{1}` where {2} was set; refusing to run without it")]
    Pragma(String, &'static str, &'static str),
    #[error("the SQLite library is {0}; 3.51.3 or newer is needed")]
    Library(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The one connection that writes.
    Write,
    /// Any number of readers.
    Read,
}

/// Opens a connection with every pragma set and asserted.
#[allow(clippy::disallowed_methods, reason = "the one place that opens connections")]
pub fn connect(path: &Path, mode: Mode) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(OpenError::Library(rusqlite::version()));
    }
    let flags = match mode {
        Mode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Mode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    } | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if mode == Mode::Read && !path.exists() {
        return Err(OpenError::Missing(path.into()));
    }
    let opened = |place: &Path, flags| {
        let conn = Connection::open_with_flags(place, flags).map_err(|error| name(path, error))?;
        configure(&conn, mode).map_err(|error| match error {
            Configured::Sqlite(error) => name(path, error),
            Configured::Refused(refused) => refused,
        })?;
        Ok(conn)
    };
    match opened(path, flags) {
        Err(OpenError::ReadOnly(..)) if mode == Mode::Read && is_sealed(path) => {
            opened(&as_it_lies(path)?, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        other => other,
    }
}

/// Whether a file lies where this process may write nothing: a medium that is only read, or another's folder.
pub fn is_sealed(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.exists() && access(folder, AccessFlags::W_OK).is_err()
}

/// What SQLite opens without the files beside it that it shares with writers: all has to be in the file.
fn as_it_lies(path: &Path) -> Result<PathBuf, OpenError> {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    if std::fs::metadata(wal).is_ok_and(|wal| wal.len() > 0) {
        return Err(OpenError::Unsettled(path.to_owned()));
    }
    let whole = std::fs::canonicalize(path).map_err(|error| OpenError::ReadOnly(path.to_owned(), error.to_string()))?;
    let url = url::Url::from_file_path(whole).map_err(|()| OpenError::Missing(path.to_owned()))?;
    Ok(format!("{url}?immutable=1").into())
}

/// An empty database for the while: a file that nobody else can open and that goes with its connection.
#[allow(clippy::disallowed_methods, reason = "it holds nothing that has to last")]
pub fn scratch() -> rusqlite::Result<Connection> {
    let conn = Connection::open("")?;
    conn.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384")?;
    plan_once(&conn)?;
    Ok(conn)
}

/// Keeps prepared statements and plans each only once. Otherwise SQLite would plan some again for each bound value,
/// because a partial index might serve just that value. (No statement here relies on an index that its text alone does
/// not select; see <https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenableqpsg>.)
pub fn plan_once(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_prepared_statement_cache_capacity(128);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Makes an empty file that only its owner may read, unless there is one: the tables hold the key that seals cursors.
pub fn make_private(path: &Path) -> Result<(), OpenError> {
    if path.exists() {
        return Ok(());
    }
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| OpenError::ReadOnly(path.to_owned(), error.to_string()))
}

enum Configured {
    Sqlite(rusqlite::Error),
    Refused(OpenError),
}

impl From<rusqlite::Error> for Configured {
    fn from(error: rusqlite::Error) -> Configured {
        Configured::Sqlite(error)
    }
}

/// How long SQLite waits for another program's lock: shorter than callers wait for the writer.
pub const BUSY: Duration = Duration::from_millis(1_500);

/// (pragma, value to set, value to be read back)
const PRAGMAS: &[(&str, &str, &str)] = &[
    ("busy_timeout", "1500", "1500"),
    ("foreign_keys", "ON", "1"),
    ("trusted_schema", "OFF", "0"),
    ("cell_size_check", "ON", "1"),
    ("mmap_size", "0", "0"),
    ("synchronous", "FULL", "2"),
    ("fullfsync", "ON", "1"),
    ("secure_delete", "ON", "1"),
];

fn configure(conn: &Connection, mode: Mode) -> Result<(), Configured> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    plan_once(conn)?;
    super::brain::sum::teach(conn)?;
    for (pragma, value, expected) in PRAGMAS {
        assert_pragma(conn, pragma, value, expected)?;
    }
    match mode {
        Mode::Read => {
            assert_pragma(conn, "query_only", "ON", "1")?;
            // The first look at the file: what keeps it from being read is told here.
            conn.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
            Ok(())
        }
        Mode::Write => assert_pragma(conn, "journal_mode", "WAL", "wal"),
    }
}

fn assert_pragma(
    conn: &Connection,
    pragma: &'static str,
    value: &str,
    expected: &'static str,
) -> Result<(), Configured> {
    conn.execute_batch(&format!("PRAGMA {pragma} = {value}"))?;
    let found: rusqlite::types::Value = conn.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
    let found = match found {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => format!("{other:?}"),
    };
    if found == expected { Ok(()) } else { Err(Configured::Refused(OpenError::Pragma(found, pragma, expected))) }
}

/// Says what a SQLite error means for the file at `path`.
pub fn name(path: &Path, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::Foreign(path),
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged(path, error.to_string()),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen | ErrorCode::DiskFull) => {
            OpenError::ReadOnly(path, error.to_string())
        }
        _ => OpenError::Sqlite(path, error),
    }
}

/// Makes sure that the file is ours and of this version; an empty file becomes a state file. `schemas` are the
/// migrations of all tables, oldest first.
pub fn prepare(conn: &mut Connection, path: &Path, schemas: &[&str]) -> Result<(), OpenError> {
    let named = |error| name(path, error);
    let pragma =
        |conn: &Connection, name: &str| conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(named)?;
    let application = pragma(conn, "application_id").map_err(named)?;
    if tables == 0 && application == 0 {
        conn.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}")).map_err(named)?;
    } else if application != i64::from(APPLICATION_ID) {
        return Err(OpenError::Foreign(path.into()));
    }
    let version = pragma(conn, "user_version").map_err(named)?;
    if version > schemas.len() as i64 {
        return Err(OpenError::Newer(path.into(), version, schemas.len()));
    }
    Migrations::new(schemas.iter().map(|sql| M::up(sql)).collect()).to_latest(conn).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => name(path, err),
        other => OpenError::Damaged(path.into(), other.to_string()),
    })?;
    let strange = super::shape::strange(conn, schemas).map_err(named)?.into_iter().next();
    strange.map_or(Ok(()), |what| Err(OpenError::Strange(path.into(), what)))
}

/// Whether the file is a state file that this version can read; for connections that only read.
pub fn check(conn: &Connection, path: &Path, schemas: &[&str]) -> Result<(), OpenError> {
    let named = |error| name(path, error);
    let pragma = |name: &str| conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map_err(named);
    if pragma("application_id")? != i64::from(APPLICATION_ID) {
        return Err(OpenError::Foreign(path.into()));
    }
    match pragma("user_version")? {
        version if version > schemas.len() as i64 => Err(OpenError::Newer(path.into(), version, schemas.len())),
        _ => Ok(()),
    }
}
