//! Operations on the company: its settings and its first admin.

mod init;

use std::ops::Not;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Nothing, given};
use gate::{Change, Draft, Entry, Noun, Permit, Query, Reader, Resource, Spec, Staged, Target, get, patch, put};
use store::company::Company;
use store::company::events::CompanyUpdated;
use types::decision::Recording;
use types::hours::Working;
use types::refusal::{Fault, Refusal, Stop};
use types::scope::Reach;
use types::visible::{NO_NAME, is_name};

pub use init::{Begun, FirstAdmin, Init};

/// The company itself: the target of operations without a narrower one.
pub static COMPANY: Resource = Resource {
    noun: Noun {
        name: "Company",
        doc: "The company itself.",
        sight: None,
        own: None,
        facts: &[],
        staged: Staged::Directory,
    },
    title: None,
    version: Some(|_, read| Ok(read.company()?.version)),
    brief: Resource::says_nothing,
    find: |id, _| Ok((id == "company").then_some(Target::Company)),
    state,
};

/// Returns the state to which approvals are bound: the settings' version and the policy source.
fn state(_: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let source = read.policy_source()?;
    let source = source.map(|one| json!({ "url": one.url, "ref": one.r#ref, "path": one.path, "auto": one.auto }));
    Ok(json!({ "version": read.company()?.version, "policy_source": source }))
}

pub const ALL: &[Entry] =
    &[Entry::query::<Read>(), Entry::change::<Replace>(), Entry::change::<Update>(), Entry::change::<Init>()];

/// A company's settings.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// An IANA time zone, such as `Europe/Berlin`: that of `hours`.
    pub timezone: String,
    /// A language tag, such as `en` or `de-CH`. Nothing reads it yet.
    pub locale: String,
    /// Working hours, Monday to Friday, in the company's time zone: the `sla` of tasks counts them.
    pub hours: Hours,
    /// After how many days ended tasks and runs are archived, that is, removed from the lists; 0 for never. Nothing is
    /// deleted.
    pub retention_days: u32,
    pub approvals: ApprovalSettings,
    pub decisions: DecisionSettings,
    /// The most that agents may spend in a calendar month (UTC), in cents; absent for no limit. Beyond it, runs are held.
    pub budget_cents_month: Option<u64>,
    /// Whether knowledge is also recalled by its meaning: accepted entries, and questions, are sent to the server's embedding
    /// model (`embeddings` in OK_LLM_CONFIG).
    pub vector_search: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hours {
    /// `HH:MM`
    pub from: String,
    /// `HH:MM`
    pub to: String,
}

/// Parses hours as typed on the command line.
impl FromStr for Hours {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Hours, &'static str> {
        let (from, to) = text.split_once('-').ok_or("must be FROM-TO, such as 09:00-17:00")?;
        Ok(Hours { from: from.to_owned(), to: to.to_owned() })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalSettings {
    /// Hours after which an undecided approval expires: 1 to 720.
    #[schemars(range(min = 1, max = 720))]
    pub default_ttl_h: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DecisionSettings {
    /// Which decisions for other programs are recorded: `all`, `refusals` or `none`.
    pub record: Recording,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            name: "Company".into(),
            timezone: "UTC".into(),
            locale: "en".into(),
            hours: Hours { from: "09:00".into(), to: "17:00".into() },
            retention_days: 0,
            approvals: ApprovalSettings { default_ttl_h: 72 },
            decisions: DecisionSettings { record: Recording::default() },
            budget_cents_month: None,
            vector_search: false,
        }
    }
}

impl Settings {
    pub(super) fn stored(company: &Company) -> Result<Settings, Stop> {
        let mut settings: Settings = serde_json::from_value(company.settings.clone())?;
        settings.name.clone_from(&company.name);
        Ok(settings)
    }

    /// Returns the working hours.
    pub(super) fn working(&self) -> Option<Working> {
        let zone = jiff::tz::TimeZone::get(&self.timezone).ok()?;
        Some(Working { zone, from: self.hours.from.parse().ok()?, to: self.hours.to.parse().ok()? })
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, problem: &str| {
            if !fine {
                problems.push(problem.to_owned());
            }
        };
        let language = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let time = |text: &str| text.len() == 5 && text.parse::<jiff::civil::Time>().is_ok();
        check(is_name(&self.name), NO_NAME);
        check(
            jiff::tz::TimeZone::get(&self.timezone).is_ok(),
            "timezone: must be an IANA time zone, such as Europe/Berlin",
        );
        check(
            (2..=35).contains(&self.locale.len()) && self.locale.chars().all(language),
            "locale: must be a language tag, such as en or de-CH",
        );
        check(time(&self.hours.from), "hours.from: must be HH:MM");
        check(time(&self.hours.to), "hours.to: must be HH:MM");
        check((1..=720).contains(&self.approvals.default_ttl_h), "approvals.default_ttl_h: must be 1 to 720");
        check(self.retention_days <= 36_500, "retention_days: must be at most 36500");
        // The largest integer that is exact in the log's canonical JSON.
        check(
            self.budget_cents_month.is_none_or(|cents| cents < (1 << 53)),
            "budget_cents_month: must be at most 9007199254740991",
        );
        problems
    }
}

/// A company's settings with their version.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CompanyAnswer {
    #[serde(flatten)]
    pub settings: Settings,
    /// Grows with each change; send it back to get a conflict if somebody else has changed the settings meanwhile.
    pub version: i64,
    /// The server's embedding model; without one, `vector_search` has no effect.
    #[serde(default)]
    pub vector_model: Option<String>,
}

/// Builds the answer with the settings.
fn answer(settings: Settings, version: i64, read: &Reader<'_>) -> CompanyAnswer {
    let vector_model = read.any_embedder().map(|embedder| embedder.model().to_owned());
    CompanyAnswer { settings, version, vector_model }
}

/// Read the settings.
pub enum Read {}

impl Query for Read {
    const SPEC: Spec = Spec {
        name: "company.read",
        doc: "Read the company's settings.",
        scope: Reach::READ,
        route: get("/company"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = CompanyAnswer;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<CompanyAnswer, Stop> {
        let company = read.company()?;
        Ok(answer(Settings::stored(&company)?, company.version, read))
    }
}

/// All the settings. A field that is left out gets its default.
#[derive(Deserialize, JsonSchema)]
pub struct NewSettings {
    #[serde(flatten)]
    pub settings: Settings,
    /// The version that the change was made from.
    pub version: i64,
}

/// Replace the settings.
pub enum Replace {}

impl Change for Replace {
    const SPEC: Spec = Spec {
        name: "company.replace",
        doc: "Replace all the company's settings.",
        scope: Reach::Full,
        route: put("/company").made_from("version"),
        about: &[&COMPANY],
        events: &[CompanyUpdated::KIND],
    };
    const SAYS: &'static str = "replaces the company's settings";
    type Input = NewSettings;
    type Output = CompanyAnswer;

    fn target(_: &NewSettings, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: NewSettings, draft: &mut Draft<'_>) -> Result<CompanyAnswer, Stop> {
        changed(input.settings, &draft.read().company()?, draft)
    }
}

/// What is to be otherwise. What is absent stays as it is.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct OtherSettings {
    /// 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub name: Option<String>,
    /// An IANA time zone, such as `Europe/Berlin`: that of `hours`.
    pub timezone: Option<String>,
    /// A language tag, such as `en` or `de-CH`. Nothing reads it yet.
    pub locale: Option<String>,
    /// Working hours, Monday to Friday, in the company's time zone: the `sla` of tasks counts them.
    pub hours: Option<Hours>,
    /// After how many days ended tasks and runs are archived, that is, removed from the lists; 0 for never. Nothing is
    /// deleted.
    pub retention_days: Option<u32>,
    pub approvals: Option<ApprovalSettings>,
    pub decisions: Option<DecisionSettings>,
    /// The most that agents may spend in a calendar month (UTC), in cents.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub budget_cents_month: Option<u64>,
    /// No limit on what agents may spend in a month.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[schemars(extend("x-empties" = "budget_cents_month"))]
    pub no_budget: bool,
    /// Whether knowledge is also recalled by its meaning: accepted entries, and questions, are sent to the server's embedding
    /// model (`embeddings` in OK_LLM_CONFIG).
    pub vector_search: Option<bool>,
    /// The version that the change was made from.
    pub version: Option<i64>,
}

impl OtherSettings {
    fn says_nothing(&self) -> bool {
        let OtherSettings { name, timezone, locale, hours, retention_days, approvals, decisions, .. } = self;
        let texts = [name, timezone, locale].iter().all(|text| text.is_none());
        let others = hours.is_none() && retention_days.is_none() && approvals.is_none() && decisions.is_none();
        texts && others && self.budget_cents_month.is_none() && !self.no_budget && self.vector_search.is_none()
    }

    fn on(self, before: Settings) -> Settings {
        Settings {
            name: self.name.unwrap_or(before.name),
            timezone: self.timezone.unwrap_or(before.timezone),
            locale: self.locale.unwrap_or(before.locale),
            hours: self.hours.unwrap_or(before.hours),
            retention_days: self.retention_days.unwrap_or(before.retention_days),
            approvals: self.approvals.unwrap_or(before.approvals),
            decisions: self.decisions.unwrap_or(before.decisions),
            budget_cents_month: self.budget_cents_month.or(before.budget_cents_month.filter(|_| !self.no_budget)),
            vector_search: self.vector_search.unwrap_or(before.vector_search),
        }
    }
}

/// Change some settings.
pub enum Update {}

impl Change for Update {
    const SPEC: Spec = Spec {
        name: "company.update",
        doc: "Change some of the company's settings.",
        scope: Reach::Full,
        route: patch("/company").made_from("version"),
        about: &[&COMPANY],
        events: &[CompanyUpdated::KIND],
    };
    const SAYS: &'static str = "changes the company's settings";
    type Input = OtherSettings;
    type Output = CompanyAnswer;

    fn target(_: &OtherSettings, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: OtherSettings, draft: &mut Draft<'_>) -> Result<CompanyAnswer, Stop> {
        if input.says_nothing() {
            return Err(Refusal::invalid(vec!["specify at least one change: a setting, or no_budget".into()]).into());
        }
        if input.no_budget && input.budget_cents_month.is_some() {
            return Err(Refusal::field("no_budget", "name a budget or none, not both").into());
        }
        let company = draft.read().company()?;
        changed(input.on(Settings::stored(&company)?), &company, draft)
    }
}

/// Records the changed settings.
fn changed(settings: Settings, before: &Company, draft: &mut Draft<'_>) -> Result<CompanyAnswer, Stop> {
    let problems = settings.problems();
    if !problems.is_empty() {
        return Err(Refusal::invalid(problems).into());
    }
    let version = before.version + 1;
    draft.record(CompanyUpdated { version, settings: serde_json::to_value(&settings)? })?;
    Ok(answer(settings, version, draft.read()))
}
