//! One test file: who is there, and what is asked.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::case::{Around, Case, Way};
use super::matrix::Matrix;
use super::own::{self, Evaluation, Records};
use super::rows::{Delegation, Fixture, Member, Row, Step, Strict, Team};
use crate::Finding;
use crate::finding::code;
use crate::yaml::{self, YamlError};
use types::actor::KillScope;
use types::expected::Format;
use types::history::History;
use types::id::ActorId;
use types::impact::Decision;
use types::scope::Scopes;
use types::time::Time;

/// The most cases that one file may come to.
const MAX_CASES: usize = 20_000;
/// As many mistakes of one file are told.
const MAX_REPORTED: usize = 50;

/// What a file holds.
#[derive(Default)]
struct Fields {
    now: Option<Time>,
    teams: Vec<Team>,
    actors: Vec<Member>,
    delegations: Vec<Delegation>,
    records: Vec<own::Row>,
    cases: Vec<Line>,
    matrix: Vec<Matrix>,
    evaluations: Vec<own::Line>,
    /// What stands in lists of any other name.
    rows: Vec<Row>,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fields, D::Error> {
        struct Lists;
        impl<'de> Visitor<'de> for Lists {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of lists")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let (mut fields, mut seen) = (Fields::default(), BTreeSet::new());
                while let Some(list) = map.next_key::<String>()? {
                    if !seen.insert(list.clone()) {
                        return Err(A::Error::custom(format!("duplicate field `{list}`")));
                    }
                    match list.as_str() {
                        "now" => fields.now = map.next_value()?,
                        "teams" => fields.teams = map.next_value()?,
                        "actors" => fields.actors = map.next_value()?,
                        "delegations" => fields.delegations = map.next_value()?,
                        "records" => fields.records = map.next_value()?,
                        "cases" => fields.cases = map.next_value()?,
                        "matrix" => fields.matrix = map.next_value()?,
                        "evaluations" => fields.evaluations = map.next_value()?,
                        other => {
                            let rows: Vec<Strict> = map.next_value()?;
                            let rows =
                                rows.into_iter().map(|Strict(row)| Row::of(other, row).map_err(A::Error::custom));
                            fields.rows.extend(rows.collect::<Result<Vec<_>, _>>()?);
                        }
                    }
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Lists)
    }
}

/// One case as it is written. (serde cannot flatten a struct that refuses unknown fields.)
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    actor: String,
    op: String,
    target: Option<String>,
    expect: Decision,
    because: Option<Vec<String>>,
    approvals: Option<Vec<String>>,
    #[serde(default)]
    granted: Vec<String>,
    #[serde(default)]
    broken: bool,
    #[serde(default)]
    kill: Vec<KillScope>,
    #[serde(default)]
    release: bool,
    #[serde(default)]
    scopes: Scopes,
    channel: Option<Way>,
    now: Option<Time>,
    under: Option<String>,
    input: Option<Value>,
    issuer: Option<ActorId>,
    run: Option<Step>,
    #[serde(default)]
    hist: History,
}

/// One file, read.
pub struct TestFile {
    pub fixture: Fixture,
    pub cases: Vec<Case>,
    /// What the company's own types look like in it.
    pub records: Records,
    /// Questions about them.
    pub evaluations: Vec<Evaluation>,
}

/// 2026-01-01T00:00:00Z
const NOW: Time = Time(1_767_225_600_000);

/// Reads a test file, or says what is wrong with it. `check` knows the lists that it may hold.
pub fn parse(file: &str, text: &str, check: &dyn Fn(&Row) -> Result<(), String>) -> Result<TestFile, Vec<Finding>> {
    let finding = |error: YamlError| {
        let span = line_span(text, error.line);
        Finding::new(code::TEST_INVALID, file, error.line, span, error.message)
    };
    read(text, check).map_err(|mut wrong| {
        let more = wrong.split_off(wrong.len().min(MAX_REPORTED));
        let next = more.first().map(|error| YamlError::at(error.line, format!("and {} more mistakes", more.len())));
        wrong.into_iter().chain(next).map(finding).collect()
    })
}

/// Where a line of a text stands.
fn line_span(text: &str, line: usize) -> (usize, usize) {
    line_spans(text).nth(line.saturating_sub(1)).unwrap_or((text.len(), 0))
}

/// Returns the extent of each line without surrounding blanks: its start and its length in bytes.
pub(super) fn line_spans(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = (start + line.len() - line.trim_start().len(), line.trim().len());
        start += line.len();
        if span.1 > 0 { span } else { (start - line.len(), 0) }
    })
}

