//! What git knows of a folder of policies.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

fn is_hash(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn git(dir: &Path, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(args).stdin(Stdio::null()).stderr(Stdio::null());
    git
}

/// Whether a commit comes before another in the repository of a folder; none where git cannot tell: it is not there, the
/// folder is in no repository, or one of them was not fetched.
pub fn comes_before(dir: &Path, commit: &str, other: &str) -> Option<bool> {
    if !is_hash(commit) || !is_hash(other) {
        return None;
    }
    let status = git(dir, &["merge-base", "--is-ancestor", commit, other]).stdout(Stdio::null()).status().ok()?;
    // By git-merge-base(1): 0 for yes, 1 for no, anything else where it cannot tell.
    match status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

/// The files of a folder that are not what the commit has: edited, added or removed since. None where git cannot tell. What
/// git ignores is no part of a commit, and what is no policy is not looked at.
pub fn unlike(dir: &Path, commit: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    if !is_hash(commit) {
        return Vec::new();
    }
    let listed = |args: &[&str]| -> Vec<String> {
        let found = git(dir, args).output().ok().filter(|output| output.status.success());
        let text = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let changed = listed(&["diff", "-z", "--name-only", "--relative", "--no-renames", commit, "--", "."]);
    let added = listed(&["ls-files", "-z", "--others", "--exclude-standard", "--", "."]);
    let is_policy = |name: &String| files.contains_key(name) || !dir.join(name).exists();
    changed.into_iter().chain(added).filter(is_policy).collect()
}
