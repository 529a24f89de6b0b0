//! What git knows of a folder of policies, and of the commit in force.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::show;
use crate::nouns::policy::in_force::{AppliedVersion, LastApplied};
use crate::policy::bundle::belongs;

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
fn comes_before(dir: &Path, commit: &str, other: &str) -> Option<bool> {
    if !is_hash(commit) || !is_hash(other) {
        return None;
    }
    let status = git(dir, &["merge-base", "--is-ancestor", commit, other]).stdout(Stdio::null()).status().ok()?;
    // See git-merge-base(1): 0 means yes, 1 means no, anything else an error.
    match status.code() {
        Some(0) => Some(true),
        // Where the history is cut, what lies behind it may come before.
        Some(1) => (!is_cut(dir, commit, other)).then_some(false),
        _ => None,
    }
}

/// The version that a commit brought into force, where another is by now: its job runs once more.
pub fn brought_before(commit: &str, current: &AppliedVersion, applied: &LastApplied) -> Option<i64> {
    let is_its = |version: &&AppliedVersion| version.commit.as_ref().is_some_and(|known| is_same(known, commit));
    let mut before = applied.earlier.iter().filter(|version| version.version < current.version);
    before.find(is_its).map(|version| version.version)
}

/// The commit in force, where git says that it comes after this one: a job that is late, or runs once more.
pub fn overtaken<'a>(dir: &Path, commit: &str, applied: &'a AppliedVersion) -> Option<&'a str> {
    let in_force = another(commit, applied)?;
    if comes_before(dir, in_force, commit) == Some(true) {
        return None;
    }
    match comes_before(dir, commit, in_force) {
        Some(is_older) => is_older.then_some(in_force),
        None => {
            show::note(&format!(
                "git cannot say here whether {commit} precedes {in_force}, which is in force; fetch the whole history to have this checked"
            ));
            None
        }
    }
}

/// The commit in force, where git says that this one does not come after it: a branch beside it, or a rewritten history.
pub fn diverged<'a>(dir: &Path, commit: &str, applied: &'a AppliedVersion) -> Option<&'a str> {
    let is_beside =
        |in_force: &&str| comes_before(dir, in_force, commit) == Some(false) && !has_taken_in(dir, in_force, commit);
    another(commit, applied).filter(is_beside)
}

/// So many commits are looked at.
const MOST_COMMITS: u8 = 100;

/// Whether a commit comes after one that has the files of another: a branch that was squashed when it was merged, or a rewritten
/// history. What both come after does not count: the other may have gone back to it.
fn has_taken_in(dir: &Path, other: &str, commit: &str) -> bool {
    let count = format!("--max-count={MOST_COMMITS}");
    let found = lines(dir, &["rev-list", &count, commit, &format!("^{other}"), "--", "."]);
    found.iter().any(|one| changed(dir, &[other, one]).is_some_and(|names| names.is_empty()))
}

/// Whether the history that the clone has is cut somewhere between one commit and a later one.
fn is_cut(dir: &Path, one: &str, later: &str) -> bool {
    let place = lines(dir, &["rev-parse", "--git-path", "shallow"]).pop().map(|place| dir.join(place));
    let cut = place.and_then(|place| std::fs::read_to_string(place).ok()).unwrap_or_default();
    !cut.is_empty() && lines(dir, &["rev-list", later, &format!("^{one}")]).iter().any(|commit| cut.contains(commit))
}

fn lines(dir: &Path, args: &[&str]) -> Vec<String> {
    let said = git(dir, args).output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    said.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Names, each ended by a zero byte. None where git cannot tell.
fn names(dir: &Path, args: &[&str]) -> Option<Vec<String>> {
    let found = git(dir, args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    Some(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// The files of policies that differ between two commits, or between one and the folder.
fn changed(dir: &Path, commits: &[&str]) -> Option<Vec<String>> {
    let diff = ["diff", "-z", "--name-only", "--relative", "--no-renames"].iter().chain(commits).chain(&["--", "."]);
    let found = names(dir, &diff.copied().collect::<Vec<&str>>())?;
    Some(found.into_iter().filter(|name| belongs(name)).collect())
}

fn another<'a>(commit: &str, applied: &'a AppliedVersion) -> Option<&'a str> {
    applied.commit.as_deref().filter(|known| !is_same(known, commit))
}

/// Whether two hashes are of one commit: either may be abbreviated.
fn is_same(one: &str, other: &str) -> bool {
    let begins = |one: &str, other: &str| one.get(..other.len()).is_some_and(|head| head.eq_ignore_ascii_case(other));
    begins(one, other) || begins(other, one)
}

/// Returns the files that differ from the commit: edited, added or removed since; an empty list if git cannot tell. Only policy
/// files are considered.
pub fn unlike(dir: &Path, commit: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    if !is_hash(commit) {
        return Vec::new();
    }
    let known = names(dir, &["ls-tree", "-r", "-z", "--name-only", commit, "."]);
    let (Some(changed), Some(known)) = (changed(dir, &[commit]), known) else { return Vec::new() };
    let added = files.keys().filter(|name| !known.contains(name)).cloned();
    changed.into_iter().chain(added).collect::<BTreeSet<String>>().into_iter().collect()
}
