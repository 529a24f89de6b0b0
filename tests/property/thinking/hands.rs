//! Tools from elsewhere, as a run's law has them: they do what was drawn for them, and count it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ok::background::tools::{Answer as Carried, Looked, ToolCall, Tools};
use ok::nouns::run::Came;
use tokio::sync::Notify;

/// How a call of a tool from elsewhere goes.
#[derive(Clone, Copy, Debug)]
pub enum Goes {
    Well,
    Broken,
    /// The server dies before it has done anything, or after.
    DiesBefore,
    DiesAfter,
}

/// Tools from elsewhere, whose effects are counted by the key of the call.
#[derive(Default)]
pub struct Hands {
    pub left: Mutex<VecDeque<Goes>>,
    pub calls: Mutex<Vec<(String, String)>>,
    pub effects: Mutex<Vec<(String, String)>>,
    /// The steps that a person has had done again.
    pub again: Mutex<Vec<String>>,
    pub dies: Arc<Notify>,
}

impl Tools for Hands {
    fn call<'a>(&'a self, asked: &'a ToolCall) -> Carried<'a, Came> {
        let goes = self.left.lock().unwrap().pop_front().unwrap_or(Goes::Well);
        let call = (asked.tool.clone(), asked.key.clone());
        self.calls.lock().unwrap().push(call.clone());
        if matches!(goes, Goes::Well | Goes::DiesAfter) {
            self.effects.lock().unwrap().push(call);
        }
        Box::pin(async move {
            match goes {
                Goes::Well => Came::Done("done".into()),
                Goes::Broken => Came::Failed("it is broken".into()),
                Goes::DiesBefore | Goes::DiesAfter => {
                    self.dies.notify_one();
                    std::future::pending().await
                }
            }
        })
    }

    fn look<'a>(&'a self, _: &'a ToolCall) -> Carried<'a, Looked> {
        Box::pin(async { panic!("no tool here can be asked what it has done") })
    }

    fn trace(&self, _: &ToolCall) -> Option<String> {
        None
    }
}

impl Hands {
    /// What a person says of a call of which nobody knows: once at the most, to have it done again.
    pub fn word(&self, key: String, yes: bool) -> &'static str {
        let mut again = self.again.lock().unwrap();
        if yes || again.contains(&key) {
            return "yes";
        }
        again.push(key);
        "retry"
    }

    /// How often what happens each time was called, and has happened, under one key.
    pub fn of(list: &Mutex<Vec<(String, String)>>, key: &str) -> usize {
        list.lock().unwrap().iter().filter(|(tool, of)| tool == "echo.once" && of == key).count()
    }
}
