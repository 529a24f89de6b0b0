//! Reads the policies given to a command: a folder, or one text (a file, or `-` for stdin) that `ok policy export` or
//! `ok policy diff --save` wrote.
//!
//! Always true: a printed export is read back unchanged, whatever the files contain.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::super::exit::Failure;
use super::super::show;
use super::lock::PolicyLock;
use crate::policy::brain::is_collection;
use crate::policy::bundle::problems;
use crate::policy::plan::Plan;
use crate::policy::{Bundle, Folder};
use crate::types::json;

/// The maximum bytes of a text.
const MOST: u64 = 64 << 20;
/// The prefix of lines in the printed form that are not part of a file.
const MARK: &str = "==> ";
/// The last line; without it the text was truncated.
const END: &str = "==> end <==\n";
/// Escapes a line of a file that could be taken for a marker.
const ESCAPE: char = '\\';
/// Marks the end of a file without a final line break.
const NO_BREAK: &str = "\\ no line break at the end";

pub struct Given {
    pub bundle: Bundle,
    /// Files of the folder that are ignored.
    pub unread: Vec<String>,
    /// The folder.
    pub dir: Option<PathBuf>,
    /// What was in force when the folder was last applied or exported.
    pub lock: Option<PolicyLock>,
    /// Why its lock cannot be read, if so.
    pub unread_lock: Option<String>,
    pub plan: Option<Plan>,
    /// The version that was exported.
    pub exported: Option<Origin>,
}

/// A base version. After a restored backup, two versions can have the same number, but not the same hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub version: i64,
    /// `None` if an earlier release printed it.
    pub hash: Option<String>,
}

/// The JSON of an export, as far as needed.
#[derive(Deserialize)]
struct Exported {
    version: Option<i64>,
    hash: Option<String>,
    files: std::collections::BTreeMap<String, String>,
}

impl Origin {
    /// Parses a number, with a hash if there is one.
    fn parse(text: &str) -> Option<Origin> {
        let (version, hash) = text.split_once(' ').map_or((text, None), |(version, hash)| (version, Some(hash)));
        Some(Origin { version: version.parse().ok()?, hash: hash.map(str::to_owned) })
    }
}

impl Given {
    pub fn read(from: &Path) -> Result<Given, Failure> {
        if from == Path::new("-") || from.is_file() {
            return Given::of(&text(from)?).map_err(|problem| Failure::new(format!("{}: {problem}", from.display())));
        }
        let Folder { bundle, unread } = super::folder(from)?;
        if let Some(problem) = problems(&bundle.files, 1).pop() {
            return Err(Failure::new(format!("{}: {problem}", from.display())));
        }
        let (lock, unread_lock) = match PolicyLock::read(from) {
            Ok(lock) => (lock, None),
            Err(failure) => (None, Some(failure.sentence())),
        };
        Ok(Given { bundle, unread, dir: Some(from.to_owned()), lock, unread_lock, plan: None, exported: None })
    }

    /// Same, and notes which files of a folder are ignored.
    pub fn read_aloud(from: &Path) -> Result<Given, Failure> {
        let given = Given::read(from)?;
        for path in &given.unread {
            show::note(&format!("{} is not read; `ok policy check` says why", from.join(path).display()));
        }
        Ok(given)
    }

    /// Returns the collection files not edited locally; all those of a plan, which is never made with edited ones.
    pub fn unedited(&self) -> Vec<String> {
        match (&self.plan, &self.lock) {
            (Some(_), _) => self.bundle.files.keys().filter(|path| is_collection(path)).cloned().collect(),
            (None, lock) => lock.as_ref().map(|lock| lock.unedited(&self.bundle)).unwrap_or_default(),
        }
    }

    fn of(text: &str) -> Result<Given, String> {
        let of = |bundle, plan, exported| {
            let (unread, unread_lock) = (Vec::new(), None);
            Given { bundle, unread, dir: None, lock: None, unread_lock, plan, exported }
        };
        let given = if text.trim_start().starts_with('{') {
            let is_plan = json::read::<Value>(text.as_bytes()).is_ok_and(|value| value.get("format").is_some());
            if is_plan {
                let plan = Plan::parse(text).map_err(|error| error.to_string())?;
                of(plan.bundle(), Some(plan), None)
            } else {
                let neither = |error| format!("it is neither a plan nor an export: {error}");
                let exported: Exported = json::read(text.as_bytes()).map_err(neither)?;
                let Exported { version, hash, files } = exported;
                of(Bundle { files }, None, version.map(|version| Origin { version, hash }))
            }
        } else {
            let (exported, bundle) = parsed(text)?;
            of(bundle, None, exported)
        };
        match problems(&given.bundle.files, 1).pop() {
            Some(problem) => Err(problem),
            None if given.bundle.files.is_empty() => Err("it holds no files".into()),
            None => Ok(given),
        }
    }
}

fn text(from: &Path) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", from.display()));
    let mut text = String::new();
    let read = match from == Path::new("-") {
        true => std::io::stdin().lock().take(MOST + 1).read_to_string(&mut text),
        false => std::fs::File::open(from).map_err(cannot)?.take(MOST + 1).read_to_string(&mut text),
    };
    match read.map_err(cannot)? as u64 > MOST {
        true => Err(Failure::new(format!("{} is larger than {MOST} bytes", from.display()))),
        false => Ok(text),
    }
}

/// Prints each file after a line with its path.
pub fn printed((version, hash): (i64, &str), bundle: &Bundle) -> String {
    let mut text = format!("{MARK}version {version} {hash} <==\n");
    for (path, content) in &bundle.files {
        text.push_str(&format!("{MARK}{path} <==\n"));
        for line in content.split_inclusive('\n') {
            if line.starts_with(MARK) || line.starts_with(ESCAPE) {
                text.push(ESCAPE);
            }
            text.push_str(line);
        }
        if !content.is_empty() && !content.ends_with('\n') {
            text.push_str(&format!("\n{NO_BREAK}\n"));
        }
    }
    text.push_str(END);
    text
}

pub fn parsed(text: &str) -> Result<(Option<Origin>, Bundle), String> {
    let (mut origin, mut bundle, mut file, mut ended) = (None, Bundle::default(), None::<String>, false);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let head = line.strip_prefix(MARK).and_then(|rest| rest.trim_end().strip_suffix(" <=="));
        if ended {
            return Err(format!("line {number} comes after the end"));
        }
        ended = line.trim_end() == END.trim_end();
        let open = file.as_ref().and_then(|file| bundle.files.get_mut(file));
        match (head, open) {
            _ if ended => {}
            (Some(head), open) => match head.strip_prefix("version ").and_then(Origin::parse) {
                Some(found) if open.is_none() => origin = Some(found),
                _ if bundle.files.contains_key(head) => return Err(format!("line {number}: {head} comes twice")),
                _ => {
                    bundle.files.insert(head.to_owned(), String::new());
                    file = Some(head.to_owned());
                }
            },
            (None, Some(content)) if line.trim_end_matches('\n') == NO_BREAK => {
                content.pop();
            }
            (None, Some(content)) => content.push_str(line.strip_prefix(ESCAPE).unwrap_or(line)),
            (None, None) => {
                return Err(format!("line {number} belongs neither to a plan nor to what `ok policy export` prints"));
            }
        }
    }
    if !ended && origin.is_some() {
        return Err(format!("some of it is missing: it does not end with the line `{}`", END.trim_end()));
    }
    Ok((origin, bundle))
}
