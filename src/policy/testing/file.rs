//! One test file: who is there, and what is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::own::{self, Evaluation, Records};
use super::rows::{Delegation, Member, Row, Step, Strict, Team};
use super::run::Expected;
use crate::policy::Finding;
use crate::policy::finding::code;
use crate::policy::yaml::{self, YamlError};
use crate::types::actor::KillScope;
use crate::types::history::History;
use crate::types::id::ActorId;
use crate::types::impact::Decision;
use crate::types::scope::Scopes;
use crate::types::time::Time;

/// The most cases that one file may come to.
const MAX_CASES: usize = 20_000;

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

/// The company that a file's questions are about.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The time that it is, unless a case says otherwise: 2026-01-01 unless given.
    pub now: Time,
    pub teams: Vec<Team>,
    pub actors: Vec<Member>,
    pub delegations: Vec<Delegation>,
    /// Whatever else there is.
    pub rows: Vec<Row>,
}

/// The way by which a question comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Http,
    Cli,
}

/// What is the case when a question is asked.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Kinds of approval that were given.
    pub granted: Vec<String>,
    /// They were not given: a break-glass grant lets the call go on without them.
    pub broken: bool,
    /// Engaged kill switches.
    pub kill: Vec<KillScope>,
    /// The kill switch that is asked about would be released, not engaged.
    pub release: bool,
    /// What the token is limited to.
    pub scopes: Scopes,
    pub channel: Option<Way>,
    pub now: Option<Time>,
    /// The delegation that the actor acts under.
    pub under: Option<String>,
    /// What the operation is given; what it leaves out is blank.
    pub input: Option<Value>,
    /// Who issued the token, where that is not the actor.
    pub issuer: Option<ActorId>,
    /// The run that the call is a step of.
    pub run: Option<Step>,
    /// What the actor has done before, by operation.
    pub hist: History,
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

/// Every one of these actors with every one of these operations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    actors: Vec<String>,
    ops: Vec<String>,
    target: Option<String>,
    expect: BTreeMap<Decision, Which>,
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

/// Which fields of a matrix have an answer: `rest`, or names of actors, of operations, or both as `actor op`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Which {
    These(Vec<String>),
    Rest(Rest),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rest {
    Rest,
}

/// One question and the expected answer.
#[derive(Clone, Debug)]
pub struct Case {
    pub line: usize,
    /// An actor of the company, `server`, or `visitor`.
    pub actor: String,
    pub op: String,
    pub target: Option<String>,
    pub around: Around,
    pub expect: Decision,
    /// The ids of the determining policies, if the case says them.
    pub because: Option<BTreeSet<String>>,
    /// The kinds asked for, if the case says them.
    pub approvals: Option<BTreeSet<String>>,
}

impl Case {
    pub fn expected(&self) -> Expected {
        Expected { decision: self.expect, because: self.because.clone(), approvals: self.approvals.clone() }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.actor, self.op)?;
        self.target.iter().try_for_each(|target| write!(f, " {target}"))
    }
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
pub fn parse(file: &str, text: &str, check: &dyn Fn(&Row) -> Result<(), String>) -> Result<TestFile, Finding> {
    read(text, check)
        .map_err(|error| Finding::new(code::TEST_INVALID, file, error.line, line_span(text, error.line), error.message))
}

/// Where a line of a text stands.
fn line_span(text: &str, line: usize) -> (usize, usize) {
    line_spans(text).nth(line.saturating_sub(1)).unwrap_or((text.len(), 0))
}

/// What each line holds between its blanks: where it starts, and how long it is.
pub(super) fn line_spans(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = (start + line.len() - line.trim_start().len(), line.trim().len());
        start += line.len();
        if span.1 > 0 { span } else { (start - line.len(), 0) }
    })
}

