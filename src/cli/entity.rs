//! `ok entity`: what is kept of the company's own types, so that programs need not send it with every question.

use std::path::PathBuf;

use serde::Deserialize;

use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::operations::access::entities::{EntityName, Keep, KeptCount, KeptEntity, List, ShownEntity, ToKeep};
use crate::policy::yaml;

pub const COMMANDS: Commands = &[&group(
    "entity",
    "Keep subjects and resources for the decisions of other programs",
    &[
        &query::<List>()
            .command("list")
            .help("List what is kept, newest first")
            .table("no entities", columns!(ShownEntity; r#type, id, properties, event, kept_at)),
        &own::<Keeping>("keep"),
        &change::<Keep>()
            .given::<Removing>()
            .command("remove")
            .help("Keep one no longer; what events say of it stays in the log until it is forgotten")
            .fields(columns!(KeptCount; removed)),
    ],
)];

/// The most bytes of a file, and entities that are sent at once.
const MOST_BYTES: usize = 64 << 20;
const AT_ONCE: usize = 1_000;

/// Keep what a file describes, in the place of what was kept of the same before
///
/// At most 1,000 are kept in one transaction: all of them, or none.
///
/// Example: `ok entity keep people.yaml`
#[derive(clap::Args)]
struct Keeping {
    /// A YAML or JSON file: a list of `type`, `id` and `properties`
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// One entity of a file.
#[derive(Deserialize)]
struct Lines(Vec<KeptEntity>);

impl Run for Keeping {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let text = text_of(&self.file, MOST_BYTES)?;
        let named = |what: String| Failure::new(format!("`{}`: {what}", self.file.display()));
        let Lines(entities) =
            yaml::read(&text).map_err(|error| named(format!("line {}: {}", error.line, error.message)))?;
        let mut all = KeptCount { kept: 0, unchanged: 0, removed: 0 };
        for chunk in entities.chunks(AT_ONCE) {
            let wanted = ToKeep { entities: chunk.to_vec(), removed: Vec::new() };
            let count: KeptCount = change::<Keep>().ask(context, &wanted).await?.read()?;
            (all.kept, all.unchanged) = (all.kept + count.kept, all.unchanged + count.unchanged);
        }
        context.show(&serde_json::to_value(&all)?, || show::one(columns!(KeptCount; kept, unchanged), &all))
    }
}

#[derive(clap::Args)]
struct Removing {
    /// Its type: Docs::User
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

impl From<Removing> for ToKeep {
    fn from(Removing { kind, id }: Removing) -> ToKeep {
        ToKeep { entities: Vec::new(), removed: vec![EntityName { kind, id }] }
    }
}
