//! Lists and shows webhooks, never their secrets.

use super::WEBHOOK;
use super::shown::{ShownWebhook, whole};
use super::{OneWebhook, find, target};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::webhooks::{self, Webhook};
use types::page::{ListQuery, Listed};
use types::refusal::Stop;
use types::scope::Reach;

/// List webhooks.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "webhook.list",
        doc: "List the webhook subscriptions that the caller may see, newest first.",
        scope: Reach::Full,
        route: get("/v1/webhooks").from_root().listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = ListQuery;
    type Output = Listed<ShownWebhook>;

    fn target(_: &ListQuery, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: ListQuery, read: &Reader<'_>) -> Result<Listed<ShownWebhook>, Stop> {
        let seen = |row: &Webhook| read.may("webhook.read", &read.webhook_target(row, None));
        let page: Listed<Webhook> = read.list(&webhooks::LIST, &input.page()?, "webhook.list".into(), seen)?.into();
        let data = page.data.into_iter().map(|row| whole(row, read)).collect::<Result<_, _>>()?;
        Ok(Listed { data, has_more: page.has_more, next_cursor: page.next_cursor })
    }

    fn next(output: &Listed<ShownWebhook>) -> Option<String> {
        output.next_cursor.clone()
    }
}

/// Show one webhook.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "webhook.read",
        doc: "Show one webhook subscription, with the outcome of its last delivery.",
        scope: Reach::Full,
        route: get("/v1/webhooks/{id}").from_root().by_server(),
        about: &[&WEBHOOK],
        events: &[],
    };
    type Input = OneWebhook;
    type Output = ShownWebhook;

    fn target(input: &OneWebhook, read: &Reader<'_>) -> Result<Target, Stop> {
        target(&input.id, read)
    }

    fn run(_: Permit<Self>, input: OneWebhook, read: &Reader<'_>) -> Result<ShownWebhook, Stop> {
        whole(find(&input.id, read)?, read)
    }
}
