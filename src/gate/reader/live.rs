//! What models say at this moment, for whoever follows their runs. It is not recorded before it is whole, nobody decides by it,
//! and it is gone with the server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;

/// What is said at a step of a run, as far as it has come.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub step: u32,
    pub text: String,
}

/// By run: kept as long as somebody says something there, or listens.
#[derive(Default)]
pub struct Live(Mutex<BTreeMap<String, Weak<watch::Sender<Said>>>>);

/// A model that answers at a step.
pub struct Saying(Arc<watch::Sender<Said>>);

/// Whoever listens to a run.
pub struct Listening {
    pub said: watch::Receiver<Said>,
    /// Keeps the place where it is said.
    _at: Arc<watch::Sender<Said>>,
}

impl Live {
    /// A model begins to answer.
    pub fn say(&self, run: &str, step: u32) -> Saying {
        let at = self.at(run);
        at.send_replace(Said { step, text: String::new() });
        Saying(at)
    }

    pub fn listen(&self, run: &str) -> Listening {
        let at = self.at(run);
        Listening { said: at.subscribe(), _at: at }
    }

    fn at(&self, run: &str) -> Arc<watch::Sender<Said>> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = runs.get(run).and_then(Weak::upgrade) {
            return at;
        }
        runs.retain(|_, at| at.strong_count() > 0);
        let at = Arc::new(watch::Sender::new(Said::default()));
        runs.insert(run.to_owned(), Arc::downgrade(&at));
        at
    }
}

impl Saying {
    pub fn more(&self, text: &str) {
        self.0.send_modify(|said| said.text.push_str(text));
    }
}
