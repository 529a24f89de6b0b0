//! The folder with the company's policies, as a git repository where git is installed: a commit for each version, as
//! people would have made it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::CannotTell;
use crate::policy::Bundle;
use crate::types::time::Time;

pub struct Repository {
    folder: PathBuf,
    git: bool,
}

impl Repository {
    pub fn new(folder: PathBuf) -> Repository {
        let made = fs::create_dir_all(&folder).is_ok();
        let repository = Repository { folder, git: made };
        let git = made && repository.git(&["init", "--quiet", "--initial-branch=main"], &[]).is_some();
        Repository { git, ..repository }
    }

    /// The repository that lies in a folder, to go on with.
    pub fn at(folder: PathBuf) -> Repository {
        let git = folder.join(".git").exists();
        Repository { folder, git }
    }

    pub fn is_git(&self) -> bool {
        self.git
    }

    /// Writes these policies and commits them, on a branch of their own unless they come into force. Gives the commit.
    pub fn commit(
        &self,
        bundle: &Bundle,
        branch: Option<&str>,
        by: &str,
        says: &str,
        at: Time,
    ) -> Result<Option<String>, CannotTell> {
        if let Some(branch) = branch {
            if !self.git {
                return Ok(None);
            }
            self.git(&["checkout", "--quiet", "-b", branch], &[]);
        }
        self.write(bundle)?;
        let commit = self.committed(by, says, at);
        if branch.is_some() {
            self.git(&["checkout", "--quiet", "main"], &[]);
        }
        Ok(commit)
    }

    /// Commits what lies in the folder.
    pub fn committed(&self, by: &str, says: &str, at: Time) -> Option<String> {
        let (mail, when) = (format!("{by}@fernhill.example"), at.to_string());
        let who = [
            ("GIT_AUTHOR_NAME", by),
            ("GIT_AUTHOR_EMAIL", &mail),
            ("GIT_AUTHOR_DATE", &when),
            ("GIT_COMMITTER_NAME", by),
            ("GIT_COMMITTER_EMAIL", &mail),
            ("GIT_COMMITTER_DATE", &when),
        ];
        self.git(&["add", "--all"], &[])?;
        self.git(&["-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "--message", says], &who)?;
        self.git(&["rev-parse", "HEAD"], &[]).map(|hash| hash.trim().to_owned())
    }

    /// Exactly these files.
    fn write(&self, bundle: &Bundle) -> Result<(), CannotTell> {
        for (path, text) in &bundle.files {
            let path = self.folder.join(path);
            let failed = |error| CannotTell::Write(path.clone(), error);
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
            fs::write(&path, text).map_err(failed)?;
        }
        Ok(())
    }

    /// Runs git in the folder, as if nothing were set on this machine; nothing where that does not work.
    fn git(&self, args: &[&str], variables: &[(&str, &str)]) -> Option<String> {
        if !self.git {
            return None;
        }
        let mut command = Command::new("git");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
            command.env_remove(variable);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "core.hooksPath=/dev/null"]).args(args).envs(variables.iter().copied());
        let ran = command.current_dir(&self.folder).stdin(Stdio::null()).output().ok()?;
        ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).into_owned())
    }
}
