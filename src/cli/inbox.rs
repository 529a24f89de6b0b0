//! `ok inbox`: what waits for the acting actor.

use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::refusal::Code;

/// Show what waits for you, newest first
#[derive(clap::Args)]
pub struct Inbox {
    /// Also what is resolved
    #[arg(long)]
    all: bool,
}

impl Inbox {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        // Somebody who is not in the company has nothing waiting; that is no error.
        match client::attempt(context, "me.read", json!({})).await? {
            Err(refused) if refused.code == Code::Unauthorized.name() => {
                client::begin(context).await?;
                return Ok(Exit::Done);
            }
            Ok(_) | Err(_) => {}
        }
        let rows: Vec<Value> = client::list(context, "inbox.list", json!({ "all": self.all }), None).await?;
        let columns = ["id", "kind", "title", "created_at", "read_at", "resolved_at"];
        context.show(&rows.clone().into(), || if rows.is_empty() { Ok(()) } else { show::table(&columns, &rows) })
    }
}
