//! Views: saved queries about a collection, and the layout of their answers. A view grants no right: whoever opens it is shown
//! what they could query themselves.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::actor::named;
use super::collection::{Collection, MOST_FIELDS};
use super::definition::{ApiVersion, Metadata};
use super::figures::{figure_of, group_of, no_metric};
use super::filter;
use super::id::ActorId;
use super::problems::Problems;

/// The maximum number of views in a company.
pub const MOST_VIEWS: usize = 500;
/// The maximum number of sort fields, of figures per group, and of fields to group by.
pub const MOST_SORTED: usize = 4;
pub const MOST_MEASURES: usize = 20;
pub const MOST_GROUPED: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ViewKind {
    View,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    #[serde(rename = "apiVersion")]
    pub api_version: ApiVersion,
    pub kind: ViewKind,
    pub metadata: Metadata,
    pub spec: ViewSpec,
}

/// What it asks, how it is laid out, and who sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    pub query: ViewQuery,
    #[serde(default)]
    pub layout: Layout,
    /// The team or the person that it is for; everybody inside unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<ActorId>,
}

/// What a view asks: for records or, with measures or metrics, for figures about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    pub collection: String,
    /// The filter, as in a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-names" = "values"))]
    pub filter: Option<Value>,
    /// The fields to sort records by, at most 4; prefix one with `-` for descending order.
    #[schemars(length(max = 4))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<String>,
    /// The fields to show of records; all, unless given.
    #[schemars(length(max = 300))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Figures: `count`, or `sum:total` and the like; at most 20, metrics included.
    #[schemars(length(max = 20))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// Metrics that the collection's semantics define.
    #[schemars(length(max = 20))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// What figures are grouped by, at most 4: fields, fields with a period, or dimensions.
    #[schemars(length(max = 4))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
}

named! {
    /// How an answer is laid out.
    LayoutKind, "kind of layout", {
        /// Rows and columns.
        Table = "table",
        /// A bar for each group, as long as its first figure.
        Bars = "bars",
    }
}

/// How a view's answer is laid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    #[serde(default = "Layout::usual")]
    pub kind: LayoutKind,
    /// The columns from left to right: a selection of what the query asks for; by default all of it, in its order.
    #[schemars(length(max = 300))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { kind: Layout::usual(), columns: Vec::new() }
    }
}

impl Layout {
    const fn usual() -> LayoutKind {
        LayoutKind::Table
    }
}

/// Checks whether it is a valid name of a view.
pub fn is_view_name(name: &str) -> bool {
    let known = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'_' | b'-');
    (1..=63).contains(&name.len()) && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(known)
}

/// What a valid name is.
pub const VIEW_NAME: &str = "must have 1 to 63 small letters, digits, `-` and `_`, and begin with a letter";

impl View {
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Checks what is invalid for any collection.
    pub fn problems(&self, problems: &mut Problems) {
        self.metadata.problems(problems);
        problems.check(is_view_name(self.name()), format!("metadata.name: {VIEW_NAME}"));
        self.spec.problems(problems);
    }
}

impl ViewSpec {
    /// Checks what is invalid for any collection.
    pub fn problems(&self, problems: &mut Problems) {
        let ViewQuery { sort, fields, measures, metrics, group_by, .. } = &self.query;
        let figures = measures.len() + metrics.len();
        let most = |problems: &mut Problems, name: &str, count: usize, most: usize| {
            problems.check(count <= most, format!("spec.query.{name}: must be at most {most}"));
        };
        most(problems, "sort", sort.len(), MOST_SORTED);
        most(problems, "fields", fields.len(), MOST_FIELDS);
        most(problems, "measures", figures, MOST_MEASURES);
        most(problems, "group_by", group_by.len(), MOST_GROUPED);
        problems.check(
            figures > 0 || group_by.is_empty(),
            "spec.query.group_by: only figures can be grouped: name measures or metrics",
        );
        problems.check(
            figures == 0 || (fields.is_empty() && sort.is_empty()),
            "spec.query: asks for figures or for records: measures, metrics and group_by, or fields and sort",
        );
        let is_one_group = figures > 0 && group_by.len() == 1;
        problems.check(
            self.layout.kind != LayoutKind::Bars || is_one_group,
            "spec.layout.kind: bars need figures with exactly one group_by",
        );
        let team_or_person = self.visibility.as_ref().is_none_or(|id| !id.is_reserved());
        problems.check(team_or_person, "spec.visibility: must be a team or a person; omit it for everybody inside");
    }

    /// Checks what does not fit the queried collection.
    pub fn misfits(&self, of: &Collection, problems: &mut Problems) {
        let query = &self.query;
        if let Some(Err((at, what))) =
            query.filter.as_ref().map(|filter| filter::check(of, filter, "spec.query.filter"))
        {
            problems.0.push(format!("{at}: {what}"));
        }
        let mut report = |place: &str, fits: Result<(), String>| {
            if let Err(what) = fits {
                problems.0.push(format!("spec.{place}: {what}"));
            }
        };
        query.sort.iter().for_each(|name| report("query.sort", sorted(of, name)));
        for name in &query.fields {
            report("query.fields", of.field(name).map(drop).ok_or_else(|| of.no_field(name)));
        }
        query.measures.iter().for_each(|text| report("query.measures", figure_of(of, text).map(drop)));
        query.group_by.iter().for_each(|text| report("query.group_by", group_of(of, text).map(drop)));
        let metrics = &of.spec.semantics.metrics;
        for name in query.metrics.iter().filter(|name| !metrics.contains_key(*name)) {
            report("query.metrics", Err(no_metric(of, name)));
        }
        let shown: BTreeSet<&String> = query.shown(of).collect();
        for name in self.layout.columns.iter().filter(|name| !shown.contains(name)) {
            report("layout.columns", Err(format!("`{}` is not asked for", short(name))));
        }
    }
}

impl ViewQuery {
    /// Checks whether it queries figures.
    pub fn is_figures(&self) -> bool {
        !self.measures.is_empty() || !self.metrics.is_empty()
    }

    /// Returns the columns of its rows.
    fn shown<'a>(&'a self, of: &'a Collection) -> Box<dyn Iterator<Item = &'a String> + 'a> {
        if self.is_figures() {
            Box::new(self.group_by.iter().chain(&self.measures).chain(&self.metrics))
        } else if self.fields.is_empty() {
            Box::new(of.spec.fields.keys())
        } else {
            Box::new(self.fields.iter())
        }
    }

    /// Returns the fields that it filters by: an index makes those fast.
    pub fn found_by(&self, of: &Collection) -> BTreeSet<String> {
        let filter = self.filter.as_ref().and_then(|filter| filter::check(of, filter, "filter").ok());
        filter.iter().flat_map(|filter| filter.columns().into_iter().map(str::to_owned)).collect()
    }
}

fn sorted(of: &Collection, text: &str) -> Result<(), String> {
    let name = text.strip_prefix('-').unwrap_or(text);
    of.findable(name)?.kind.sorts(name)
}

fn short(name: &str) -> String {
    name.chars().take(64).collect::<String>().escape_debug().to_string()
}
