//! Runs: agents at work. A run takes one step after another; each operation in it is performed as its agent, through the gate.
//! What it waits for is a row, so it continues after a restart where it was.

mod answer;
mod answers;
mod ask;
mod begin;
mod budget;
mod budgets;
mod cancel;
mod catalog;
mod dispatch;
mod following;
pub(super) mod inputs;
mod list;
mod mail;
mod model;
mod moves;
mod next;
mod outside;
mod prompt;
mod question;
mod reserve;
mod resource;
pub mod rest;
mod resume;
mod settle;
mod shown;
mod think;
pub mod tools;
mod trace;
mod under_way;
mod web;
mod whole;
mod why;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::runs::Run;
use types::refusal::{Refusal, Stop};

pub use answer::{Answer, Reply};
pub use ask::{Ask, Wish};
pub use begin::Begun;
pub(super) use begin::{Beginning, begin};
pub use budget::{Raise, Raised, Wanted};
pub(super) use cancel::cancel_with_parts;
pub use cancel::{Cancel, Cancellation};
pub use dispatch::{Dispatch, Due, DueRun, Free};
pub use following::{Following, Next, OneCall};
pub use list::{Follow, List, OneShown, Show, Which};
pub use mail::{MAIL, Message};
pub use model::{Heard, Outcome as ModelOutcome, Settle as SettleModel, Spoken};
pub use moves::Stage;
pub use outside::{Begun as BegunOutside, Came, ECHOES, Outcome as ToolOutcome, Settle as SettleTool, Tool};
pub use resource::RUN;
pub(super) use resume::{resume, resume_under};
pub(super) use settle::end_waits;
pub use settle::{Outcome as StepOutcome, Settle as SettleStep};
pub use shown::ShownRun;
pub(super) use shown::shown;
pub use web::{WEB, WebPage};
pub use whole::{ShownStep, WholeRun};

pub const ALL: &[Entry] = &[
    Entry::change::<ask::Ask>(),
    Entry::query::<ask::Agents>(),
    Entry::query::<list::List>(),
    Entry::query::<list::Show>(),
    Entry::query::<list::Follow>(),
    Entry::change::<answer::Answer>(),
    Entry::change::<cancel::Cancel>(),
    Entry::change::<budget::Raise>(),
    Entry::change::<question::AskSomebody>(),
    Entry::change::<model::Call>(),
    Entry::change::<model::Settle>(),
    Entry::query::<trace::List>(),
    Entry::query::<tools::List>(),
    Entry::query::<catalog::Read>(),
    Entry::query::<dispatch::Dispatch>(),
    Entry::query::<following::Following>(),
    Entry::change::<outside::Settle>(),
    Entry::change::<outside::Outside<outside::EchoRead>>(),
    Entry::change::<outside::Outside<outside::EchoIdempotent>>(),
    Entry::change::<outside::Outside<outside::EchoReconcilable>>(),
    Entry::change::<outside::Outside<outside::EchoOnce>>(),
    Entry::change::<outside::Outside<mail::SendMail>>(),
    Entry::change::<outside::Outside<web::ReadWeb>>(),
    Entry::change::<settle::Settle>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneRun {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Run, Stop> {
    Ok(read.run(id)?.ok_or_else(Refusal::not_found)?)
}

/// Returns a run that has not ended.
fn open(id: &str, read: &Reader<'_>) -> Result<Run, Stop> {
    let run = find(id, read)?;
    if run.status.is_over() {
        return Err(Refusal::conflict(format!("{id} is {}", run.status)).into());
    }
    Ok(run)
}
