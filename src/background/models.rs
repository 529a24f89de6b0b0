//! The only way to models. It asks them, and knows nothing about runs, policies and the log: whether to ask was decided
//! before, and the outcome is recorded afterwards. It follows no redirect and uses no proxy from the environment; a key
//! is sent only to its provider's own address and appears in no message.

mod embedding;
mod file;
mod known;
mod setup;
mod vectors;
mod wire;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

pub use embedding::Embedding;
pub use setup::{Key, Setup, Usual, Variable};

use crate::types::chat::{Answer, Failed, Prompt};
use crate::types::entropy::Entropy;
use crate::types::models::{Catalog, Model, Provider};
use wire::{Broke, Target, Wire};

/// Whoever answers prompts.
pub trait Chat: Send + Sync {
    /// Asks; what is said is heard piece by piece as it comes, and then once more as a whole.
    fn ask<'a>(&'a self, prompt: &'a Prompt, hear: &'a Hear<'a>) -> Asking<'a>;
}

pub type Hear<'a> = dyn Fn(&str) + Send + Sync + 'a;

pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Answer, Failed>> + Send + 'a>>;

/// The longest that a provider may ask to be left alone for; longer, and another model is asked.
const MOST_PATIENCE: Duration = Duration::from_secs(60);
/// How long a provider may take to say whether it takes a key.
const CHECKING: Duration = Duration::from_secs(10);

/// The models of a company's settings.
pub struct Models {
    setup: Setup,
    wire: Wire,
    entropy: Arc<dyn Entropy>,
}

/// Whether a provider can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub provider: String,
    /// How many models it offers, or why it cannot be asked.
    pub outcome: Result<usize, String>,
}

impl Models {
    pub fn new(setup: Setup, entropy: Arc<dyn Entropy>) -> Result<Models, String> {
        Ok(Models { wire: Wire::new()?, setup, entropy })
    }

    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.setup.catalog
    }

    /// Asks each provider for its models, with its key.
    pub async fn check(&self) -> Vec<Checked> {
        let mut checked = Vec::new();
        for (id, provider) in &self.setup.catalog.providers {
            let outcome = match provider.available {
                false => Err("there is no key for it".into()),
                true => self.offered(id, provider).await,
            };
            checked.push(Checked { provider: id.clone(), outcome });
        }
        checked
    }

    async fn offered(&self, id: &str, provider: &Provider) -> Result<usize, String> {
        match timeout(CHECKING, self.wire.offered(&self.target(id, provider))).await {
            Ok(Ok(count)) => Ok(count),
            Ok(Err(
                Broke::Refused(why) | Broke::Busy { why, .. } | Broke::Unknown(why) | Broke::Useless { why, .. },
            )) => Err(why),
            Err(_) => Err(format!("no answer within {} s", CHECKING.as_secs())),
        }
    }

    fn target<'a>(&'a self, id: &str, provider: &'a Provider) -> Target<'a> {
        Target { kind: provider.kind, base_url: &provider.base_url, key: self.setup.keys.get(id) }
    }

    /// Asks until there is an answer, an error that stays, or the provider was asked often enough.
    async fn answer(&self, prompt: &Prompt, hear: &Hear<'_>) -> Result<Answer, Failed> {
        let Catalog { models, providers, limits, .. } = &*self.setup.catalog;
        let found = models.get(&prompt.model).and_then(|model| Some((model, providers.get(&model.provider)?)));
        let (model, provider): (&Model, &Provider) =
            found.ok_or_else(|| Failed::Refused(format!("there is no model `{}`", prompt.model)))?;
        let target = self.target(&model.provider, provider);
        let mut attempt = 1;
        loop {
            let asking = self.wire.ask(&target, model, prompt, (limits.answer_bytes, hear));
            let (why, after) = match timeout(Duration::from_millis(limits.timeout_ms), asking).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Broke::Refused(why))) => return Err(Failed::Refused(why)),
                Ok(Err(Broke::Unknown(why))) => return Err(Failed::Unknown(why)),
                Ok(Err(Broke::Useless { why, input_tokens, output_tokens })) => {
                    return Err(Failed::Useless { why, input_tokens, output_tokens });
                }
                Ok(Err(Broke::Busy { why, after })) => (why, after),
                Err(_) => {
                    return Err(Failed::Unknown(format!("no answer within {} s", limits.timeout_ms / 1_000)));
                }
            };
            if attempt >= limits.attempts {
                let times = if attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
                return Err(Failed::Refused(format!("{why} (asked {times})")));
            }
            if let Some(after) = after.filter(|after| *after > MOST_PATIENCE) {
                return Err(Failed::Refused(format!("{why}, and wants to be left alone for {} s", after.as_secs())));
            }
            sleep(after.unwrap_or_else(|| self.pause(limits.pause_ms, attempt).min(MOST_PATIENCE))).await;
            attempt += 1;
        }
    }

    /// Twice as long each time, and up to half as long again: those who failed together do not come back together.
    fn pause(&self, first_ms: u64, attempt: u32) -> Duration {
        let pause = first_ms.saturating_mul(1 << (attempt - 1).min(16));
        let more = u64::try_from(self.entropy.bits128() % u128::from(pause / 2 + 1)).unwrap_or(0);
        Duration::from_millis(pause + more)
    }
}

impl Chat for Models {
    fn ask<'a>(&'a self, prompt: &'a Prompt, hear: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(self.answer(prompt, hear))
    }
}
