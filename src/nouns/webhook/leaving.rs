//! Webhooks of somebody who leaves.

use super::disabled;
use gate::Draft;
use store::webhooks::events::WebhookHandedOn;
use types::id::{ActorId, Id};
use types::refusal::Stop;
use types::webhook::WebhookStatus;

/// What became of them.
#[derive(Default)]
pub struct Handed {
    /// Ids of those that the successor has now.
    pub on: Vec<String>,
    /// Ids of those that nothing is sent to any more.
    pub disabled: Vec<String>,
}

/// Hands on what somebody owns, or switches it off: nobody would answer for it.
pub fn hand_on(leaving: &ActorId, successor: Option<&ActorId>, draft: &mut Draft<'_>) -> Result<Handed, Stop> {
    let mut handed = Handed::default();
    for webhook in draft.read().webhooks_of(leaving)? {
        if let Some(owner) = successor.cloned() {
            draft.record(WebhookHandedOn { id: Id::stored(&webhook.id), from: webhook.owner, owner })?;
            handed.on.push(webhook.id);
        } else if webhook.status != WebhookStatus::Disabled {
            let reason = format!("{leaving} left, and nobody is responsible for it");
            draft.record(disabled(&webhook, &reason, draft.read()))?;
            handed.disabled.push(webhook.id);
        }
    }
    Ok(handed)
}
