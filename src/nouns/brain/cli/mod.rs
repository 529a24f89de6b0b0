//! `ok brain` and `ok search`: commands for the company's own data.

use std::io::Read as _;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::knowledge::{self, Uploading};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::brain::{
    self, Aggregate, Ask, Backlink, Catalog, CollectionSemantics, Delete, Figure, Flag, Flags, History, Hit, Import,
    Imported, Meaning, NamedDimension, NamedEntity, NamedMetric, NewRecord, NewRecords, Query, Refs, Rollback, Search,
    SearchHit, ShowRecord, ShownCollection, ShownFlag, ShownRecord, ShownVersion, Synonyms, Upsert, Wanted,
};
use crate::nouns::knowledge::{self as knowledge_of, Accept, Recall, Retract};
use crate::types::json;
use crate::types::separator::separator;

pub const COMMANDS: Commands = &[
    &group(
        "brain",
        "Ask, read and write the company's own data",
        &[
            &query::<brain::List>()
                .command("collections")
                .help("List the collections")
                .table("no collections", columns!(ShownCollection; name, title, key, version)),
            &own::<Describing>("describe"),
            &query::<Catalog>()
                .command("catalog")
                .help("Find the collections, fields and metrics that a phrase may mean")
                .example("ok brain catalog \"unpaid invoices\"")
                .table("nothing", columns!(Hit; kind, collection, name, field, title, synonym, score)),
            &query::<Meaning>()
                .command("semantics")
                .help("Show a collection's semantics: metrics, dimensions and synonyms")
                .print(semantics),
            &own::<Asking>("query"),
            &own::<Figuring>("aggregate"),
            &query::<ShowRecord>().command("show").help("Show one record").print(print),
            &query::<Refs>()
                .command("refs")
                .help("List the records and tasks that refer to a record")
                .table("nothing", columns!(Backlink; kind, collection, field, id, title)),
            &own::<Upserting>("upsert"),
            &own::<Importing>("import"),
            &change::<Delete>().command("delete").help("Delete a record; its history is kept").fields(RECORD),
            &query::<History>()
                .command("history")
                .help("Show the versions of a record, newest first")
                .table("no versions", columns!(ShownVersion; version, what, by, run, at, fields, withheld)),
            &change::<Rollback>()
                .command("rollback")
                .help("Restore an earlier version of a record as a new version")
                .fields(RECORD),
            &change::<Flag>()
                .command("flag")
                .help("Flag a record")
                .fields(columns!(ShownFlag; id, collection, record, kind, note)),
            &query::<Flags>()
                .command("flags")
                .help("List flags of records, newest first")
                .table("no flags", columns!(ShownFlag; id, collection, record, kind, note, by, created_at)),
            &query::<Recall>()
                .command("recall")
                .help("Recall accepted knowledge about topics")
                .example("ok brain recall invoices acme")
                .print(knowledge::print),
            &query::<knowledge_of::List>()
                .command("knowledge")
                .help("List knowledge entries, newest first")
                .table("no knowledge", knowledge::ROW),
            &query::<knowledge_of::Show>()
                .command("show-knowledge")
                .help("Show one knowledge entry")
                .fields(knowledge::ENTRY),
            &change::<knowledge_of::Propose>()
                .command("propose-knowledge")
                .help("Propose a knowledge entry")
                .example("ok brain propose-knowledge \"Acme pays within 30 days\" --topic acme --topic invoices")
                .fields(knowledge::ENTRY),
            &own::<Uploading>("upload"),
            &query::<knowledge_of::Read>().command("text").help("Print the text of a document").print(knowledge::text),
            &query::<knowledge_of::Quarantine>()
                .command("quarantine")
                .help("List quarantined knowledge entries, with the reasons")
                .table("nothing is quarantined", knowledge::HELD),
            &change::<Accept>()
                .command("accept")
                .help("Accept a knowledge entry, so that it is recalled")
                .fields(knowledge::ENTRY),
            &change::<knowledge_of::Reject>()
                .command("reject-knowledge")
                .help("Reject a knowledge entry, or withdraw your own")
                .fields(knowledge::ENTRY),
            &change::<Retract>()
                .command("retract-knowledge")
                .help("Retract an accepted knowledge entry")
                .fields(knowledge::ENTRY),
        ],
    ),
    &query::<Search>()
        .command("search")
        .help("Search records, knowledge, documents and tasks for words, in what you may read")
        .example("ok search \"late invoice\" --collections invoices")
        .table("nothing found", columns!(SearchHit; kind, collection, id, title, snippet, score)),
];

const RECORD: Columns<ShownRecord> =
    columns!(ShownRecord; id, collection, version, fields, withheld, updated_by, updated_at);

