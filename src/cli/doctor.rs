//! `ok doctor`: whether each model provider can be asked. It asks each for its models, which costs nothing, and shows no key.

use serde_json::{Value, json};

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, models, show};
use crate::background::models::Checked;

pub const COMMANDS: Commands = &[&own::<Doctor>("doctor")];

/// Check the model providers
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
        let well = found.iter().all(|check| check.get("ok") == Some(&Value::Bool(true)));
        context.show(&found.clone().into(), || found.iter().try_for_each(told))?;
        Ok(if well { Exit::Done } else { Exit::Failed })
    }
}

fn shown(checked: &Checked) -> Value {
    let message = match &checked.outcome {
        Ok(1) => "offers 1 model".to_owned(),
        Ok(count) => format!("offers {count} models"),
        Err(why) => why.clone(),
    };
    json!({ "ok": checked.outcome.is_ok(), "provider": checked.provider, "message": message })
}

fn told(check: &Value) -> Result<(), Failure> {
    let message = show::cell(check.get("message"));
    let well = check.get("ok") == Some(&Value::Bool(true));
    match (well, check.get("provider").and_then(Value::as_str)) {
        (true, Some(provider)) => show::text(&format!("ok    {provider:<9}  {message}")),
        (false, Some(provider)) => show::text(&format!("FAIL  {provider:<9}  {message}")),
        (_, None) => show::text(&format!("FAIL {message}")),
    }
}
