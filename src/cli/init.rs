//! `ok init`: creates the first admin, and prints what an auditor will need.

use serde::Serialize;

use super::blueprint::{self, Values, chosen};
use super::column::columns;
use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::operation::change;
use super::{Context, file, show};
use crate::nouns::blueprint::Source;
use crate::nouns::company::{self, Begun, FirstAdmin};
use crate::nouns::token::IssuedToken;
use crate::types::id::ActorId;

pub const COMMANDS: Commands = &[&own::<Init>("init")];

/// Create a company with its first admin and token
#[derive(clap::Args)]
pub struct Init {
    /// The first admin's id [default: the acting actor]
    #[arg(long, value_name = "ID")]
    admin: Option<ActorId>,
    /// The blueprint to start from: its id, or the path of a blueprint.yaml
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
        let blueprint = self.blueprint.map(|blueprint| chosen(&blueprint, self.values)).transpose()?;
        // Before there is a state file: one that begins with nothing is in the way of the next try.
        if let Some(asked) = &blueprint {
            Source::of(asked).map_err(|refusal| Failure::new(refusal.message))?;
        }
        let begun = change::<company::Init>().ask_as_holder(context, &FirstAdmin { id: admin, blueprint }).await?;
        let begun = Founded { begun: begun.read()?, vkey: file::head(&file::open(context)?)?.vkey().to_owned() };
        context.show(&serde_json::to_value(&begun)?, || print(&begun))
    }
}

/// What whoever begins a company has to keep.
#[derive(Serialize)]
struct Founded {
    #[serde(flatten)]
    begun: Begun,
    vkey: String,
}

fn print(founded: &Founded) -> Result<(), Failure> {
    let IssuedToken { actor, expires_at, .. } = &founded.begun.token;
    show::one(columns!(Founded; begun.token.actor, begun.token.token, vkey), founded)?;
    founded.begun.blueprint.iter().try_for_each(blueprint::print)?;
    show::note(&format!(
        "\nThe token is shown this once; it is valid until {}.\n\
         Keep the verifier key (vkey) where this computer cannot reach it: `ok audit verify --vkey` takes it.\n\
         Next: `ok serve`, or `ok --as {actor} actor add-human <id> --role member`.",
        show::said(expires_at),
    ));
    Ok(())
}
