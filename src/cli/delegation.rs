//! `ok delegate` and `ok delegation`: letting others act on one's behalf.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::delegation::Authority;
use crate::types::id::ActorId;

/// Let somebody act on your behalf, as far as both of you may
///
/// They do so with `ok --delegation DELEGATION`. Given under a delegation, it is handed on.
///
/// Example: `ok delegate --to scout --scope query,policy.propose --authority propose --ttl 7d`
#[derive(clap::Args)]
pub struct Delegate {
    /// The person or agent who will act on your behalf
    #[arg(long, value_name = "ID")]
    to: ActorId,
    /// Operations or groups of them, separated by commas, such as actor.read,token.* [default: all that you act under, or *]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    scope: Option<Vec<String>>,
    /// How far: to read, to propose too, or to do everything in the scope
    #[arg(long, default_value = "inform", value_parser = authorities())]
    authority: String,
    /// What may be spent, in cents [default: no limit]
    #[arg(long, value_name = "CENTS")]
    budget_cents: Option<i64>,
    /// Tools, separated by commas [default: none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// How long it holds, such as 12h or 7d [default: 7d]
    #[arg(long, value_name = "SPAN")]
    ttl: Option<String>,
}

fn authorities() -> PossibleValuesParser {
    PossibleValuesParser::new(Authority::ALL.iter().map(|one| one.name()))
}

/// List, show and revoke delegations, and keep their budgets
#[derive(Subcommand)]
pub enum Delegation {
    /// List delegations, newest first
    List {
        /// Only those that the acting actor gave or got
        #[arg(long)]
        mine: bool,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Show one delegation
    Show {
        #[arg(value_name = "DELEGATION")]
        id: String,
    },
    /// Take a delegation back, or give it back; what was handed on ends with it
    Revoke {
        #[arg(value_name = "DELEGATION")]
        id: String,
    },
    /// Set a part of a budget aside, before it is spent
    Reserve {
        #[arg(value_name = "DELEGATION")]
        id: String,
        /// The most that it can come to
        #[arg(value_name = "CENTS")]
        cents: i64,
        /// What for
        #[arg(long, value_name = "TEXT")]
        purpose: String,
    },
    /// Say what it came to
    Settle {
        #[arg(value_name = "DELEGATION")]
        id: String,
        #[arg(value_name = "RESERVATION")]
        reservation: String,
        #[arg(value_name = "CENTS")]
        cents: i64,
    },
}

const COLUMNS: [&str; 8] = ["id", "status", "from", "to", "authority", "scope", "left_cents", "expires_at"];
const FIELDS: [&str; 12] = [
    "id",
    "status",
    "from",
    "to",
    "on_behalf_of",
    "authority",
    "scope",
    "tools",
    "budget_cents",
    "left_cents",
    "parent",
    "expires_at",
];

impl Delegate {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let input = json!({
            "to": self.to, "scope": self.scope, "authority": self.authority, "budget_cents": self.budget_cents,
            "tools": self.tools, "ttl": self.ttl,
        });
        let answer = client::call(context, "delegation.grant", input).await?;
        context.show(&answer, || show::fields(&FIELDS, &answer))
    }
}

impl Delegation {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Delegation::List { mine, limit } => {
                let rows = client::list(context, "delegation.list", json!({ "mine": mine }), limit).await?;
                context.show(&rows.clone().into(), || show::list("no delegations", &COLUMNS, &rows))
            }
            Delegation::Show { id } => told(context, "delegation.read", json!({ "id": id }), &FIELDS).await,
            Delegation::Revoke { id } => told(context, "delegation.revoke", json!({ "id": id }), &["revoked"]).await,
            Delegation::Reserve { id, cents, purpose } => {
                let input = json!({ "id": id, "cents": cents, "purpose": purpose });
                told(context, "delegation.reserve", input, &["id", "left_cents"]).await
            }
            Delegation::Settle { id, reservation, cents } => {
                let input = json!({ "id": id, "reservation": reservation, "cents": cents });
                let fields = ["id", "status", "reserved_cents", "cents", "over_cents", "left_cents"];
                told(context, "delegation.settle", input, &fields).await
            }
        }
    }
}

async fn told(context: &Context, op: &str, input: Value, fields: &[&str]) -> Result<Exit, Failure> {
    let answer = client::call(context, op, input).await?;
    context.show(&answer, || show::fields(fields, &answer))
}
