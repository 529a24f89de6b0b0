//! `policy.lock`: what was in force when this folder was last applied or exported. It is kept beside the policies in git,
//! so that whoever applies next is told what came between.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cli::exit::Failure;
use crate::cli::save::write;
use crate::policy::Bundle;

const NAME: &str = "policy.lock";
const HEAD: &str = "# What was in force last. Written by `ok policy apply` and `ok policy export`; do not edit.\n";

/// What stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyLock {
    pub version: i64,
    /// Of the bundle.
    pub hash: String,
    /// The change that brought it, if one did.
    pub change: Option<String>,
    /// Its position in the log.
    pub event: i64,
    /// The SHA-256 of each file, hex, by path.
    pub files: BTreeMap<String, String>,
}

impl PolicyLock {
    /// Of what `GET /policy/applied` tells.
    pub fn new(applied: &Value, bundle: &Bundle) -> PolicyLock {
        let number = |field: &str| applied.get(field).and_then(Value::as_i64).unwrap_or_default();
        let sum = |(path, text): (&String, &String)| (path.clone(), hex::encode(Sha256::digest(text.as_bytes())));
        PolicyLock {
            version: number("version"),
            hash: bundle.hash().to_string(),
            change: applied.get("change").and_then(Value::as_str).map(str::to_owned),
            event: number("event"),
            files: bundle.files.iter().map(sum).collect(),
        }
    }

    /// The lock of a folder; none if it was never applied.
    pub fn read(dir: &Path) -> Result<Option<PolicyLock>, Failure> {
        let path = dir.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
        };
        let wrong = |error: serde_yaml::Error| Failure::new(format!("{}: {error}", path.display()));
        serde_yaml::from_str(&text).map(Some).map_err(wrong)
    }

    pub fn write(&self, dir: &Path) -> Result<(), Failure> {
        let text = serde_yaml::to_string(self).map_err(|error| Failure::new(error.to_string()))?;
        write(&dir.join(NAME), &format!("{HEAD}{text}"))
    }
}
