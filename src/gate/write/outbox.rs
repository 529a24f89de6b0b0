//! Effects outside the company. What will be sent is recorded in the same transaction as the event that causes it, here
//! and nowhere else, whatever the operation. It is carried out later, from that record, and the outcome is recorded
//! too.
//!
//! Always true: without subscribers this costs one look at an empty list; what a transaction rolls back was never
//! intended; a subscription receives only what its owner may see.

use std::sync::Arc;

use serde_json::json;

use crate::decide::question;
use crate::decide::world::World;
use crate::declare::target::Target;
use crate::write::record::Entry;
use log::record::Decision;
use store::event::Author;
use store::outbox::News;
use store::outbox::events::DeliveryIntended;
use store::webhooks::Webhook;
use types::actor::ActorKind;
use types::caller::{Caller, Channel, Who};
use types::canonical;
use types::entropy::Entropy;
use types::id::{ActorId, Id, Kind};
use types::refusal::Fault;
use types::time::Time;

fn holder(actor: &ActorId) -> Caller {
    Caller::new(Who::Holder(actor.clone()), Channel::Tick)
}

/// What is to be sent because of these entries.
pub(crate) fn intents(world: &World, entries: &[Entry], entropy: &dyn Entropy, now: Time) -> Result<Vec<Entry>, Fault> {
    let mut intents = Vec::new();
    if world.webhooks.is_empty() {
        return Ok(intents);
    }
    // A kill switch holds what is to be sent; it does not make it unsaid.
    let calm = World { kills: Arc::default(), ..world.clone() };
    for entry in entries {
        let Some(news) = news(world, entry) else { continue };
        for webhook in world.webhooks.iter().filter(|webhook| wants(&calm, webhook, (&news, &entry.actor), now)) {
            let id = Id::new(Kind::Message, now.0, entropy.bits128());
            let body = json!({ "type": news.topic, "timestamp": now, "data": news.data });
            let body = String::from_utf8_lossy(&canonical::to_vec(&body)?).into_owned();
            let (owner, topic) = (webhook.owner.clone(), news.topic.to_owned());
            let event = DeliveryIntended { id, webhook: Id::stored(&webhook.id), owner, topic, body };
            let actor = ActorId::system();
            intents.push(Entry { actor, event: event.into(), decision: Decision::System, ..entry.clone() });
        }
    }
    Ok(intents)
}

fn wants(world: &World, webhook: &Webhook, (news, by): (&News, &ActorId), now: Time) -> bool {
    match &news.only {
        Some(only) => return webhook.id == *only,
        None if !webhook.topics.iter().any(|topic| topic.name() == news.topic) => return false,
        None => {}
    }
    let owner = holder(&webhook.owner);
    let sees = |(sight, target): &(&str, Target)| {
        let whole = match target {
            Target::Thing(thing) => world.nouns.complete(thing.clone(), world).into(),
            Target::Company | Target::Actor(_) => target.clone(),
        };
        question::Asker::new(world, &owner, &whole, now).sees(sight)
    };
    let by = news.of.as_ref().unwrap_or(by);
    (webhook.agents.is_empty() || webhook.agents.contains(by)) && news.about.as_ref().is_none_or(sees)
}

/// What an entry is as news, if it is any.
fn news(world: &World, entry: &Entry) -> Option<News> {
    let by = &entry.actor;
    let is_person = world.card(by).is_none_or(|card| card.actor.kind == ActorKind::Person);
    entry.event.news(&Author { by, is_person })
}
