//! Writing what a command leaves behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::exit::Failure;

/// Writes a file, whole or not at all. A new one is its owner's alone; one that is there keeps its rights.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    replace(path, &beside, text).map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// Writes what a path leads to that was named on the command line: the file behind a link, whole or not at all; a device or a pipe
/// as it comes.
pub fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    // What stands for this process's own outputs may be a file, which is not to be another one afterwards.
    let is_opened = path.starts_with("/dev") || path.starts_with("/proc");
    let refused = |why: &str| Err(Failure::new(format!("cannot write {}: {why}", path.display())));
    match fs::metadata(path) {
        Ok(found) if found.is_file() && !is_opened => {
            let path = fs::canonicalize(path).map_err(failed)?;
            if is_of_a_company(&path) { refused("it is a state file, or belongs to one") } else { write(&path, text) }
        }
        Ok(_) => {
            let open = OpenOptions::new().append(true).open(path);
            open.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => refused("it is a link to a file that does not exist"),
            Err(_) => write(path, text),
        },
        Err(error) => Err(failed(error)),
    }
}

/// Whether a file is a database, or is named as what stands beside one: its keys, its log of writes.
fn is_of_a_company(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let begins = |end: usize| name.get(..end).map(|name| path.with_file_name(name));
    let places = name.match_indices(['.', '-']).filter_map(|(end, _)| begins(end));
    std::iter::once(path.to_owned()).chain(places).any(|path| is_database(&path))
}

/// <https://www.sqlite.org/fileformat.html#magic_header_string>
fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
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