/// Prints each non-empty list of the collection's semantics.
fn semantics(of: &CollectionSemantics) -> Result<(), Failure> {
    show::one(columns!(CollectionSemantics; collection, version), of)?;
    show::rows(columns!(NamedMetric; name, agg, field, filter, expr, unit, title), &of.semantics.metrics)?;
    show::rows(columns!(NamedDimension; name, field, grain, title), &of.semantics.dimensions)?;
    show::rows(columns!(NamedEntity; name, key, title), &of.semantics.entities)?;
    show::rows(columns!(Synonyms; of, words), &of.semantics.synonyms)?;
    if !of.semantics.withheld.is_empty() {
        show::note(&format!("withheld: {}", of.semantics.withheld.join(", ")));
    }
    Ok(())
}

/// Prints a record, one line per field.
fn print(record: &ShownRecord) -> Result<(), Failure> {
    let own = columns!(ShownRecord; id, collection, version, created_by, created_at, updated_by, updated_at, withheld);
    show::one(own, record)?;
    let names: Vec<String> = record.fields.keys().cloned().collect();
    show::text("")?;
    show::fields(&names.iter().map(String::as_str).collect::<Vec<_>>(), &Value::Object(record.fields.clone()))
}

/// Show a collection's fields
#[derive(clap::Args)]
struct Describing {
    #[command(flatten)]
    of: brain::OneCollection,
}

impl Run for Describing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = query::<brain::Show>().ask(context, &self.of).await?;
        let shown: ShownCollection = answer.read()?;
        let row = |(name, field): (&String, &crate::types::field::Field)| -> Result<Value, Failure> {
            let Value::Object(mut row) = serde_json::to_value(field)? else { return Ok(Value::Null) };
            row.insert("field".into(), name.clone().into());
            Ok(Value::Object(row))
        };
        let fields = shown.fields.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        context.show(&answer.value, || {
            show::one(columns!(ShownCollection; name, title, key, smallest_group, withheld, version), &shown)?;
            show::text("")?;
            show::table(&["field", "type", "required", "unique", "label", "options", "to", "default"], &fields)?;
            let metrics: Vec<&str> = shown.semantics.metrics.iter().map(|metric| metric.name.as_str()).collect();
            if !metrics.is_empty() {
                show::note(&format!("metrics: {} (`ok brain semantics {}`)", metrics.join(", "), shown.name));
            }
            Ok(())
        })
    }
}

/// Find the records that the policies let you read
///
/// Example: `ok brain query invoices --filter '{"total": {"gt": "100"}}' --sort -due`
#[derive(clap::Args)]
struct Asking {
    #[command(flatten)]
    ask: Ask,
    /// The maximum number of results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

impl Run for Asking {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = query::<Query>().all(context, &self.ask, self.limit).await?;
        let records: Vec<ShownRecord> = serde_json::from_value(answer.value.clone())?;
        let mut names: Vec<String> = Vec::new();
        for name in records.iter().flat_map(|record| record.fields.keys()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let columns: Vec<&str> = ["id"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let row = |record: &ShownRecord| {
            let mut row = record.fields.clone();
            row.insert("id".into(), record.id.clone().into());
            Value::Object(row)
        };
        let rows: Vec<Value> = records.iter().map(row).collect();
        context.show(&answer.value, || {
            show::list("no records", &columns, &rows)?;
            if let Some(record) = records.iter().find(|record| !record.withheld.is_empty()) {
                show::note(&format!("withheld: {}", record.withheld.join(", ")));
            }
            Ok(())
        })
    }
}

/// Count records and aggregate their values
///
/// Example: `ok brain aggregate invoices --measures count,sum:total --group-by status`
#[derive(clap::Args)]
struct Figuring {
    #[command(flatten)]
    wanted: Wanted,
}

impl Run for Figuring {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = query::<Aggregate>().ask(context, &self.wanted).await?;
        let figures: Vec<Figure> = answer.read()?;
        let asked = self.wanted.group_by.iter().chain(&self.wanted.measures).chain(&self.wanted.metrics);
        let columns: Vec<&str> = asked.map(String::as_str).collect();
        let rows: Vec<Value> = figures.into_iter().map(figured).collect();
        context
            .show(&answer.value, || show::list("no records, or no group of them that is large enough", &columns, &rows))
    }
}

/// Formats aggregates as a row; values that are too large say so.
pub fn figured(figure: Figure) -> Value {
    let mut row = figure.group;
    row.extend(figure.values);
    row.extend(figure.too_large.into_iter().map(|name| (name, "too large".into())));
    Value::Object(row)
}

/// Write a record: a new one, or a new version of the one with the same key
///
/// Example: `ok brain upsert invoices --fields '{"number": "17", "total": "12.50"}'`
#[derive(clap::Args)]
struct Upserting {
    /// The collection
    #[arg(value_name = "COLLECTION")]
    collection: String,
    /// The values, by field
    #[arg(long, value_name = "JSON")]
    fields: String,
    /// The record to change; by default the one with the same key, or a new one
    #[arg(long, value_name = "RECORD")]
    id: Option<String>,
}

impl Run for Upserting {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let wrong = |error| Failure::new(format!("--fields must be a JSON object: {error}"));
        let fields: Map<String, Value> = json::read(self.fields.as_bytes()).map_err(wrong)?;
        let record = NewRecord { collection: self.collection, id: self.id, fields, version: None };
        change::<Upsert>().ask(context, &record).await?.fields(context, RECORD)
    }
}

