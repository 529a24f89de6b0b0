//! `ok policy break-glass` and `ok break-glass`: going on without approval, and saying afterwards whether it had to be.

use clap::Subcommand;
use serde_json::json;

use super::super::exit::{Exit, Failure};
use super::super::{Context, client, show};

/// Go on without approval for a short time
///
/// Whoever is skipped is told, every use is recorded, and somebody else has to review it before you get another.
///
/// Example: `ok policy break-glass actor.offboard --reason "key stolen" --minutes 10`
#[derive(clap::Args)]
pub struct BreakGlass {
    /// Operations, such as actor.offboard, actor.* or change; several with commas
    #[arg(value_name = "SCOPE", value_delimiter = ',', required = true)]
    scope: Vec<String>,
    /// Why it cannot wait
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// How long, 1 to 240 [default: 30]
    #[arg(long, value_name = "MINUTES")]
    minutes: Option<u32>,
}

impl BreakGlass {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let input = json!({ "scope": self.scope, "reason": self.reason, "minutes": self.minutes });
        let answer = client::call(context, "break_glass.open", input).await?;
        context.show(&answer, || show::fields(&["id", "holder", "scope", "reason", "expires_at"], &answer))
    }
}

/// Grants that let somebody go on without approval
#[derive(Subcommand)]
pub enum Grants {
    /// List grants, newest first
    List {
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// End a grant at once
    End {
        #[arg(value_name = "GRANT")]
        id: String,
    },
    /// Say whether a grant was justified
    Review {
        #[arg(value_name = "GRANT")]
        id: String,
        /// It could have waited for approval
        #[arg(long)]
        unjustified: bool,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        note: String,
    },
}

impl Grants {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let fields = ["id", "holder", "scope", "reason", "expires_at", "active", "uses", "review"];
        let answer = match self {
            Grants::List { limit } => {
                let rows = client::list(context, "break_glass.list", json!({}), limit).await?;
                let columns = ["id", "holder", "scope", "active", "uses", "expires_at", "reason"];
                return context.show(&rows.clone().into(), || show::list("no grants", &columns, &rows));
            }
            Grants::End { id } => client::call(context, "break_glass.end", json!({ "id": id })).await?,
            Grants::Review { id, unjustified, note } => {
                let verdict = if unjustified { "unjustified" } else { "justified" };
                let input = json!({ "id": id, "verdict": verdict, "note": note });
                client::call(context, "break_glass.review", input).await?
            }
        };
        context.show(&answer, || show::fields(&fields, &answer))
    }
}