fn read(text: &str, check: &dyn Fn(&Row) -> Result<(), String>) -> Result<TestFile, YamlError> {
    let Fields { now, teams, actors, delegations, records, cases, matrix, evaluations, rows } =
        match yaml::read::<Option<Fields>>(text)? {
            Some(fields) => fields,
            None => return Err(YamlError::at(1, "the file is empty")),
        };
    let lines = yaml::item_lines(text, "cases", cases.len());
    let mut asked = lines.into_iter().zip(cases).map(|(line, case)| case.read(line)).collect::<Result<Vec<_>, _>>()?;
    let lines = yaml::item_lines(text, "matrix", matrix.len());
    for (line, matrix) in lines.into_iter().zip(matrix) {
        let size = matrix.actors.len().saturating_mul(matrix.ops.len());
        if asked.len().saturating_add(size) > MAX_CASES {
            return Err(YamlError::at(line, format!("the file comes to more than {MAX_CASES} cases")));
        }
        asked.extend(matrix.read(line)?);
    }
    let records = Records::new(records).map_err(|twice| YamlError::at(yaml::line_of(text, &["records"]), twice))?;
    if asked.len().saturating_add(evaluations.len()) > MAX_CASES {
        let line = yaml::line_of(text, &["evaluations"]);
        return Err(YamlError::at(line, format!("the file comes to more than {MAX_CASES} cases")));
    }
    let lines = yaml::item_lines(text, "evaluations", evaluations.len());
    let evaluations = lines.into_iter().zip(evaluations).map(|(line, one)| one.read(line)).collect::<Result<_, _>>()?;
    let now = now.unwrap_or(NOW);
    let fixture = Fixture { now, teams, actors, delegations, rows };
    let unlike = fixture.rows.iter().find_map(|row| Some((row.list.as_str(), row.id.as_str(), check(row).err()?)));
    unlike.or_else(|| fixture.problem()).map_or(Ok(()), |(list, id, problem)| {
        let head = yaml::line_of(text, &[list]);
        let word = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
        let names = |line: &str| line.split(|c| !word(c)).any(|word| word == id);
        let at = text.lines().skip(head).position(names).map_or(head, |at| head + at + 1);
        Err(YamlError::at(at, problem))
    })?;
    Ok(TestFile { fixture, cases: asked, records, evaluations })
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
        Ok(Case { line, actor, op, target, around, expect, because: because.map(set), approvals: approvals.map(set) })
    }
}

impl Matrix {
    fn read(self, line: usize) -> Result<Vec<Case>, YamlError> {
        let wrong = |message: String| Err(YamlError::at(line, message));
        if let Some(both) = self.actors.iter().find(|actor| self.ops.contains(*actor)) {
            return wrong(format!("`{both}` is an actor and an operation of this matrix: write `{both} <operation>`"));
        }
        let mut used = BTreeSet::new();
        let mut cases = Vec::new();
        for (actor, op) in self.actors.iter().flat_map(|actor| self.ops.iter().map(move |op| (actor, op))) {
            let expect = match self.answers(actor, op, &mut used).as_slice() {
                [one] => *one,
                [] => {
                    return wrong(format!(
                        "no answer is expected for `{actor} {op}`; `deny: rest` covers what is left"
                    ));
                }
                _ => return wrong(format!("more than one answer is expected for `{actor} {op}`")),
            };
            cases.push(self.case(line, actor, op, expect));
        }
        match self.names().find(|name| !used.contains(*name)) {
            Some(name) => wrong(format!("`{name}` is no actor, no operation and no `actor operation` of this matrix")),
            None => Ok(cases),
        }
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.expect.values().flat_map(|which| match which {
            Which::These(names) => names.as_slice(),
            Which::Rest(_) => &[],
        })
    }

    /// The answers that the lists give for one field; `rest` counts where no list names it.
    fn answers(&self, actor: &str, op: &str, used: &mut BTreeSet<String>) -> Vec<Decision> {
        let both = format!("{actor} {op}");
        let mut found = BTreeSet::new();
        for (expect, which) in &self.expect {
            if let Which::These(names) = which {
                for name in names.iter().filter(|name| *name == actor || *name == op || **name == both) {
                    used.insert(name.clone());
                    found.insert(*expect);
                }
            }
        }
        if found.is_empty() {
            found.extend(
                self.expect.iter().filter(|(_, which)| matches!(which, Which::Rest(_))).map(|(expect, _)| *expect),
            );
        }
        found.into_iter().collect()
    }

    fn case(&self, line: usize, actor: &str, op: &str, expect: Decision) -> Case {
        Case {
            line,
            actor: actor.to_owned(),
            op: op.to_owned(),
            target: self.target.clone(),
            around: Around {
                granted: self.granted.clone(),
                broken: self.broken,
                kill: self.kill.clone(),
                release: self.release,
                scopes: self.scopes.clone(),
                channel: self.channel,
                now: self.now,
                under: self.under.clone(),
                input: self.input.clone(),
                issuer: self.issuer.clone(),
                run: self.run.clone(),
                hist: self.hist.clone(),
            },
            expect,
            because: None,
            approvals: None,
        }
    }
}
