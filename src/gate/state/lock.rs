//! The owner lock: one process writes a state file. It is an advisory lock on a file beside it (flock, so closing another
//! descriptor does not drop it), held for life; its content tells others where to ask instead.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

/// The holder of the lock, as the holder describes itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    /// The admin socket of a server; a command has none.
    pub socket: Option<PathBuf>,
}

/// The lock, as long as it lives.
pub struct Lock {
    file: File,
    /// The state file itself, once it is there. It is closed after all connections: SQLite's own locks go with whichever
    /// handle on the file is closed first.
    state: Option<File>,
}

/// What came of trying.
pub enum Tried {
    Ours(Lock),
    Held(Holder),
}

/// `state.db` → `state.db.<suffix>`
pub fn beside(state: &Path, suffix: &str) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// The file behind a link: one file has one lock, whatever it is called.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// What helps where nothing may be written.
pub(super) fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; where nothing may be written, `ok log`, `ok replay`, `ok audit` and `ok backup` read"
        }
        _ => "",
    }
}

/// Takes the lock of a state file, or returns its holder. A new holder must identify itself at once ([`Lock::tell`]).
pub fn take(state: &Path) -> std::io::Result<Tried> {
    let path = beside(state, "lock");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    // Whoever may write to the folder could otherwise have a file elsewhere emptied.
    let mut file = options.custom_flags(OFlag::O_NOFOLLOW.bits()).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Tried::Ours(Lock { file, state: None })),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok(Tried::Held(serde_json::from_str(&text).unwrap_or_default()))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Lock {
    /// Takes the state file itself too: under another name, such as a hard link, it has another lock beside it. False if
    /// another process has it.
    pub fn take_file(&mut self, state: &Path) -> std::io::Result<bool> {
        let file = File::open(state)?;
        match file.try_lock() {
            Ok(()) => {
                self.state = Some(file);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Writes who holds it, and where its socket is.
    pub fn tell(&mut self, socket: Option<PathBuf>) -> std::io::Result<()> {
        let holder = Holder { pid: std::process::id(), socket };
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(serde_json::to_string(&holder)?.as_bytes())?;
        self.file.sync_data()
    }
}
