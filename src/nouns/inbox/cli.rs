//! `ok inbox`: commands for the acting actor's inbox.

use serde_json::json;

use super::column::columns;
use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, client, show};
use crate::nouns::Nothing;
use crate::nouns::actor::Me;
use crate::nouns::inbox::{List, OneItem, Read, Which};
use crate::store::inbox::Item;
use crate::types::page::PageQuery;
use crate::types::refusal::Code;

pub const COMMANDS: Commands = &[&own::<Inbox>("inbox")];

/// Show what waits for you, newest first
#[derive(clap::Args)]
struct Inbox {
    /// Include resolved items
    #[arg(long)]
    all: bool,
    /// Mark these as read; without an id, all listed items
    #[arg(long, value_name = "ITEM", num_args = 0..)]
    read: Option<Vec<String>>,
}

impl Run for Inbox {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        // Somebody who is not in the company has no items, which is no error.
        match query::<Me>().attempt(context, &Nothing {}).await? {
            Err(refused) if refused.code == Code::Unauthorized.name() => {
                client::begin(context).await?;
                return Ok(Exit::Done);
            }
            Ok(_) | Err(_) => {}
        }
        let which = Which { all: self.all, page: PageQuery::default() };
        let items = query::<List>().all(context, &which, None).await?;
        match self.read {
            None => {
                let columns = columns!(Item; id, kind, title, created_at, read_at, resolved_at);
                items.table(context, "nothing waits for you", columns)
            }
            Some(named) if named.is_empty() => {
                let unread = items.rows().filter(|row| row.said(columns!(Item; read_at)).is_none());
                read(context, unread.filter_map(|row| row.said(columns!(Item; id))).collect()).await
            }
            Some(named) => read(context, named).await,
        }
    }
}

/// Marks items as read.
async fn read(context: &Context, ids: Vec<String>) -> Result<Exit, Failure> {
    for id in &ids {
        change::<Read>().ask(context, &OneItem { id: id.clone() }).await?;
    }
    context.show(&json!({ "read": ids }), || {
        show::text(&format!("{} {} read", ids.len(), if ids.len() == 1 { "item" } else { "items" }))
    })
}
