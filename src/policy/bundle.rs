//! A bundle: policy files that are loaded, hashed and versioned together.
//!
//! Always true: files are named by their path relative to the folder, with `/`, and sorted by that name; the hash
//! depends on names and bytes alone, never on the machine.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::approvals::FILE;
use super::brain::is_collection;
use super::finding::SCHEMA_FILE;
use super::limits;
use super::views::is_view;
use types::visible::steers;

/// The most policy files that one bundle may hold.
pub const MAX_FILES: usize = 20_000;
/// So many folders deep a file may be.
pub const MAX_DEPTH: usize = 32;
/// The most bytes that one policy file may hold.
pub const MAX_BYTES: u64 = 1 << 20;

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

impl Bundle {
    /// A bundle of these files; what comes later under the same path wins.
    pub fn new<P: Into<String>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }

    /// The text of a file; nothing where there is none.
    pub fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }

    /// Returns the same bundle with the collections of another: policies come and go, the company's own data stays.
    #[must_use]
    pub fn about_collections_of(mut self, other: &Bundle) -> Bundle {
        self.files.retain(|path, _| !is_collection(path));
        let collections = other.files.iter().filter(|(path, _)| is_collection(path));
        self.files.extend(collections.map(|(path, text)| (path.clone(), text.clone())));
        self
    }

    /// Returns the same bundle, with those views of another that it does not have itself.
    #[must_use]
    pub fn with_views_of(mut self, other: &Bundle) -> Bundle {
        for (path, text) in other.files.iter().filter(|(path, _)| is_view(path)) {
            self.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        self
    }

    /// Returns the same policies with the data of another bundle: its collections and its views.
    #[must_use]
    pub fn about_data_of(mut self, other: &Bundle) -> Bundle {
        self.files.retain(|path, _| !is_view(path));
        self.about_collections_of(other).with_views_of(other)
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
}

/// Whether a file of this name belongs to a bundle: policies, who approves, the company's own schema, its collections and views, tests.
pub fn belongs(path: &str) -> bool {
    let named = path == FILE || path == limits::FILE || path == SCHEMA_FILE;
    is_policy(path) || is_test(path) || named || is_collection(path) || is_view(path)
}

/// The most bytes of a file's or folder's name, as file systems hold it.
const MAX_NAME: usize = 255;

/// Why a name that somebody sends cannot be a file of a bundle.
pub fn path_problem(path: &str) -> Option<&'static str> {
    let odd = |part: &str| matches!(part, "" | "." | "..") || part.starts_with('.');
    match path {
        _ if path.len() > 512 => Some("is longer than 512 bytes"),
        _ if path.matches('/').count() > MAX_DEPTH => Some("is nested too many folders deep"),
        _ if path.split('/').any(|part| part.len() > MAX_NAME) => Some("has a part that is longer than 255 bytes"),
        _ if path.starts_with('/') => Some("must be relative to the bundle"),
        _ if path.contains('\\') || path.contains(|c: char| c.is_control() || steers(c)) => {
            Some("must be written with `/`, without backslashes and control characters")
        }
        _ if path.split('/').any(odd) => Some("must not contain `..`, hidden or empty parts"),
        _ if !belongs(path) => Some(
            "is no policy file: *.cedar, approvals.yaml, limits.yaml, schema.cedarschema, collections/*.yaml, views/*.yaml and tests/*.yaml are",
        ),
        _ => None,
    }
}

/// Returns why submitted files cannot be a bundle, at most `most` reasons. The limits are those of a folder.
pub fn problems(files: &BTreeMap<String, String>, most: usize) -> Vec<String> {
    let many = (files.len() > MAX_FILES).then(|| format!("files: more than {MAX_FILES}"));
    let each = files.iter().filter_map(|(path, text)| {
        let short: String = path.chars().take(100).collect();
        let large = || (text.len() as u64 > MAX_BYTES).then(|| format!("is larger than {MAX_BYTES} bytes"));
        let what = path_problem(path).map(str::to_owned).or_else(large)?;
        Some(format!("files: `{}` {what}", short.escape_debug()))
    });
    many.into_iter().chain(each).chain(clashes(files)).take(most).collect()
}

/// Files that no folder can hold beside each other, on any machine: one lies in another, or only capitals tell them apart.
fn clashes(files: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    let (mut spelled, mut told): (BTreeMap<String, &str>, BTreeSet<&str>) = Default::default();
    files.keys().filter_map(move |path| {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let parts: Vec<&str> = ends.filter_map(|end| path.get(..end)).collect();
        let folders = parts.split_last().map(|(_, folders)| folders).unwrap_or_default();
        let within = folders.iter().find(|folder| files.contains_key(**folder));
        let twin = parts.iter().find_map(|part| {
            let other = *spelled.entry(part.to_lowercase()).or_insert(part);
            (other != *part).then_some((*part, other))
        });
        match (within, twin) {
            (Some(file), _) => Some(format!("files: `{path}` is below `{file}`, which is a file")),
            // A folder is told once, however many files it has.
            (None, Some((part, other))) if told.insert(part) => {
                Some(format!("files: `{part}` and `{other}` differ only in case"))
            }
            (None, _) => None,
        }
    })
}

pub fn is_policy(path: &str) -> bool {
    path.ends_with(".cedar")
}

pub fn is_test(path: &str) -> bool {
    path.starts_with("tests/") && path.ends_with(".yaml")
}
