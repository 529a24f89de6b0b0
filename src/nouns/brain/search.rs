//! Full-text search and backlinks of records, only within what the caller may read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judged::{Withheld, may_read};
use super::past::last;
use super::{OneRecord, RECORD, known as known_collection};
use crate::company::COMPANY;
use crate::knowledge::{Known, known};
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::brain::Record;
use store::search::{First, Words};
use store::tasks::Task;
use types::brain::FoundKind;
use types::collection::Collection;
use types::condition::{Condition, Order, Scalar};
use types::field::{Field, FieldKind, Label};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The maximum characters of a query; below, the maximum hits of an answer.
const LONGEST: usize = 200;
const MOST: u32 = 100;
const USUAL: u32 = 20;
/// The maximum number of things judged one by one, where the policies cannot be pushed down into the query.
const PATIENCE: usize = 2_000;
/// The number of hits ranked per collection.
const CANDIDATES: usize = 500;
/// Characters of context around a match.
const AROUND: usize = 60;

/// What is looked for.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct SearchFor {
    /// Words that must all match, the last one at least as a prefix; 1 to 200 characters.
    #[arg(value_name = "TEXT")]
    pub q: String,
    /// Only records of these collections, separated by commas.
    #[serde(default)]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub collections: Vec<String>,
    /// Only these kinds, separated by commas.
    #[serde(default)]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<FoundKind>,
    /// How many hits at most; 1 to 100, 20 unless given.
    #[schemars(range(min = 1, max = 100))]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: Option<u32>,
}

/// What was found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    pub kind: FoundKind,
    /// Of a record.
    pub collection: Option<String>,
    pub id: String,
    pub title: String,
    /// Where the words occur.
    pub snippet: String,
    /// How well it matches, relative to the best hit: 1 to 100.
    pub score: u32,
}

/// A candidate hit, with its texts that the caller may read, by which it is ranked.
struct Candidate {
    kind: FoundKind,
    collection: Option<String>,
    id: String,
    title: String,
    texts: Vec<String>,
    counts: Vec<u32>,
    length: u32,
}

impl Candidate {
    fn counted(self, words: &Words) -> Candidate {
        let (counts, length) = words.counted(&self.texts.join("\n"));
        Candidate { counts, length, ..self }
    }

    fn hit(self, words: &Words, score: u32) -> SearchHit {
        let Candidate { kind, collection, id, title, texts, .. } = self;
        let snippet = texts.iter().find_map(|text| around(text, words)).unwrap_or_default();
        SearchHit { kind, collection, id, title, snippet, score }
    }
}

/// Search what the caller may read.
pub enum Search {}

impl Query for Search {
    const SPEC: Spec = Spec {
        name: "search",
        doc: "Search records, accepted knowledge, documents and task titles for words, among what the caller may read, \
              down to single fields. Best matches first.",
        scope: Reach::READ,
        route: get("/search").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = SearchFor;
    type Output = Vec<SearchHit>;

    fn target(_: &SearchFor, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: SearchFor, read: &Reader<'_>) -> Result<Vec<SearchHit>, Stop> {
        let limit = input.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Refusal::field("limit", format!("must be 1 to {MOST}")).into());
        }
        if input.q.chars().count() > LONGEST {
            return Err(Refusal::field("q", format!("must have 1 to {LONGEST} characters")).into());
        }
        let words = Words::of(&input.q).ok_or_else(|| Refusal::field("q", "must have a letter or a digit"))?;
        let is_wanted = |kind| input.kinds.is_empty() || input.kinds.contains(&kind);
        let mut hits = Vec::new();
        if is_wanted(FoundKind::Record) {
            for of in collections(&input.collections, read)? {
                hits.extend(records(of, &words, read)?);
            }
        }
        if is_wanted(FoundKind::Task) && input.collections.is_empty() {
            hits.extend(tasks(&words, read)?);
        }
        if is_wanted(FoundKind::Knowledge) && input.collections.is_empty() {
            hits.extend(knowledge(&words, read)?);
        }
        Ok(ranked(hits, &words, limit as usize))
    }
}

