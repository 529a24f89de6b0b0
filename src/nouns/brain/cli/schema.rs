//! `ok schema`: commands for schema changes of the company's own data.

use std::path::PathBuf;

use serde_json::Value;

use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::brain::{
    Applied, Apply, NewProposal, Noticed, Proposals, Propose, Reject, SeenCollection, ShowProposal, ShownProposal,
    Steward, Stewarded,
};
use crate::policy::yaml;
use crate::types::brain::Operation;
use crate::types::definition::MAX_BYTES;
use crate::types::expected::Format;

pub const COMMANDS: Commands = &[&group(
    "schema",
    "Change what the records of a collection are made of",
    &[
        &own::<Proposing>("propose"),
        &query::<Proposals>()
            .command("proposals")
            .help("List schema proposals, newest first")
            .table("no proposals", columns!(ShownProposal; id, collection, status, proposer, reason, created_at)),
        &query::<ShowProposal>()
            .command("show")
            .help("Show a schema proposal and its impact")
            .fields(columns!(ShownProposal; id, collection, status, proposer, reason, ops, impact)),
        &change::<Apply>()
            .command("apply")
            .help("Apply a schema proposal to a collection and its records")
            .fields(columns!(Applied; id, collection, rows, applied)),
        &change::<Steward>()
            .command("steward")
            .help("Review collections and propose improvements, such as dropping unused fields or adding indexes")
            .example("ok schema steward invoices")
            .print(stewarded),
        &change::<Reject>()
            .command("reject")
            .help("Reject a schema proposal, or withdraw your own")
            .fields(columns!(ShownProposal; id, collection, status)),
    ],
)];

fn stewarded(of: &Stewarded) -> Result<(), Failure> {
    show::rows(columns!(ShownProposal; id, collection, reason, ops), &of.proposals)?;
    show::rows(columns!(Noticed; collection, field, what), &of.noticed)?;
    show::rows(columns!(SeenCollection; collection, records, all), &of.seen)?;
    if of.proposals.is_empty() {
        show::note("Nothing new is proposed.");
    } else {
        show::note(
            "A steward applies one: `ok schema apply`; the others of its collection are proposed again after that.",
        );
    }
    Ok(())
}

/// Propose to create, change or retire a collection
///
/// Example: `ok schema propose invoices --ops ops.yaml --reason "We keep invoices"`
#[derive(clap::Args)]
struct Proposing {
    /// The collection
    #[arg(value_name = "COLLECTION")]
    collection: String,
    /// The steps of the change: a YAML or JSON file with a list
    #[arg(long, value_name = "FILE")]
    ops: PathBuf,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Run for Proposing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let text = text_of(&self.ops, MAX_BYTES)?;
        let named = |what: String| Failure::new(format!("`{}`: {what}", self.ops.display()));
        let read =
            yaml::read::<Value>(&text).map_err(|error| named(format!("line {}: {}", error.line, error.message)))?;
        let ops: Vec<Operation> =
            serde_json::from_value(read).map_err(|error| named(Format::Yaml.plain(&error.to_string())))?;
        let new = NewProposal { collection: self.collection, ops, reason: self.reason };
        let answer = change::<Propose>().ask(context, &new).await?;
        let shown: ShownProposal = answer.read()?;
        context.show(&answer.value, || {
            show::one(columns!(ShownProposal; id, collection, status), &shown)?;
            show::note(&format!("A steward applies it: `ok schema apply {}`.", shown.id));
            Ok(())
        })
    }
}
