//! Flags problems of records, and lists flags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::may_read;
use super::{RECORD, found, kept_here};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, post};
use store::brain::events::RecordFlagged;
use store::brain::{self, Flag as Stored};
use types::brain::FlagKind;
use types::id::{ActorId, Id, Kind};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;

/// The maximum number of flags per record.
const MOST: usize = 100;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownFlag {
    pub id: String,
    pub collection: String,
    pub record: String,
    pub kind: FlagKind,
    pub note: String,
    pub by: ActorId,
    pub created_at: Time,
}

impl From<Stored> for ShownFlag {
    fn from(flag: Stored) -> ShownFlag {
        let Stored { id, collection, record, kind, note, by, created_at } = flag;
        ShownFlag { id, collection, record, kind, note, by, created_at }
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewFlag {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The record.
    #[arg(value_name = "RECORD")]
    pub id: String,
    /// The kind of problem.
    #[arg(long)]
    pub kind: FlagKind,
    /// Details; at most 500 characters.
    #[schemars(length(max = 500))]
    #[serde(default)]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
}

/// Flag a record.
pub enum Flag {}

impl Change for Flag {
    const SPEC: Spec = Spec {
        name: "record.flag",
        doc: "Flag a record as wrong, stale, a duplicate, sensitive, or in question.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/records/{id}/flag").created(),
        about: &[&RECORD],
        events: &[RecordFlagged::KIND],
    };
    const SAYS: &'static str = "flags the record {id} of {collection} as {kind}";
    type Input = NewFlag;
    type Output = ShownFlag;

    fn target(input: &NewFlag, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = kept_here(&input.collection, read)?;
        Ok(read.record_target(&of, &found(&of, &input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: NewFlag, draft: &mut Draft<'_>) -> Result<ShownFlag, Stop> {
        let NewFlag { collection, id: record, kind, note } = input;
        if note.chars().count() > 500 {
            return Err(Refusal::field("note", "must have at most 500 characters").into());
        }
        if draft.read().flags_of(&collection, &record)?.len() >= MOST {
            return Err(Refusal::conflict(format!("{record} has {MOST} flags, the most there may be")).into());
        }
        let id = draft.new_id(Kind::Flag);
        let flag = ShownFlag {
            id: id.to_string(),
            collection: collection.clone(),
            record: record.clone(),
            kind,
            note: note.clone(),
            by: permit.actor(),
            created_at: permit.now(),
        };
        draft.record(RecordFlagged { id, collection, record: Id::stored(&record), kind, note })?;
        Ok(flag)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct WhichFlags {
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List flags.
pub enum Flags {}

impl Query for Flags {
    const SPEC: Spec = Spec {
        name: "flag.list",
        doc: "List the flags of records that the caller may read, newest first.",
        scope: Reach::READ,
        route: get("/brain/flags").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = WhichFlags;
    type Output = Page<ShownFlag>;

    fn target(_: &WhichFlags, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: WhichFlags, read: &Reader<'_>) -> Result<Page<ShownFlag>, Stop> {
        let seen = |flag: &Stored| {
            let of = read.collection(&flag.collection);
            let record = of.as_ref().and_then(|of| read.record(of, &flag.record).ok().flatten());
            of.zip(record).is_some_and(|(of, record)| may_read(&of, &record, read))
        };
        let page = read.list(&brain::FLAGS, &input.page, "flag.list".into(), seen)?;
        Ok(Page { rows: page.rows.into_iter().map(ShownFlag::from).collect(), next: page.next })
    }

    fn next(output: &Page<ShownFlag>) -> Option<String> {
        output.next.clone()
    }
}
