//! A folder of policy files as it is read: the files of the bundle, and those that nothing reads.
//!
//! Always true: a folder is bounded, a link is never followed, and no file is passed over without a word but documentation,
//! hidden files and what the product itself writes beside the policies.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::bundle::{Bundle, MAX_BYTES, MAX_DEPTH, MAX_FILES, belongs, is_policy};

/// The product's own schema, which an export writes for editors. It is never read back.
pub const PRODUCT_SCHEMA: &str = "ok.cedarschema";
/// What was in force last, as `ok policy apply` and `ok policy export` write it.
pub const LOCK: &str = "policy.lock";
/// Where `ok policy propose` writes what it proposed.
pub const PROPOSALS: &str = "proposals";
/// More files than this that nothing reads are not counted any further.
const MAX_UNREAD: usize = 1_000;

/// A folder as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    pub bundle: Bundle,
    /// Files that are no part of the bundle, by path relative to the folder, sorted.
    pub unread: Vec<String>,
}

/// Why a folder could not be read as a bundle. Each names the path.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is a link or a special file; a bundle contains plain files only", .0.display())]
    NotPlain(PathBuf),
    #[error("`{}` is larger than {MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    #[error("`{}` contains more than {MAX_FILES} policy files", .0.display())]
    TooMany(PathBuf),
    #[error("`{}` is nested more than {MAX_DEPTH} folders deep", .0.display())]
    TooDeep(PathBuf),
    #[error("the name of `{}` is not UTF-8", .0.display())]
    Name(PathBuf),
    #[error("`{}` contains no policies: no file in it ends with .cedar", .0.display())]
    NoPolicies(PathBuf),
}

impl Folder {
    /// Reads every `*.cedar` file below the folder, `approvals.yaml`, `limits.yaml`, `schema.cedarschema`, `collections/*.yaml`,
    /// `views/*.yaml` and `tests/**/*.yaml`.
    pub fn read(path: &Path) -> Result<Folder, FolderError> {
        let mut folder = Folder::default();
        folder.read_folder(path, path, 0)?;
        folder.unread.sort_unstable();
        Ok(folder)
    }

    /// The same of a folder in which there must be policies.
    pub fn of_policies(path: &Path) -> Result<Folder, FolderError> {
        let folder = Folder::read(path)?;
        match folder.bundle.files.keys().any(|file| is_policy(file)) {
            true => Ok(folder),
            false => Err(FolderError::NoPolicies(path.to_owned())),
        }
    }

    fn read_folder(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<(), FolderError> {
        if depth > MAX_DEPTH {
            return Err(FolderError::TooDeep(folder.to_owned()));
        }
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            let path = entry.map_err(at(folder))?.path();
            if hidden(&path) {
                continue;
            }
            let kind = fs::symlink_metadata(&path).map_err(at(&path))?.file_type();
            if kind.is_dir() {
                self.read_folder(root, &path, depth + 1)?;
            } else if !kind.is_file() {
                return Err(FolderError::NotPlain(path));
            } else {
                self.meet(root, &path)?;
            }
        }
        Ok(())
    }

    fn meet(&mut self, root: &Path, path: &Path) -> Result<(), FolderError> {
        match relative(root, path) {
            Ok(name) if belongs(&name) => self.read_file(root, path, name),
            Ok(name) if is_beside(&name) => Ok(()),
            other => {
                if self.unread.len() < MAX_UNREAD {
                    self.unread.push(other.unwrap_or_else(|_| path.to_string_lossy().into_owned()));
                }
                Ok(())
            }
        }
    }

    fn read_file(&mut self, root: &Path, path: &Path, name: String) -> Result<(), FolderError> {
        if self.bundle.files.len() >= MAX_FILES {
            return Err(FolderError::TooMany(root.to_owned()));
        }
        let mut text = String::new();
        let file = fs::File::open(path).map_err(at(path))?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(at(path))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(FolderError::TooLarge(path.to_owned()));
        }
        self.bundle.files.insert(name, text);
        Ok(())
    }
}

/// What may lie beside the policies: what the product writes there, and documentation.
fn is_beside(name: &str) -> bool {
    let proposal = |name: &str| name.strip_prefix(PROPOSALS).is_some_and(|rest| rest.starts_with('/'));
    name == PRODUCT_SCHEMA || name == LOCK || (proposal(name) && name.ends_with(".yaml")) || name.ends_with(".md")
}

/// Adds the path to an I/O error.
fn at(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Read { path, source }
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn relative(root: &Path, path: &Path) -> Result<String, FolderError> {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/")).ok_or_else(|| FolderError::Name(path.to_owned()))
}
