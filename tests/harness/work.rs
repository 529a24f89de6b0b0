//! Agents at work in a company, and the models that they ask.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ok::adapters::{Embedder, Systems};
use ok::background::models::{Chat, Models, Setup};
use ok::background::tools::{Means, Tools};
use ok::background::{embeddings, runner};
use ok::gate::state::open::{CannotOpen, Company, Options, open};
use ok::log::journal::{InFile, Journal};
use ok::nouns::run::{ECHOES, MAIL, WEB};
use ok::policy::Bundle;
use serde_json::{Value, json};

use super::{Answer, Test, TestClock, TestEntropy, With, options};

impl Test {
    /// The same with models that agents may ask.
    pub async fn with_models(models: Setup, policies: Bundle) -> Test {
        Test::begun(Test::founded(With { models, ..With::policies(policies) }, Arc::new(InFile))).await
    }

    /// The same with tools from elsewhere, under the names of those that echo.
    pub async fn with_tools(models: Setup, policies: Bundle, hands: Arc<dyn Tools>) -> Test {
        Test::with_tools_and(models, policies, hands, Arc::new(InFile)).await
    }

    /// The same with a log that is kept there.
    pub async fn with_tools_and(
        models: Setup,
        policies: Bundle,
        hands: Arc<dyn Tools>,
        journal: Arc<dyn Journal>,
    ) -> Test {
        let with = With { models, hands: Some(hands), ..With::policies(policies) };
        Test::begun(Test::founded(with, journal)).await
    }

    /// The same with systems that keep collections.
    pub async fn with_systems(policies: Bundle, systems: Systems) -> Test {
        let with = With { systems: Arc::new(systems), ..With::policies(policies) };
        Test::begun(Test::founded(with, Arc::new(InFile))).await
    }

    /// The same with somebody who makes vectors of texts.
    pub async fn with_embedder(policies: Bundle, embedder: Arc<dyn Embedder>) -> Test {
        let with = With { embedder: Some(embedder), ..With::policies(policies) };
        Test::begun(Test::founded(with, Arc::new(InFile))).await
    }

    /// The same company after another server took it up, which makes other vectors, or none.
    pub async fn embedding_by(self, embedder: Option<Arc<dyn Embedder>>) -> Test {
        Test { with: With { embedder, ..self.with.clone() }, ..self }.reopened().await
    }

    /// Has vectors made of what is known.
    pub async fn embedded(&self) -> Result<(), String> {
        let embedder = self.with.embedder.clone().unwrap();
        embeddings::pass(&self.company.gate, embedder).await
    }

    /// Whoever runs need outside.
    pub fn means(&self) -> Means {
        let means = Means::from(self.chat());
        let tools = self.with.hands.clone().unwrap_or(means.tools);
        Means { tools, ..means }
    }

    /// Adds somebody. An agent is trusted as most are, where the admin who adds it may say so: whoever answers for it may not,
    /// and some policies ask for more.
    pub(super) async fn joins(&self, new: Value) -> Answer {
        let is_anothers = new["owner"].as_str().is_some_and(|owner| owner != "ana");
        if new["kind"] == "agent" && new["trust"].is_null() && is_anothers {
            let mut trusted = new.clone();
            trusted["trust"] = json!("standard");
            let added = self.post("/actors", &self.admin, trusted).await;
            if added.status != 422 {
                return added;
            }
        }
        self.post("/actors", &self.admin, new).await
    }

    /// Lets runs go on as far as they can.
    pub async fn go_on(&self) {
        runner::settle(&self.company.gate, self.means()).await.unwrap();
    }

    /// Whoever answers prompts.
    pub fn chat(&self) -> Arc<dyn Chat> {
        Arc::new(Models::new(self.with.models.clone(), Arc::new(TestEntropy(AtomicU64::new(7)))).unwrap())
    }
}

/// A company with these policies, models and hands.
pub(super) fn opened(
    With { policies, models, hands, systems, embedder }: &With,
    journal: &Arc<dyn Journal>,
    (dir, clock, seed): (&Path, &Arc<TestClock>, u64),
) -> Company {
    let made = options(dir.join("state.db"), Arc::clone(clock), seed);
    let outside = hands.as_ref().map(|_| ECHOES.into_iter().chain([MAIL, WEB])).into_iter().flatten();
    let tools = Arc::new(outside.map(str::to_owned).collect());
    let (policies, models, journal) = (policies.clone(), Arc::clone(&models.catalog), Arc::clone(journal));
    let (systems, embedder) = (Arc::clone(systems), embedder.clone());
    let options = Options { policies, models, tools, journal, systems, embedder, ..made };
    // A process that another test is starting has a copy of the lock until it runs its own program.
    for _ in 0..200 {
        match open(&options) {
            Err(CannotOpen::Held(holder)) if holder.pid == std::process::id() => {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => return opened.unwrap(),
        }
    }
    panic!("the state file is still locked");
}
