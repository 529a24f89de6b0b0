//! Hands on or disables the webhooks of somebody who leaves.

use super::disabled;
use gate::Draft;
use store::webhooks::events::WebhookHandedOn;
use types::id::{ActorId, Id};
use types::refusal::Stop;
use types::webhook::WebhookStatus;

/// The outcome of offboarding for webhooks.
#[derive(Default)]
pub struct Handed {
    /// Ids of those handed on to the successor.
    pub on: Vec<String>,
    /// Ids of those disabled.
    pub disabled: Vec<String>,
}

/// Hands on the webhooks that somebody owns, or disables them: they would be left without an owner.
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
