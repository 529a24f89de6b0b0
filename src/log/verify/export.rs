//! A log in an export folder. Files are read line by line, each line of bounded length; other files are ignored.

use super::finding::Findings;
use super::note::{self, Note};
use super::source::{Entry, Payload, Signed, Stored, until_error};
use super::{Ask, Report, Unreadable};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const MAX_LEAF: u64 = 65_535;
const MAX_PAYLOAD: u64 = 16 << 20;
const MAX_NOTE: u64 = 64 << 10;

/// Verifies the log in an export folder.
pub fn verify_export(dir: &Path, ask: &Ask<'_>) -> Result<Report, Unreadable> {
    let mut entries = Entries {
        leaves: Lines::open(dir, "leaves.jsonl", MAX_LEAF)?,
        payloads: Lines::open(dir, "payloads.jsonl", MAX_PAYLOAD)?,
        seq: 0,
    };
    let mut published = Lines::open(dir, "checkpoints", MAX_NOTE)?;
    let vkey = read_all(dir, "vkey")?
        .and_then(|text| text.strip_suffix('\n').map(str::to_owned).ok_or("its line has no end".into()));
    let stored = Stored {
        vkey,
        head: signed(read_all(dir, "checkpoint")?),
        entries: until_error(move || entries.next()),
        published: until_error(move || next_note(&mut published)).map(signed),
        tiles: None,
    };
    super::walk::walk(stored, ask, Findings::default())
}

/// A small file. That it is not UTF-8 or too long is a finding, that it is not there is not a log.
fn read_all(dir: &Path, name: &str) -> Result<Result<String, String>, Unreadable> {
    let mut bytes = Vec::new();
    let path = dir.join(name);
    let read = File::open(&path).and_then(|file| file.take(MAX_NOTE + 1).read_to_end(&mut bytes));
    let len = read.map_err(|source| Unreadable::File { path: path.display().to_string(), source })?;
    if len as u64 > MAX_NOTE {
        return Ok(Err("it is too long".into()));
    }
    Ok(String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into()))
}

fn signed(text: Result<String, String>) -> Signed {
    let size = text.as_ref().ok().and_then(|text| note::number(text.split('\n').nth(1)?));
    Signed { size, note: text.and_then(|text| Note::parse(&text).map_err(|e| e.to_string())), flaw: None }
}

/// A file, line by line.
struct Lines {
    name: &'static str,
    max: u64,
    file: BufReader<File>,
}

impl Lines {
    fn open(dir: &Path, name: &'static str, max: u64) -> Result<Lines, Unreadable> {
        let path = dir.join(name);
        match File::open(&path) {
            Ok(file) => Ok(Lines { name, max, file: BufReader::with_capacity(1 << 16, file) }),
            Err(source) => Err(Unreadable::File { path: path.display().to_string(), source }),
        }
    }

    /// The next line without its end, or nothing at the end of the file.
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut line = Vec::with_capacity(512);
        let name = self.name;
        let mut bounded = self.file.by_ref().take(self.max + 1);
        bounded.read_until(b'\n', &mut line).map_err(|why| format!("`{name}` cannot be read: {why}"))?;
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            Some(_) => Err(format!("a line of `{name}` is too long or has no end")),
        }
    }
}

/// The leaves with their payloads, line by line.
struct Entries {
    leaves: Lines,
    payloads: Lines,
    seq: i64,
}

impl Entries {
    fn next(&mut self) -> Result<Option<Entry>, String> {
        let (leaf, payload) = (self.leaves.next()?, self.payloads.next());
        let Some(leaf) = leaf else {
            let more = !matches!(payload, Ok(None));
            return if more { Err("`payloads.jsonl` continues after the last leaf".into()) } else { Ok(None) };
        };
        self.seq += 1;
        let payload = payload.and_then(|line| self.payload(&line.ok_or("`payloads.jsonl` ends before it")?));
        Ok(Some(Entry { seq: self.seq, leaf: Ok(leaf), payload }))
    }

    fn payload(&self, line: &[u8]) -> Result<Option<Payload>, String> {
        let line: PayloadLine<'_> = serde_json::from_slice(line).map_err(|e| format!("its line is malformed: {e}"))?;
        if line.seq != self.seq {
            return Err(format!("its line is numbered {}", line.seq));
        }
        let decode = |text| STANDARD.decode(text).map_err(|_| "its line contains invalid base64".to_string());
        match (line.salt, line.payload) {
            (None, None) => Ok(None),
            (Some(salt), Some(body)) => Ok(Some(Payload { salt: decode(salt)?, body: decode(body)? })),
            _ => Err("its line has a salt or a payload, but not both".into()),
        }
    }
}

/// A line of `payloads.jsonl`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PayloadLine<'a> {
    seq: i64,
    salt: Option<&'a str>,
    payload: Option<&'a str>,
}

/// The next published checkpoint. Each is closed by a line `--`.
fn next_note(lines: &mut Lines) -> Result<Option<String>, String> {
    let mut text = Vec::new();
    while let Some(line) = lines.next()? {
        if line == b"--" {
            return String::from_utf8(text).map(Some).map_err(|_| "it is not UTF-8".into());
        }
        text.extend(line);
        text.push(b'\n');
        if text.len() as u64 > MAX_NOTE {
            return Err("it is too long".into());
        }
    }
    if text.is_empty() { Ok(None) } else { Err("the last one is not closed".into()) }
}