/// Ranks hits across collections, best first; what the caller may not read has no influence.
fn ranked(hits: Vec<Candidate>, words: &Words, limit: usize) -> Vec<SearchHit> {
    let hits: Vec<Candidate> = hits.into_iter().map(|one| one.counted(words)).collect();
    let usual = hits.iter().map(|one| f64::from(one.length)).sum::<f64>() / hits.len().max(1) as f64;
    let mut ranked: Vec<(f64, Candidate)> =
        hits.into_iter().map(|one| (words.rank(&one.counts, one.length, usual), one)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.id.cmp(&other.1.id)));
    ranked.truncate(limit);
    let best = ranked.first().map_or(0.0, |best| best.0);
    let score = |rank: f64| if best > 0.0 { (rank / best * 100.0).round().clamp(1.0, 100.0) as u32 } else { 100 };
    ranked.into_iter().map(|(rank, one)| one.hit(words, score(rank))).collect()
}

/// Returns the named collections, or all that are kept here, that the caller may query.
fn collections<'a>(names: &[String], read: &'a Reader<'_>) -> Result<Vec<&'a Collection>, Stop> {
    let may = |of: &&Collection| read.may("collection.query", &read.collection_target(of.name()));
    let all: Vec<&Collection> = read.all_collections().map(|of| &**of).filter(may).collect();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|of| of.name() != *name)) {
        let short: String = unknown.chars().take(64).collect();
        return Err(Refusal::field("collections", format!("there is no collection `{}`", short.escape_debug())).into());
    }
    let (here, elsewhere): (Vec<&Collection>, Vec<&Collection>) =
        all.into_iter().partition(|of| of.spec.source.is_none());
    if let Some(of) = elsewhere.iter().find(|of| names.iter().any(|name| name == of.name())) {
        let what = format!("the records of `{}` are kept elsewhere: they are queried, and not searched", of.name());
        return Err(Refusal::field("collections", what).into());
    }
    Ok(here.into_iter().filter(|of| names.is_empty() || names.iter().any(|name| name == of.name())).collect())
}

fn records(of: &Collection, words: &Words, read: &Reader<'_>) -> Result<Vec<Candidate>, Stop> {
    let withheld = Withheld::of(of, read);
    let labels: Vec<Label> =
        [Label::Confidential, Label::Untrusted].into_iter().filter(|label| !withheld.has(*label)).collect();
    mark(of, &withheld, read);
    // Callers who may not read every text are not told how well the whole record matches.
    let first = if labels.len() == 2 { First::Best } else { First::Newest };
    let words = words.within(&labels);
    let found = match read.rows("record.read", of) {
        Some(rows) => read.found(of, &rows, &words, (first, CANDIDATES))?,
        None => {
            let all = read.found(of, &Condition::Always, &words, (first, PATIENCE))?;
            all.into_iter().filter(|record| may_read(of, record, read)).take(CANDIDATES).collect()
        }
    };
    let candidate = |record: Record| Candidate {
        kind: FoundKind::Record,
        collection: Some(of.name().to_owned()),
        title: title(of, &withheld, &record),
        texts: texts(of, &withheld, &record).into_iter().map(str::to_owned).collect(),
        id: record.id,
        counts: Vec::new(),
        length: 0,
    };
    Ok(found.into_iter().map(candidate).collect())
}

fn tasks(words: &Words, read: &Reader<'_>) -> Result<Vec<Candidate>, Stop> {
    let mut hits = Vec::new();
    for id in read.tasks_with(words, PATIENCE)? {
        let Some(task) = read.task(&id)?.filter(|task| read.may("task.read", &read.task_target(task))) else {
            continue;
        };
        let (title, texts) = (read.title(task.title.clone()), vec![task.title]);
        hits.push(Candidate {
            kind: FoundKind::Task,
            collection: None,
            id,
            title,
            texts,
            counts: Vec::new(),
            length: 0,
        });
        if hits.len() == CANDIDATES {
            break;
        }
    }
    Ok(hits)
}

fn knowledge(words: &Words, read: &Reader<'_>) -> Result<Vec<Candidate>, Stop> {
    let candidate = |Known { id, title, texts }: Known| Candidate {
        kind: FoundKind::Knowledge,
        collection: None,
        id,
        title: title.chars().take(AROUND).collect(),
        texts,
        counts: Vec::new(),
        length: 0,
    };
    Ok(known(words, read)?.into_iter().take(CANDIDATES).map(candidate).collect())
}

/// Marks the fields that texts or titles are made of as read, for a run that is shown them.
fn mark(of: &Collection, withheld: &Withheld, read: &Reader<'_>) {
    let is_read = |name: &String, field: &Field| field.kind.is_searched() || of.spec.key.contains(name);
    let fields = of.spec.fields.iter().filter(|(name, field)| is_read(name, field) && !withheld.is(of, name));
    fields.filter_map(|(_, field)| field.label).for_each(|label| read.mark(label));
}

