//! Issues the tokens that `ok demo serve` prints: one per person of the demo, valid for a week. Those of an earlier start are
//! revoked; tokens issued otherwise are left alone.

use std::sync::Arc;

use serde::Serialize;

use super::acting::Acting;
use super::in_words;
use super::script::cast;
use crate::gate::Gate;
use crate::nouns::Nothing;
use crate::nouns::actor::Me;
use crate::nouns::token::{Issue, List, NewToken, Revoke, TokenStatus, TokenToRevoke, Which};
use crate::types::id::ActorId;
use crate::types::page::{MAX_LIMIT, PageQuery};

/// The label of these tokens.
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

/// Issues a token for each person of the demo who is still there; for nobody if the company is not the demo's.
pub async fn sign_in(gate: &Arc<Gate>) -> Result<Vec<SignIn>, String> {
    let mut issued = Vec::new();
    for person in cast()? {
        let who = Acting { gate, who: Some(&person.id) };
        // Whoever has left or is stopped by a kill switch gets no token.
        if who.query::<Me>(&Nothing {}).await.is_ok()
            && let Some(token) = renew(who).await?
        {
            issued.push(SignIn { id: person.id, name: person.name, good_for: person.good_for, token });
        }
    }
    Ok(issued)
}

async fn renew(who: Acting<'_>) -> Result<Option<String>, String> {
    let page = PageQuery { limit: Some(MAX_LIMIT), cursor: None };
    let tokens = who
        .rows::<List, _>(&Which { actor: who.who.cloned(), page, ..Which::default() })
        .await
        .map_err(|stop| in_words(&stop))?;
    let old = tokens.into_iter().filter(|token| token.label == LABEL && token.status == TokenStatus::Active);
    for token in old {
        who.change::<Revoke>(&TokenToRevoke { id: token.id, requests: false }).await.map_err(|stop| in_words(&stop))?;
    }
    let new = NewToken { label: LABEL.to_owned(), days: Some(DAYS), ttl: None, scopes: None, r#for: None };
    match who.change::<Issue>(&new).await {
        Ok(issued) => Ok(Some(issued.token)),
        Err(stop) => {
            tracing::warn!(
                why = in_words(&stop),
                who = who.who.map(ActorId::as_str),
                "no sign-in token could be issued"
            );
            Ok(None)
        }
    }
}
