//! The models of the settings: from the file that `OK_LLM_CONFIG` names, or from the providers' usual variables.

use std::sync::Arc;

use super::exit::Failure;
use crate::adapters::Embedder;
use crate::background::models::{Embedding, Models, Setup, Usual};
use crate::config;
use crate::types::entropy::SystemEntropy;
use crate::types::models::ProviderKind;

/// Returns the models. If the settings are wrong, there are none, and the result says why.
pub fn setup() -> Setup {
    read().unwrap_or_else(Setup::wrong)
}

fn read() -> Result<Setup, String> {
    let keys = config::KEYS.iter().rev().filter_map(|(kind, setting)| Some((*kind, config::secret(setting.variable)?)));
    let usual = Usual { keys: keys.collect(), ollama: config::OLLAMA.value() };
    let variable = config::LLM_CONFIG.variable;
    let Some(path) = config::LLM_CONFIG.path() else {
        return Setup::of_variables(&usual).map_err(|(kind, why)| format!("{}: {why}", variable_of(kind)));
    };
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{variable}: cannot read {shown}: {error}"))?;
    Setup::of_file(&text, &usual, &config::secret).map_err(|why| format!("{variable}: {shown}: {why}"))
}

/// The variable that a provider's settings come from: of several, the one that counts.
fn variable_of(kind: ProviderKind) -> &'static str {
    let of_kind = config::KEYS.iter().filter(|(of, _)| *of == kind).map(|(_, setting)| setting.variable);
    of_kind.into_iter().find(|variable| config::secret(variable).is_some()).unwrap_or(config::OLLAMA.variable)
}

/// Whoever answers prompts.
pub fn client(setup: &Setup) -> Result<Arc<Models>, Failure> {
    let models = Models::new(setup.clone(), Arc::new(SystemEntropy));
    models.map(Arc::new).map_err(|error| Failure::new(format!("models cannot be asked: {error}")))
}

/// Returns the embedder, which makes vectors of texts, if the settings name a model for it.
pub fn embedder(setup: &Setup) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    if setup.catalog.embeddings.is_none() {
        return Ok(None);
    }
    let models = Models::new(setup.clone(), Arc::new(SystemEntropy));
    let models = models.map_err(|error| Failure::new(format!("models cannot be asked: {error}")))?;
    Ok(Embedding::of(models).map(|embedding| Arc::new(embedding) as Arc<dyn Embedder>))
}
