//! Files that hold one key: 32 random bytes, as 64 hex digits, that nobody but their owner reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use zeroize::Zeroizing;

use crate::state::lock::{self, resolved};
use crate::state::options::CannotOpen;
use log::checkpoint::Signer;

/// Where a log's name begins; the company's ULID and the generation follow.
const HOST: &str = "ok.local";

/// Reads a key, or says what is wrong with the file.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<[u8; 32]>, String> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|error| format!("cannot be read: {error}"))?;
    let mut key = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text.trim(), &mut *key).map_err(|_| "is not a key: 64 hex digits are expected".to_owned())?;
    Ok(key)
}

/// Reads a key as it is handed over: 64 hex digits, or base64 with or without its `=`.
pub fn parse(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    let text = text.trim();
    if hex::decode_to_slice(text, &mut *key).is_ok() {
        return Some(key);
    }
    let bytes = Zeroizing::new(BASE64.decode(text.strip_suffix('=').unwrap_or(text)).ok()?);
    key.copy_from_slice(bytes.get(..).filter(|bytes| bytes.len() == 32)?);
    Some(key)
}

/// Makes a key unless there is one; whether it did. Never overwritten: it may belong to a company whose file was moved
/// away for a moment.
pub(crate) fn make(path: &Path, key: &[u8; 32]) -> Result<bool, String> {
    if path.exists() {
        return Ok(false);
    }
    write(path, key).map(|()| true).map_err(|error| format!("cannot be written: {error}"))
}

/// A key has its name once all of it is on the disk: whoever dies before leaves a file that nobody reads. A link, unlike a
/// renamed file, takes no name that another has.
fn write(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    let unnamed = lock::beside(path, "new");
    if unnamed.exists() {
        std::fs::remove_file(&unnamed)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
    writeln!(file, "{}", hex::encode(key))?;
    file.sync_all()?;
    std::fs::hard_link(&unnamed, path)?;
    std::fs::remove_file(&unnamed)?;
    settled(path)
}

/// Gives a key that is in use its name.
pub(crate) fn settle(part: &Path, path: &Path) -> Result<(), String> {
    let done = std::fs::rename(part, path).and_then(|()| settled(path));
    done.map_err(|error| format!("cannot be renamed: {error}"))
}

fn settled(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Returns where the key of a company's file should be, if the file was moved without it. Such a company can be read,
/// but not written.
pub fn missing(state: &Path) -> Option<PathBuf> {
    let state = resolved(state);
    let key = lock::beside(&state, "key");
    (state.exists() && !key.exists()).then_some(key)
}

/// Returns the files of a company that others than their owner may read or write: its log, and the keys for signing and
/// for secrets. Each comes with its permission bits.
pub fn open_to_others(state: &Path) -> Vec<(PathBuf, u32)> {
    let state = resolved(state);
    let beside = |suffix| lock::beside(&state, suffix);
    let files = [state.clone(), beside("key"), beside("key.part"), beside("secrets")];
    let rights = |path: PathBuf| {
        let mode = std::fs::metadata(&path).ok()?.permissions().mode() & 0o777;
        (mode & 0o077 != 0).then_some((path, mode))
    };
    files.into_iter().filter_map(rights).collect()
}

/// The signer of a company's log.
pub(crate) fn signer(path: &Path, ulid: &str) -> Result<Signer, CannotOpen> {
    let path = lock::beside(path, "key");
    if !path.exists() {
        return Err(CannotOpen::NoKey(path));
    }
    signer_of(&path, ulid)
}

/// The signer with the key in this file.
pub(crate) fn signer_of(key: &Path, ulid: &str) -> Result<Signer, CannotOpen> {
    let secret = read(key).map_err(|what| CannotOpen::Key(key.to_owned(), what))?;
    Ok(Signer::new(format!("{HOST}/{ulid}/1"), &secret))
}

/// Makes a log's key, unless there is one.
pub(crate) fn make_key(path: &Path, secret: &[u8; 32]) -> Result<(), CannotOpen> {
    let path = lock::beside(path, "key");
    make(&path, secret).map(|_| ()).map_err(|what| CannotOpen::Key(path, what))
}
