//! `ok company`: its settings.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};

use super::command::{Commands, Run, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, show};

pub const COMMANDS: Commands = &[&owns::<Company>("company")];

/// Show and change the company's settings
#[derive(Subcommand)]
pub enum Company {
    /// Show the settings
    Show,
    /// Change some settings
    ///
    /// Time zone, locale, hours, retention and budget are kept, and nothing reads them yet.
    ///
    /// Example: `ok company set --timezone Europe/Berlin --hours 08:00-16:00`
    Set(Box<Changes>),
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
pub struct Changes {
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
    #[arg(long, value_name = "FROM-TO", value_parser = hours)]
    hours: Option<Value>,
    /// How many days content is to be kept; 0 for good
    #[arg(long, value_name = "DAYS")]
    retention_days: Option<u32>,
    /// Hours after which an undecided approval expires
    #[arg(long, value_name = "HOURS")]
    approval_hours: Option<u32>,
    /// Which decisions for other programs are recorded
    #[arg(long, value_parser = PossibleValuesParser::new(["all", "refusals", "none"]))]
    record: Option<String>,
    /// What agents are to spend in a month at most, in cents
    #[arg(long, value_name = "CENTS")]
    budget: Option<u64>,
    /// No limit to what agents may spend in a month
    #[arg(long, conflicts_with = "budget")]
    no_budget: bool,
}

fn hours(text: &str) -> Result<Value, String> {
    let (from, to) = text.split_once('-').ok_or("must be FROM-TO, such as 09:00-17:00")?;
    Ok(json!({ "from": from, "to": to }))
}

impl Run for Company {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = match self {
            Company::Show => client::call(context, "company.read", json!({})).await?,
            Company::Set(changes) => client::call(context, "company.update", changes.input()).await?,
        };
        context.show(&answer, || {
            let fields = [
                "name",
                "timezone",
                "locale",
                "hours",
                "retention_days",
                "approval_hours",
                "record",
                "budget_cents_month",
                "version",
            ];
            show::fields(&fields, &flat(&answer))
        })
    }
}

impl Changes {
    /// Only what is given: the rest stays as it is.
    fn input(self) -> Value {
        let given = [
            ("name", self.name.map(Value::from)),
            ("timezone", self.timezone.map(Value::from)),
            ("locale", self.locale.map(Value::from)),
            ("hours", self.hours),
            ("retention_days", self.retention_days.map(Value::from)),
            ("approvals", self.approval_hours.map(|hours| json!({ "default_ttl_h": hours }))),
            ("decisions", self.record.map(|record| json!({ "record": record }))),
            ("budget_cents_month", self.budget.map(Value::from)),
            ("no_budget", self.no_budget.then_some(Value::from(true))),
        ];
        let given = given.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
        given.collect::<Map<_, _>>().into()
    }
}

/// The settings as people read them: a line each, by the names that the options have.
fn flat(answer: &Value) -> Value {
    let at = |path: &str| answer.pointer(path).cloned().unwrap_or_default();
    let hours = format!("{}-{}", show::cell(Some(&at("/hours/from"))), show::cell(Some(&at("/hours/to"))));
    let mut flat = answer.as_object().cloned().unwrap_or_default();
    flat.extend([
        ("hours".to_owned(), Value::from(hours)),
        ("approval_hours".to_owned(), at("/approvals/default_ttl_h")),
        ("record".to_owned(), at("/decisions/record")),
    ]);
    flat.into()
}
