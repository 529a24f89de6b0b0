//! Writing what a command leaves behind.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::exit::Failure;

/// Writes a file, whole or not at all. A new one is its owner's alone; one that is there keeps its rights.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let beside = with_suffix(path, ".new");
    replace(path, &beside, text).map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// What stands beside a state file: SQLite's files, keys, lock and reserve.
const BESIDE: [&str; 8] = ["-wal", "-shm", "-journal", ".key", ".key.part", ".secrets", ".lock", ".reserve"];

/// Writes what a path leads to that was named on the command line: the file behind a link, whole or not at all; a device or a pipe
/// as it comes. A state file, and what stands beside one, is not written over.
pub fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    let refused = |why: &str| Err(Failure::new(format!("cannot write {}: {why}", path.display())));
    let replace = |path: &Path| {
        let places = [path.to_owned(), with_suffix(path, ".new")];
        match places.iter().map(|path| is_of_a_company(path)).collect::<io::Result<Vec<bool>>>().map_err(failed)? {
            found if found.contains(&true) => refused("it is a state file, or belongs to one"),
            _ => write(path, text),
        }
    };
    match fs::metadata(path) {
        // What stands for this process's own outputs may be a file, which is not to be another one afterwards.
        Ok(found) if found.is_file() && !is_an_output(path) => replace(&fs::canonicalize(path).map_err(failed)?),
        Ok(_) => {
            let open = OpenOptions::new().append(true).open(path);
            open.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => refused("it is a link to a file that does not exist"),
            Err(_) => replace(path),
        },
        Err(error) => Err(failed(error)),
    }
}

/// `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`.
fn is_an_output(path: &Path) -> bool {
    let is_of_a_process = path.starts_with("/proc") && path.parent().is_some_and(|folder| folder.ends_with("fd"));
    ["/dev/stdout", "/dev/stderr", "/dev/fd"].iter().any(|own| path.starts_with(own)) || is_of_a_process
}

/// Whether a file is a database, or is named like one that stands beside a database.
fn is_of_a_company(path: &Path) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let stems = BESIDE.iter().filter_map(|suffix| name.strip_suffix(suffix.as_bytes()));
    let states = stems.map(|stem| path.with_file_name(OsStr::from_bytes(stem)));
    for path in std::iter::once(path.to_owned()).chain(states) {
        if is_database(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut longer = path.as_os_str().to_owned();
    longer.push(suffix);
    PathBuf::from(longer)
}

/// <https://www.sqlite.org/fileformat.html#magic_header_string>
fn is_database(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut head = [0; 16];
    match File::open(path)?.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| head == *b"SQLite format 3\0"),
    }
}

fn replace(path: &Path, beside: &Path, text: &str) -> io::Result<()> {
    let mut file = fresh(beside)?;
    if let Ok(old) = fs::symlink_metadata(path)
        && old.is_file()
    {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(beside, path)
}

/// A new file. What a command that was killed left in its place goes; a link is removed and never followed.
fn fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
