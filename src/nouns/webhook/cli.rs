//! `ok subscription`: commands for webhook subscriptions. A signing secret is printed once, alone on stdout.

use super::column::{Columns, columns};
use super::command::{Commands, group};
use super::exit::Failure;
use super::operation::{change, query};
use super::show;
use crate::nouns::webhook::create::{Create, CreatedWebhook};
use crate::nouns::webhook::deliveries::{Deliveries, Redeliver, Test, TestedWebhook};
use crate::nouns::webhook::list::{List, Show};
use crate::nouns::webhook::shown::{ShownDelivery, ShownWebhook};
use crate::nouns::webhook::update::{self, Delete, DeletedWebhook, Rotate, RotatedWebhook, Switch, Update};
use crate::types::id::ActorId;
use crate::types::webhook::Topic;

pub const COMMANDS: Commands = &[&group(
    "subscription",
    "Manage webhook subscriptions and inspect their deliveries\n\n\
     A running server sends; without one, messages wait.",
    &[
        &change::<Create>()
            .command("add")
            .help("Create a subscription; its signing secret is printed only once")
            .example("ok subscription add https://hooks.example.com/ok --event agent.gate.pending")
            .print(created),
        &query::<List>()
            .command("list")
            .help("List subscriptions, newest first")
            .table("no subscriptions", columns!(ShownWebhook; id, status, owner, url, events, description)),
        &query::<Show>().command("show").help("Show one subscription").fields(FIELDS),
        &change::<Update>()
            .command("update")
            .help("Update a subscription: its URL, its event types, or whether it is enabled")
            .given::<Changes>()
            .fields(FIELDS),
        &change::<Delete>()
            .command("remove")
            .help("Delete a subscription; pending deliveries are dropped")
            .fields(columns!(DeletedWebhook; id, deleted)),
        &change::<Rotate>()
            .command("rotate")
            .help("Rotate the signing secret, printed only once; the previous one stays valid for a day")
            .print(rotated),
        &change::<Test>().command("test").help("Send a test message").fields(columns!(TestedWebhook; id, r#type)),
        &query::<Deliveries>().command("deliveries").help("List deliveries, newest first").table("no deliveries", SENT),
        &change::<Redeliver>().command("redeliver").help("Redeliver a message at once, under the same id").fields(SENT),
    ],
)];

const FIELDS: Columns<ShownWebhook> = columns!(
    ShownWebhook;
    id, status, owner, url, events, agents, include_output, description, format, both_until, last_delivery
);
const SENT: Columns<ShownDelivery> = columns!(ShownDelivery; id, r#type, state, attempts, http_status, error, next_at);

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["url", "events", "agents", "everybody", "description", "include_output", "enable", "disable"]))]
struct Changes {
    /// The subscription
    #[arg(value_name = "SUBSCRIPTION")]
    id: String,
    /// A public https address
    #[arg(long)]
    url: Option<String>,
    /// An event type to send; may be repeated
    #[arg(long = "event")]
    events: Option<Vec<Topic>>,
    /// Only events caused by this agent; may be repeated
    #[arg(long = "agent", value_name = "ID", conflicts_with = "everybody")]
    agents: Option<Vec<ActorId>>,
    /// Events caused by any agent
    #[arg(long)]
    everybody: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Whether messages about completed runs hold their output too
    #[arg(long, value_name = "BOOL")]
    include_output: Option<bool>,
    /// Send again, from now on
    #[arg(long)]
    enable: bool,
    /// Send nothing
    #[arg(long, conflicts_with = "enable")]
    disable: bool,
}

impl From<Changes> for update::Changes {
    /// Changes only what is given.
    fn from(new: Changes) -> update::Changes {
        let status = match (new.enable, new.disable) {
            (true, _) => Some(Switch::Active),
            (_, true) => Some(Switch::Disabled),
            _ => None,
        };
        update::Changes {
            id: new.id,
            url: new.url,
            events: new.events,
            description: new.description,
            agents: new.agents.or_else(|| new.everybody.then(Vec::new)),
            include_output: new.include_output,
            status,
        }
    }
}

fn created(answer: &CreatedWebhook) -> Result<(), Failure> {
    secret(&answer.webhook.id, &answer.secret, "verify its messages with this")
}

fn rotated(answer: &RotatedWebhook) -> Result<(), Failure> {
    secret(&answer.id, &answer.secret, "for a day, the secret before it signs too")
}

/// Prints a secret alone on stdout.
fn secret(id: &str, secret: &str, what: &str) -> Result<(), Failure> {
    show::text(secret)?;
    show::note(&format!("{id}: {what}; it is shown this once"));
    Ok(())
}
