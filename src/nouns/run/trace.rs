//! Traces: runs with their steps, for monitoring.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::whole::{ShownStep, whole};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::runs::{self, Run, archive};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::run::RunStatus;
use types::scope::Reach;
use types::time::Time;

/// The maximum number of traces per page; below, the default.
const MOST: u32 = 200;
const USUAL: u32 = 50;

/// The format of a day.
const DAY: &str = "YYYY-MM-DD";

/// Which traces.
#[derive(Deserialize, JsonSchema)]
pub struct Which {
    /// Only runs requested since this time (RFC 3339) or day (UTC, YYYY-MM-DD).
    pub since: Option<String>,
    /// The maximum number of results: 1 to 200, 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// The previous page's `x-next-cursor`.
    #[schemars(length(max = 65_536))]
    pub cursor: Option<String>,
}

/// A run with its steps.
#[derive(Serialize, JsonSchema)]
pub struct Trace {
    pub run: String,
    pub agent: ActorId,
    pub task: String,
    pub status: RunStatus,
    pub steps: Vec<ShownStep>,
    pub cost_cents: i64,
    pub created_at: Time,
}

/// A page of traces.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Traces {
    page: Page<Trace>,
    /// Archived runs come after it.
    #[serde(skip)]
    is_partial: bool,
}

/// List traces.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "trace.read",
        doc: "List the runs that the caller may see, with their steps, newest first; archived runs too. `x-ok-partial: true` \
              says that the page omits archived ones.",
        scope: Reach::READ,
        route: get("/traces").listed().partial(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Traces;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Traces, Stop> {
        let unread =
            || Refusal::field("since", "must be a time such as 2026-01-31T09:00:00Z, or a day such as 2026-01-31");
        let since = input.since.as_deref().map(|text| time_or_day(text).ok_or_else(unread)).transpose()?;
        let limit = match input.limit.unwrap_or(USUAL) {
            limit @ 1..=MOST => limit,
            limit => return Err(Refusal::bad_request(format!("limit: must be 1 to {MOST}, not {limit}")).into()),
        };
        let what = format!("trace.read {}", since.map(|since| since.0).unwrap_or_default());
        let sought = runs::Sought { since, archived: true, ..runs::Sought::default() };
        let query = PageQuery { limit: Some(limit), cursor: input.cursor };
        let seen = |run: &Run| read.may("run.read", &read.run_target(run));
        let page = read.list(&archive::ALL, &query, what.clone(), |run| sought.fits(run) && seen(run))?;
        let is_partial = match &page.next {
            Some(next) => {
                let query = PageQuery { limit: Some(1), cursor: Some(next.clone()) };
                let more = read.list(&archive::ARCHIVED, &query, what, |run| sought.fits(run) && seen(run))?;
                // A page that ended without results may be followed by some.
                !more.rows.is_empty() || more.next.is_some()
            }
            None => false,
        };
        let rows = page.rows.into_iter().map(|run| trace(run, read)).collect::<Result<_, _>>()?;
        Ok(Traces { page: Page { rows, next: page.next }, is_partial })
    }

    fn next(output: &Traces) -> Option<String> {
        output.page.next.clone()
    }

    fn is_partial(output: &Traces) -> bool {
        output.is_partial
    }
}

fn time_or_day(text: &str) -> Option<Time> {
    let day = || if text.len() == DAY.len() { format!("{text}T00:00:00Z").parse().ok() } else { None };
    // Unlike other formats of times, RFC 3339 requires seconds.
    let is_whole = text.get(16..17) == Some(":");
    text.parse().ok().filter(|_| is_whole).or_else(day)
}

fn trace(run: Run, read: &Reader<'_>) -> Result<Trace, Stop> {
    let whole = whole(run, 0, read)?;
    Ok(Trace {
        run: whole.run.id,
        agent: whole.run.agent,
        task: whole.run.task,
        status: whole.run.status,
        steps: whole.trace,
        cost_cents: whole.run.cost_cents,
        created_at: whole.run.created_at,
    })
}
