//! A saved comparison: made from exactly these files for exactly that version of that company. Whoever applies it later
//! applies what was reviewed, or is told that it no longer fits.
//!
//! Always true of a plan that was read: its texts match the hashes in it, and so does the whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bundle::{MAX_BYTES, MAX_FILES, path_problem};
use super::{Bundle, Hash};
use types::json;

/// The form of the file, so that another one is not taken for it.
pub const FORMAT: &str = "ok/plan/v1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub format: String,
    /// The log of the company that it was made for.
    pub company: String,
    /// What was in force.
    pub base: Base,
    /// The candidate's hash.
    pub hash: String,
    /// The candidate, by path.
    pub files: BTreeMap<String, File>,
    /// What the comparison told.
    pub report: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    pub version: i64,
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Of the text, in hex.
    pub sha256: String,
    pub text: String,
}

/// Why a file is no plan that could be applied.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("it is no plan: {0}")]
    Form(#[from] serde_json::Error),
    #[error("it is a plan of another form: `{0}` is not `{FORMAT}`")]
    Format(String),
    #[error("files: `{0}` {1}")]
    Path(String, &'static str),
    #[error("files: there are more than {MAX_FILES}")]
    TooMany,
    #[error("files: `{0}` is larger than {MAX_BYTES} bytes")]
    TooLarge(String),
    #[error("files: `{0}` is not what was compared: its sha256 differs")]
    Text(String),
    #[error("hash: does not match the files; they are not what was compared")]
    Hash,
}

impl Plan {
    pub fn new(company: String, base: Base, bundle: &Bundle, report: Value) -> Plan {
        let file = |text: &String| File { sha256: sha256(text), text: text.clone() };
        let files = bundle.files.iter().map(|(path, text)| (path.clone(), file(text))).collect();
        Plan { format: FORMAT.into(), company, base, hash: bundle.hash().as_str().to_owned(), files, report }
    }

    /// Reads a plan, and makes sure that it is whole.
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        let plan: Plan = json::read(text.as_bytes())?;
        if plan.format != FORMAT {
            return Err(PlanError::Format(plan.format.chars().take(80).collect()));
        }
        if plan.files.len() > MAX_FILES {
            return Err(PlanError::TooMany);
        }
        for (path, file) in &plan.files {
            if let Some(problem) = path_problem(path) {
                return Err(PlanError::Path(path.clone(), problem));
            }
            if file.text.len() as u64 > MAX_BYTES {
                return Err(PlanError::TooLarge(path.clone()));
            }
            if sha256(&file.text) != file.sha256 {
                return Err(PlanError::Text(path.clone()));
            }
        }
        if plan.bundle_hash().as_str() != plan.hash {
            return Err(PlanError::Hash);
        }
        Ok(plan)
    }

    /// The same plan is the same text.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The candidate.
    pub fn bundle(&self) -> Bundle {
        Bundle::new(self.files.iter().map(|(path, file)| (path.as_str(), file.text.as_str())))
    }

    fn bundle_hash(&self) -> Hash {
        self.bundle().hash()
    }
}

pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
