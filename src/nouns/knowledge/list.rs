//! Lists and shows knowledge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownKnowledge, shown};
use super::{KNOWLEDGE, OneEntry, find};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::knowledge::{self, Knowledge};
use store::list::List as Table;
use types::knowledge::{KnowledgeKind, KnowledgeStatus};
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;

/// Which knowledge. All of what is given must fit.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only with this status.
    #[arg(long)]
    pub status: Option<KnowledgeStatus>,
    /// Only of this kind.
    #[arg(long)]
    pub kind: Option<KnowledgeKind>,
    /// Only about this topic.
    #[arg(long)]
    pub topic: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Everything {
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List knowledge.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "knowledge.list",
        doc: "List the knowledge entries that the caller may read, newest first.",
        scope: Reach::READ,
        route: get("/knowledge").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownKnowledge>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownKnowledge>, Stop> {
        let Which { status, kind, topic, page } = input;
        let names = (status.map(KnowledgeStatus::name), kind.map(KnowledgeKind::name), &topic);
        let what = format!("knowledge.list {names:?}");
        let fits = |entry: &Knowledge| {
            status.is_none_or(|status| entry.status == status)
                && kind.is_none_or(|kind| entry.kind == kind)
                && topic.as_ref().is_none_or(|topic| entry.topics.contains(topic))
        };
        listed(&knowledge::LIST, &page, what, fits, read)
    }

    fn next(output: &Page<ShownKnowledge>) -> Option<String> {
        output.next.clone()
    }
}

/// List quarantined entries.
pub enum Quarantine {}

impl Query for Quarantine {
    const SPEC: Spec = Spec {
        name: "knowledge.quarantine",
        doc: "List the quarantined knowledge entries that the caller may read, with the reasons, newest first.",
        scope: Reach::READ,
        route: get("/knowledge/quarantine").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Everything;
    type Output = Page<ShownKnowledge>;

    fn target(_: &Everything, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Everything, read: &Reader<'_>) -> Result<Page<ShownKnowledge>, Stop> {
        listed(&knowledge::QUARANTINE, &input.page, "knowledge.quarantine".into(), |_| true, read)
    }

    fn next(output: &Page<ShownKnowledge>) -> Option<String> {
        output.next.clone()
    }
}

fn listed(
    table: &Table<Knowledge>,
    page: &PageQuery,
    what: String,
    fits: impl Fn(&Knowledge) -> bool,
    read: &Reader<'_>,
) -> Result<Page<ShownKnowledge>, Stop> {
    let seen = |entry: &Knowledge| fits(entry) && read.may("knowledge.read", &read.knowledge_target(entry));
    let page = read.list(table, page, what, seen)?;
    let rows = page.rows.into_iter().map(|entry| shown(entry, read)).collect::<Result<_, Stop>>()?;
    Ok(Page { rows, next: page.next })
}

/// Show one knowledge entry.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "knowledge.read",
        doc: "Show one knowledge entry: its statement, provenance and status.",
        scope: Reach::READ,
        route: get("/knowledge/{id}").by_server(),
        about: &[&KNOWLEDGE],
        events: &[],
    };
    type Input = OneEntry;
    type Output = ShownKnowledge;

    fn target(input: &OneEntry, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneEntry, read: &Reader<'_>) -> Result<ShownKnowledge, Stop> {
        shown(find(&input.id, read)?, read)
    }
}
