//! Blueprint definitions: teams, settings, agents and the people that they need; policies, approvals and tests lie beside a
//! definition as files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::actor::Role;
use super::definition::{AgentDefinition, ApiVersion, Metadata};
use super::id::ActorId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BlueprintKind {
    Blueprint,
}

/// A starting company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    #[serde(rename = "apiVersion")]
    pub api_version: ApiVersion,
    pub kind: BlueprintKind,
    pub metadata: Metadata,
    pub spec: BlueprintSpec,
}

/// What the company begins with. A text may hold `{{admin}}`, who installs it, and `{{name}}` of what is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlueprintSpec {
    /// What it is for, in a sentence.
    pub description: String,
    /// The questions to answer when installing it.
    #[serde(default)]
    pub ask: Vec<Question>,
    /// Settings of the company, by the names that `PUT /company` has; only those that still have their default are set.
    #[serde(default)]
    pub settings: Map<String, Value>,
    #[serde(default)]
    pub teams: Vec<NewTeam>,
    /// The people that it takes.
    #[serde(default)]
    pub roles: Vec<NeededRole>,
    #[serde(default)]
    pub agents: Vec<AgentDefinition>,
}

/// Something to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Lower-case letters and `_`.
    pub name: String,
    pub r#type: AnswerType,
    /// What is asked, in words.
    pub title: String,
    /// The default answer; without a default, an answer is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// Up to 200 characters.
    Text,
    /// The id of a person of the company.
    Person,
}

/// A team of the starting company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTeam {
    pub id: ActorId,
    /// A name for people to read; the id unless given.
    #[serde(default)]
    pub name: Option<String>,
    /// The person who leads it.
    #[serde(default)]
    pub lead: Option<ActorId>,
    /// The team above it.
    #[serde(default)]
    pub team: Option<ActorId>,
}

/// People of a role that the policies count on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeededRole {
    /// People who have it; any role unless given.
    #[serde(default)]
    pub role: Option<Role>,
    /// In this team or one below it, or leading it.
    #[serde(default)]
    pub team: Option<ActorId>,
    /// How many: 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub people: u32,
    /// What for.
    pub why: String,
}

/// Replaces each `{{name}}` in a text by the result of `with`.
pub fn filled(text: &str, with: &mut dyn FnMut(&str) -> String) -> String {
    let (mut output, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        output.push_str(before);
        match after.split_once("}}") {
            Some((name, after)) if is_name(name.trim()) => {
                output.push_str(&with(name.trim()));
                rest = after;
            }
            _ => {
                output.push_str("{{");
                rest = after;
            }
        }
    }
    output + rest
}

/// Checks whether a question may have this name.
pub fn is_name(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
}
