//! Reviews collections and proposes improvements: unused, constant or duplicate fields; texts that are choices; missing
//! indexes. Only rules find them; no model is asked.
//!
//! Always true: it reviews only records and fields that the caller may read. Changes that affect everybody are proposed only if
//! the caller reads all of it; no value appears in a proposal except as an option that enough records have.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::collection::seen as known_collections;
use super::judged::{Withheld, may_read, values_of};
use super::schema::{MOST_OPEN, ShownProposal, proposed};
use super::seen::Seen;
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::brain::Proposal;
use store::brain::events::SchemaProposed;
use store::brain::query::After;
use types::brain::{Operation, ProposalStatus};
use types::collection::{Collection, Source};
use types::condition::Condition;
use types::effort;
use types::field::{FieldKind, Label};
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// The maximum number of records reviewed per collection; below, if each has to be judged, and in total.
const MOST_RECORDS: usize = 20_000;
const MOST_JUDGED: usize = 2_000;
const MOST_OF_ALL: usize = 200_000;
const CHUNK: usize = 1_000;
/// The minimum number of records for a finding; below, for a choice, and for an index.
const FEW: usize = 20;
const MANY: usize = 50;
const LARGE: usize = 1_000;
/// The maximum number of options of a proposed choice; below, the minimum number of records per option.
const MOST_OPTIONS: usize = 12;
const LEAST_OF_OPTION: usize = 5;
/// The maximum number of spellings reported per field.
const MOST_SPELLINGS: usize = 5;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct LookedOver {
    /// The collections; all that the caller may know, unless given.
    #[schemars(length(max = 200))]
    #[serde(default)]
    #[arg(value_name = "COLLECTION")]
    pub collections: Vec<String>,
}

/// What came of looking over collections.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Stewarded {
    /// What is proposed now; what is proposed already, or was rejected, is not proposed again.
    pub proposals: Vec<ShownProposal>,
    /// Findings that no change of a collection fixes, or that are not proposed.
    pub noticed: Vec<Noticed>,
    /// What was looked at.
    pub seen: Vec<SeenCollection>,
}

/// Something that was noticed.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Noticed {
    pub collection: String,
    pub field: String,
    pub what: String,
}

/// A collection that was looked at.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct SeenCollection {
    pub collection: String,
    /// How many records the caller may read, of those that were looked at.
    pub records: usize,
    /// Whether that is all of them. Only then are changes proposed that affect everybody.
    pub all: bool,
}

/// The findings, gathered before the change has its turn.
#[derive(Default)]
struct Found {
    ideas: Vec<Idea>,
    noticed: Vec<Noticed>,
    seen: Vec<SeenCollection>,
    labels: BTreeSet<Label>,
}

/// A proposal to be made.
#[derive(Clone)]
struct Idea {
    collection: String,
    field: String,
    ops: Vec<Operation>,
    reason: String,
}

/// Review collections and propose improvements.
pub enum Steward {}

impl Change for Steward {
    const SPEC: Spec = Spec {
        name: "schema.steward",
        doc: "Review collections and propose improvements: retire fields that nobody uses, that are constant, or that repeat \
              another; turn texts into choices; add missing indexes. Considers only what the caller may read.",
        scope: Reach::Full,
        route: post("/schema/steward").accepted().slow(),
        about: &[&COMPANY],
        events: &[SchemaProposed::KIND],
    };
    const SAYS: &'static str = "reviews collections[: {collections}]";
    type Input = LookedOver;
    type Output = Stewarded;

