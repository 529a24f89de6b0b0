//! The company's own data: collections, their records, queries, and schema changes.

mod aggregate;
mod catalog;
mod collection;
mod figures;
mod filter;
mod flag;
mod history;
mod import;
mod judged;
mod misfits;
mod past;
mod plan;
mod query;
mod resource;
mod retention;
mod schema;
mod search;
mod seen;
mod semantics;
mod shown;
mod steward;
mod values;
mod write;
mod writing;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Query as _, Reader};
use store::brain::Record;
use types::collection::{Collection, Source};
use types::refusal::{Refusal, Stop};

pub use aggregate::{Aggregate, Figure, Wanted, figures};
pub use catalog::{Catalog, Hit, Phrase};
pub use collection::{List, Show, ShownCollection};
pub use flag::{Flag, Flags, NewFlag, ShownFlag};
pub use history::{History, Rollback, RolledBack, ShownVersion, WhichVersions};
pub use import::{Import, Imported, NewRecords};
pub use judged::{Withheld, refused_labels, withheld};
pub use query::{Ask, Query, Records, WhichRecords, answer};
pub use resource::{COLLECTION, PROPOSAL, RECORD};
pub(super) use retention::{Expired, expired};
pub use schema::{
    Applied, Apply, NewProposal, OneProposal, Proposals, Propose, Reject, Rejection, ShowProposal, ShownProposal,
};
pub use search::{Backlink, Refs, Search, SearchFor, SearchHit};
pub use semantics::{CollectionSemantics, NamedDimension, NamedEntity, NamedMetric, Show as Meaning, Synonyms};
pub use shown::ShownRecord;
pub use steward::{LookedOver, Noticed, SeenCollection, Steward, Stewarded};
pub use write::{Delete, Deletion, Fields, NewRecord, Patch, Put, ShowRecord, Upsert};

pub const ALL: &[Entry] = &[
    Entry::query::<collection::List>(),
    Entry::query::<collection::Show>(),
    Entry::query::<catalog::Catalog>(),
    Entry::query::<semantics::Show>(),
    Entry::change::<semantics::Propose>(),
    Entry::query::<query::Query>(),
    Entry::query::<aggregate::Aggregate>(),
    Entry::query::<query::Records>(),
    Entry::query::<write::ShowRecord>(),
    Entry::change::<write::Upsert>(),
    Entry::change::<write::Put>(),
    Entry::change::<write::Patch>(),
    Entry::change::<write::Delete>(),
    Entry::change::<import::Import>(),
    Entry::query::<history::History>(),
    Entry::change::<history::Rollback>(),
    Entry::change::<flag::Flag>(),
    Entry::query::<flag::Flags>(),
    Entry::query::<judged::ReadField>(),
    Entry::query::<search::Search>(),
    Entry::query::<search::Refs>(),
    Entry::change::<schema::Propose>(),
    Entry::query::<schema::Proposals>(),
    Entry::query::<schema::ShowProposal>(),
    Entry::change::<schema::Apply>(),
    Entry::change::<schema::Reject>(),
    Entry::change::<steward::Steward>(),
];

/// Operations that answer with records that the caller may read, whichever they are.
pub const ANSWERED_WITH_RECORDS: [&str; 3] =
    [query::Query::SPEC.name, query::Records::SPEC.name, aggregate::Aggregate::SPEC.name];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneCollection {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneRecord {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The record.
    #[arg(value_name = "RECORD")]
    pub id: String,
}

/// Returns an existing collection.
fn known(name: &str, read: &Reader<'_>) -> Result<Arc<Collection>, Stop> {
    Ok(read.collection(name).ok_or_else(Refusal::not_found)?)
}

/// Returns a collection whose records are kept here, with their history.
fn kept_here(name: &str, read: &Reader<'_>) -> Result<Arc<Collection>, Stop> {
    let of = known(name, read)?;
    match &of.spec.source {
        None => Ok(of),
        Some(_) if !read.sees(&read.collection_target(name)) => Err(Refusal::not_found().into()),
        Some(Source { system, .. }) => {
            let what = format!("this collection is read-only here: its records are kept in {system}");
            Err(Refusal::field("collection", what).into())
        }
    }
}

/// Checks whether a collection's records are kept in an external system.
pub fn is_kept_elsewhere(name: &str, read: &Reader<'_>) -> bool {
    read.collection(name).is_some_and(|of| of.spec.source.is_some())
}

/// Returns an existing record.
fn found(of: &Collection, id: &str, read: &Reader<'_>) -> Result<Record, Stop> {
    Ok(read.record(of, id)?.ok_or_else(Refusal::not_found)?)
}
