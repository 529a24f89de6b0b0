//! `ok doctor`: checks whether each model provider, each other system and the mail server can be reached. It asks
//! providers for their models, which costs nothing, the provider of vectors for the vector of one word, and systems for
//! their version; it greets the mail server; and it shows no key.

use serde::Serialize;

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, models, show, systems};
use crate::adapters::Unread;
use crate::background::models::{Checked, Setup};
use crate::types::vector::Vector;

pub const COMMANDS: Commands = &[&own::<Doctor>("doctor")];

/// What the model that makes vectors is asked about.
const PROBE: &str = "ok";

/// What was found of one of them.
#[derive(Serialize)]
struct Found {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    message: String,
}

/// Check the model providers, the systems that keep collections, and the mail server
#[derive(clap::Args)]
pub struct Doctor {}

impl Run for Doctor {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let setup = context.models();
        let mut found: Vec<Found> = models::client(setup)?.check().await.iter().map(of_provider).collect();
        if found.is_empty() {
            found.push(Found { ok: false, provider: None, system: None, message: setup.catalog.nothing() });
        }
        found.extend(embeddings(setup).await?);
        found.extend(systems(context).await?);
        if let Some(mail) = &context.mail {
            found.push(of_system(("mail", mail.check().await.map_err(Unread))));
        }
        context.show(&serde_json::to_value(&found)?, || found.iter().try_for_each(print))?;
        Ok(if found.iter().all(|found| found.ok) { Exit::Done } else { Exit::Failed })
    }
}

/// The model that makes vectors of texts, asked about one word.
async fn embeddings(setup: &Setup) -> Result<Option<Found>, Failure> {
    let Some(embedder) = models::embedder(setup)? else { return Ok(None) };
    let asked = tokio::task::spawn_blocking(move || (embedder.model().to_owned(), embedder.embed(&[PROBE.to_owned()])));
    let (model, made) = asked.await.map_err(|error| Failure::new(format!("{error}")))?;
    let dimensions = |made: Vec<Vector>| made.first().map_or(0, Vector::dimensions);
    let message = made.map(|made| format!("{model}: vectors of {} dimensions", dimensions(made)));
    Ok(Some(of_system(("embeddings", message))))
}

/// The other systems, asked where it may take long.
async fn systems(context: &Context) -> Result<Vec<Found>, Failure> {
    let systems = systems::read(context)?;
    let checked = tokio::task::spawn_blocking(move || systems.check().map(of_system).collect());
    checked.await.map_err(|error| Failure::new(format!("the systems cannot be checked: {error}")))
}

fn of_system((name, outcome): (&str, Result<String, Unread>)) -> Found {
    let ok = outcome.is_ok();
    let message = outcome.unwrap_or_else(|Unread(why)| why);
    Found { ok, provider: None, system: Some(name.to_owned()), message }
}

fn of_provider(checked: &Checked) -> Found {
    let message = match &checked.outcome {
        Ok(1) => "offers 1 model".to_owned(),
        Ok(count) => format!("offers {count} models"),
        Err(why) => why.clone(),
    };
    let provider = Some(checked.provider.clone());
    Found { ok: checked.outcome.is_ok(), provider, system: None, message }
}

fn print(Found { ok, provider, system, message }: &Found) -> Result<(), Failure> {
    let message = show::said(message);
    match (ok, provider.as_ref().or(system.as_ref())) {
        (true, Some(provider)) => show::text(&format!("ok    {provider:<9}  {message}")),
        (false, Some(provider)) => show::text(&format!("FAIL  {provider:<9}  {message}")),
        (_, None) => show::text(&format!("FAIL {message}")),
    }
}