/// Returns a record's title: its key, or its first text, as far as the caller may read it.
fn title(of: &Collection, withheld: &Withheld, record: &Record) -> String {
    let shown = |name: &String| record.fields.get(name).filter(|_| !withheld.is(of, name)).and_then(Value::as_str);
    let key: Vec<&str> = of.spec.key.iter().filter_map(shown).collect();
    match key.is_empty() {
        false => key.join(" · "),
        true => texts(of, withheld, record).first().unwrap_or(&record.id.as_str()).chars().take(AROUND).collect(),
    }
}

/// Returns a record's texts that the caller may read.
fn texts<'a>(of: &Collection, withheld: &Withheld, record: &'a Record) -> Vec<&'a str> {
    let seen = of.spec.fields.iter().filter(|(name, field)| field.kind.is_searched() && !withheld.is(of, name));
    let values = seen.filter_map(|(name, _)| record.fields.get(name));
    let each = |value: &'a Value| match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => Vec::from_iter(one.as_str()),
    };
    values.flat_map(each).collect()
}

/// Returns the matched words with their context.
fn around(text: &str, words: &Words) -> Option<String> {
    let at = words.first_in(text)?;
    let (first, whole) = (at.saturating_sub(AROUND), text.chars().count());
    let last = (at + AROUND).min(whole);
    let part: String =
        text.chars().skip(first).take(last - first).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (before, after) = (if first > 0 { "…" } else { "" }, if last < whole { "…" } else { "" });
    Some(format!("{before}{}{after}", part.trim()))
}

/// What leads to a record.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Backlink {
    pub kind: FoundKind,
    /// Of a record.
    pub collection: Option<String>,
    /// The field of that record that names this one.
    pub field: Option<String>,
    pub id: String,
    pub title: String,
}

/// List the records that reference a record.
pub enum Refs {}

impl Query for Refs {
    const SPEC: Spec = Spec {
        name: "record.refs",
        doc: "List what refers to a record, also to a deleted one: records that name it and tasks that are about it, among those that the \
              caller may read. At most 100 of each.",
        scope: Reach::READ,
        route: get("/refs/{collection}/{id}").listed(),
        about: &[&RECORD],
        events: &[],
    };
    type Input = OneRecord;
    type Output = Vec<Backlink>;

    fn target(input: &OneRecord, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known_collection(&input.collection, read)?;
        // References to a deleted record are what somebody has to fix.
        Ok(read.record_target(&of, &last(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneRecord, read: &Reader<'_>) -> Result<Vec<Backlink>, Stop> {
        let mut links = Vec::new();
        for of in collections(&[], read)? {
            let withheld = Withheld::of(of, read);
            let leads = of.spec.fields.iter().filter(|(name, field)| {
                field.kind == FieldKind::Ref && field.to.as_deref() == Some(&input.collection) && !withheld.is(of, name)
            });
            for (name, field) in leads {
                field.label.iter().for_each(|label| read.mark(*label));
                let names = Condition::Is(name.clone(), Order::Equal, Scalar::Text(input.id.clone()));
                let leading = leading(of, names, read)?;
                if !leading.is_empty() {
                    mark(of, &withheld, read);
                }
                links.extend(leading.into_iter().map(|record| Backlink {
                    kind: FoundKind::Record,
                    collection: Some(of.name().to_owned()),
                    field: Some(name.clone()),
                    title: title(of, &withheld, &record),
                    id: record.id,
                }));
            }
        }
        let seen = |task: &Task| read.may("task.read", &read.task_target(task));
        let tasks = read.tasks_about(&input.collection, &input.id, PATIENCE)?.into_iter().filter(seen);
        links.extend(tasks.take(MOST as usize).map(|task| Backlink {
            kind: FoundKind::Task,
            collection: None,
            field: None,
            id: task.id,
            title: read.title(task.title),
        }));
        Ok(links)
    }
}

/// Returns records that reference another.
fn leading(of: &Collection, names: Condition, read: &Reader<'_>) -> Result<Vec<Record>, Stop> {
    if let Some(rows) = read.rows("record.read", of) {
        return read.records(of, &Condition::all([rows, names]), &[], None, MOST as usize);
    }
    let all = read.records(of, &names, &[], None, PATIENCE)?;
    Ok(all.into_iter().filter(|record| may_read(of, record, read)).take(MOST as usize).collect())
}
