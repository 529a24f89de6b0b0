//! The folder of the company's policies, as a git repository if git is installed: one commit per version, as people would have
//! made it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::CannotTell;
use crate::policy::Bundle;
use crate::types::time::Time;

const MAIN: &str = "main";

pub struct Repository {
    folder: PathBuf,
    /// The git repository, if git is installed.
    history: Option<History>,
}

impl Repository {
    pub fn new(folder: PathBuf) -> Repository {
        let made = fs::create_dir_all(&folder).is_ok();
        let history = if made { History::begin(&folder) } else { None };
        Repository { folder, history }
    }

    pub fn is_git(&self) -> bool {
        self.history.is_some()
    }

    /// Commits these policies to `main`, or to a branch from there, and returns the commit; `None` without git, where the
    /// folder holds what comes into force.
    pub fn commit(
        &mut self,
        bundle: &Bundle,
        branch: Option<&str>,
        commit: &Commit,
    ) -> Result<Option<String>, CannotTell> {
        match &mut self.history {
            Some(history) => {
                let commit = history.commit(bundle, branch, commit);
                commit.map(Some).map_err(|error| CannotTell::Write(self.folder.clone(), error))
            }
            None if branch.is_some() => Ok(None),
            None => self.write(bundle).map(|()| None),
        }
    }

    /// Checks out `main` into the folder.
    pub fn check_out(&mut self) -> Result<(), CannotTell> {
        let Some(history) = self.history.take() else { return Ok(()) };
        let failed = |error| CannotTell::Write(self.folder.clone(), error);
        history.end().map_err(failed)?;
        let written = git(&self.folder, &["reset", "--quiet", "--hard", MAIN], &[]);
        written.ok_or_else(|| failed(io::Error::other("git reset failed")))
    }

    fn write(&self, bundle: &Bundle) -> Result<(), CannotTell> {
        for (path, text) in &bundle.files {
            let path = self.folder.join(path);
            let failed = |error| CannotTell::Write(path.clone(), error);
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
            fs::write(&path, text).map_err(failed)?;
        }
        Ok(())
    }
}

/// The metadata of a commit.
pub struct Commit<'a> {
    pub by: &'a str,
    pub says: &'a str,
    pub at: Time,
}

impl Commit<'_> {
    fn mail(&self) -> String {
        format!("{}@fernhill.example", self.by)
    }
}

/// Commits everything in a folder, if it is a repository.
pub fn commit_all(folder: &Path, commit: &Commit) -> Option<()> {
    let (mail, when) = (commit.mail(), commit.at.to_string());
    let who = [
        ("GIT_AUTHOR_NAME", commit.by),
        ("GIT_AUTHOR_EMAIL", &mail),
        ("GIT_AUTHOR_DATE", &when),
        ("GIT_COMMITTER_NAME", commit.by),
        ("GIT_COMMITTER_EMAIL", &mail),
        ("GIT_COMMITTER_DATE", &when),
    ];
    folder.join(".git").exists().then_some(())?;
    git(folder, &["add", "--all"], &[])?;
    git(folder, &["-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "--message", commit.says], &who)
}

/// A single `git fast-import` for all commits: a process per commit would take longer than the rest of the story.
struct History {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl History {
    fn begin(folder: &Path) -> Option<History> {
        git(folder, &["init", "--quiet", &format!("--initial-branch={MAIN}")], &[])?;
        // Some packages of git lack `fast-import`.
        git(folder, &["fast-import", "--quiet"], &[])?;
        let mut command = command(folder);
        command.args(["fast-import", "--quiet", "--date-format=raw", "--cat-blob-fd=1", "--done"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (input, output) = (process.stdin.take()?, process.stdout.take()?);
        Some(History { process, input, output: BufReader::new(output) })
    }

    fn commit(&mut self, bundle: &Bundle, branch: Option<&str>, commit: &Commit) -> io::Result<String> {
        let branch_or_main = branch.unwrap_or(MAIN);
        let mut says = format!("commit refs/heads/{branch_or_main}\nmark :1\n");
        says += &format!("committer {} <{}> {} +0000\n", commit.by, commit.mail(), commit.at.0.div_euclid(1_000));
        says += &data(commit.says);
        if branch.is_some() {
            says += &format!("from refs/heads/{MAIN}\n");
        }
        says += "deleteall\n";
        for (path, text) in &bundle.files {
            says += &format!("M 100644 inline {path}\n{}", data(text));
        }
        says += "\nget-mark :1\n";
        self.input.write_all(says.as_bytes())?;
        self.input.flush()?;
        let mut hash = String::new();
        self.output.read_line(&mut hash)?;
        let hash = hash.trim();
        if hash.is_empty() { Err(io::Error::other("git fast-import ended")) } else { Ok(hash.to_owned()) }
    }

    fn end(mut self) -> io::Result<()> {
        self.input.write_all(b"done\n")?;
        drop(self.input);
        let ended = self.process.wait()?;
        if ended.success() { Ok(()) } else { Err(io::Error::other("git fast-import failed")) }
    }
}

fn data(text: &str) -> String {
    format!("data {}\n{text}\n", text.len())
}

/// Runs git in the folder; `None` if it fails.
fn git(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Option<()> {
    let ran = command(folder).args(args).envs(variables.iter().copied()).stdin(Stdio::null()).output().ok()?;
    ran.status.success().then_some(())
}

/// Returns a git command in the folder that ignores this machine's git settings.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(variable);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "core.hooksPath=/dev/null"]).current_dir(folder);
    command
}
