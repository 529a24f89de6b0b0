//! `policy.lock`: what was in force when this folder was last applied or exported. It is kept beside the policies in git, so
//! that whoever applies next is told what came in between.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cli::exit::Failure;
use crate::cli::save::write;
use crate::cli::show;
use crate::nouns::policy::in_force::{AppliedVersion, LastApplied};
use crate::policy::folder::LOCK;
use crate::policy::{Bundle, brain, views};

const HEAD: &str = "# What was in force last. Written by `ok policy apply` and `ok policy export`; do not edit.\n";

/// The contents of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyLock {
    pub version: i64,
    /// The hash of everything in force.
    pub hash: String,
    /// The change that brought it into force, if any.
    pub change: Option<String>,
    /// Its position in the log.
    pub event: i64,
    /// The change proposed from this folder since, which waits for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
    /// The SHA-256 of each file, hex, by path.
    pub files: BTreeMap<String, String>,
}

/// Returns the SHA-256 of a file, hex.
pub fn sum(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}

impl PolicyLock {
    /// Builds a lock from `GET /policy/applied` for a folder with these files, which may leave out collections and views that
    /// are in force.
    pub fn new(applied: &LastApplied, bundle: &Bundle) -> PolicyLock {
        PolicyLock {
            version: applied.last.version,
            hash: applied.last.hash.clone(),
            change: applied.last.change.clone(),
            event: applied.event,
            proposed: None,
            files: bundle.files.iter().map(|(path, text)| (path.clone(), sum(text.as_bytes()))).collect(),
        }
    }

    /// Keeps an earlier lock's entries for collections and views that the folder leaves out now: they stay in force.
    #[must_use]
    pub fn with_left_out(mut self, left_out: &BTreeMap<String, String>) -> PolicyLock {
        self.files.extend(left_out.iter().map(|(path, sum)| (path.clone(), sum.clone())));
        self
    }

    /// Returns the collections and views of the lock that are not among these files.
    pub fn left_out(&self, bundle: &Bundle) -> BTreeMap<String, String> {
        let is_data = |path: &str| path.starts_with(brain::FOLDER) || path.starts_with(views::FOLDER);
        let left = self.files.iter().filter(|(path, _)| is_data(path) && !bundle.files.contains_key(*path));
        left.map(|(path, sum)| (path.clone(), sum.clone())).collect()
    }

    /// Returns the collection files unchanged since the folder was applied or exported, whatever is in force by now.
    pub fn unedited(&self, bundle: &Bundle) -> Vec<String> {
        let is_known = |(path, text): &(&String, &String)| {
            self.files.get(*path).is_some_and(|known| *known == sum(text.as_bytes()))
        };
        let collections = bundle.files.iter().filter(|(path, _)| brain::is_collection(path));
        collections.filter(is_known).map(|(path, _)| path.clone()).collect()
    }

    /// Reads a folder's lock; `None` if it was never applied.
    pub fn read(dir: &Path) -> Result<Option<PolicyLock>, Failure> {
        let path = dir.join(LOCK);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
        };
        let wrong = |_| {
            let what = match text.contains("<<<<<<<") {
                true => {
                    "holds both sides of a merge: keep the side with the higher version, or remove the file: the next apply or export recreates it"
                }
                false => "is damaged: remove it: the next apply or export recreates it",
            };
            Failure::new(format!("{} {what}", path.display()))
        };
        serde_yaml::from_str(&text).map(Some).map_err(wrong)
    }

    /// Checks whether a version is this folder's base: the same content, or the change proposed from it.
    pub fn is_of(&self, applied: &AppliedVersion) -> bool {
        applied.hash == self.hash || self.has_proposed(applied)
    }

    /// Checks whether the company lacks the base version: a backup was restored since, or it is another company's.
    pub fn is_lost(&self, applied: &LastApplied) -> bool {
        is_lost((self.version, &self.hash), applied)
    }

    /// Checks whether this version was proposed from the folder.
    pub fn has_proposed(&self, applied: &AppliedVersion) -> bool {
        self.proposed.is_some() && self.proposed == applied.change
    }

    pub fn write(&self, dir: &Path) -> Result<(), Failure> {
        let text = serde_yaml::to_string(self).map_err(|error| Failure::new(error.to_string()))?;
        write(&dir.join(LOCK), &format!("{HEAD}{text}"))
    }
}

/// Notes that a lock that cannot be read is ignored.
pub fn passed_over(problem: &str) {
    show::note(&format!("{problem}; it is not read"));
}

/// Checks whether the company lacks this version with this hash.
pub fn is_lost((version, hash): (i64, &str), applied: &LastApplied) -> bool {
    let same = std::iter::once(&applied.last).chain(&applied.earlier).find(|known| known.version == version);
    version > applied.last.version || same.is_some_and(|same| same.hash != hash)
}

/// Returns the message for what was made from such a version.
pub fn lost(what: &str, version: i64) -> String {
    format!("{what} was made from a version {version} that this company does not have, as after a restored backup")
}
