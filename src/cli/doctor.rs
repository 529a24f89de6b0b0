//! `ok doctor`: checks whether each model provider, each other system and the mail server can be reached. It asks
//! providers for their models, which costs nothing, the provider of vectors for the vector of one word, and systems for
//! their version; it greets the mail server; and it shows no key.

use serde_json::{Value, json};

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, models, show, systems};
use crate::adapters::Unread;
use crate::background::models::{Checked, Setup};
use crate::types::vector::Vector;

pub const COMMANDS: Commands = &[&own::<Doctor>("doctor")];

/// What the model that makes vectors is asked about.
const PROBE: &str = "ok";

/// Check the model providers, the systems that keep collections, and the mail server
#[derive(clap::Args)]
pub struct Doctor {}

impl Run for Doctor {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let setup = context.models();
        let mut found: Vec<Value> = models::client(setup)?.check().await.iter().map(shown).collect();
        if found.is_empty() {
            found.push(json!({ "ok": false, "message": setup.catalog.nothing() }));
        }
        found.extend(embeddings(setup).await?);
        found.extend(systems(context).await?);
        if let Some(mail) = &context.mail {
            let outcome = mail.check().await;
            let well = outcome.is_ok();
            found.push(json!({ "ok": well, "system": "mail", "message": outcome.unwrap_or_else(|why| why) }));
        }
        let well = found.iter().all(|check| check.get("ok") == Some(&Value::Bool(true)));
        context.show(&found.clone().into(), || found.iter().try_for_each(print))?;
        Ok(if well { Exit::Done } else { Exit::Failed })
    }
}

/// The model that makes vectors of texts, asked about one word.
async fn embeddings(setup: &Setup) -> Result<Option<Value>, Failure> {
    let Some(embedder) = models::embedder(setup)? else { return Ok(None) };
    let asked = tokio::task::spawn_blocking(move || (embedder.model().to_owned(), embedder.embed(&[PROBE.to_owned()])));
    let (model, made) = asked.await.map_err(|error| Failure::new(format!("{error}")))?;
    let dimensions = |made: Vec<Vector>| made.first().map_or(0, Vector::dimensions);
    let message = made.map(|made| format!("{model}: vectors of {} dimensions", dimensions(made)));
    Ok(Some(shown_system(("embeddings", message))))
}

/// The other systems, asked where it may take long.
async fn systems(context: &Context) -> Result<Vec<Value>, Failure> {
    let systems = systems::read(context)?;
    let checked = tokio::task::spawn_blocking(move || systems.check().map(shown_system).collect());
    checked.await.map_err(|error| Failure::new(format!("the systems cannot be checked: {error}")))
}

fn shown_system((name, outcome): (&str, Result<String, Unread>)) -> Value {
    let well = outcome.is_ok();
    json!({ "ok": well, "system": name, "message": outcome.unwrap_or_else(|Unread(why)| why) })
}

fn shown(checked: &Checked) -> Value {
    let message = match &checked.outcome {
        Ok(1) => "offers 1 model".to_owned(),
        Ok(count) => format!("offers {count} models"),
        Err(why) => why.clone(),
    };
    json!({ "ok": checked.outcome.is_ok(), "provider": checked.provider, "message": message })
}

fn print(check: &Value) -> Result<(), Failure> {
    let message = show::cell(check.get("message"));
    let well = check.get("ok") == Some(&Value::Bool(true));
    let name = check.get("provider").or(check.get("system"));
    match (well, name.and_then(Value::as_str)) {
        (true, Some(provider)) => show::text(&format!("ok    {provider:<9}  {message}")),
        (false, Some(provider)) => show::text(&format!("FAIL  {provider:<9}  {message}")),
        (_, None) => show::text(&format!("FAIL {message}")),
    }
}
