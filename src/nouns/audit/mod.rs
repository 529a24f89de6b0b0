//! For auditors: the signed head, published checkpoints, proofs, and a full verification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Nothing;
use crate::company::COMPANY;
use gate::{self, Entry, Permit, Query, Reader, Spec, Target, get, post};
use log::read::{Logged, Published};
use log::verify::{Ask, Report};
use store::Position;
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;

pub const ALL: &[Entry] = &[
    Entry::query::<Head>(),
    Entry::query::<Key>(),
    Entry::query::<Checkpoints>(),
    Entry::query::<Proof>(),
    Entry::query::<Consistency>(),
    Entry::query::<Verify>(),
];

/// Checks whether the caller may read the whole log. Nobody else is told its counts, since a count reveals events too.
pub fn may_read_all(read: &Reader<'_>) -> bool {
    read.may(Head::SPEC.name, &Target::Company)
}

/// The log's newest state.
#[derive(Serialize, JsonSchema)]
pub struct HeadAnswer {
    /// The newest event number.
    pub seq: u64,
    /// How many entries the log has.
    pub size: u64,
    /// The tree's root, base64.
    pub root: String,
    /// The leaf hash of the entry before the newest, base64.
    pub prev: String,
    /// The checkpoint, as C2SP signed note.
    pub signed_note: String,
    /// Key id of the log's verifier key.
    pub key_id: String,
    pub at: Time,
}

impl HeadAnswer {
    /// Builds the answer for a head and its newest entry, if any.
    pub fn of(head: &gate::Head, newest: Option<Logged>) -> HeadAnswer {
        HeadAnswer {
            seq: head.size,
            size: head.size,
            root: BASE64.encode(head.root),
            prev: newest.map(|event| event.prev).unwrap_or_default(),
            signed_note: head.note.clone(),
            key_id: head.vkey().split('+').nth(1).unwrap_or_default().to_owned(),
            at: head.ts,
        }
    }
}

/// Read the head.
pub enum Head {}

impl Query for Head {
    const SPEC: Spec = Spec {
        name: "audit.head",
        doc: "Show the log's newest signed checkpoint.",
        scope: Reach::Full,
        route: get("/audit/head"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = HeadAnswer;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<HeadAnswer, Stop> {
        let head = read.head();
        Ok(HeadAnswer::of(head, read.event(head.size as i64)?))
    }
}

/// Read the verifier key.
pub enum Key {}

impl Query for Key {
    const SPEC: Spec = Spec {
        name: "audit.key",
        doc: "Show the public key that checkpoints are verified with. Keep a copy where this server cannot reach it.",
        scope: Reach::Full,
        route: get("/audit/key").text(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = String;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<String, Stop> {
        Ok(format!("{}\n", read.head().vkey()))
    }
}

/// A published checkpoint.
#[derive(Serialize, JsonSchema)]
pub struct Checkpoint {
    pub size: u64,
    /// The tree's root, base64.
    pub root: String,
    pub at: Time,
    /// The checkpoint, as C2SP signed note.
    pub note: String,
}

impl From<Published> for Checkpoint {
    fn from(row: Published) -> Checkpoint {
        Checkpoint { size: row.size, root: BASE64.encode(row.root), at: row.at, note: row.note }
    }
}

/// List published checkpoints.
pub enum Checkpoints {}

impl Query for Checkpoints {
    const SPEC: Spec = Spec {
        name: "audit.checkpoints",
        doc: "List the published checkpoints, newest first.",
        scope: Reach::Full,
        route: get("/audit/checkpoints").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = PageQuery;
    type Output = Page<Checkpoint>;

    fn target(_: &PageQuery, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: PageQuery, read: &Reader<'_>) -> Result<Page<Checkpoint>, Stop> {
        let fetch = |from: &Position, limit| {
            let rows = read.checkpoints(u64::try_from(from.at).unwrap_or(0), limit)?;
            Ok(rows.into_iter().map(Checkpoint::from).collect())
        };
        let position = |row: &Checkpoint| Position { at: row.size as i64, id: String::new() };
        read.page(&input, "audit.checkpoints".into(), fetch, |_| true, position)
    }

    fn next(output: &Page<Checkpoint>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct OneEntry {
    /// The event number.
    pub seq: u64,
}

/// Prove an entry.
pub enum Proof {}

impl Query for Proof {
    const SPEC: Spec = Spec {
        name: "audit.proof",
        doc: "Prove that an event is in the log, as a C2SP tlog-proof against the newest checkpoint.",
        scope: Reach::Full,
        route: get("/audit/proof/{seq}").text(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = OneEntry;
    type Output = String;

    fn target(input: &OneEntry, read: &Reader<'_>) -> Result<Target, Stop> {
        let exists = (1..=read.head().size).contains(&input.seq);
        if exists { Ok(Target::Company) } else { Err(Refusal::not_found().into()) }
    }

    fn run(_: Permit<Self>, input: OneEntry, read: &Reader<'_>) -> Result<String, Stop> {
        Ok(read.inclusion_proof(input.seq)?)
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Span {
    /// The size of the older tree.
    pub from: u64,
    /// The size of the newer tree: of a published checkpoint, or the newest unless given.
    pub to: Option<u64>,
}

/// Prove consistency.
pub enum Consistency {}

impl Query for Consistency {
    const SPEC: Spec = Spec {
        name: "audit.consistency",
        doc: "Prove that the log at a later size extends the log at an earlier size.",
        scope: Reach::Full,
        route: get("/audit/consistency").text(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Span;
    type Output = String;

    fn target(_: &Span, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Span, read: &Reader<'_>) -> Result<String, Stop> {
        let head = read.head();
        let to = input.to.unwrap_or(head.size);
        if input.from > to {
            return Err(Refusal::bad_request(format!("from: must be at most {to}")).into());
        }
        let note = if to == head.size { Some(head.note.clone()) } else { read.checkpoint_note(to)? };
        let unsigned = || Refusal::bad_request(format!("to: no checkpoint of {to} entries was published"));
        Ok(read.consistency_proof(input.from, to, &note.ok_or_else(unsigned)?)?)
    }
}

/// What is checked.
#[derive(Deserialize, JsonSchema)]
pub struct Checked {
    /// The first entry whose content is checked; the tree is always checked whole.
    pub from: Option<u64>,
    /// The last entry whose content is checked.
    pub to: Option<u64>,
    /// An earlier checkpoint: verifies that the log still contains everything it contained then.
    pub checkpoint: Option<String>,
}

/// Check the log.
pub enum Verify {}

impl Query for Verify {
    const SPEC: Spec = Spec {
        name: "audit.verify",
        doc: "Check the whole log: every entry, every link, every hash and every signature.",
        scope: Reach::Full,
        route: post("/audit/verify").slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Checked;
    type Output = Report;

    fn target(_: &Checked, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Checked, read: &Reader<'_>) -> Result<Report, Stop> {
        if let (Some(from), Some(to)) = (input.from, input.to)
            && from > to
        {
            return Err(Refusal::field("from", format!("must be at most {to}")).into());
        }
        read.verify(&Ask { vkey: None, since: input.checkpoint.as_deref(), from: input.from, to: input.to })
    }
}
