//! The filters of the log, for lists and streams alike.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::SeenTokens;
use gate::{Reader, Target};
use types::id::Kind;
use types::refusal::{Refusal, Stop};

/// Which events, wherever they stand in the log.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Only {
    /// Only these types, separated by commas.
    #[serde(default)]
    pub r#type: Vec<String>,
    /// Only events of this run.
    #[schemars(extend("x-id" = true))]
    pub run: Option<String>,
    /// Only events of this thread.
    #[schemars(extend("x-id" = true))]
    pub thread: Option<String>,
    /// Only events of this task.
    #[schemars(extend("x-id" = true))]
    pub task: Option<String>,
    /// Only what this actor did.
    pub actor: Option<String>,
    /// Only what was done with this token, or to it.
    #[schemars(extend("x-id" = true))]
    pub token_id: Option<String>,
}

/// Returns the log as target, after checking that each token asked for exists: whoever looks for a stolen token and mistypes
/// its id must not conclude that it was never used. (Every id that an event names is found by any of these.)
pub(super) fn log_of(only: &Only, read: &Reader<'_>) -> Result<Target, Stop> {
    let Only { token_id, run, thread, task, actor, r#type: _ } = only;
    let given = [("token_id", token_id), ("run", run), ("thread", thread), ("task", task), ("actor", actor)];
    if let Some((field, _)) = given.into_iter().find(|(_, id)| id.as_deref() == Some("")) {
        return Err(Refusal::bad_request(format!("{field}: must not be empty")).into());
    }
    let others = [run, thread, task].into_iter().flatten().filter(|id| id.starts_with(Kind::Token.prefix()));
    for id in token_id.iter().chain(others) {
        if !SeenTokens::of(read).sees(id)? {
            return Err(Refusal::not_found().into());
        }
    }
    Ok(Target::Company)
}
