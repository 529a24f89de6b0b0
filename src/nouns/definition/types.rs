//! Definitions: files in which people declare what the company consists of. All kinds share one envelope, and an unknown key is
//! an error: a misspelt limit must not be no limit.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::Trust;
use super::id::ActorId;
use super::problems::Problems;
use super::run::MOST_STEPS;
use super::time::SECOND;
use super::visible::{NO_NAME, is_blank, is_name};

/// The maximum bytes of a definition.
pub const MAX_BYTES: usize = 64 * 1024;

/// The version of the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    #[serde(rename = "ok/v1")]
    V1,
}

/// What every definition says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The id of what is defined, for good.
    pub name: String,
    /// A name for people to read; 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Words by key; at most 50. An agent joins the team that `team` names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AgentKind {
    Agent,
}

/// An agent that can be hired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    #[serde(rename = "apiVersion")]
    pub api_version: ApiVersion,
    pub kind: AgentKind,
    pub metadata: Metadata,
    #[serde(default)]
    pub spec: AgentSpec,
}

/// What an agent is made of. What it asks for is granted by policies alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The person responsible for it; whoever hires it unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ActorId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// Its system prompt: its purpose and how it works; 1 to 32768 bytes.
    #[schemars(length(min = 1, max = 32768))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The path of its playbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playbook: Option<String>,
    /// Its skills, one word each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The tools that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
    /// The trust tier that it asks for; `observe` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RunLimits>,
}

/// Which models it works with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Models or model classes, most preferred first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<String>,
    /// 0 to 2.
    #[schemars(range(min = 0, max = 2))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

/// What it reads of what the company knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
}

/// What it may use up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// Cents in one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_cents: Option<u64>,
    /// Cents in one day, in UTC, for all its runs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day_cents: Option<u64>,
    /// Steps in one run: 1 to 1,000, which is the default.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// The time that one run may take, not counting waits; 30m by default. A number and `s`, `m` or `h`, such as `20m`;
    /// at most `24h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<String>,
}

impl Metadata {
    pub fn problems(&self, problems: &mut Problems) {
        let short = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
        problems.check(
            self.title.as_ref().is_none_or(|title| is_name(title)),
            NO_NAME.replacen("name", "metadata.title", 1),
        );
        let label = |(key, value): (&String, &String)| short(key, 63) && value.chars().count() <= 256;
        problems.check(
            self.labels.len() <= 50 && self.labels.iter().all(label),
            "metadata.labels: at most 50, with keys of 1 to 63 and values of at most 256 characters",
        );
    }
}

impl AgentDefinition {
    /// Checks what is invalid in any company.
    pub fn problems(&self, problems: &mut Problems) {
        self.metadata.problems(problems);
        let spec = &self.spec;
        problems.words("spec.tools", &spec.tools);
        if let Some(model) = &spec.model {
            problems.words("spec.model.prefer", &model.prefer);
            problems.check(
                model.temperature.is_none_or(|degree| (0.0..=2.0).contains(&degree)),
                "spec.model.temperature: must be 0 to 2",
            );
        }
        let fits = |text: &String| !is_blank(text) && text.len() <= 32 << 10;
        problems.check(spec.instructions.as_ref().is_none_or(fits), "spec.instructions: must have 1 to 32768 bytes");
        let path = |path: &String| (1..=512).contains(&path.len()) && !path.contains(char::is_control);
        problems.check(spec.playbook.as_ref().is_none_or(path), "spec.playbook: must have 1 to 512 characters");
        if let Some(knowledge) = &spec.knowledge {
            problems.words("spec.knowledge.topics", &knowledge.topics);
            problems.words("spec.knowledge.collections", &knowledge.collections);
        }
        if let Some(limits) = &spec.limits {
            limits.problems(problems);
        }
    }

    /// Returns the team from its label.
    pub fn team(&self) -> Option<String> {
        let named = self.metadata.labels.get("team")?;
        Some(if named.starts_with("team:") { named.clone() } else { format!("team:{named}") })
    }
}

impl RunLimits {
    /// Returns the maximum duration of a run, in milliseconds.
    pub fn wall_ms(&self) -> Option<i64> {
        Some(i64::from(seconds(self.wall.as_deref()?)?) * SECOND)
    }

    fn problems(&self, problems: &mut Problems) {
        // The largest integer that is exact in the log's canonical JSON.
        let exact = |cents: Option<u64>| cents.is_none_or(|cents| cents < (1 << 53));
        problems.check(exact(self.run_cents), "spec.limits.run_cents: must be at most 9007199254740991");
        problems.check(exact(self.day_cents), "spec.limits.day_cents: must be at most 9007199254740991");
        let steps = self.steps.is_none_or(|steps| (1..=MOST_STEPS).contains(&steps));
        problems.check(steps, format!("spec.limits.steps: must be 1 to {MOST_STEPS}"));
        let wall = self.wall.as_deref().is_none_or(|wall| seconds(wall).is_some());
        problems.check(wall, "spec.limits.wall: must be a number and s, m or h, such as 20m; at most 24h");
    }
}

/// Parses a duration such as `20m` into seconds.
fn seconds(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let seconds = number.parse::<u32>().ok()?.checked_mul(unit)?;
    (1..=86_400).contains(&seconds).then_some(seconds)
}
