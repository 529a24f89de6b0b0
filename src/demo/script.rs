//! The story as it is written in `story/`: who is there, and the chapters with their scenes.

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

/// Somebody who can be signed in as.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub id: ActorId,
    pub name: String,
    /// What signing in as them is good for.
    pub good_for: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// What is told while it is made.
    pub title: String,
    pub scenes: Vec<Scene>,
}

/// One line of the story.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// When; a little after the last one unless given.
    pub at: Option<String>,
    /// Who acts; the server unless given.
    #[serde(rename = "as")]
    pub who: Option<ActorId>,
    /// The operation. `runs` lets runs go on as far as they can, and `commit` writes policies into the repository.
    #[serde(rename = "do")]
    pub act: String,
    /// Its input. A text `$name.field` stands for what was kept under that name.
    #[serde(default)]
    pub with: Map<String, Value>,
    /// The delegation that they act under, as `$name.id`.
    pub under: Option<String>,
    /// The name that the answer is kept under.
    pub keep: Option<String>,
    #[serde(default)]
    pub expect: Expected,
    /// The same once for each of these, which `$it` stands for.
    #[serde(default)]
    pub each: Vec<Value>,
    /// What passes between them.
    pub every: Option<String>,
}

/// How the gate answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    #[default]
    Allowed,
    Waits,
    Refused,
}

/// What the model says to one who is asked something.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub agent: String,
    /// Words that lead here; whatever is asked where there are none.
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

/// Everybody who can be signed in as.
pub fn cast() -> Result<Vec<Person>, String> {
    read("cast.yaml")
}

/// What the demo's model says.
pub fn replies() -> Result<Vec<Reply>, String> {
    read("replies.yaml")
}

/// The chapters, in the order of their files.
pub fn story() -> Result<Vec<Chapter>, String> {
    let mut paths: Vec<_> = Files::iter().filter(|path| path.starts_with("chapters/")).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// What scenes can name: the agents' definitions, and the plans of their runs.
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

/// The policies of the default pack with these layers over them, each a folder below `policies/`.
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
