//! Which models there are, who provides them, what they can do and what they cost. Without any key: what decides and tells
//! needs none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// How a provider is spoken to.
    ProviderKind, "kind of model provider", {
        Anthropic = "anthropic",
        OpenAi = "openai",
        Gemini = "gemini",
        Ollama = "ollama",
    }
}

impl ProviderKind {
    /// Where it is unless said otherwise.
    pub const fn base_url(self) -> &'static str {
        match self {
            ProviderKind::Anthropic => "https://api.anthropic.com/v1/",
            ProviderKind::OpenAi => "https://api.openai.com/v1/",
            ProviderKind::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            ProviderKind::Ollama => "http://localhost:11434/",
        }
    }

    /// Whether it makes vectors of texts.
    pub const fn embeds(self) -> bool {
        !matches!(self, ProviderKind::Anthropic)
    }

    /// Whether it is asked with a key.
    pub const fn has_key(self) -> bool {
        !matches!(self, ProviderKind::Ollama)
    }
}

named! {
    /// What a model can do besides writing.
    Capability, "capability of a model", {
        /// It calls tools; one that does not is offered none.
        Tools = "tools",
        /// It reads images.
        Vision = "vision",
        /// It thinks before it answers.
        Reasoning = "reasoning",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub kind: ProviderKind,
    /// Ends with `/`.
    pub base_url: String,
    /// Whether it can be asked: its key is there, if it needs one.
    pub available: bool,
}

/// Cents for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// That it reads.
    pub input: u32,
    /// That it writes.
    pub output: u32,
}

impl Price {
    /// What these tokens cost, in millionths of a cent.
    pub fn millionths(self, input: u32, output: u32) -> u64 {
        u64::from(self.input) * u64::from(input) + u64::from(self.output) * u64::from(output)
    }

    /// What these tokens cost, in whole cents, rounded up.
    pub fn cents(self, input: u32, output: u32) -> u32 {
        whole_cents(self.millionths(input, output))
    }
}

