//! `ok blueprint`: starting companies.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::command::{Commands, Run, owns};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::operations::blueprint;
use crate::policy::Folder;
use crate::types::definition::MAX_BYTES;

pub const COMMANDS: Commands = &[&owns::<Blueprint>("blueprint")];

/// List and install starting companies
#[derive(Subcommand)]
pub enum Blueprint {
    /// List those that come with the program
    List,
    /// Install one: what exists is left as it is
    ///
    /// Its policies become a proposal: `ok changes show`, `review` and `promote` bring it into force.
    Install {
        /// The id of one that comes with the program, or the path of a blueprint.yaml
        blueprint: String,
        #[command(flatten)]
        values: Values,
    },
}

/// Answers to what a blueprint asks.
#[derive(clap::Args)]
pub struct Values {
    /// An answer to what the blueprint asks
    #[arg(long = "set", value_name = "NAME=VALUE")]
    given: Vec<Pair>,
}

#[derive(Clone)]
struct Pair(String, String);

impl FromStr for Pair {
    type Err = String;
    fn from_str(text: &str) -> Result<Pair, String> {
        let (name, value) = text.split_once('=').ok_or("use NAME=VALUE")?;
        Ok(Pair(name.to_owned(), value.to_owned()))
    }
}

impl Run for Blueprint {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Blueprint::List => {
                // Whoever is about to begin a company chooses one of them.
                let answer = match context.state.exists() {
                    true => client::call(context, "blueprint.list", json!({})).await?,
                    false => serde_json::to_value(blueprint::all().map_err(|_| Failure::new("they cannot be read"))?)?,
                };
                let rows = answer.as_array().cloned().unwrap_or_default();
                context.show(&answer, || show::table(&["id", "title", "teams", "agents", "description"], &rows))
            }
            Blueprint::Install { blueprint, values } => {
                let answer = client::call(context, "blueprint.install", asked(&blueprint, values)?).await?;
                context.show(&answer, || told(&answer))
            }
        }
    }
}

/// What came of it.
pub fn told(answer: &Value) -> Result<(), Failure> {
    show::fields(&["blueprint", "change"], answer)?;
    for field in ["created", "skipped", "needs"] {
        let rows = answer.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
        let rows: Vec<Value> = rows.into_iter().map(|row| json!({ field: row })).collect();
        show::table(&[field], &rows)?;
    }
    Ok(())
}

/// The input of an installation: an id, or the files of a folder of one's own.
pub fn asked(blueprint: &str, values: Values) -> Result<Value, Failure> {
    let values: Map<String, Value> = values.given.into_iter().map(|Pair(name, value)| (name, value.into())).collect();
    let mut path = PathBuf::from(blueprint);
    if path.is_dir() {
        path.push("blueprint.yaml");
        return files(&path, values);
    }
    let is_path = blueprint.contains('/') || blueprint.ends_with(".yaml") || blueprint.ends_with(".yml");
    if !is_path {
        return Ok(json!({ "id": blueprint, "values": values }));
    }
    files(&path, values)
}

fn files(path: &Path, values: Map<String, Value>) -> Result<Value, Failure> {
    Ok(json!({ "file": text_of(path, MAX_BYTES)?, "files": beside(path)?, "values": values }))
}

/// The policies, approvals, limits and tests beside a blueprint.yaml.
fn beside(path: &Path) -> Result<Value, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let read = Folder::read(folder).map_err(|error| Failure::new(error.to_string()))?;
    Ok(json!(read.bundle.files))
}
