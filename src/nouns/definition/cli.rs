//! `ok schemas`, and reading a definition's file, which is bounded before it is parsed.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::json;

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, show};
use crate::nouns::definition::schemas;

pub const COMMANDS: Commands = &[&own::<Schemas>("schemas")];

/// Print the JSON Schema of every kind of definition
#[derive(clap::Args)]
pub struct Schemas {}

impl Run for Schemas {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, _: &Context) -> Result<Exit, Failure> {
        show::json(&json!(schemas()))?;
        Ok(Exit::Done)
    }
}

/// Returns a file's text, if it has at most `most` bytes.
pub fn text_of(path: &Path, most: usize) -> Result<String, Failure> {
    let failed = |_| Failure::new(format!("`{}` is not UTF-8", path.display()));
    String::from_utf8(bytes_of(path, most)?).map_err(failed)
}

/// Returns a file's bytes, if there are at most `most`.
pub fn bytes_of(path: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let file = File::open(path).map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display())))?;
    let mut bytes = Vec::new();
    let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display())))?;
    if bytes.len() > most {
        return Err(Failure::new(format!("`{}` is larger than {most} bytes", path.display())));
    }
    Ok(bytes)
}
