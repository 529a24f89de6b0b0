//! `ok init`: the first admin, and what an auditor will need.

use serde_json::{Value, json};

use super::blueprint::{self, Values, asked};
use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, client, file, show};
use crate::operations::blueprint::Source;
use crate::types::id::ActorId;

pub const COMMANDS: Commands = &[&own::<Init>("init")];

/// Make a company: name its first admin and issue a first token
#[derive(clap::Args)]
pub struct Init {
    /// The first admin's id [default: the acting actor]
    #[arg(long, value_name = "ID")]
    admin: Option<ActorId>,
    /// What the company begins with: a blueprint's id, or the path of a blueprint.yaml
    #[arg(long, value_name = "BLUEPRINT")]
    blueprint: Option<String>,
    #[command(flatten)]
    values: Values,
}

impl Run for Init {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let admin = match self.admin {
            Some(id) => id,
            None => context.actor.parse().map_err(|bad| Failure::Usage(format!("{bad}; name one with --admin")))?,
        };
        let blueprint = self.blueprint.map(|blueprint| asked(&blueprint, self.values)).transpose()?;
        // Before there is a state file: one that begins with nothing is in the way of the next try.
        if let Some(blueprint) = &blueprint {
            let asked = serde_json::from_value(blueprint.clone()).map_err(|error| Failure::new(error.to_string()))?;
            Source::of(&asked).map_err(|refusal| Failure::new(refusal.message))?;
        }
        let input = json!({ "id": admin, "blueprint": blueprint });
        let mut answer = client::call_as_holder(context, "company.init", input).await?;
        client::set(&mut answer, "vkey", file::head(&file::open(context)?)?.vkey);
        context.show(&answer, || told(&answer))
    }
}

fn told(answer: &Value) -> Result<(), Failure> {
    show::fields(&["actor", "token", "vkey"], answer)?;
    if let Some(blueprint) = answer.get("blueprint") {
        blueprint::told(blueprint)?;
    }
    show::note(&format!(
        "\nThe token is shown this once; it is valid until {}.\n\
         Keep the verifier key (vkey) where this computer cannot reach it: `ok audit verify --vkey` takes it.\n\
         Next: `ok serve`, or `ok --as {} actor add-human <id> --role member`.",
        show::cell(answer.get("expires_at")),
        show::cell(answer.get("actor")),
    ));
    Ok(())
}
