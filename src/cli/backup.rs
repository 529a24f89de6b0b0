//! `ok backup`: a copy of the state file and its keys at one moment, also while a server runs. A copy that is not whole
//! is not left behind.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, file, show};
use crate::gate::state::lock::beside;
use crate::gate::state::open::CannotOpen;
use crate::store::backup;

pub const COMMANDS: Commands = &[&own::<Backup>("backup")];

/// The end of the name of a copy that is not whole yet.
const PART: &str = "part";

/// Copy the state file and its keys; safe while a server runs
///
/// The copy is a company of its own: `ok --state <PATH> log` opens it. A key that OK_SECRETS_KEY names is not copied.
#[derive(clap::Args)]
pub struct Backup {
    /// The new state file; its keys go beside it
    path: PathBuf,
}

impl Run for Backup {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let conn = file::open(context)?;
        let copy = self.path.clone();
        let cannot = |path: &Path, error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
        // The key lies beside the file itself, not beside a link to it.
        let state = if context.state.is_symlink() { std::fs::canonicalize(&context.state).ok() } else { None };
        let state = state.unwrap_or_else(|| context.state.clone());
        // The log's own key there must be.
        let mut keys = vec![("key", read_key(&beside(&state, "key"))?)];
        if beside(&state, "secrets").exists() {
            keys.push(("secrets", read_key(&beside(&state, "secrets"))?));
        }
        let mut made = Made::default();
        // Each file has its name once it is whole, and the state file is the last: whoever is killed in between leaves parts
        // that nobody takes for a copy, and perhaps a key that is the right one.
        let part = beside(&copy, PART);
        if copy.symlink_metadata().is_ok() {
            return Err(cannot(&copy, taken()));
        }
        made.anew(&part).map_err(|error| cannot(&copy, error))?;
        backup::copy(&conn, &part)?;
        let (bytes, sha256) = settle(&part).map_err(|error| cannot(&copy, error))?;
        for (name, key) in &keys {
            let path = beside(&copy, name);
            made.key(&path, key).map_err(|error| cannot(&path, error))?;
        }
        std::fs::rename(&part, &copy).and_then(|()| sync_folder(&copy)).map_err(|error| cannot(&copy, error))?;
        made.keep();
        let answer = json!({ "path": copy, "bytes": bytes, "sha256": sha256 });
        context.show(&answer, || show::fields(&["path", "bytes", "sha256"], &answer))
    }
}

fn read_key(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => CannotOpen::NoKey(path.into()),
        _ => CannotOpen::Key(path.into(), format!("cannot be read: {error}")),
    };
    std::fs::read(path).map(Zeroizing::new).map_err(|error| cannot(error).into())
}

/// Makes the copy's content durable and tells its size and SHA-256.
fn settle(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    file.sync_all()?;
    let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok((bytes, hex::encode(hash.finalize())));
        }
        bytes += read as u64;
        hash.update(chunk.get(..read).unwrap_or_default());
    }
}

fn taken() -> io::Error {
    io::Error::other("there is a file of that name")
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Files that were made, and go again unless they are kept.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    /// A new, empty file that nobody else reads.
    fn file(&mut self, path: &Path) -> io::Result<File> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.0.push(path.into());
        Ok(file)
    }

    /// The same in place of what an earlier attempt left.
    fn anew(&mut self, path: &Path) -> io::Result<File> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => self.file(path),
        }
    }

    /// A key, unless an attempt that was killed has left just this one.
    fn key(&mut self, path: &Path, key: &[u8]) -> io::Result<()> {
        if let Ok(there) = path.symlink_metadata() {
            let is_the_same = there.is_file() && std::fs::read(path)? == key;
            return if is_the_same { Ok(()) } else { Err(taken()) };
        }
        let part = beside(path, PART);
        let mut file = self.anew(&part)?;
        file.write_all(key)?;
        file.sync_all()?;
        std::fs::rename(&part, path)?;
        self.0.push(path.into());
        Ok(())
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
