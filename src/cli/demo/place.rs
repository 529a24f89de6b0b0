//! The folder that a demo is created in. The demo is built separately, inside the folder, and moved into place when it
//! is complete: if anything goes wrong before that, the folder stays as it was.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::exit::Failure;
use crate::demo::warehouse;
use crate::gate::state::lock::{self, Lock, Tried};

/// Where it is built.
const BUILDING: &str = ".building";
const STATE: &str = "state.db";
const POLICIES: &str = "policies";

pub struct Place {
    folder: PathBuf,
    building: PathBuf,
    /// Whether the folder was not there before.
    fresh: bool,
    /// The demo that is to be replaced is nobody else's meanwhile.
    old: Option<Lock>,
    done: bool,
}

impl Place {
    /// A folder that a demo can be made in, or why there is none.
    pub fn prepare(folder: &Path, force: bool) -> Result<Place, Failure> {
        let shown = folder.display();
        let there = match fs::read_dir(folder) {
            Ok(entries) => Some(entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect::<Vec<_>>()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Failure::new(format!("{shown} is not a folder; name another one with --dir")));
            }
            Err(error) => return Err(Failure::new(format!("cannot read {shown}: {error}"))),
        };
        let fresh = there.is_none();
        let there = there.unwrap_or_default();
        if let Some(other) = there.iter().find(|name| !is_ours(name)) {
            let other = other.to_string_lossy();
            return Err(Failure::new(format!(
                "{shown} is not empty: it contains `{other}`, which is not part of a demo; name another folder with --dir"
            )));
        }
        let is_demo = there.iter().any(|name| name == STATE);
        if is_demo && !force {
            return Err(Failure::new(format!(
                "there is a demo in {shown} already: `ok demo serve` serves it, --force makes another in its place"
            )));
        }
        let old = if is_demo { Some(take(&folder.join(STATE))?) } else { None };
        let building = folder.join(BUILDING);
        // What a command that was killed left there is nobody's; what another one is making is.
        if building.join(STATE).exists() {
            drop(take(&building.join(STATE))?);
        }
        let place = Place { folder: folder.to_owned(), building, fresh, old, done: false };
        let cannot = |error| Failure::new(format!("cannot make a demo in {shown}: {error}"));
        remove(&place.building).map_err(cannot)?;
        fs::create_dir_all(&place.building).map_err(cannot)?;
        Ok(place)
    }

    /// Where the demo is built.
    pub fn building(&self) -> &Path {
        &self.building
    }

    /// Puts what was built in its place.
    pub fn finish(mut self) -> Result<(), Failure> {
        let moved = self.moved();
        moved.map_err(|error| Failure::new(format!("cannot put the demo into {}: {error}", self.folder.display())))
    }

    fn moved(&mut self) -> io::Result<()> {
        for name in names(&self.folder)?.iter().filter(|name| *name != BUILDING) {
            remove(&self.folder.join(name))?;
        }
        self.old = None;
        // The state file last: without it there is no demo.
        let mut built = names(&self.building)?;
        built.sort_by_key(|name| name == STATE);
        for name in built {
            fs::rename(self.building.join(&name), self.folder.join(&name))?;
        }
        fs::remove_dir(&self.building)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.done {
            let _ = remove(&self.building);
            if self.fresh {
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// The demo that is there, so that nobody opens it.
fn take(state: &Path) -> Result<Lock, Failure> {
    match lock::take(state) {
        Ok(Tried::Ours(lock)) => Ok(lock),
        Ok(Tried::Held(holder)) => {
            Err(Failure::busy(format!("the demo is in use by process {}; stop that first", holder.pid)))
        }
        Err(error) => Err(Failure::new(format!("cannot lock {}: {error}", state.display()))),
    }
}

/// What a demo consists of: its state file with what is beside it, and its policies.
fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let beside = name.strip_prefix(STATE).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']));
    beside || [POLICIES, BUILDING, warehouse::SYSTEMS, warehouse::FILE].contains(&name)
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
