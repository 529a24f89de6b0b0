//! Writes the log out for auditors: plain files that need no database and no `ok` to be checked.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::Connection;
use serde::Serialize;

use super::head;
use types::refusal::Fault;

/// Why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write {0}: {1}")]
    Io(String, std::io::Error),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<rusqlite::Error> for ExportError {
    fn from(error: rusqlite::Error) -> ExportError {
        ExportError::Fault(error.into())
    }
}

#[derive(Serialize)]
struct PayloadLine {
    seq: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

/// Writes the whole log as of one moment into `dir`, which must be empty or not exist. Returns the number of entries.
pub fn write(conn: &mut Connection, dir: &Path) -> Result<u64, ExportError> {
    let named = |error| ExportError::Io(dir.display().to_string(), error);
    std::fs::create_dir_all(dir).map_err(named)?;
    if std::fs::read_dir(dir).map_err(named)?.next().is_some() {
        return Err(named(std::io::Error::other("the folder is not empty")));
    }
    let snapshot = conn.transaction()?;
    let head = head::head(&snapshot)?.ok_or_else(|| Fault::Broken("the log has no head".into()))?;
    let file = |name: &str, fill: &mut dyn FnMut(&mut BufWriter<File>) -> Result<(), Filling>| {
        let path = dir.join(name);
        let named = |error| ExportError::Io(path.display().to_string(), error);
        // It tells all that the company has done: it is its owner's alone.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut out = BufWriter::new(made.map_err(named)?);
        fill(&mut out).map_err(|filling| match filling {
            Filling::Io(error) => named(error),
            Filling::Sqlite(error) => error.into(),
        })?;
        out.flush().map_err(named)?;
        out.get_ref().sync_all().map_err(named)
    };
    file("checkpoint", &mut |out| Ok(out.write_all(head.note.as_bytes())?))?;
    file("vkey", &mut |out| Ok(writeln!(out, "{}", head.vkeys)?))?;
    file("leaves.jsonl", &mut |out| leaves(&snapshot, out))?;
    file("payloads.jsonl", &mut |out| payloads(&snapshot, out))?;
    file("checkpoints", &mut |out| checkpoints(&snapshot, out))?;
    Ok(head.size)
}

enum Filling {
    Io(std::io::Error),
    Sqlite(rusqlite::Error),
}

impl From<std::io::Error> for Filling {
    fn from(error: std::io::Error) -> Filling {
        Filling::Io(error)
    }
}

impl From<rusqlite::Error> for Filling {
    fn from(error: rusqlite::Error) -> Filling {
        Filling::Sqlite(error)
    }
}

fn leaves(conn: &Connection, out: &mut BufWriter<File>) -> Result<(), Filling> {
    let mut statement = conn.prepare("SELECT leaf FROM log_entry ORDER BY seq")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        out.write_all(&row.get::<_, Vec<u8>>(0)?)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn payloads(conn: &Connection, out: &mut BufWriter<File>) -> Result<(), Filling> {
    let sql = "SELECT seq, salt, body FROM log_entry ORDER BY seq";
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let encode = |bytes: Option<Vec<u8>>| bytes.map(|bytes| BASE64.encode(bytes));
        let line = PayloadLine { seq: row.get(0)?, salt: encode(row.get(1)?), payload: encode(row.get(2)?) };
        serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn checkpoints(conn: &Connection, out: &mut BufWriter<File>) -> Result<(), Filling> {
    let mut statement = conn.prepare("SELECT note FROM log_checkpoint ORDER BY size")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        writeln!(out, "{}--", row.get::<_, String>(0)?)?;
    }
    Ok(())
}