/// Millionths of a cent in whole cents, rounded up.
pub fn whole_cents(millionths: u64) -> u32 {
    u32::try_from(millionths.div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

/// A model that makes vectors of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embeddings {
    pub provider: String,
    /// What its provider calls it.
    pub name: String,
    /// How many dimensions a vector is to have, of models that can be asked for fewer than theirs.
    pub dimensions: Option<u32>,
}

impl Embeddings {
    /// By what its vectors are known: those of two models are not compared.
    pub fn id(&self) -> String {
        let dimensions = self.dimensions.map(|dimensions| format!("@{dimensions}")).unwrap_or_default();
        format!("{}/{}{dimensions}", self.provider, self.name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    /// What its provider calls it.
    pub name: String,
    /// The most tokens that it can read and write together.
    pub context: u32,
    /// The most tokens of one answer.
    pub max_output: u32,
    pub capabilities: Vec<Capability>,
    pub price: Price,
    /// The models to ask instead when this one cannot be asked.
    pub fallbacks: Vec<String>,
}

/// What one call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a model may take to answer.
    pub timeout_ms: u64,
    /// How often a provider that is busy or away is asked.
    pub attempts: u32,
    /// How long it is left alone before it is asked again; twice as long each time.
    pub pause_ms: u64,
    /// The most bytes of one answer.
    pub answer_bytes: usize,
}

impl Limits {
    /// How long asking one model takes at the most, but for the pauses.
    pub fn longest_ms(&self) -> i64 {
        i64::try_from(self.timeout_ms.saturating_mul(self.attempts.into())).unwrap_or(i64::MAX)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { timeout_ms: 120_000, attempts: 5, pause_ms: 1_000, answer_bytes: 256 << 10 }
    }
}

/// All models that may be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub providers: BTreeMap<String, Provider>,
    pub models: BTreeMap<String, Model>,
    /// Models by what they are the usual choice for: `default`, or a class such as `large`.
    pub defaults: BTreeMap<String, String>,
    pub limits: Limits,
    /// The model that makes vectors of texts, if any.
    pub embeddings: Option<Embeddings>,
    /// Why there are none, if something is wrong with the settings.
    pub problem: Option<String>,
}

/// The provider id of an answer that comes from a run's plan instead of a model.
pub const OF_PLANS: &str = "plan";

/// What a model is the usual choice for where nothing is asked for.
pub const DEFAULT: &str = "default";

impl Catalog {
    /// Whether a model can be asked.
    pub fn is_available(&self, model: &Model) -> bool {
        self.providers.get(&model.provider).is_some_and(|provider| provider.available)
    }

    /// Returns the models for a list of preferred models or classes, in the order in which they are asked: first the
    /// preferred ones, then their substitutes. Contains only models that can be asked.
    pub fn chosen(&self, prefer: &[String]) -> Vec<(&str, &Model)> {
        self.wanted(prefer).into_iter().filter(|(_, model)| self.is_available(model)).collect()
    }

    /// Who provides the others of them, which cannot be asked.
    pub fn keyless(&self, prefer: &[String]) -> BTreeSet<&str> {
        let wanted = self.wanted(prefer).into_iter();
        wanted.filter(|(_, model)| !self.is_available(model)).map(|(_, model)| model.provider.as_str()).collect()
    }

    /// The same, with those that cannot be asked.
    fn wanted(&self, prefer: &[String]) -> Vec<(&str, &Model)> {
        let mut wanted: Vec<&str> = prefer.iter().filter_map(|name| self.named(name)).collect();
        if wanted.is_empty() {
            wanted.extend(self.named(DEFAULT).or_else(|| self.models.keys().next().map(String::as_str)));
        }
        let mut chosen: Vec<(&str, &Model)> = Vec::new();
        let mut at = 0;
        while let Some(id) = wanted.get(at).copied() {
            at += 1;
            let Some((id, model)) = self.models.get_key_value(id) else { continue };
            wanted.extend(
                model.fallbacks.iter().map(String::as_str).filter(|next| !wanted.contains(next)).collect::<Vec<_>>(),
            );
            if !chosen.iter().any(|(other, _)| *other == id) {
                chosen.push((id, model));
            }
        }
        chosen
    }

    /// Returns those of these models and classes that do not exist. Empty if no model is configured at all.
    pub fn missing(&self, prefer: &[String]) -> Vec<String> {
        let missing = prefer.iter().filter(|name| !self.models.is_empty() && self.named(name).is_none());
        missing.cloned().collect()
    }

    /// The model of this id, or the usual one of this class.
    fn named<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let id = if self.models.contains_key(name) { name } else { self.defaults.get(name)? };
        Some(id)
    }

    /// What a model is the usual choice for.
    pub fn default_for(&self, model: &str) -> Vec<String> {
        self.defaults.iter().filter(|(_, id)| *id == model).map(|(class, _)| class.clone()).collect()
    }

    /// Why no model can be asked.
    pub fn nothing(&self) -> String {
        let keyless: Vec<&str> =
            self.providers.iter().filter(|(_, provider)| !provider.available).map(|(id, _)| id.as_str()).collect();
        match &self.problem {
            Some(problem) => problem.clone(),
            None if keyless.is_empty() => "no model provider is configured".into(),
            None => format!("no model can be asked: there is no key for {}", keyless.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(provider: &str, fallbacks: &[&str]) -> Model {
        Model {
            provider: provider.into(),
            name: "m".into(),
            context: 1_000,
            max_output: 100,
            capabilities: Vec::new(),
            price: Price::default(),
            fallbacks: fallbacks.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn preferred_models_come_first_then_what_stands_in_for_them_and_none_that_cannot_be_asked() {
        let provider = |available| Provider { kind: ProviderKind::Ollama, base_url: String::new(), available };
        let catalog = Catalog {
            providers: [("here".into(), provider(true)), ("gone".into(), provider(false))].into(),
            models: [
                ("a".into(), model("here", &["b", "c"])),
                ("b".into(), model("gone", &["d"])),
                ("c".into(), model("here", &["a"])),
                ("d".into(), model("here", &[])),
            ]
            .into(),
            defaults: [("default".into(), "d".into()), ("large".into(), "a".into())].into(),
            ..Catalog::default()
        };
        let chosen = |prefer: &[&str]| {
            let prefer: Vec<String> = prefer.iter().map(ToString::to_string).collect();
            catalog.chosen(&prefer).into_iter().map(|(id, _)| id.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&["large"]), ["a", "c", "d"]);
        assert_eq!(chosen(&["unheard-of", "c"]), ["c", "a", "d"]);
        assert_eq!(chosen(&[]), ["d"]);
        assert_eq!(chosen(&["unheard-of"]), ["d"]);
    }

    #[test]
    fn tokens_cost_whole_cents_rounded_up() {
        let price = Price { input: 300, output: 1_500 };
        assert_eq!((price.cents(0, 0), price.cents(1, 0), price.cents(1_000_000, 100_000)), (0, 1, 450));
        assert_eq!(price.cents(u32::MAX, u32::MAX), 7_730_942);
    }
}
