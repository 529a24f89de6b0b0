//! `ok doctor`: whether a model can be reached, as far as the settings tell. It shows no key.

use serde_json::{Value, json};

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, show};
use crate::config::{self, PROVIDERS};

pub const COMMANDS: Commands = &[&own::<Doctor>("doctor")];

/// Check the model providers
#[derive(clap::Args)]
pub struct Doctor {}

impl Run for Doctor {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut found: Vec<Value> = PROVIDERS.iter().flat_map(configured).collect();
        found.extend(config::LLM_CONFIG.value().map(|path| file(&path)));
        if found.is_empty() {
            found.push(json!({ "ok": false, "message": "no model provider is configured" }));
        }
        let well = found.iter().all(|check| check.get("ok") == Some(&Value::Bool(true)));
        context.show(&found.clone().into(), || found.iter().try_for_each(told))?;
        Ok(if well { Exit::Done } else { Exit::Failed })
    }
}

fn configured(provider: &config::Provider) -> Option<Value> {
    let setting = provider.settings.iter().find(|setting| setting.value().is_some())?;
    let message = format!("{} is set", setting.variable);
    Some(json!({ "ok": true, "provider": provider.name, "message": message }))
}

fn file(path: &str) -> Value {
    let variable = config::LLM_CONFIG.variable;
    match std::fs::read(path) {
        Ok(_) => json!({ "ok": true, "provider": "config", "message": format!("{variable} names {path}") }),
        Err(error) => json!({ "ok": false, "message": format!("{variable}: cannot read {path}: {error}") }),
    }
}

fn told(check: &Value) -> Result<(), Failure> {
    let message = show::cell(check.get("message"));
    match check.get("provider").and_then(Value::as_str) {
        Some(provider) => show::text(&format!("ok    {provider:<9}  {message}")),
        None => show::text(&format!("FAIL {message}")),
    }
}
