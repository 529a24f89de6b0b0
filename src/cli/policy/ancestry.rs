//! Which of two commits is the older one, as git tells it.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a commit comes before another in the repository of a folder; none where git cannot tell: it is not there, the
/// folder is in no repository, or one of them was not fetched.
pub fn comes_before(dir: &Path, commit: &str, other: &str) -> Option<bool> {
    let is_hash = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash(commit) || !is_hash(other) {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(["merge-base", "--is-ancestor", commit, other]);
    let status = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    // By git-merge-base(1): 0 for yes, 1 for no, anything else where it cannot tell.
    match status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}
