//! The tokens that `ok demo serve` prints: one for each person of the demo, for a week. Those of an earlier start are
//! revoked; tokens issued otherwise are left alone.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::script::cast;
use super::{in_words, perform};
use crate::gate::Gate;
use crate::types::id::ActorId;

/// What the tokens are known by.
const LABEL: &str = "demo sign-in, printed at start";
const DAYS: u32 = 7;

/// A person to sign in as.
#[derive(Serialize)]
pub struct SignIn {
    pub id: ActorId,
    pub name: String,
    pub good_for: String,
    pub token: String,
}

/// Issues a token for everybody of the demo who is still there. Nobody is where the company is not the demo's.
pub async fn sign_in(gate: &Arc<Gate>) -> Result<Vec<SignIn>, String> {
    let mut issued = Vec::new();
    for person in cast()? {
        let me = perform(gate, Some(&person.id), "me.read", json!({}), None).await;
        // Whoever has left since, or whom a kill switch stops, gets none.
        if me.is_ok()
            && let Some(token) = renew(gate, &person.id).await?
        {
            issued.push(SignIn { id: person.id, name: person.name, good_for: person.good_for, token });
        }
    }
    Ok(issued)
}

async fn renew(gate: &Arc<Gate>, who: &ActorId) -> Result<Option<String>, String> {
    let ask = async |operation: &str, input: Value| perform(gate, Some(who), operation, input, None).await;
    let tokens = ask("token.list", json!({ "actor": who, "limit": 1000 })).await.map_err(|stop| in_words(&stop))?;
    let old = |token: &&Value| token["label"] == LABEL && token["status"] == "active";
    for token in tokens.as_array().into_iter().flatten().filter(old) {
        ask("token.revoke", json!({ "id": token["id"] })).await.map_err(|stop| in_words(&stop))?;
    }
    let issued = ask("token.issue", json!({ "label": LABEL, "days": DAYS })).await;
    let issued = match issued {
        Ok(issued) => issued,
        Err(stop) => {
            tracing::warn!(why = in_words(&stop), %who, "no sign-in token could be issued");
            return Ok(None);
        }
    };
    Ok(issued.get("token").and_then(Value::as_str).map(str::to_owned))
}
