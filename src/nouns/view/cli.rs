//! `ok view`: saved queries on the command line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::brain::figured;
use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::change::{Content, NewChange, ProposeChange, ShownChange};
use crate::nouns::view::{List, OneView, Opened, Preview, Rows, Show, ShownView, Unsaved};
use crate::policy::yaml;
use crate::types::change::ChangeTarget;
use crate::types::definition::MAX_BYTES;
use crate::types::page::{DEFAULT_LIMIT, MAX_LIMIT, PageQuery};
use crate::types::view::View;

pub const COMMANDS: Commands = &[&group(
    "view",
    "Saved questions about the company's own data",
    &[
        &query::<List>()
            .command("list")
            .help("List the views that you may see")
            .table("no views", columns!(ShownView; id, title, visibility, query)),
        &own::<Showing>("show"),
        &own::<Previewing>("preview"),
        &own::<Proposing>("propose"),
        &own::<Removing>("remove"),
    ],
)];

/// Show what a view finds of what you may read
///
/// Example: `ok view show open-invoices --limit 20`
#[derive(clap::Args)]
struct Showing {
    /// The view
    #[arg(value_name = "VIEW")]
    id: String,
    /// How many records at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
}

impl Run for Showing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let which = OneView { id: self.id, page: PageQuery { limit: self.limit, cursor: None } };
        let answer = query::<Show>().ask(context, &which).await?;
        let shown: Opened<ShownView> = answer.read()?;
        context.show(&answer.value, || {
            show::one(columns!(ShownView; id, title, visibility), &shown.of)?;
            show::text("")?;
            print(&shown.rows, self.limit)
        })
    }
}

/// Preview a view without saving it
///
/// Example: `ok view preview views/open-invoices.yaml`
#[derive(clap::Args)]
struct Previewing {
    /// The view's file (YAML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How many records at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
}

impl Run for Previewing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (_, view) = read(&self.file)?;
        let page = PageQuery { limit: self.limit, cursor: None };
        let unsaved = Unsaved { query: view.spec.query, layout: view.spec.layout, page };
        let answer = query::<Preview>().ask(context, &unsaved).await?;
        let shown: Opened<Unsaved> = answer.read()?;
        context.show(&answer.value, || print(&shown.rows, self.limit))
    }
}

/// Propose a view from a file
///
/// Example: `ok view propose views/open-invoices.yaml --reason "Everybody asks for it"`
#[derive(clap::Args)]
struct Proposing {
    /// The view's file (YAML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Run for Proposing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (text, view) = read(&self.file)?;
        let content = Content { definition: Some(text.into()), ..Content::default() };
        propose(view.metadata.name, content, self.reason, context).await
    }
}

/// Propose to remove a view
///
/// Example: `ok view remove open-invoices --reason "Nobody looks at it"`
#[derive(clap::Args)]
struct Removing {
    /// The view
    #[arg(value_name = "VIEW")]
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Run for Removing {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        propose(self.id, Content { remove: true, ..Content::default() }, self.reason, context).await
    }
}

async fn propose(view: String, content: Content, reason: String, context: &Context) -> Result<Exit, Failure> {
    let new = NewChange { target: ChangeTarget::View, target_id: Some(view), content, reason, base_version: None };
    let answer = change::<ProposeChange>().ask(context, &new).await?;
    let shown: ShownChange = answer.read()?;
    context.show(&answer.value, || {
        show::one(columns!(ShownChange; id, target, target_id, state), &shown)?;
        let id = &shown.id;
        show::note(&format!(
            "A steward brings it into force: `ok changes evals {id}`, then `ok changes promote {id}`."
        ));
        Ok(())
    })
}

/// Returns a view's file and the parsed view.
fn read(file: &Path) -> Result<(String, View), Failure> {
    let text = text_of(file, MAX_BYTES)?;
    let wrong =
        |error: yaml::YamlError| Failure::new(format!("`{}`: line {}: {}", file.display(), error.line, error.message));
    let view = yaml::read(&text).map_err(wrong)?;
    Ok((text, view))
}

/// Prints the rows of a view in its columns, and whether there may be more.
fn print(rows: &Rows, limit: Option<u32>) -> Result<(), Failure> {
    if !rows.problems.is_empty() {
        return show::text(&format!("You cannot ask this: {}", rows.problems.join("; ")));
    }
    let columns: Vec<&str> = rows.columns.iter().map(String::as_str).collect();
    let records = rows.records.iter().map(|record| record.fields.clone());
    let figures = rows.figures.iter().cloned().map(figured);
    let list: Vec<Value> = records.map(Value::Object).chain(figures).collect();
    show::list("nothing that you may read", &columns, &list)?;
    if let Some(record) = rows.records.iter().find(|record| !record.withheld.is_empty()) {
        show::note(&format!("withheld: {}", record.withheld.join(", ")));
    }
    let most = limit.unwrap_or(DEFAULT_LIMIT) as usize;
    if rows.records.len() == most {
        show::note(&format!("The first {most} are shown; --limit shows up to {MAX_LIMIT}."));
    }
    Ok(())
}