    fn target(_: &LookedOver, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn prepare(input: &LookedOver, read: &Reader<'_>) -> Result<(), Stop> {
        read.build_cache().put(&key(input, read), look_over(input, read)?);
        Ok(())
    }

    fn run(permit: Permit<Self>, input: LookedOver, draft: &mut Draft<'_>) -> Result<Stewarded, Stop> {
        let again = || Refusal::new(Code::Unavailable, "the collections were not looked over yet; try again");
        let found = draft.read().build_cache().get::<Found>(&key(&input, draft.read())).ok_or_else(again)?;
        found.labels.iter().for_each(|label| draft.read().mark(*label));
        let mut stewarded =
            Stewarded { proposals: Vec::new(), noticed: found.noticed.clone(), seen: found.seen.clone() };
        let mut known: BTreeMap<String, Vec<Proposal>> = BTreeMap::new();
        let mut room = MOST_OPEN.saturating_sub(draft.read().open_proposals_of(&permit.actor())?);
        for Idea { collection, field, ops, reason } in found.ideas.iter().cloned() {
            let about = match known.get(&collection) {
                Some(about) => about,
                None => known.entry(collection.clone()).or_insert(draft.read().proposals_about(&collection)?),
            };
            if is_known(about, &ops, draft.read().collection_version(&collection)?) {
                continue;
            }
            let left_out = |why: &str| Noticed {
                collection: collection.clone(),
                field: field.clone(),
                what: format!("{reason}; not proposed: {why}"),
            };
            if room == 0 {
                stewarded
                    .noticed
                    .push(left_out(&format!("you have {MOST_OPEN} open proposals, the most there may be")));
                continue;
            }
            match proposed(permit.actor(), collection.clone(), ops, reason.clone(), draft) {
                Ok(proposal) => {
                    room -= 1;
                    stewarded.proposals.push(proposal);
                }
                Err(Stop::Refused(refusal)) => stewarded.noticed.push(left_out(&because(&refusal))),
                Err(stop) => return Err(stop),
            }
        }
        Ok(stewarded)
    }
}

fn because(refusal: &Refusal) -> String {
    let problem = refusal.problems.first().unwrap_or(&refusal.message);
    problem.trim_start_matches("ops: ").to_owned()
}

/// Returns the cache key of the findings for exactly this caller.
fn key(input: &LookedOver, read: &Reader<'_>) -> String {
    let caller = read.caller();
    let run = caller.run.as_ref().map(|run| run.run.to_string());
    format!("steward {} {:?} {run:?} {:?} {}", caller.actor(), caller.under, caller.issuer, json!(input.collections))
}

/// Checks whether exactly this is proposed already, or was rejected for this version of the collection.
fn is_known(about: &[Proposal], ops: &[Operation], version: i64) -> bool {
    about.iter().any(|other| other.ops == ops && other.base == version && other.status != ProposalStatus::Applied)
}

fn look_over(input: &LookedOver, read: &Reader<'_>) -> Result<Found, Stop> {
    let unknown = input.collections.iter().find(|name| known_collections(read).all(|of| of.name() != *name));
    if let Some(unknown) = unknown {
        let short: String = unknown.chars().take(63).collect();
        let what = format!("there is no collection `{}` that you may know", short.escape_debug());
        return Err(Refusal::field("collections", what).into());
    }
    let wanted =
        |of: &&Collection| input.collections.is_empty() || input.collections.iter().any(|one| one == of.name());
    let (mut found, mut left) = (Found::default(), MOST_OF_ALL);
    for of in known_collections(read).filter(wanted) {
        if let Some(Source { system, .. }) = &of.spec.source {
            let what = format!("its records are kept in {system}, and not looked over");
            found.noticed.push(Noticed { collection: of.name().to_owned(), field: String::new(), what });
            continue;
        }
        let withheld = Withheld::of(of, read);
        let fields = of
            .spec
            .fields
            .iter()
            .filter(|(name, field)| field.label != Some(Label::Personal) && !withheld.is(of, name));
        found.labels.extend(fields.clone().filter_map(|(_, field)| field.label));
        let mut seen = Seen::of(fields.map(|(name, _)| name));
        let all = gather(of, &mut seen, &mut left, read)?;
        found.seen.push(SeenCollection { collection: of.name().to_owned(), records: seen.records, all });
        found.notice(of, &seen, all, read);
    }
    Ok(found)
}

/// Profiles the newest records that the caller may read, and returns whether they are all.
fn gather(of: &Collection, seen: &mut Seen, left: &mut usize, read: &Reader<'_>) -> Result<bool, Stop> {
    let rows = read.rows("record.read", of);
    let mut look = (*left).min(if rows.is_some() { MOST_RECORDS } else { MOST_JUDGED });
    *left -= look;
    let mut all = matches!(rows, None | Some(Condition::Always));
    let condition = rows.clone().unwrap_or(Condition::Always);
    let mut after = None;
    loop {
        let chunk = read.records(of, &condition, &[], after.as_ref(), CHUNK.min(look + 1))?;
        effort::spend(chunk.len() * (1 + seen.fields.len() / 10));
        let last = chunk.len() < CHUNK.min(look + 1);
        for record in chunk {
            if look == 0 {
                return Ok(false);
            }
            look -= 1;
            after = Some(After { values: Vec::new(), id: record.id.clone() });
            if rows.is_some() || may_read(of, &record, read) {
                seen.add(&values_of(of, &record));
            } else {
                all = false;
            }
        }
        if last {
            *left += look;
            return Ok(all);
        }
    }
}

impl Found {
    fn notice(&mut self, of: &Collection, seen: &Seen, all: bool, read: &Reader<'_>) {
        if seen.records >= FEW {
            self.unused(of, seen, all);
            self.alike(of, seen, all);
            self.choices(of, seen, all);
        }
        self.spellings(of, seen);
        if seen.records >= LARGE {
            self.index(of, read);
        }
    }

