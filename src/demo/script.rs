//! Parses the story in `story/`: its people, and the chapters with their scenes.

use std::collections::BTreeMap;

use rust_embed::RustEmbed;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::policy::Bundle;
use crate::types::id::ActorId;

#[derive(RustEmbed)]
#[folder = "src/demo/story/"]
struct Files;

/// A person to sign in as.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub id: ActorId,
    pub name: String,
    /// What signing in as them shows.
    pub good_for: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Printed while the chapter is played.
    pub title: String,
    pub scenes: Vec<Scene>,
}

/// A scene of the story.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// When; shortly after the previous scene by default.
    pub at: Option<String>,
    /// The actor; the server by default.
    #[serde(rename = "as")]
    pub who: Option<ActorId>,
    /// The operation. `runs` advances runs as far as possible, and `commit` commits policies to the repository.
    #[serde(rename = "do")]
    pub act: String,
    /// Its input. A text `$name.field` refers to what was kept under that name.
    #[serde(default)]
    pub with: Map<String, Value>,
    /// The delegation used, as `$name.id`.
    pub under: Option<String>,
    /// The name under which the answer is kept.
    pub keep: Option<String>,
    #[serde(default)]
    pub expect: Expected,
    /// Repeats the scene for each of these, which `$it` refers to.
    #[serde(default)]
    pub each: Vec<Value>,
    /// The time between them.
    pub every: Option<String>,
}

/// The expected answer of the gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    #[default]
    Allowed,
    Waits,
    Refused,
}

/// A plan of the demo's model for questions to an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub agent: String,
    /// Keywords that select it; without any, it matches every question.
    #[serde(default)]
    pub when: Vec<String>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Step {
    Call { call: Call },
    Say { say: String },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub tool: String,
    pub with: Map<String, Value>,
}

fn text(path: &str) -> Result<String, String> {
    let file = Files::get(path).ok_or_else(|| format!("{path} is missing"))?;
    Ok(String::from_utf8_lossy(&file.data).into_owned())
}

fn read<T: DeserializeOwned>(path: &str) -> Result<T, String> {
    serde_yaml::from_str(&text(path)?).map_err(|error| format!("{path}: {error}"))
}

/// Returns everybody to sign in as.
pub fn cast() -> Result<Vec<Person>, String> {
    read("cast.yaml")
}

/// Returns the plans of the demo's model.
pub fn replies() -> Result<Vec<Reply>, String> {
    read("replies.yaml")
}

/// Returns the chapters in the order of their files.
pub fn story() -> Result<Vec<Chapter>, String> {
    let mut paths: Vec<_> = Files::iter().filter(|path| path.starts_with("chapters/")).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Returns what scenes can refer to: the agents' definitions, and the plans of their runs.
pub fn props() -> Result<BTreeMap<String, Value>, String> {
    let mut agents = Map::new();
    for path in Files::iter() {
        if let Some(id) = path.strip_prefix("agents/").and_then(|name| name.strip_suffix(".yaml")) {
            agents.insert(id.to_owned(), text(&path)?.into());
        }
    }
    let plans: Value = read("plans.yaml")?;
    Ok(BTreeMap::from([("agents".to_owned(), agents.into()), ("plans".to_owned(), plans)]))
}

/// Returns the default policies overlaid with these layers, each a folder below `policies/`.
pub fn bundle(layers: &[String]) -> Bundle {
    let mut bundle = Bundle::built_in();
    for layer in layers {
        let below = format!("policies/{layer}/");
        for path in Files::iter() {
            if let (Some(rest), Ok(text)) = (path.strip_prefix(&below), text(&path)) {
                bundle.files.insert(rest.to_owned(), text);
            }
        }
    }
    bundle
}
