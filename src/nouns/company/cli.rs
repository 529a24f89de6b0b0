//! `ok company`: the company's settings.

use serde::Serialize;

use super::column::columns;
use super::command::{Commands, group};
use super::exit::Failure;
use super::operation::{change, query};
use super::show;
use crate::nouns::company::{ApprovalSettings, CompanyAnswer, DecisionSettings, Hours, OtherSettings, Read, Update};
use crate::types::decision::Recording;

pub const COMMANDS: Commands = &[&group(
    "company",
    "Show and change the company's settings",
    &[
        &query::<Read>().command("show").help("Show the settings").print(print),
        &change::<Update>()
            .command("set")
            .help(
                "Change some settings\n\n\
                 The locale is stored but not used yet.",
            )
            .example("ok company set --timezone Europe/Berlin --hours 08:00-16:00")
            .given::<Changes>()
            .print(print),
    ],
)];

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// The company's name
    #[arg(long)]
    name: Option<String>,
    /// An IANA time zone, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// A language tag, such as en or de-CH
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// Working hours, in the company's time zone, such as 09:00-17:00
    #[arg(long, value_name = "FROM-TO")]
    hours: Option<Hours>,
    /// After how many days tasks and runs that have ended are archived, out of the lists; 0 for never
    #[arg(long, value_name = "DAYS")]
    retention_days: Option<u32>,
    /// Hours after which an undecided approval expires
    #[arg(long, value_name = "HOURS")]
    approval_hours: Option<u32>,
    /// Which decisions for other programs are recorded
    #[arg(long)]
    record: Option<Recording>,
    /// The most that agents may spend in a month, in cents
    #[arg(long, value_name = "CENTS")]
    budget: Option<u64>,
    /// No limit on what agents may spend in a month
    #[arg(long, conflicts_with = "budget")]
    no_budget: bool,
    /// Whether knowledge is also recalled by its meaning, which sends it to the server's embedding model
    #[arg(long, value_name = "true|false")]
    vector_search: Option<bool>,
}

impl From<Changes> for OtherSettings {
    /// Changes only what is given.
    fn from(new: Changes) -> OtherSettings {
        OtherSettings {
            name: new.name,
            timezone: new.timezone,
            locale: new.locale,
            hours: new.hours,
            retention_days: new.retention_days,
            approvals: new.approval_hours.map(|default_ttl_h| ApprovalSettings { default_ttl_h }),
            decisions: new.record.map(|record| DecisionSettings { record }),
            budget_cents_month: new.budget,
            no_budget: new.no_budget,
            vector_search: new.vector_search,
            version: None,
        }
    }
}

/// The settings as printed: a line each, named like their options.
#[derive(Serialize)]
struct ShownHours<'a> {
    hours: String,
    answer: &'a CompanyAnswer,
}

fn print(answer: &CompanyAnswer) -> Result<(), Failure> {
    let Hours { from, to } = &answer.settings.hours;
    let fields = columns!(
        ShownHours<'_>;
        answer.settings.name, answer.settings.timezone, answer.settings.locale, hours,
        answer.settings.retention_days, answer.settings.approvals.default_ttl_h as "approval_hours",
        answer.settings.decisions.record, answer.settings.budget_cents_month, answer.settings.vector_search,
        answer.version
    );
    show::one(fields, &ShownHours { hours: format!("{from}-{to}"), answer })?;
    if answer.settings.vector_search && answer.vector_model.is_none() {
        show::note(
            "This server has no embedding model (`embeddings` in OK_LLM_CONFIG): knowledge is recalled by words only.",
        );
    }
    Ok(())
}
