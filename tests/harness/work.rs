//! Agents at work in a company, and the models that they ask.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ok::engine::models::{Chat, Models, Setup};
use ok::engine::runner;
use ok::policy::Bundle;

use super::{Test, TestEntropy};

impl Test {
    /// The same with models that agents may ask.
    pub async fn with_models(models: Setup, policies: Bundle) -> Test {
        Test::begun(Test::founded(policies, models)).await
    }

    /// Lets runs go on as far as they can.
    pub async fn go_on(&self) {
        runner::settle(&self.company.gate, self.chat()).await.unwrap();
    }

    /// Whoever answers prompts.
    pub fn chat(&self) -> Arc<dyn Chat> {
        Arc::new(Models::new(self.models.clone(), Arc::new(TestEntropy(AtomicU64::new(7)))).unwrap())
    }
}
