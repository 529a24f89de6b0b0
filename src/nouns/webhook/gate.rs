//! Webhooks and what is sent to them, as an operation may read them.

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
    /// A webhook, also a deleted one.
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

    /// Those that something is sent to.
    pub fn enabled_webhooks(&self) -> &[Webhook] {
        &self.world.webhooks
    }

    /// A webhook as the gate sees it; `host` is where it would be.
    pub fn webhook_target(&self, webhook: &Webhook, host: Option<&str>) -> Target {
        self.webhook_at(&webhook.id, &webhook.owner, host.unwrap_or(&webhook.host))
    }

    /// One that there is not yet.
    pub fn new_webhook_target(&self, owner: &ActorId, host: &str) -> Target {
        self.webhook_at("new", owner, host)
    }

    fn webhook_at(&self, id: &str, owner: &ActorId, host: &str) -> Target {
        let held = self.is_stopped(owner);
        Thing::new("Webhook", id).actor("owner", owner).text("host", host).flag("held", held).into()
    }

    /// What a receiver verifies with. To be shown once.
    pub fn webhook_secret(&self, webhook: &Webhook) -> Result<String, Fault> {
        self.world.vault.shown(&self.world.instance.ulid, webhook)
    }

    /// What the key of the secrets is known by.
    pub fn webhook_key(&self) -> Result<String, Fault> {
        self.world.vault.fingerprint()
    }

    /// The signatures of a message.
    pub fn webhook_signatures(&self, webhook: &Webhook, message: &Signed<'_>) -> Result<String, Fault> {
        self.world.vault.sign(&self.world.instance.ulid, webhook, message, self.now)
    }

    /// Where webhooks may be.
    pub fn egress(&self) -> &Egress {
        &self.world.outside.egress
    }

    pub fn delivery(&self, id: &str) -> Result<Option<Intent>, Fault> {
        Ok(outbox::get(self.conn()?, id)?)
    }

    /// The first thing that is to be sent to a webhook.
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
