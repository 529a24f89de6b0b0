//! `ok inbox`: what waits for the acting actor.

use serde_json::{Value, json};

use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::refusal::Code;

pub const COMMANDS: Commands = &[&own::<Inbox>("inbox")];

/// Show what waits for you, newest first
#[derive(clap::Args)]
pub struct Inbox {
    /// Also what is resolved
    #[arg(long)]
    all: bool,
    /// Mark these as read; without an id, everything that is listed
    #[arg(long, value_name = "ITEM", num_args = 0..)]
    read: Option<Vec<String>>,
}

impl Run for Inbox {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        // Somebody who is not in the company has nothing waiting; that is no error.
        match client::attempt(context, "me.read", json!({})).await? {
            Err(refused) if refused.code == Code::Unauthorized.name() => {
                client::begin(context).await?;
                return Ok(Exit::Done);
            }
            Ok(_) | Err(_) => {}
        }
        let rows: Vec<Value> = client::list(context, "inbox.list", json!({ "all": self.all }), None).await?;
        if let Some(items) = &self.read {
            return read(context, items, &rows).await;
        }
        let columns = ["id", "kind", "title", "created_at", "read_at", "resolved_at"];
        context.show(&rows.clone().into(), || show::list("nothing waits for you", &columns, &rows))
    }
}

/// Marks items as read: those that are named, or those that are listed and were not read.
async fn read(context: &Context, items: &[String], rows: &[Value]) -> Result<Exit, Failure> {
    let unread = rows.iter().filter(|row| row.get("read_at").is_none_or(Value::is_null));
    let listed = unread.filter_map(|row| Some(row.get("id")?.as_str()?.to_owned()));
    let ids: Vec<String> = if items.is_empty() { listed.collect() } else { items.to_vec() };
    for id in &ids {
        client::call(context, "inbox.read", json!({ "id": id })).await?;
    }
    context.show(&json!({ "read": ids }), || {
        show::text(&format!("{} {} read", ids.len(), if ids.len() == 1 { "item" } else { "items" }))
    })
}
