//! `ok directory`: who can do something.

use clap::Subcommand;
use serde_json::{Value, json};

use super::command::{Commands, Run, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, show};

pub const COMMANDS: Commands = &[&owns::<Directory>("directory")];

/// Find who can do something
#[derive(Subcommand)]
pub enum Directory {
    /// Find people and agents by skill or name, the best match first
    Find {
        /// Skills, separated by commas; whoever has any is found
        #[arg(long, value_delimiter = ',', value_name = "A,B")]
        skills: Vec<String>,
        /// Only people
        #[arg(long)]
        humans: bool,
        /// Part of an id or a name
        #[arg(long)]
        text: Option<String>,
        /// How many at most, up to 1000
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: Option<u32>,
    },
    /// List the agents as A2A agent cards
    Cards {
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
}

impl Run for Directory {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (columns, answer): (&[&str], Value) = match self {
            Directory::Find { skills, humans, text, limit } => {
                let input = json!({ "skills": skills, "humans": humans, "text": text, "limit": limit });
                (
                    &["actor", "name", "kind", "team", "trust", "why"],
                    client::call(context, "directory.find", input).await?,
                )
            }
            Directory::Cards { limit } => {
                let cards = client::list(context, "directory.cards", json!({}), limit).await?;
                (&["name", "description", "version"], Value::Array(cards))
            }
        };
        context
            .show(&answer, || show::list("nobody", columns, answer.as_array().map(Vec::as_slice).unwrap_or_default()))
    }
}
