//! Plays the story: each scene is performed through the gate, at its time, and must be answered as the story expects.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::acting::Acting;
use super::repository::{Commit, Repository};
use super::script::{Chapter, Expected, Scene, bundle, props};
use super::time::StoryClock;
use super::{CannotTell, in_words};
use crate::background::models::Chat;
use crate::background::runner;
use crate::gate::Gate;
use crate::nouns::Nothing;
use crate::nouns::policy::in_force::Export;
use crate::nouns::tick::{Tick, When};
use crate::policy::brain::is_collection;
use crate::types::id::ActorId;
use crate::types::refusal::{Code, Stop};
use crate::types::time::Clock as _;

/// The default time between two scenes.
const BEAT: &str = "+40s";

pub struct Narrator {
    gate: Arc<Gate>,
    clock: Arc<StoryClock>,
    repository: Repository,
    /// Required by the runner; the story's runs have plans and call no model.
    models: Arc<dyn Chat>,
    /// Answers kept by scenes, by name.
    kept: BTreeMap<String, Value>,
}

impl Narrator {
    pub fn new(gate: Arc<Gate>, clock: Arc<StoryClock>, repository: Repository, models: Arc<dyn Chat>) -> Narrator {
        Narrator { gate, clock, repository, models, kept: BTreeMap::new() }
    }

    /// Finishes the story: checks out the policies.
    pub fn end(mut self) -> Result<(), CannotTell> {
        self.repository.check_out()
    }

    pub async fn tell(&mut self, chapter: &Chapter) -> Result<(), CannotTell> {
        if self.kept.is_empty() {
            self.kept = props().map_err(CannotTell::Story)?;
            self.kept.extend(self.clock.days());
        }
        for scene in &chapter.scenes {
            if scene.each.is_empty() {
                self.play(scene).await?;
            }
            for (index, it) in scene.each.iter().enumerate() {
                let it = self.filled(it).map_err(CannotTell::Story)?;
                self.kept.insert("it".into(), it);
                let at =
                    if index == 0 { scene.at.clone() } else { scene.every.as_ref().map(|span| format!("+{span}")) };
                self.play(&Scene { at, ..scene.clone() }).await?;
            }
        }
        Ok(())
    }

    async fn play(&mut self, scene: &Scene) -> Result<(), CannotTell> {
        let broken = |why: String| {
            let who = scene.who.as_ref().map_or("the server", |who| who.as_str());
            CannotTell::Story(format!("{who}: {}: {why}", scene.act))
        };
        let before = self.clock.day();
        self.clock.set(scene.at.as_deref().unwrap_or(BEAT)).map_err(broken)?;
        // A scene without a time belongs to the same day, even if the story ends just after midnight.
        if scene.at.is_some() && self.clock.day() != before && self.kept.contains_key("began") {
            self.night().await.map_err(broken)?;
        }
        let input = self.filled(&Value::Object(scene.with.clone())).map_err(broken)?;
        let answer = match scene.act.as_str() {
            "runs" => {
                runner::settle(&self.gate, Arc::clone(&self.models)).await.map(|_| Value::Null).map_err(broken)?
            }
            "commit" => self.commit(scene.who.as_ref(), &input).await?,
            _ => self.perform(scene, input).await.map_err(broken)?,
        };
        self.kept.insert("began".into(), true.into());
        if let Some(name) = &scene.keep {
            self.kept.insert(name.clone(), answer);
        }
        Ok(())
    }

    /// Does what happens between two days: runs continue, and the tick runs.
    async fn night(&self) -> Result<(), String> {
        runner::settle(&self.gate, Arc::clone(&self.models)).await?;
        let server = Acting { gate: &self.gate, who: None };
        server.change::<Tick>(&When { now: None }).await.map(drop).map_err(|stop| in_words(&stop))
    }

    async fn perform(&self, scene: &Scene, input: Value) -> Result<Value, String> {
        let under = match &scene.under {
            None => None,
            Some(name) => self.filled(&Value::from(name.as_str()))?.as_str().map(str::to_owned),
        };
        let answer = Acting { gate: &self.gate, who: scene.who.as_ref() }.named(&scene.act, input, under).await;
        match (answer, scene.expect) {
            (Ok(answer), Expected::Allowed) => Ok(answer),
            (Ok(_), expected) => Err(format!("was done; {expected:?} was expected")),
            (Err(Stop::Refused(refusal)), Expected::Waits) if refusal.code == Code::NeedsApproval => {
                Ok(json!({ "approval": refusal.approval.map(String::from) }))
            }
            (Err(Stop::Refused(refusal)), Expected::Refused) if refusal.code == Code::Denied => Ok(Value::Null),
            (Err(stop), _) => Err(in_words(&stop)),
        }
    }

    /// Commits policies with the collections in force to the repository, and returns them for keeping:
    /// `{name, layers, by, says, branch}`.
    async fn commit(&mut self, who: Option<&ActorId>, what: &Value) -> Result<Value, CannotTell> {
        let text = |field: &str| what[field].as_str().unwrap_or_default().to_owned();
        let layers: Vec<String> =
            what["layers"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let mut bundle = bundle(&layers);
        let exported = Acting { gate: &self.gate, who }.query::<Export>(&Nothing {}).await;
        let exported = exported.map_err(|stop| CannotTell::Story(format!("policy.export: {}", in_words(&stop))))?;
        bundle.files.extend(exported.files.into_iter().filter(|(path, _)| is_collection(path)));
        let commit = Commit { by: &text("by"), says: &text("says"), at: self.clock.now() };
        let id = self.repository.commit(&bundle, what["branch"].as_str(), &commit)?;
        Ok(json!({ "files": bundle.files, "commit": id }))
    }

    /// Resolves the references in an input; fields that resolve to null are left out.
    fn filled(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(path) => self.found(path)?,
                None => value.clone(),
            },
            Value::Array(items) => Value::Array(items.iter().map(|item| self.filled(item)).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let mut filled = Map::new();
                for (name, value) in fields {
                    match self.filled(value)? {
                        Value::Null => {}
                        value => drop(filled.insert(name.clone(), value)),
                    }
                }
                Value::Object(filled)
            }
            other => other.clone(),
        })
    }

    /// Resolves `name.field.field`. The name must have been kept; fields may be missing.
    fn found(&self, path: &str) -> Result<Value, String> {
        let (name, fields) = path.split_once('.').unwrap_or((path, ""));
        let kept = self.kept.get(name).ok_or_else(|| format!("nothing is kept as `{name}`"))?;
        let fields = fields.split('.').filter(|field| !field.is_empty());
        Ok(fields.fold(kept, field_of).clone())
    }
}

/// Returns a field of an object, or an item of a list by index.
fn field_of<'a>(value: &'a Value, field: &str) -> &'a Value {
    match (value, field.parse::<usize>()) {
        (Value::Array(items), Ok(index)) => items.get(index).unwrap_or(&Value::Null),
        _ => &value[field],
    }
}