/// Write many records: from JSON Lines, or from CSV with a line of field names
///
/// At most 5,000 are written in one transaction: all of them, or none.
#[derive(clap::Args)]
struct Importing {
    /// The collection
    #[arg(value_name = "COLLECTION")]
    collection: String,
    /// A file that ends with .csv or .jsonl; `-`: JSON Lines on standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// The maximum bytes of a file; below, the number of records sent at once.
const MOST_BYTES: usize = 256 << 20;
const AT_ONCE: usize = 5_000;

impl Run for Importing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let text = if self.file.as_os_str() == "-" {
            let mut text = String::new();
            let read = std::io::stdin().take(MOST_BYTES as u64).read_to_string(&mut text);
            read.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
            text
        } else {
            text_of(&self.file, MOST_BYTES)?
        };
        let is_csv = self.file.extension().is_some_and(|kind| kind == "csv");
        let records = if is_csv {
            let of = brain::OneCollection { collection: self.collection.clone() };
            let shown: ShownCollection = query::<brain::Show>().ask(context, &of).await?.read()?;
            of_csv(&text, &shown)?
        } else {
            of_lines(&text)?
        };
        let mut all = Imported { collection: self.collection.clone(), created: 0, changed: 0, unchanged: 0 };
        for (number, chunk) in records.chunks(AT_ONCE).enumerate() {
            let (lines, chunk): (Vec<u64>, Vec<_>) = chunk.iter().cloned().unzip();
            let new = NewRecords { collection: self.collection.clone(), records: chunk };
            let answer = change::<Import>().ask(context, &new).await;
            let before = format!("{} records are written", number * AT_ONCE);
            let located = |failure: Failure| failure.at_lines("records", &lines).after(number, &before);
            let written: Imported = answer.map_err(located)?.read()?;
            all.created += written.created;
            all.changed += written.changed;
            all.unchanged += written.unchanged;
            if records.len() > AT_ONCE {
                show::note(&format!("{} of {}", (number * AT_ONCE + lines.len()), records.len()));
            }
        }
        context.show(&serde_json::to_value(&all)?, || {
            show::one(columns!(Imported; collection, created, changed, unchanged), &all)
        })
    }
}

/// A record's values by field, with the line they were read from.
type Row = (u64, Map<String, Value>);

fn of_lines(text: &str) -> Result<Vec<Row>, Failure> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line): (u64, &str)| match json::read(line.as_bytes()) {
        Ok(fields) => Ok((number, fields)),
        Err(error) => Err(Failure::new(format!("line {number}: {error}"))),
    };
    lines.map(read).collect()
}

/// Parses CSV. A cell is parsed by its field's type; an empty one sets no value.
fn of_csv(text: &str, of: &ShownCollection) -> Result<Vec<Row>, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::new("the file is empty: its first line names the columns"));
    }
    let separator = separator(text).map_err(|misquoted| Failure::new(misquoted.to_string()))?;
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text.as_bytes());
    let wrong = |error: csv::Error| Failure::new(message_of(&error));
    let names: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    if let Some(twice) = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|one| one == *name)) {
        return Err(Failure::new(format!("line 1: duplicate column `{}`", twice.1)));
    }
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(wrong)?;
        let cells = names.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty());
        let line = row.position().map_or(0, |at| line_at(text, at.byte()));
        records.push((line, cells.map(|(name, cell)| (name.clone(), of_cell(of, name, cell))).collect()));
    }
    Ok(records)
}

fn message_of(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos: Some(pos), expected_len, len } => {
            let cells = |count: &u64| format!("{count} {}", if *count == 1 { "cell" } else { "cells" });
            let (line, len, expected) = (pos.line(), cells(len), cells(expected_len));
            format!("line {line}: {len}, and the first line has {expected}; the separator is that of the first line")
        }
        _ => error.to_string(),
    }
}

/// Returns the line on which the next row begins; the line break of the previous row may still be unread.
fn line_at(text: &str, byte: u64) -> u64 {
    let (before, rest) = text.as_bytes().split_at_checked(byte as usize).unwrap_or((text.as_bytes(), &[]));
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    1 + before.iter().chain(ends).filter(|byte| **byte == b'\n').count() as u64
}

fn of_cell(of: &ShownCollection, name: &str, cell: &str) -> Value {
    use crate::types::field::FieldKind as Kind;
    let typed = match of.fields.get(name).map(|field| field.kind) {
        Some(Kind::Integer) => cell.parse::<i64>().ok().map(Value::from),
        Some(Kind::Flag) => cell.parse::<bool>().ok().map(Value::from),
        Some(Kind::Choices) => Some(cell.split(';').map(str::trim).collect()),
        Some(Kind::Json) => json::read(cell.as_bytes()).ok(),
        _ => None,
    };
    // A cell that does not fit is sent as it is: the answer says what it must be.
    typed.unwrap_or_else(|| cell.into())
}
