//! Each person's inbox: what waits for them, what was decided for them, and alerts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::resource::ACTOR;
use gate::{Change, Draft, Entry, Permit, Query, Reader, Spec, Target, get, post};
use store::inbox::events::InboxItemRead;
use store::inbox::{self, Item};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::query::<List>(), Entry::change::<Read>()];

/// Which items.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Which {
    /// Include resolved items.
    #[serde(default)]
    pub all: bool,
    #[serde(flatten)]
    pub page: PageQuery,
}

fn oneself(read: &Reader<'_>) -> Target {
    Target::Actor(read.caller().actor())
}

/// List one's inbox.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "inbox.list",
        doc: "List the caller's own inbox, newest first.",
        scope: Reach::READ,
        route: get("/inbox").listed(),
        about: &[&ACTOR],
        events: &[],
    };
    type Input = Which;
    type Output = Page<Item>;

    fn target(_: &Which, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(oneself(read))
    }

    fn run(permit: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<Item>, Stop> {
        let me: ActorId = permit.actor();
        let what = format!("inbox.list {me} {}", input.all);
        let fetch = |from: &_, limit| read.inbox_after(&me, input.all, from, limit);
        read.page(&input.page, what, fetch, |item| !read.hides(&item.subject), inbox::position)
    }

    fn next(output: &Page<Item>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct OneItem {
    pub id: String,
}

/// Mark an item as read.
pub enum Read {}

impl Change for Read {
    const SPEC: Spec = Spec {
        name: "inbox.read",
        doc: "Mark an item of the caller's own inbox as read. Marking it again changes nothing.",
        scope: Reach::Full,
        route: post("/inbox/{id}/read"),
        about: &[&ACTOR],
        events: &[InboxItemRead::KIND],
    };
    const SAYS: &'static str = "marks {id} as read";
    type Input = OneItem;
    type Output = Item;

    fn target(input: &OneItem, read: &Reader<'_>) -> Result<Target, Stop> {
        let theirs = |item: &Item| item.actor == read.caller().actor() && !read.hides(&item.subject);
        let item = read.inbox_item(&input.id)?.filter(theirs);
        item.map(|_| oneself(read)).ok_or_else(|| Refusal::not_found().into())
    }

    fn run(permit: Permit<Self>, input: OneItem, draft: &mut Draft<'_>) -> Result<Item, Stop> {
        let item = draft.read().inbox_item(&input.id)?.ok_or_else(Refusal::not_found)?;
        if item.read_at.is_none() {
            draft.record(InboxItemRead { item: item.id.clone() })?;
        }
        Ok(Item { read_at: item.read_at.or(Some(permit.now())), ..item })
    }
}
