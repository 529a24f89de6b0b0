//! Writing what a command leaves behind.

use std::path::{Path, PathBuf};

use super::exit::Failure;

/// Writes a file, whole or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let told = |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        told(error)
    })
}
