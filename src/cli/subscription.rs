//! `ok subscription`: webhook subscriptions. A signing secret is printed once, alone on stdout.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::client::set;
use super::command::{Commands, Run, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::id::ActorId;
use crate::types::webhook::{SignatureFormat, Topic};

pub const COMMANDS: Commands = &[&owns::<Subscription>("subscription")];

/// Manage webhook subscriptions and inspect their deliveries
///
/// A running server sends; without one, messages wait.
#[derive(Subcommand)]
pub enum Subscription {
    /// Create a subscription; its signing secret is printed this once
    ///
    /// Example: `ok subscription add https://hooks.example.com/ok --event agent.gate.pending`
    Add(New),
    /// List subscriptions, newest first
    List {
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Show one subscription
    Show {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
    },
    /// Update a subscription: its URL, its event types, or whether it is enabled
    Update(Changes),
    /// Delete a subscription; pending deliveries are dropped
    Remove {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
    },
    /// Rotate the signing secret, printed this once; the previous one stays valid for a day
    Rotate {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
    },
    /// Send a test message
    Test {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
    },
    /// List deliveries, newest first
    Deliveries {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Redeliver a message at once, under the same id
    Redeliver {
        #[arg(value_name = "SUBSCRIPTION")]
        id: String,
        #[arg(value_name = "MESSAGE")]
        message: String,
    },
}

#[derive(clap::Args)]
pub struct New {
    /// A public https address
    url: String,
    /// What it is told of; may be given several times
    #[arg(long = "event", required = true, value_parser = topics())]
    events: Vec<String>,
    /// Only of what this agent does; may be given several times
    #[arg(long = "agent", value_name = "ID")]
    agents: Vec<ActorId>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// How messages are signed: with a shared secret, or with a key of which it gets the public half
    #[arg(long, default_value = "v1", value_parser = PossibleValuesParser::new(SignatureFormat::ALL.iter().map(|one| one.name())))]
    signature: String,
}

#[derive(clap::Args)]
pub struct Changes {
    #[arg(value_name = "SUBSCRIPTION")]
    id: String,
    /// A public https address
    #[arg(long)]
    url: Option<String>,
    /// What it is told of; may be given several times
    #[arg(long = "event", value_parser = topics())]
    events: Vec<String>,
    /// Only of what this agent does; may be given several times
    #[arg(long = "agent", value_name = "ID", conflicts_with = "everybody")]
    agents: Vec<ActorId>,
    /// Of what everybody does
    #[arg(long)]
    everybody: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Send again, from now on
    #[arg(long)]
    enable: bool,
    /// Send nothing
    #[arg(long, conflicts_with = "enable")]
    disable: bool,
}

fn topics() -> PossibleValuesParser {
    PossibleValuesParser::new(Topic::ALL.iter().map(|one| one.name()))
}

const COLUMNS: [&str; 6] = ["id", "status", "owner", "url", "events", "description"];
const FIELDS: [&str; 10] =
    ["id", "status", "owner", "url", "events", "agents", "description", "format", "both_until", "last_delivery"];
const SENT: [&str; 7] = ["id", "type", "state", "attempts", "http_status", "error", "next_at"];

impl Run for Subscription {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Subscription::Add(new) => {
                let input = json!({
                    "url": new.url, "events": new.events, "agents": new.agents, "description": new.description,
                    "format": new.signature,
                });
                secret(context, "webhook.create", input, "its messages are signed with this").await
            }
            Subscription::List { limit } => {
                let rows = client::list(context, "webhook.list", json!({}), limit).await?;
                context.show(&rows.clone().into(), || show::list("no subscriptions", &COLUMNS, &rows))
            }
            Subscription::Show { id } => told(context, "webhook.read", json!({ "id": id }), &FIELDS).await,
            Subscription::Update(changes) => told(context, "webhook.update", changes.input(), &FIELDS).await,
            Subscription::Remove { id } => {
                told(context, "webhook.delete", json!({ "id": id }), &["id", "deleted"]).await
            }
            Subscription::Rotate { id } => {
                let input = json!({ "id": id });
                secret(context, "webhook.rotate", input, "for a day, the secret before it signs too").await
            }
            Subscription::Test { id } => told(context, "webhook.test", json!({ "id": id }), &["id", "type"]).await,
            Subscription::Deliveries { id, limit } => {
                let rows = client::list(context, "webhook.deliveries", json!({ "id": id }), limit).await?;
                context.show(&rows.clone().into(), || show::list("no deliveries", &SENT, &rows))
            }
            Subscription::Redeliver { id, message } => {
                told(context, "webhook.redeliver", json!({ "id": id, "message": message }), &SENT).await
            }
        }
    }
}

impl Changes {
    /// What was given, and nothing else.
    fn input(self) -> Value {
        let mut input = json!({ "id": self.id, "url": self.url, "description": self.description });
        if !self.events.is_empty() {
            set(&mut input, "events", self.events);
        }
        if !self.agents.is_empty() || self.everybody {
            set(&mut input, "agents", json!(self.agents));
        }
        if self.enable || self.disable {
            set(&mut input, "status", if self.enable { "active" } else { "disabled" });
        }
        input
    }
}

async fn told(context: &Context, op: &str, input: Value, fields: &[&str]) -> Result<Exit, Failure> {
    let answer = client::call(context, op, input).await?;
    context.show(&answer, || show::fields(fields, &answer))
}

/// An answer with a secret: that alone on stdout.
async fn secret(context: &Context, op: &str, input: Value, what: &str) -> Result<Exit, Failure> {
    let answer = client::call(context, op, input).await?;
    context.show(&answer, || {
        show::text(&show::cell(answer.get("secret")))?;
        show::note(&format!("{}: {what}; it is shown this once", show::cell(answer.get("id"))));
        Ok(())
    })
}
