//! Reads webhooks and their deliveries for operations.

use super::Reader;
use crate::declare::noun::Directory as _;
use crate::declare::target::{Target, Thing};
use crate::state::vault::Signed;
use store::Position;
use store::outbox::{self, Intent};
use store::webhooks::{self, Webhook};
use types::egress::Egress;
use types::id::ActorId;
use types::refusal::Fault;

impl Reader<'_> {
    /// Returns a webhook, even a deleted one.
    pub fn any_webhook(&self, id: &str) -> Result<Option<Webhook>, Fault> {
        Ok(webhooks::get(self.conn()?, id)?)
    }

    pub fn webhook(&self, id: &str) -> Result<Option<Webhook>, Fault> {
        Ok(self.any_webhook(id)?.filter(|webhook| !webhook.deleted))
    }

    pub fn webhooks_of(&self, owner: &ActorId) -> Result<Vec<Webhook>, Fault> {
        Ok(webhooks::of(self.conn()?, owner)?)
    }

    pub fn count_webhooks(&self) -> Result<i64, Fault> {
        Ok(webhooks::count(self.conn()?)?)
    }

    /// Returns the enabled webhooks.
    pub fn enabled_webhooks(&self) -> &[Webhook] {
        &self.world.webhooks
    }

    /// Returns a webhook as a target of the gate; `host` is its new host, if any.
    pub fn webhook_target(&self, webhook: &Webhook, host: Option<&str>) -> Target {
        self.webhook_at(&webhook.id, &webhook.owner, host.unwrap_or(&webhook.host))
    }

    /// Returns a webhook to be created as a target of the gate.
    pub fn new_webhook_target(&self, owner: &ActorId, host: &str) -> Target {
        self.webhook_at("new", owner, host)
    }

    fn webhook_at(&self, id: &str, owner: &ActorId, host: &str) -> Target {
        let held = self.is_stopped(owner);
        Thing::new("Webhook", id).actor("owner", owner).text("host", host).flag("held", held).into()
    }

    /// Returns the secret that a receiver verifies with. To be shown once.
    pub fn webhook_secret(&self, webhook: &Webhook) -> Result<String, Fault> {
        self.world.vault.shown(&self.world.instance.ulid, webhook)
    }

    /// Returns the fingerprint of the key from which secrets are derived.
    pub fn webhook_key(&self) -> Result<String, Fault> {
        self.world.vault.fingerprint()
    }

    /// Returns the signatures of a message.
    pub fn webhook_signatures(&self, webhook: &Webhook, message: &Signed<'_>) -> Result<String, Fault> {
        self.world.vault.sign(&self.world.instance.ulid, webhook, message, self.now)
    }

    /// Returns the rules for addresses of webhooks.
    pub fn egress(&self) -> &Egress {
        &self.world.outside.egress
    }

    pub fn delivery(&self, id: &str) -> Result<Option<Intent>, Fault> {
        Ok(outbox::get(self.conn()?, id)?)
    }

    /// Returns the first pending message of a webhook.
    pub fn first_delivery(&self, webhook: &str) -> Result<Option<Intent>, Fault> {
        Ok(outbox::first(self.conn()?, webhook)?)
    }

    pub fn last_delivery(&self, webhook: &str) -> Result<Option<Intent>, Fault> {
        Ok(outbox::last_tried(self.conn()?, webhook)?)
    }

    pub fn deliveries_after(&self, webhook: &str, from: &Position, limit: usize) -> Result<Vec<Intent>, Fault> {
        Ok(outbox::after(self.conn()?, webhook, from, limit)?)
    }
}