/// Reads it whole, or gives all that is wrong with it.
fn read(text: &str, check: &dyn Fn(&Row) -> Result<(), String>) -> Result<TestFile, Vec<YamlError>> {
    let Fields { now, teams, actors, delegations, records, cases, matrix, evaluations, rows } =
        match yaml::read::<Option<Fields>>(text) {
            Ok(Some(fields)) => fields,
            Ok(None) => return Err(vec![YamlError::at(1, "the file is empty")]),
            Err(first) => return Err(unread(text, first)),
        };
    let mut wrong = Vec::new();
    let mut asked = each(text, "cases", cases, Line::read, &mut wrong);
    let size = matrix.iter().map(Matrix::size).fold(asked.len() + evaluations.len(), usize::saturating_add);
    if size > MAX_CASES {
        return Err(vec![YamlError::at(1, format!("the file comes to more than {MAX_CASES} cases"))]);
    }
    asked.extend(each(text, "matrix", matrix, Matrix::read, &mut wrong).into_iter().flatten());
    let evaluations = each(text, "evaluations", evaluations, own::Line::read, &mut wrong);
    let records = Records::new(records).map_err(|twice| YamlError::at(yaml::line_of(text, &["records"]), twice));
    let fixture = Fixture { now: now.unwrap_or(NOW), teams, actors, delegations, rows };
    let unlike = fixture.rows.iter().filter_map(|row| Some((row.list.as_str(), row.id.as_str(), check(row).err()?)));
    wrong.extend(
        unlike.chain(fixture.problem()).map(|(list, id, problem)| YamlError::at(row_line(text, list, id), problem)),
    );
    match records {
        Ok(records) if wrong.is_empty() => Ok(TestFile { fixture, cases: asked, records, evaluations }),
        records => {
            wrong.extend(records.err());
            wrong.sort_by_key(|error| error.line);
            Err(wrong)
        }
    }
}

/// The items of a list as they are read, but for those with which something is wrong.
fn each<T, U>(
    text: &str,
    list: &str,
    items: Vec<T>,
    read: impl Fn(T, usize) -> Result<U, YamlError>,
    wrong: &mut Vec<YamlError>,
) -> Vec<U> {
    let lines = yaml::item_lines(text, list, items.len());
    let items = lines.into_iter().zip(items).map(|(line, item)| read(item, line));
    items.filter_map(|item| item.map_err(|error| wrong.push(error)).ok()).collect()
}

/// What keeps a file from being read, and with which other questions it would not be read either.
fn unread(text: &str, first: YamlError) -> Vec<YamlError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Loose {
        cases: Vec<Value>,
        matrix: Vec<Value>,
        evaluations: Vec<Value>,
    }
    let Ok(Loose { cases, matrix, evaluations }) = yaml::read(text) else { return vec![first] };
    let mut wrong = Vec::new();
    each(text, "cases", cases, loosely::<Line>, &mut wrong);
    each(text, "matrix", matrix, loosely::<Matrix>, &mut wrong);
    each(text, "evaluations", evaluations, loosely::<own::Line>, &mut wrong);
    // The first is told with its place in the line.
    let at = wrong.iter().rposition(|error| error.line <= first.line && first.message.ends_with(&error.message));
    at.map(|at| wrong.remove(at));
    wrong.push(first);
    wrong.sort_by_key(|error| error.line);
    wrong
}

fn loosely<T: DeserializeOwned>(item: Value, line: usize) -> Result<(), YamlError> {
    serde_json::from_value::<T>(item)
        .map(drop)
        .map_err(|error| YamlError::at(line, Format::Yaml.plain(&error.to_string())))
}

/// The line of a row, which names its id.
fn row_line(text: &str, list: &str, id: &str) -> usize {
    let head = yaml::line_of(text, &[list]);
    let word = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
    let names = |line: &str| line.split(|c| !word(c)).any(|word| word == id);
    text.lines().skip(head).position(names).map_or(head, |at| head + at + 1)
}

impl Line {
    fn read(self, line: usize) -> Result<Case, YamlError> {
        let Line { actor, op, target, expect, because, approvals, .. } = self;
        let Line { granted, broken, kill, release, scopes, channel, now, under, input, issuer, run, hist, .. } = self;
        if approvals.is_some() && expect != Decision::NeedsApproval {
            return Err(YamlError::at(line, "approvals: only an answer of needs_approval has any"));
        }
        let around = Around { granted, broken, kill, release, scopes, channel, now, under, input, issuer, run, hist };
        let set = |list: Vec<String>| list.into_iter().collect();
        let around = Arc::new(around);
        Ok(Case { line, actor, op, target, around, expect, because: because.map(set), approvals: approvals.map(set) })
    }
}