    /// Adds a proposal if the caller reads all records, since others might differ; otherwise a notice. Whoever reads the
    /// proposal learns about these fields, so none of them may have a label.
    fn suggest(&mut self, of: &Collection, fields: &[&str], op: Operation, what: String, all: bool) {
        let (collection, field) = (of.name().to_owned(), fields.first().copied().unwrap_or_default().to_owned());
        let is_labelled = |name: &&str| of.field(name).is_some_and(|field| field.label.is_some());
        let left_out = match fields.iter().find(|name| is_labelled(name)) {
            Some(name) => format!("`{name}` has a label, but others read a proposal"),
            None if !all => "you may not read all records, or there are too many to review".to_owned(),
            None => return self.ideas.push(Idea { collection, field, ops: vec![op], reason: what }),
        };
        self.noticed.push(Noticed { collection, field, what: format!("{what}; not proposed: {left_out}") });
    }

    fn unused(&mut self, of: &Collection, seen: &Seen, all: bool) {
        let records = seen.records;
        for (name, field) in seen.fields.iter().filter(|(name, _)| !of.spec.key.contains(name)) {
            let what = match field.filled {
                0 => format!("`{name}` has no value in any of {records} records"),
                filled if filled == records && field.distinct() == Some(1) => {
                    format!("`{name}` has the same value in all of {records} records")
                }
                _ => continue,
            };
            self.suggest(of, &[name], Operation::RetireField { name: name.clone() }, what, all);
        }
    }

    /// Proposes to retire duplicate fields. One stays: that of the key, or the first by name.
    fn alike(&mut self, of: &Collection, seen: &Seen, all: bool) {
        for mut names in seen.alike(of) {
            names.sort_by_key(|name| !of.spec.key.iter().any(|key| key == name));
            let Some((first, others)) = names.split_first() else { continue };
            for name in others.iter().filter(|name| !of.spec.key.iter().any(|key| key == *name)) {
                let what = format!("`{name}` has the same value as `{first}` in all of {} records", seen.records);
                self.suggest(of, &[name, first], Operation::RetireField { name: (*name).to_owned() }, what, all);
            }
        }
    }

    /// Proposes choices, except for labelled fields: the options would reveal their values to everybody.
    fn choices(&mut self, of: &Collection, seen: &Seen, all: bool) {
        let least = LEAST_OF_OPTION.max(of.smallest_group() as usize);
        for (name, values) in seen.fields.iter().filter(|(_, values)| values.filled >= MANY) {
            let is_one_word = values.spellings().is_empty();
            let free = |field: &&types::field::Field| is_one_word && field.label.is_none() && !field.unique;
            let Some(field) = of.field(name).filter(free).filter(|_| !of.spec.key.contains(name)) else { continue };
            let Some(options) = values.options(field, MOST_OPTIONS, least).filter(|options| options.len() > 1) else {
                continue;
            };
            let what = format!("`{name}` is a text with {} values in {} records", options.len(), values.filled);
            let op = Operation::RetypeField { name: name.clone(), r#type: FieldKind::Choice, options };
            self.suggest(of, &[name], op, what, all);
        }
    }

    /// Reports spellings to the caller, since no schema change changes values.
    fn spellings(&mut self, of: &Collection, seen: &Seen) {
        for (name, values) in &seen.fields {
            let listed = |texts: Vec<&str>| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
            let spellings: Vec<String> = values.spellings().into_iter().take(MOST_SPELLINGS).map(listed).collect();
            if !spellings.is_empty() {
                let what = format!("values that differ only in how they are written: {}", spellings.join("; "));
                self.noticed.push(Noticed { collection: of.name().to_owned(), field: name.clone(), what });
            }
        }
    }

    /// Proposes indexes for what views filter by and policies look at.
    fn index(&mut self, of: &Collection, read: &Reader<'_>) {
        let views: BTreeSet<String> = read
            .views_after("")
            .filter(|view| view.spec.query.collection == of.name() && read.may("view.read", &read.view_target(view)))
            .flat_map(|view| view.spec.query.found_by(of))
            .collect();
        let lacks = |(name, field): &(&String, &types::field::Field)| {
            let by_itself = matches!(field.kind, FieldKind::Actor | FieldKind::Team);
            let is_found = field.index || field.unique || by_itself || of.spec.key.first() == Some(*name);
            !is_found && field.kind.is_comparable() && field.label != Some(Label::Personal)
        };
        for (name, _) in of.spec.fields.iter().filter(lacks) {
            let by = match (views.contains(name), !read.serving().looking_at(of.name(), name).is_empty()) {
                (true, true) => "views and policies",
                (true, false) => "views",
                (false, true) => "policies",
                (false, false) => continue,
            };
            let (collection, field) = (of.name().to_owned(), name.clone());
            let ops = vec![Operation::Index { name: name.clone(), on: true }];
            self.ideas.push(Idea {
                collection,
                field,
                ops,
                reason: format!("{by} find records by `{name}`, which has no index"),
            });
        }
    }
}
