//! The texts: policies by their `@id`, wherever they stand, and all other files by their path.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sides;
use crate::bundle::is_policy;
use crate::engine::Effect;
use crate::{PolicyMeta, Snapshot};
use types::effort;

/// More lines than this are counted, not compared one by one.
const MOST_LINES: usize = 4_000;
/// Lines that stand around a changed one.
const AROUND: usize = 3;

/// What changed in the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextDiff {
    /// In the order of their ids.
    pub policies: Vec<PolicyChange>,
    /// Files that hold no policies, and files of policies in which only something else changed, in the order of their paths.
    pub files: Vec<FileChange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
    /// To another file; its text is the same.
    Moved,
}

impl ChangeKind {
    pub const fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Moved => "moved",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyChange {
    pub id: String,
    /// `added`, `removed`, `changed` or `moved`.
    pub change: ChangeKind,
    /// `permit` or `forbid`; of a removed policy, what it was.
    #[schemars(extend("enum" = ["permit", "forbid"]))]
    pub effect: Cow<'static, str>,
    /// Where it stands, or stood.
    pub file: String,
    pub line: usize,
    /// The lines that differ, as `diff -u` writes them.
    pub diff: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub change: ChangeKind,
    /// The lines that differ, as `diff -u` writes them.
    pub diff: String,
}

impl TextDiff {
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.files.is_empty()
    }
}

/// Compares the texts of both sides.
pub fn compare(sides: &Sides<'_>) -> TextDiff {
    let policies = policies(sides.before.snapshot, sides.after.snapshot);
    TextDiff { files: files(sides), policies }
}

fn policies(before: &Snapshot, after: &Snapshot) -> Vec<PolicyChange> {
    let by_id = |side| -> BTreeMap<&str, &PolicyMeta> {
        let side: &Snapshot = side;
        side.policies().map(|policy| (policy.id.as_str(), policy)).collect()
    };
    let (before, after) = (by_id(before), by_id(after));
    let mut ids: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let compare = |id: &str| {
        let (old, new) = (before.get(id), after.get(id));
        let change = match (old, new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            (Some(old), Some(new)) if old.text != new.text => ChangeKind::Changed,
            (Some(old), Some(new)) if old.file != new.file => ChangeKind::Moved,
            _ => return None,
        };
        let shown = new.or(old)?;
        Some(PolicyChange {
            id: id.to_owned(),
            change,
            effect: match shown.effect {
                Effect::Permit => "permit".into(),
                Effect::Forbid => "forbid".into(),
            },
            file: shown.file.clone(),
            line: shown.line,
            diff: unified(text_of(old), text_of(new)),
        })
    };
    ids.into_iter().filter_map(compare).collect()
}

fn text_of<'a>(policy: Option<&&'a PolicyMeta>) -> &'a str {
    policy.map(|policy| policy.text.as_str()).unwrap_or_default()
}

fn files(sides: &Sides<'_>) -> Vec<FileChange> {
    let (before, after) = (&sides.before.bundle.files, &sides.after.bundle.files);
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let compare = |path: &String| {
        let (old, new) = (before.get(path), after.get(path));
        let change = match (old, new) {
            (old, new) if old == new => return None,
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            (Some(_), Some(_)) => ChangeKind::Changed,
        };
        // What its policies say is told by their ids.
        if is_policy(path) && policies_in(sides.before.snapshot, path) != policies_in(sides.after.snapshot, path) {
            return None;
        }
        let text = |side: Option<&String>| side.cloned().unwrap_or_default();
        Some(FileChange { path: path.clone(), change, diff: unified(&text(old), &text(new)) })
    };
    paths.into_iter().filter_map(compare).collect()
}

fn policies_in<'a>(snapshot: &'a Snapshot, path: &str) -> Vec<(&'a str, &'a str)> {
    let inside = snapshot.policies().filter(|policy| policy.file == path);
    inside.map(|policy| (policy.id.as_str(), policy.text.as_str())).collect()
}

/// The lines that differ, with some around them, as `diff -u` writes them.
pub fn unified(before: &str, after: &str) -> String {
    let (old, new) = (before.lines().count(), after.lines().count());
    if before == after {
        return String::new();
    }
    if old.max(new) > MOST_LINES {
        return format!("{old} lines before, {new} after: too many to compare one by one\n");
    }
    effort::spend(old * new / 64);
    // A last line without its end would be told as a change of it.
    let whole = |text: &str| if text.is_empty() { String::new() } else { format!("{}\n", text.trim_end_matches('\n')) };
    let (before, after) = (whole(before), whole(after));
    let diff = similar::TextDiff::from_lines(&before, &after);
    diff.unified_diff().context_radius(AROUND).to_string()
}
