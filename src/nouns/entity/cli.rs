//! `ok entity`: stored entities of the company's own types.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::entity::{EntityName, Keep, KeptCount, KeptEntity, List, ShownEntity, ToKeep};
use crate::policy::yaml;
use crate::types::expected::Format;
use crate::types::json;

pub const COMMANDS: Commands = &[&group(
    "entity",
    "Keep subjects and resources for the decisions of other programs",
    &[
        &query::<List>()
            .command("list")
            .help("List stored entities, newest first")
            .table("no entities", columns!(ShownEntity; r#type, id, properties, event, kept_at)),
        &own::<Keeping>("keep"),
        &change::<Keep>()
            .given::<Removing>()
            .command("remove")
            .help("Remove a stored entity; events that mention it stay in the log until they are forgotten")
            .fields(columns!(KeptCount; removed)),
    ],
)];

/// The maximum bytes of a file; below, the number of entities sent at once.
const MOST_BYTES: usize = 64 << 20;
const AT_ONCE: usize = 1_000;
/// How many bytes of YAML are parsed at once.
const MOST_AT_ONCE: usize = 32 << 10;

/// Store the entities of a file, replacing earlier versions
///
/// At most 1,000 are kept in one transaction: all of them, or none.
///
/// Example: `ok entity keep people.yaml`
#[derive(clap::Args)]
struct Keeping {
    /// A list of `type`, `id` and `properties`, as YAML or JSON; or JSON Lines, which can hold the most
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Run for Keeping {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let text = text_of(&self.file, MOST_BYTES)?;
        let entities = read(&text).map_err(|what| Failure::new(format!("`{}`: {what}", self.file.display())))?;
        let mut all = KeptCount { kept: 0, unchanged: 0, removed: 0 };
        for (number, chunk) in entities.chunks(AT_ONCE).enumerate() {
            let wanted = ToKeep { entities: chunk.to_vec(), removed: Vec::new() };
            let answer = change::<Keep>().ask(context, &wanted).await;
            let before = format!("{} entities are kept; of those after them, counted from 0:", number * AT_ONCE);
            let count: KeptCount = answer.map_err(|failure| failure.after(number, &before))?.read()?;
            (all.kept, all.unchanged) = (all.kept + count.kept, all.unchanged + count.unchanged);
            if entities.len() > AT_ONCE {
                show::note(&format!("{} of {}", number * AT_ONCE + chunk.len(), entities.len()));
            }
        }
        context.show(&serde_json::to_value(&all)?, || show::one(columns!(KeptCount; kept, unchanged), &all))
    }
}

/// Parses the entities of a file; a duplicate is an error.
fn read(text: &str) -> Result<Vec<KeptEntity>, String> {
    let entities = match text.trim_start().chars().next() {
        Some('[') => {
            json::read::<Vec<KeptEntity>>(text.as_bytes()).map_err(|error| Format::Json.plain(&error.to_string()))?
        }
        Some('{') => of_lines(text)?,
        _ => of_yaml(text)?,
    };
    let mut known = BTreeSet::new();
    match entities.iter().find(|one| !known.insert((&one.kind, &one.id))) {
        Some(KeptEntity { kind, id, .. }) => Err(format!("`{kind}::{id}` is described twice")),
        None => Ok(entities),
    }
}

fn of_lines(text: &str) -> Result<Vec<KeptEntity>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let one = |(number, line): (usize, &str)| {
        json::read(line.as_bytes())
            .map_err(|error| format!("line {}: {}", number + 1, Format::Json.plain(&error.to_string())))
    };
    lines.map(one).collect()
}

/// Parses a YAML list a few items at a time: the parser's time per item grows with their number.
fn of_yaml(text: &str) -> Result<Vec<KeptEntity>, String> {
    let (mut entities, mut part, mut first) = (Vec::new(), String::new(), 0);
    let mut take = |part: &str, first: usize| -> Result<(), String> {
        let describe = |error: yaml::YamlError| format!("line {}: {}", first + error.line, error.message);
        entities.extend(yaml::read::<Option<Vec<KeptEntity>>>(part).map_err(describe)?.unwrap_or_default());
        Ok(())
    };
    for (number, line) in text.lines().enumerate() {
        if part.len() > MOST_AT_ONCE && line.starts_with("- ") {
            take(&part, first)?;
            part.clear();
            first = number;
        }
        part.push_str(line);
        part.push('\n');
    }
    take(&part, first)?;
    Ok(entities)
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
