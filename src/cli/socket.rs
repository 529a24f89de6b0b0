//! The admin socket: how a command reaches the company while a server holds the state file. It carries one JSON object
//! per line, in each direction. Only root and the user who runs the server get answers; no line, whatever it contains,
//! stops the server.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Uid;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::call::{self, Answer, Ask};
use crate::config;
use crate::gate::Gate;
use crate::gate::state::lock::beside;
use crate::types::entropy::Entropy;
use crate::types::json;
use crate::types::refusal::{Code, Refusal};

/// The longest question, in bytes: a document of 10 MiB is one of 14 in base64.
const MAX_ASK: u64 = 16 << 20;
/// The longest answer: a page of a thousand events is far below it.
const MAX_ANSWER: u64 = 64 << 20;
/// How long a peer may take to read an answer: one that never does must not keep a server from stopping.
const READING: Duration = Duration::from_secs(5);
/// How long a server that stops still works on what it was asked.
const STOPPING: Duration = Duration::from_secs(10);
/// The longest path that every system takes for a socket.
const MAX_PATH: usize = 100;

/// The server's end. Its files go when it does.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// A folder that was made for the socket alone.
    folder: Option<PathBuf>,
}

impl Socket {
    /// Listens beside a state file. Only the owner of its lock may: a socket that lies there is a dead server's.
    pub fn listen(state: &Path, entropy: &dyn Entropy) -> io::Result<Socket> {
        let (path, folder) = place(&std::fs::canonicalize(state)?, entropy)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Socket { listener, path, folder })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Answers until `stop`; calls that have begun then get some seconds to finish.
    pub async fn serve(self, gate: Arc<Gate>, stop: CancellationToken) {
        let talks = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((peer, _)) if is_ours(&peer) => {
                    talks.spawn(talk(peer, Arc::clone(&gate), stop.clone()));
                }
                Ok(_) => tracing::warn!("another user tried the admin socket"),
                Err(error) => {
                    tracing::warn!(%error, "the admin socket");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        talks.close();
        talks.wait().await;
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Beside the state file, or, where that path is too long, in a folder of its own.
fn place(state: &Path, entropy: &dyn Entropy) -> io::Result<(PathBuf, Option<PathBuf>)> {
    let path = beside(state, "sock");
    if path.as_os_str().len() <= MAX_PATH {
        return Ok((path, None));
    }
    let folder = config::temporary_folder().join(format!("ok-{:032x}", entropy.bits128()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok((folder.join("admin.sock"), Some(folder)))
}

fn is_ours(peer: &UnixStream) -> bool {
    peer.peer_cred().is_ok_and(|peer| peer.uid() == 0 || peer.uid() == Uid::effective().as_raw())
}

async fn talk(peer: UnixStream, gate: Arc<Gate>, stop: CancellationToken) {
    let mut peer = BufReader::new(peer);
    loop {
        let line = tokio::select! {
            () = stop.cancelled() => return,
            line = read_line(&mut peer, MAX_ASK) => line,
        };
        let answer = match line {
            Ok(None) => return,
            Ok(Some(line)) => match json::read::<Ask>(&line) {
                // What takes long ends with whoever waits for it.
                Ok(ask) => tokio::select! {
                    answer = answered(&gate, ask) => answer,
                    () = gone(&mut peer) => return,
                    () = late(&stop) => Refusal::new(Code::Unavailable, "the server is stopping").into(),
                },
                Err(error) => Refusal::bad_request(format!("not understood: {error}")).into(),
            },
            Err(error) => {
                let _ = reply(&mut peer, &Refusal::bad_request(error.to_string()).into()).await;
                return;
            }
        };
        if reply(&mut peer, &answer).await.is_err() {
            return;
        }
    }
}

/// Waits until the peer has hung up.
async fn gone(peer: &mut BufReader<UnixStream>) {
    if peer.fill_buf().await.is_ok_and(|more| !more.is_empty()) {
        // It has asked something more, and so waits for this.
        std::future::pending::<()>().await;
    }
}

/// Waits until a server that stops has no more time.
async fn late(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(STOPPING).await;
}

async fn reply(peer: &mut BufReader<UnixStream>, answer: &Answer) -> io::Result<()> {
    tokio::time::timeout(READING, write_line(peer, answer)).await?
}

async fn answered(gate: &Arc<Gate>, ask: Ask) -> Answer {
    let op = ask.op.clone();
    let answer = call::perform(gate, ask).await;
    if let Some(error) = answer.error.as_ref().filter(|error| error.code == Code::Internal.name()) {
        tracing::error!(op, error = error.message, "a command failed");
    }
    answer
}

/// A command's end.
pub struct Link(BufReader<UnixStream>);

impl Link {
    pub async fn connect(path: &Path) -> io::Result<Link> {
        Ok(Link(BufReader::new(UnixStream::connect(path).await?)))
    }

    pub async fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        write_line(&mut self.0, ask).await?;
        let line = read_line(&mut self.0, MAX_ANSWER).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

/// The next line without its end, or `None` at the end.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin), limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(limit).read_until(b'\n', &mut line).await?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long or has no end")),
    }
}

async fn write_line(to: &mut BufReader<UnixStream>, value: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}
