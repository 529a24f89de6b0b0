//! The models that are known without a file.

use super::file::{File, ModelFile, ProviderFile};
use super::setup::{Setup, Usual};
use crate::types::models::{Capability, DEFAULT, Price, ProviderKind};

impl Setup {
    /// As variables alone say: the providers whose variables are set, with models that they are known for.
    ///
    /// # Errors
    /// What is wrong with the variable of a provider.
    pub fn of_variables(usual: &Usual) -> Result<Setup, (ProviderKind, String)> {
        let mut file = File::default();
        for kind in ProviderKind::ALL {
            if usual.keys.contains_key(kind) || (*kind == ProviderKind::Ollama && usual.ollama.is_some()) {
                let read = ProviderFile::default().provider(kind.name(), usual, &|_| None);
                let why = |problem: String| problem.split_once(": ").map_or(problem.clone(), |(_, why)| why.to_owned());
                read.map_err(|problem| (*kind, why(problem)))?;
                file.providers.insert(kind.name().into(), ProviderFile::default());
            }
        }
        for known in KNOWN.iter().filter(|known| file.providers.contains_key(known.provider.name())) {
            file.models.insert(known.id.into(), known.model());
            for class in known.classes {
                file.defaults.entry((*class).to_owned()).or_insert_with(|| known.id.to_owned());
            }
        }
        file.setup(usual, &|_| None).map_err(|problems| (ProviderKind::Ollama, problems.join("; ")))
    }
}

/// A model that needs no file.
struct Known {
    id: &'static str,
    provider: ProviderKind,
    context: u32,
    price: Price,
    classes: &'static [&'static str],
}

impl Known {
    fn model(&self) -> ModelFile {
        ModelFile {
            provider: self.provider.name().into(),
            name: None,
            context: self.context,
            max_output: None,
            capabilities: vec![Capability::Tools],
            price: self.price,
            fallbacks: Vec::new(),
        }
    }
}

const fn known(
    id: &'static str,
    provider: ProviderKind,
    context: u32,
    (input, output): (u32, u32),
    classes: &'static [&'static str],
) -> Known {
    Known { id, provider, context, price: Price { input, output }, classes }
}

/// What is there without a file. Prices as they were published in 2025: a file says otherwise.
const KNOWN: &[Known] = &[
    known("claude-sonnet-4-5", ProviderKind::Anthropic, 200_000, (300, 1_500), &[DEFAULT, "medium"]),
    known("claude-opus-4-5", ProviderKind::Anthropic, 200_000, (500, 2_500), &["large"]),
    known("claude-haiku-4-5", ProviderKind::Anthropic, 200_000, (100, 500), &["small"]),
    known("gpt-5", ProviderKind::OpenAi, 400_000, (125, 1_000), &[DEFAULT, "medium", "large"]),
    known("gpt-5-mini", ProviderKind::OpenAi, 400_000, (25, 200), &["small"]),
    known("gemini-2.5-pro", ProviderKind::Gemini, 1_000_000, (250, 1_500), &[DEFAULT, "medium", "large"]),
    known("gemini-2.5-flash", ProviderKind::Gemini, 1_000_000, (30, 250), &["small"]),
    known("llama3.2", ProviderKind::Ollama, 128_000, (0, 0), &[DEFAULT, "small", "medium", "large"]),
];
