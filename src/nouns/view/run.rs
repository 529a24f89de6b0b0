//! Runs a view for whoever opens it.
//!
//! Always true: it is asked as they would ask it themselves, by the rules of the same operations. A view grants nothing,
//! neither by its filter nor by its figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::brain::{Aggregate, Ask, Figure, Query, ShownRecord, Wanted, Withheld, answer, figures};
use gate::{Query as _, Reader};
use types::page::{Page, PageQuery};
use types::refusal::{Code, Stop};
use types::view::{ViewQuery, ViewSpec};

/// What a view finds.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct Rows {
    /// The columns from left to right, without the fields that the caller may not read.
    pub columns: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<ShownRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Why the caller could not run this query themselves; then nothing is shown.
    #[schemars(extend("x-names" = "text"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A view with what it finds.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Opened{T}")]
pub struct Opened<T> {
    #[serde(flatten)]
    pub of: T,
    #[serde(flatten)]
    pub rows: Rows,
    /// The cursor of the next page, which the header says.
    #[serde(skip)]
    pub next: Option<String>,
}

pub struct Answer {
    pub rows: Rows,
    pub next: Option<String>,
}

/// Returns what the view shows the caller.
pub fn opened(spec: &ViewSpec, page: PageQuery, read: &Reader<'_>) -> Result<Answer, Stop> {
    let found = if spec.query.is_figures() { figured(spec, read) } else { records(spec, page, read) };
    match found {
        // An invalid cursor is the caller's problem, not the view's.
        Err(Stop::Refused(refusal)) if refusal.code == Code::Invalid => {
            Ok(refused(match refusal.problems.is_empty() {
                true => vec![refusal.message],
                false => refusal.problems,
            }))
        }
        found => found,
    }
}

/// Explains why the caller could not run the query themselves, by the rules of the operation and with all its arguments.
fn refusal(
    operation: &str,
    asked: &impl Serialize,
    spec: &ViewSpec,
    read: &Reader<'_>,
) -> Result<Option<Answer>, Stop> {
    let of = read.collection_target(&spec.query.collection);
    let Value::Object(mut asked) = serde_json::to_value(asked)? else { return Ok(None) };
    // What a view leaves out, its reader would leave out, too.
    asked.retain(|_, given| !given.is_null() && !given.as_array().is_some_and(Vec::is_empty));
    let ruling = read.ruling_on(read.caller(), operation, &of, &Value::Object(asked));
    let denied = || refused(vec![format!("policy denied {operation}: {}", ruling.reason())]);
    Ok((!ruling.is_allowed()).then(denied))
}

fn refused(problems: Vec<String>) -> Answer {
    Answer { rows: Rows { problems, ..Rows::default() }, next: None }
}

fn figured(spec: &ViewSpec, read: &Reader<'_>) -> Result<Answer, Stop> {
    let ViewQuery { collection, filter, measures, metrics, group_by, .. } = spec.query.clone();
    let all = || group_by.iter().chain(&measures).chain(&metrics).cloned().collect();
    let columns = if spec.layout.columns.is_empty() { all() } else { spec.layout.columns.clone() };
    let wanted = Wanted { collection, measures, metrics, group_by, filter };
    if let Some(refused) = refusal(Aggregate::SPEC.name, &wanted, spec, read)? {
        return Ok(refused);
    }
    let figures = figures(&wanted, read)?;
    Ok(Answer { rows: Rows { columns, figures, ..Rows::default() }, next: None })
}

fn records(spec: &ViewSpec, page: PageQuery, read: &Reader<'_>) -> Result<Answer, Stop> {
    let ViewQuery { collection, filter, sort, fields, .. } = spec.query.clone();
    let of = read.collection(&collection);
    let columns = match (&spec.layout.columns, &fields) {
        (columns, _) if !columns.is_empty() => columns.clone(),
        (_, fields) if !fields.is_empty() => fields.clone(),
        _ => of.iter().flat_map(|of| of.spec.fields.keys().cloned()).collect(),
    };
    let fields = if fields.is_empty() { columns.clone() } else { fields };
    let ask = Ask { collection, filter, sort, fields, as_of: None, page };
    if let Some(refused) = refusal(Query::SPEC.name, &ask, spec, read)? {
        return Ok(refused);
    }
    let Page { rows: records, next } = answer(ask, read)?;
    let withheld = of.map(|of| Withheld::of(&of, read).names(&of).map(str::to_owned).collect::<Vec<_>>());
    let columns = columns.into_iter().filter(|name| withheld.iter().flatten().all(|one| one != name)).collect();
    Ok(Answer { rows: Rows { columns, records, ..Rows::default() }, next })
}
