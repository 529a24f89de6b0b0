//! Having a PDF read by another process.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::limited::ARGUMENT;
use crate::knowledge::document::bounded::MOST_TEXT;

/// This program, also where its file was replaced since it began.
const PROGRAM: &str = "/proc/self/exe";
/// How much memory its allocator reserves at a time, in KiB. Usually that is 1 GiB, all that the reader may have: whether there
/// is room for it then hangs on where the system puts it.
const RESERVE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "32768");
/// What a reason may take besides.
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
    // It has said all that it will, or more than it may.
    let _gone = reader.kill();
    let end = reader.wait().map_err(|error| format!("cannot be read now: {error}"))?;
    let said = said.ok_or("cannot be read now: its reader said nothing")?;
    match end.code() {
        Some(0) => Ok(said),
        Some(1) if !said.is_empty() => Err(said),
        _ => Err("takes more memory or time to read than a document may, or is damaged".into()),
    }
}

/// Gives a process the file and takes what it says of it.
fn given(reader: &mut Child, bytes: &[u8]) -> Option<String> {
    let (mut to, from) = (reader.stdin.take()?, reader.stdout.take()?);
    let mut said = Vec::new();
    thread::scope(|scope| {
        // Whether it wants all of it is its own affair; dropped, it has all.
        scope.spawn(move || drop(to.write_all(bytes)));
        from.take(MOST_SAID).read_to_end(&mut said).ok()
    })?;
    String::from_utf8(said).ok()
}
