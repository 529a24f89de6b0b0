//! `ok policy explain` and `ok policy who-can`: print what the gate would answer, and why.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use super::super::column::columns;
use super::super::command::{Needs, Run};
use super::super::definition::text_of;
use super::super::exit::{Exit, Failure};
use super::super::operation::{Operation, query};
use super::super::{Context, show};
use super::explained::{self, ShownAnswer};
use super::tree;
use crate::nouns::authzen::Evaluation;
use crate::nouns::policy::explain::{self, BrieflyExplained, Explanation, ToExplain};
use crate::nouns::policy::moment::Moment;
use crate::nouns::policy::who_can::{self, Able, Wanted};
use crate::types::id::ActorId;
use crate::types::json;
use crate::types::page::Page;

/// Explain what the gate would answer; nothing is done
///
/// Without an operation, every operation is asked about.
///
/// Example: `ok policy explain token.issue bob --actor ana`
#[derive(clap::Args)]
pub struct Explain {
    /// The operation, such as token.issue [default: all]
    op: Option<String>,
    /// The target: the id of an actor, a token, an approval, a change, a delegation, a grant, a task, a run or an event, or a kill switch [default: the company]
    target: Option<String>,
    /// The operation's input, as JSON: {"id": "kim", "kind": "person", "role": "admin"}
    #[arg(long, value_name = "JSON")]
    input: Option<Json>,
    /// The actor [default: the acting actor]
    #[arg(long, value_name = "ID")]
    actor: Option<ActorId>,
    /// Show each policy part by part, with the values it read
    #[arg(long)]
    tree: bool,
    /// The delegation to act under [default: the one that you act under]
    #[arg(long, value_name = "DELEGATION")]
    under: Option<String>,
    /// The run whose step would perform it: one of the actor's [default: the target run, for operations that only running agents can perform]
    #[arg(long, value_name = "RUN", conflicts_with = "at")]
    run: Option<String>,
    /// A file with a question about your own types, as other programs ask it: JSON with subject, action, resource and context
    #[arg(long, value_name = "FILE", conflicts_with_all = ["op", "input", "actor", "under", "run"])]
    evaluation: Option<PathBuf>,
    /// Decide as of this point: the number of an event, or a time such as 2026-11-20T09:00:00Z
    #[arg(long, value_name = "WHEN")]
    at: Option<Moment>,
}

/// A JSON argument.
#[derive(Clone)]
struct Json(Value);

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Json, serde_json::Error> {
        json::read(text.as_bytes()).map(Json)
    }
}

impl Run for Explain {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let (is_past, is_tree) = (self.at.is_some(), self.tree);
        let evaluation = self.evaluation.as_deref().map(read).transpose()?;
        let (op, target, input) = (self.op, self.target, self.input.map(|input| input.0));
        let Explain { actor, under, run, at, .. } = self;
        let question = ToExplain { op, target, input, actor, under, run, at, evaluation };
        let answer = query::<explain::Explain>().ask(context, &question).await?;
        context.show(&answer.value, || {
            let told: ShownAnswer = match answer.read()? {
                Explanation::One(one) => (*one).into(),
                Explanation::Evaluated(one) => (*one).into(),
                Explanation::All(all) => {
                    return show::rows(columns!(BrieflyExplained; operation, decision, reason), &all.operations);
                }
            };
            match is_tree {
                true => show::painted(&tree::drawn(&told, is_past, show::is_coloured())),
                false => explained::print(&told, is_past),
            }
        })
    }
}

/// The maximum bytes of a question's file.
const MOST: usize = 1 << 20;

fn read(path: &Path) -> Result<Evaluation, Failure> {
    let wrong = |error: serde_json::Error| Failure::new(format!("{}: {error}", path.display()));
    json::read(text_of(path, MOST)?.as_bytes()).map_err(wrong)
}

pub(super) const WHO_CAN: Operation<Wanted, Page<Able>> = query::<who_can::WhoCan>()
    .command("who-can")
    .help("List who may perform an operation, with or without approval\n\nLists only actors whose decisions you may have explained.")
    .example("ok policy who-can actor.offboard bob")
    .anywhere()
    .in_pages()
    .print(able);

/// An actor who may perform the operation, with the ids of the policies responsible.
#[derive(Serialize)]
struct Row<'a> {
    able: &'a Able,
    because: Vec<&'a str>,
}

fn able(page: &Page<Able>) -> Result<(), Failure> {
    let row = |able| Row { able, because: able.because.iter().map(|policy| policy.id.as_str()).collect() };
    let rows: Vec<Row<'_>> = page.rows.iter().map(row).collect();
    show::rows(columns!(Row<'_>; able.actor, able.decision, able.approvals, because), &rows)
}
