//! A file beside the state that only reserves room. When the disk is full, whatever filled it, parts of the file are
//! released one by one, so that calls that stop or revoke can still be recorded. When there is room again, the file is
//! refilled.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::state::lock;

/// It is given back in so many parts.
const PARTS: u64 = 8;
/// What a file system counts the blocks of a file in.
const BLOCK: u64 = 512;

pub(crate) struct Reserve {
    path: PathBuf,
    /// What it should hold, in bytes; 0 for no reserve at all.
    size: u64,
    holds: u64,
}

impl Reserve {
    /// What there is of it already.
    pub fn beside(state: &Path, size: u64) -> Reserve {
        let path = lock::beside(state, "reserve");
        let file = path.symlink_metadata().ok().filter(|file| file.is_file());
        let holds = file.map_or(0, |file| file.len().min(file.blocks() * BLOCK));
        Reserve { path, size, holds }
    }

    pub fn missing(&self) -> u64 {
        self.size.saturating_sub(self.holds)
    }

    pub fn holds(&self) -> u64 {
        self.holds
    }

    pub fn part(&self) -> u64 {
        self.size / PARTS
    }

    /// Gives a part back.
    pub fn give(&mut self) -> io::Result<()> {
        let left = self.holds.saturating_sub(self.part().max(1));
        let file = self.file(false)?;
        file.set_len(left)?;
        // Some file systems free nothing before this.
        file.sync_all()?;
        self.holds = left;
        Ok(())
    }

    /// Makes it whole.
    pub fn fill(&mut self) -> io::Result<()> {
        let file = self.file(true)?;
        let filled = allocate(&file, self.size);
        self.holds = if filled.is_ok() { self.size } else { self.holds };
        if filled.is_err() {
            // What it did get, others may need.
            file.set_len(self.holds)?;
        }
        filled
    }

    fn file(&self, create: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(create).truncate(false).mode(0o600);
        options.custom_flags(OFlag::O_NOFOLLOW.bits()).open(&self.path)
    }
}

/// Takes so many bytes from the disk: a length alone would take none.
#[cfg(target_os = "linux")]
fn allocate(file: &File, size: u64) -> io::Result<()> {
    let size = i64::try_from(size).map_err(io::Error::other)?;
    Ok(nix::fcntl::posix_fallocate(file, 0, size)?)
}

#[cfg(not(target_os = "linux"))]
fn allocate(mut file: &File, size: u64) -> io::Result<()> {
    use std::io::Write as _;
    let chunk = [0x6f; 1 << 16];
    let mut left = usize::try_from(size).map_err(io::Error::other)?;
    while left > 0 {
        let some = left.min(chunk.len());
        file.write_all(chunk.get(..some).unwrap_or_default())?;
        left -= some;
    }
    file.sync_all()
}
