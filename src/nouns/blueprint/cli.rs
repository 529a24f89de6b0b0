//! `ok blueprint`: commands for starting companies.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::Nothing;
use crate::nouns::blueprint::install::{Install, Installed};
use crate::nouns::blueprint::list::{List, Shown};
use crate::nouns::blueprint::{ChosenBlueprint, all};
use crate::policy::Folder;
use crate::types::definition::MAX_BYTES;

pub const COMMANDS: Commands = &[&group(
    "blueprint",
    "List and install starting companies",
    &[
        &own::<Listing>("list"),
        &change::<Install>()
            .command("install")
            .help(
                "Install a blueprint; existing objects are left unchanged\n\n\
                 Its policies become a proposal: `ok changes show`, `evals`, `review` and `promote` bring it into force.",
            )
            .given::<Chosen>()
            .print(print),
    ],
)];

/// List the built-in blueprints
#[derive(clap::Args)]
struct Listing {}

impl Run for Listing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        // Without a state file, list them for creating a company.
        let answer = match context.state.exists() {
            true => query::<List>().ask(context, &Nothing {}).await?.value,
            false => serde_json::to_value(all().map_err(|_| Failure::new("they cannot be read"))?)?,
        };
        let columns = columns!(Shown; id, title, teams, agents, description);
        context.show(&answer, || show::table(columns.list, answer.as_array().map_or(&[], Vec::as_slice)))
    }
}

#[derive(clap::Args)]
struct Chosen {
    /// The id of a built-in blueprint, or the path of a blueprint.yaml
    blueprint: String,
    #[command(flatten)]
    values: Values,
}

impl TryFrom<Chosen> for ChosenBlueprint {
    type Error = Failure;

    fn try_from(Chosen { blueprint, values }: Chosen) -> Result<ChosenBlueprint, Failure> {
        chosen(&blueprint, values)
    }
}

/// Answers to what a blueprint asks.
#[derive(clap::Args)]
pub struct Values {
    /// An answer to one of the blueprint's questions
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

/// Prints the result of an installation.
pub fn print(installed: &Installed) -> Result<(), Failure> {
    show::one(columns!(Installed; blueprint, change), installed)?;
    show::column("created", &installed.created)?;
    show::column("skipped", &installed.skipped)?;
    show::column("needs", &installed.needs)
}

/// Builds the input of an installation: an id, or the files of one's own folder.
pub fn chosen(blueprint: &str, values: Values) -> Result<ChosenBlueprint, Failure> {
    let values = values.given.into_iter().map(|Pair(name, value)| (name, value)).collect();
    let mut path = PathBuf::from(blueprint);
    let is_folder = path.is_dir();
    if is_folder {
        path.push("blueprint.yaml");
    }
    let is_path = blueprint.contains('/') || blueprint.ends_with(".yaml") || blueprint.ends_with(".yml");
    if !is_folder && !is_path {
        return Ok(ChosenBlueprint { id: Some(blueprint.to_owned()), values, ..ChosenBlueprint::default() });
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The policies, approvals, limits and tests beside it.
    let file = Some(text_of(&path, MAX_BYTES)?);
    let files = Folder::read(folder).map_err(|error| Failure::new(error.to_string()))?.bundle.files;
    Ok(ChosenBlueprint { id: None, file, files, values })
}
