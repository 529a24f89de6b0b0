//! The file that `OK_LLM_CONFIG` names. A key that is not known is an error: a misspelt limit must not be no limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use url::{Host, Url};

use super::setup::{Key, Setup, Usual, Variable};
use crate::policy::yaml;
use crate::types::models::{Capability, Catalog, Embeddings, Limits, Model, OF_PLANS, Price, Provider, ProviderKind};
use crate::types::vector::MOST_DIMENSIONS;

/// Which models agents work with.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `providers` and `models`")]
pub struct File {
    /// By a name of your own. One with the name of a kind is of that kind.
    pub providers: BTreeMap<String, ProviderFile>,
    /// By the id that agents ask for.
    #[serde(default)]
    pub models: BTreeMap<String, ModelFile>,
    /// The usual model for a class that agents ask for, such as `large`; `default` where they ask for none.
    #[serde(default)]
    pub defaults: BTreeMap<String, String>,
    #[serde(default)]
    pub limits: LimitsFile,
    /// The model that makes vectors of what is known, so that it is recalled by its meaning.
    #[serde(default)]
    pub embeddings: Option<EmbeddingsFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingsFile {
    pub provider: String,
    /// What its provider calls it.
    pub name: String,
    /// How many dimensions a vector is to have, of models that can be asked for fewer than theirs; theirs unless given.
    #[serde(default)]
    pub dimensions: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderFile {
    pub kind: Option<ProviderKind>,
    /// Where it is; the provider's own address unless given.
    pub base_url: Option<String>,
    /// The variable that holds its key; the usual one of its kind unless given.
    pub key_variable: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    pub provider: String,
    /// What its provider calls it; the id unless given.
    #[serde(default)]
    pub name: Option<String>,
    /// The most tokens that it reads and writes together.
    pub context: u32,
    /// The most tokens of one answer; 8192 unless given.
    #[serde(default)]
    pub max_output: Option<u32>,
    #[serde(default)]
    pub capabilities: Vec<Capability>,
    /// Cents for a million tokens; nothing unless given.
    #[serde(default)]
    pub price: Price,
    /// The models to ask instead when this one cannot be asked.
    #[serde(default)]
    pub fallbacks: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsFile {
    /// How long a model may take to answer: 1 to 600; 120 unless given.
    pub timeout_seconds: Option<u32>,
    /// How often a provider that is busy or away is asked: 1 to 10; 5 unless given.
    pub attempts: Option<u32>,
    /// How long it is left alone before it is asked again, twice as long each time: 0 to 60000; 1000 unless given.
    pub pause_ms: Option<u32>,
    /// The most bytes of one answer: 1024 to 1048576; 262144 unless given.
    pub answer_bytes: Option<u32>,
}

/// The most tokens of one answer, unless said otherwise.
const USUAL_OUTPUT: u32 = 8_192;

impl Setup {
    /// As a file says; each provider's key is in the variable that it names, or in the usual one.
    pub fn of_file(text: &str, usual: &Usual, variable: Variable<'_>) -> Result<Setup, String> {
        let file: File = yaml::read_at_once(text).map_err(|error| format!("line {}: {}", error.line, error.message))?;
        file.setup(usual, variable).map_err(|problems| problems.join("; "))
    }
}

impl File {
    /// What it says, with the keys; or all that is wrong with it.
    pub(super) fn setup(self, usual: &Usual, variable: Variable<'_>) -> Result<Setup, Vec<String>> {
        let mut problems = Vec::new();
        let (mut providers, mut keys) = (BTreeMap::new(), BTreeMap::new());
        for (id, file) in self.providers {
            if id == OF_PLANS {
                problems.push(format!("providers.{id}: plans answer under this name; take another"));
            }
            match file.provider(&id, usual, variable) {
                Ok((provider, key)) => {
                    providers.insert(id.clone(), provider);
                    keys.extend(key.map(|key| (id, key)));
                }
                Err(problem) => problems.push(format!("providers.{id}.{problem}")),
            }
        }
        let ids: Vec<&String> = self.models.keys().collect();
        // One that is wrong itself is there all the same.
        let are_read = problems.is_empty();
        for (id, model) in &self.models {
            if !providers.contains_key(&model.provider) && are_read {
                problems.push(format!("models.{id}.provider: there is no provider `{}`", model.provider));
            }
            problems.extend(model.problems(id, &ids));
        }
        for (class, id) in self.defaults.iter().filter(|(_, id)| !ids.contains(id)) {
            problems.push(format!("defaults.{class}: there is no model `{id}`"));
        }
        let limits = self.limits.limits(&mut problems);
        let embeddings = self.embeddings.map(|file| file.embeddings(&providers, are_read, &mut problems));
        if !problems.is_empty() {
            return Err(problems);
        }
        let models = self.models.into_iter().map(|(id, file)| (id.clone(), file.model(id))).collect();
        let catalog = Catalog { providers, models, defaults: self.defaults, limits, embeddings, problem: None };
        Ok(Setup { catalog: Arc::new(catalog), keys })
    }
}

impl ProviderFile {
    pub(super) fn provider(
        self,
        id: &str,
        usual: &Usual,
        variable: Variable<'_>,
    ) -> Result<(Provider, Option<Key>), String> {
        let kinds = || ProviderKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let kind = self.kind.or_else(|| id.parse().ok()).ok_or_else(|| format!("kind: must be one of {}", kinds()))?;
        let ollama = usual.ollama.as_deref().filter(|_| kind == ProviderKind::Ollama);
        let key = match &self.key_variable {
            Some(name) => variable(name),
            None => usual.keys.get(&kind).cloned(),
        };
        let has_key = kind.has_key() || self.key_variable.is_some();
        let base_url = match (&self.base_url, ollama) {
            (Some(text), _) => address(text, has_key).map_err(|why| format!("base_url: {why}"))?,
            (None, Some(host)) => at_host(host).map_err(|why| format!("base_url: {why}"))?,
            (None, None) => kind.base_url().to_owned(),
        };
        // It goes into a header as it is.
        if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err("key_variable: the key has a character that no key has".into());
        }
        let available = key.is_some() || !kind.has_key();
        Ok((Provider { kind, base_url, available }, key.map(Key)))
    }
}

/// An address to which paths are added. A key travels only where nobody can read it.
fn address(text: &str, has_key: bool) -> Result<String, String> {
    let mut url = Url::parse(text).map_err(|error| format!("`{text}` is no address: {error}"))?;
    let is_here = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let is_fine = url.scheme() == "https" || (url.scheme() == "http" && (is_here || !has_key));
    if !is_fine || !url.has_host() {
        return Err(format!("`{text}` must be https, or http to a loopback address or to an Ollama without a key"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err("must have no user, no query and no fragment; keys are in variables".into());
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url.into())
}

/// The address of an Ollama, as its own variable says: often without a scheme, a port, or with the address that it listens on.
fn at_host(text: &str) -> Result<String, String> {
    const PORT: u16 = 11_434;
    let (whole, is_bare) = match text.contains("://") {
        true => (text.to_owned(), false),
        false => (format!("http://{text}"), true),
    };
    let mut url = Url::parse(&whole).map_err(|error| format!("`{text}` is no address: {error}"))?;
    if is_bare && url.port().is_none() {
        let _ = url.set_port(Some(PORT));
    }
    if url.host_str() == Some("0.0.0.0") {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    address(url.as_str(), false)
}

impl ModelFile {
    fn problems(&self, id: &str, ids: &[&String]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, problem: String| {
            if !fine {
                problems.push(format!("models.{id}.{problem}"));
            }
        };
        let name = self.name.as_deref().unwrap_or(id);
        check(is_model_name(name), "name: must have 1 to 128 characters, and no `::`".into());
        let output = self.max_output.unwrap_or(USUAL_OUTPUT.min(self.context / 2));
        check((1_000..=100_000_000).contains(&self.context), "context: must be 1000 to 100000000".into());
        check(output > 0 && output < self.context, "max_output: must be at least 1 and less than context".into());
        let most = 1_000_000;
        check(self.price.input <= most && self.price.output <= most, format!("price: must be at most {most}"));
        for other in self.fallbacks.iter().filter(|other| !ids.contains(other)) {
            check(false, format!("fallbacks: there is no model `{other}`"));
        }
        check(!self.fallbacks.iter().any(|other| other == id), "fallbacks: a model cannot be its own fallback".into());
        problems
    }

    fn model(self, id: String) -> Model {
        Model {
            provider: self.provider,
            name: self.name.unwrap_or(id),
            context: self.context,
            max_output: self.max_output.unwrap_or(USUAL_OUTPUT.min(self.context / 2)),
            capabilities: self.capabilities,
            price: self.price,
            fallbacks: self.fallbacks,
        }
    }
}

impl EmbeddingsFile {
    fn embeddings(
        self,
        providers: &BTreeMap<String, Provider>,
        are_read: bool,
        problems: &mut Vec<String>,
    ) -> Embeddings {
        let EmbeddingsFile { provider, name, dimensions } = self;
        let mut check = |fine: bool, problem: String| {
            if !fine {
                problems.push(format!("embeddings.{problem}"));
            }
        };
        let kind = providers.get(&provider).map(|provider| provider.kind);
        check(kind.is_some() || !are_read, format!("provider: there is no provider `{provider}`"));
        check(kind.is_none_or(ProviderKind::embeds), format!("provider: `{provider}` makes no vectors of texts"));
        check(is_model_name(&name), "name: must have 1 to 128 characters, and no `::`".into());
        let fits = dimensions.is_none_or(|dimensions| (1..=MOST_DIMENSIONS).contains(&(dimensions as usize)));
        check(fits, format!("dimensions: must be 1 to {MOST_DIMENSIONS}"));
        Embeddings { provider, name, dimensions }
    }
}

/// Whether a provider may call a model so. `::` would name another provider to the library that is asked with.
fn is_model_name(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains("::")
}

impl LimitsFile {
    fn limits(&self, problems: &mut Vec<String>) -> Limits {
        let usual = Limits::default();
        let mut within = |name: &str, given: Option<u32>, least: u32, most: u32| {
            if given.is_some_and(|given| !(least..=most).contains(&given)) {
                problems.push(format!("limits.{name}: must be {least} to {most}"));
            }
            given
        };
        let timeout = within("timeout_seconds", self.timeout_seconds, 1, 600);
        let attempts = within("attempts", self.attempts, 1, 10);
        let pause = within("pause_ms", self.pause_ms, 0, 60_000);
        let bytes = within("answer_bytes", self.answer_bytes, 1 << 10, 1 << 20);
        Limits {
            timeout_ms: timeout.map_or(usual.timeout_ms, |seconds| u64::from(seconds) * 1_000),
            attempts: attempts.unwrap_or(usual.attempts),
            pause_ms: pause.map_or(usual.pause_ms, u64::from),
            answer_bytes: bytes.map_or(usual.answer_bytes, |bytes| bytes as usize),
        }
    }
}
