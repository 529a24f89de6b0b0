//! A bundle: the folder of policy files that is loaded, hashed and versioned as one.
//!
//! Always true: files are named by their path relative to the folder, with `/`, and stand in the order of that name;
//! the hash depends on names and bytes alone, never on the machine; a folder is bounded, and a link is never followed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::approvals::FILE;
use super::finding::SCHEMA_FILE;
use super::limits;

/// The most policy files that one bundle may hold.
pub const MAX_FILES: usize = 20_000;
/// The most bytes that one policy file may hold.
pub const MAX_BYTES: u64 = 1 << 20;
/// How the product's own schema begins.
pub const GENERATED: &str = "// The company as policies see it. The actions below are generated from the operations.\n";
/// How deep folders may nest.
const MAX_DEPTH: usize = 32;

/// A folder of policy files, by path relative to the folder (`base/tokens.cedar`), sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    pub files: BTreeMap<String, String>,
}

/// The SHA-256 of a bundle, shown as 64 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Hash(String);

impl Hash {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a folder could not be read as a bundle. Each names the path.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is a link or a special file; a bundle holds plain files only", .0.display())]
    NotPlain(PathBuf),
    #[error("`{}` holds more than {MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    #[error("`{}` holds more than {MAX_FILES} policy files", .0.display())]
    TooMany(PathBuf),
    #[error("`{}` lies more than {MAX_DEPTH} folders deep", .0.display())]
    TooDeep(PathBuf),
    #[error("the name of `{}` is not UTF-8", .0.display())]
    Name(PathBuf),
}

impl Bundle {
    /// A bundle of these files; what comes later under the same path wins.
    pub fn new<P: Into<String>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }

    /// A bundle that somebody sends. The product's own schema, which an export adds for editors, is none of its files.
    pub fn sent(mut files: BTreeMap<String, String>) -> Self {
        if files.get(SCHEMA_FILE).is_some_and(|schema| schema.starts_with(GENERATED)) {
            files.remove(SCHEMA_FILE);
        }
        Self { files }
    }

    /// SHA-256 over the canonical list: for each file in order, its path, a zero byte, the SHA-256 of its text.
    /// A path holds no zero byte and a digest has one length, so two bundles with one hash are one bundle.
    pub fn hash(&self) -> Hash {
        let mut list = Sha256::new();
        for (path, text) in &self.files {
            list.update(path.as_bytes());
            list.update([0]);
            list.update(Sha256::digest(text.as_bytes()));
        }
        Hash(hex::encode(list.finalize()))
    }

    /// Reads every `*.cedar` file below `folder`, `approvals.yaml`, `limits.yaml`, `schema.cedarschema` and `tests/**/*.yaml`. Hidden files
    /// and folders are passed over.
    pub fn from_dir(folder: &Path) -> Result<Self, BundleError> {
        let mut bundle = Self::default();
        bundle.read_folder(folder, folder, 0)?;
        Ok(Self::sent(bundle.files))
    }

    fn read_folder(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<(), BundleError> {
        if depth > MAX_DEPTH {
            return Err(BundleError::TooDeep(folder.to_owned()));
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
                return Err(BundleError::NotPlain(path));
            } else if relative(root, &path).is_ok_and(|path| belongs(&path)) {
                self.read_file(root, &path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, root: &Path, path: &Path) -> Result<(), BundleError> {
        if self.files.len() >= MAX_FILES {
            return Err(BundleError::TooMany(root.to_owned()));
        }
        let mut text = String::new();
        let file = fs::File::open(path).map_err(at(path))?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(at(path))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(BundleError::TooLarge(path.to_owned()));
        }
        self.files.insert(relative(root, path)?, text);
        Ok(())
    }
}

/// Adds the path to an I/O error.
fn at(path: &Path) -> impl FnOnce(io::Error) -> BundleError {
    let path = path.to_owned();
    move |source| BundleError::Read { path, source }
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Whether a file of this name belongs to a bundle: policies, who approves, the company's own schema, tests.
pub fn belongs(path: &str) -> bool {
    is_policy(path) || is_test(path) || path == FILE || path == limits::FILE || path == SCHEMA_FILE
}

/// Why a name that somebody sends cannot be a file of a bundle.
pub fn path_problem(path: &str) -> Option<&'static str> {
    let odd = |part: &str| matches!(part, "" | "." | "..") || part.starts_with('.');
    match path {
        _ if path.len() > 512 => Some("is longer than 512 bytes"),
        _ if path.matches('/').count() > MAX_DEPTH => Some("lies too many folders deep"),
        _ if path.starts_with('/') => Some("must be relative to the bundle"),
        _ if path.contains('\\') || path.contains(|c: char| c.is_control()) => {
            Some("must be written with `/`, without backslashes and control characters")
        }
        _ if path.split('/').any(odd) => Some("must not hold `..`, hidden or empty parts"),
        _ if !belongs(path) => {
            Some("is no policy file: *.cedar, approvals.yaml, limits.yaml, schema.cedarschema and tests/*.yaml are")
        }
        _ => None,
    }
}

/// Why files that somebody sends cannot be a bundle: they are held to what a folder is held to. No more than `most`.
pub fn problems(files: &BTreeMap<String, String>, most: usize) -> Vec<String> {
    let many = (files.len() > MAX_FILES).then(|| format!("files: more than {MAX_FILES}"));
    let each = files.iter().filter_map(|(path, text)| {
        let short: String = path.chars().take(100).collect();
        let large = || (text.len() as u64 > MAX_BYTES).then(|| format!("holds more than {MAX_BYTES} bytes"));
        let what = path_problem(path).map(str::to_owned).or_else(large)?;
        Some(format!("files: `{}` {what}", short.escape_debug()))
    });
    many.into_iter().chain(each).take(most).collect()
}

pub(super) fn is_policy(path: &str) -> bool {
    path.ends_with(".cedar")
}

pub(super) fn is_test(path: &str) -> bool {
    path.starts_with("tests/") && path.ends_with(".yaml")
}

fn relative(root: &Path, path: &Path) -> Result<String, BundleError> {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/")).ok_or_else(|| BundleError::Name(path.to_owned()))
}
