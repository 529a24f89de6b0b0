//! Writing what a command leaves behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
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
