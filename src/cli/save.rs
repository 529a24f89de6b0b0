//! Writing the files that commands create.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::exit::Failure;

/// Writes a file atomically, and creates missing folders. Only the owner can read a new file; an existing one keeps its
/// permissions.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    whole(path, text, OWNERS)
}

/// The rights of a new file: its owner's alone, or as the process's umask has it.
const OWNERS: u32 = 0o600;
const USUAL: u32 = 0o666;

fn whole(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot(path, &error))?;
    }
    let beside = with_suffix(path, ".new");
    replace(path, &beside, (text, mode)).map_err(|error| {
        let _ = fs::remove_file(&beside);
        cannot(path, &error)
    })
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}

/// What stands beside a state file: SQLite's files, keys, lock and reserve.
const BESIDE: [&str; 8] = ["-wal", "-shm", "-journal", ".key", ".key.part", ".secrets", ".lock", ".reserve"];

/// Writes to a path from the command line. If it is a link, writes the linked file, atomically; writes to a device or
/// pipe directly. Refuses to overwrite a state file or a file that belongs to one. The permissions of a new file follow
/// the umask.
pub fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot(path, &error);
    let refused = |why: &str| Err(Failure::new(format!("cannot write {}: {why}", path.display())));
    let replace = |path: &Path| {
        let places = [path.to_owned(), with_suffix(path, ".new")];
        match places.iter().map(|path| is_of_a_company(path)).collect::<io::Result<Vec<bool>>>().map_err(failed)? {
            found if found.contains(&true) => refused("it is a state file, or belongs to one"),
            _ => whole(path, text, USUAL),
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

fn replace(path: &Path, beside: &Path, (text, mode): (&str, u32)) -> io::Result<()> {
    let mut file = fresh(beside, mode)?;
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
fn fresh(path: &Path, mode: u32) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}
