//! Runs the process that reads a PDF.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::limited::ARGUMENT;
use crate::knowledge::document::bounded::MOST_TEXT;

/// This program, even if its file was replaced since it started.
const PROGRAM: &str = "/proc/self/exe";
/// How much memory the allocator reserves at a time, in KiB. The default of 1 GiB is the reader's whole limit: whether it fits
/// would then depend on where the system maps it.
const RESERVE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "32768");
/// The maximum bytes of the output: a text, or a reason.
const MOST_SAID: u64 = MOST_TEXT as u64 + 1_024;

pub fn text(bytes: &[u8]) -> Result<String, String> {
    let mut command = Command::new(PROGRAM);
    command
        .arg(ARGUMENT)
        .env_clear()
        .env(RESERVE.0, RESERVE.1)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut reader = command.spawn().map_err(|error| format!("cannot be read now: no process for it: {error}"))?;
    let said = given(&mut reader, bytes);
    // Its output is complete, or exceeds the limit.
    let _gone = reader.kill();
    let end = reader.wait().map_err(|error| format!("cannot be read now: {error}"))?;
    let said = said.ok_or("cannot be read now: its reader said nothing")?;
    match end.code() {
        Some(0) => Ok(said),
        Some(1) if !said.is_empty() => Err(said),
        _ => Err("takes more memory or time to read than a document may, or is damaged".into()),
    }
}

/// Passes the file to the process, and returns its output.
fn given(reader: &mut Child, bytes: &[u8]) -> Option<String> {
    let (mut to, from) = (reader.stdin.take()?, reader.stdout.take()?);
    let mut said = Vec::new();
    thread::scope(|scope| {
        // It may exit before reading all; dropping the pipe marks the end.
        scope.spawn(move || drop(to.write_all(bytes)));
        from.take(MOST_SAID).read_to_end(&mut said).ok()
    })?;
    String::from_utf8(said).ok()
}
