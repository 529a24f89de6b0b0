//! Tests about the company's own types: records as another program describes them, and the answers that it would get.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::OwnedQuestion;
use super::case::Expected;
use crate::Snapshot;
use crate::engine::name_of;
use crate::own::{self, Described, Properties, Said};
use crate::yaml::YamlError;
use types::impact::Decision;

/// An entity of one of the company's own types.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    /// Its attributes, as AuthZEN says them; `parents` are the groups that it is in.
    #[serde(default)]
    properties: Properties,
}

/// One question as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// The id of a record; `Type::id` where several types have it.
    subject: String,
    action: String,
    resource: String,
    #[serde(default)]
    context: Properties,
    expect: Decision,
    because: Option<Vec<String>>,
    approvals: Option<Vec<String>>,
    /// Kinds of approval that were given.
    #[serde(default)]
    granted: Vec<String>,
}

/// A file's records, by id and by `Type::id`; none where two share the id.
#[derive(Clone, Debug, Default)]
pub struct Records(BTreeMap<String, Option<Row>>);

/// One question about the company's own types, and the expected answer.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub line: usize,
    pub name: String,
    pub expected: Expected,
    said: Line,
}

impl Records {
    /// The records of a file; `Err` names one that is there twice.
    pub(super) fn new(rows: Vec<Row>) -> Result<Records, String> {
        let mut records = Records::default();
        for row in rows {
            let whole = row.name();
            if records.0.insert(whole.clone(), Some(row.clone())).is_some() {
                return Err(format!("`{whole}` appears twice"));
            }
            let short = records.0.entry(row.id.clone());
            short.and_modify(|other| *other = None).or_insert(Some(row));
        }
        Ok(records)
    }

    fn described(&self, end: &str, id: &str) -> Result<Described, String> {
        let row = match self.0.get(id) {
            Some(Some(row)) => row,
            Some(None) => return Err(format!("{end}: records of several types are called `{id}`; write Type::{id}")),
            None => return Err(format!("{end}: `{id}` is not in this file's records")),
        };
        Ok(row.described())
    }

    /// All of one type.
    pub fn of(&self, kind: &str) -> impl Iterator<Item = Described> {
        // Each is there by its whole name, and by its id too if it has that alone.
        let whole = self.0.iter().filter_map(|(name, row)| row.as_ref().filter(|row| *name == row.name()));
        whole.filter(move |row| row.kind == kind).map(Row::described)
    }
}

impl Row {
    fn name(&self) -> String {
        format!("{}::{}", self.kind, self.id)
    }

    fn described(&self) -> Described {
        Described { kind: self.kind.clone(), id: self.id.clone(), properties: Some(self.properties.clone()) }
    }
}

impl Line {
    pub(super) fn read(self, line: usize) -> Result<Evaluation, YamlError> {
        if self.approvals.is_some() && self.expect != Decision::NeedsApproval {
            return Err(YamlError::at(line, "approvals: only an answer of needs_approval has any"));
        }
        let set = |list: &Option<Vec<String>>| -> Option<BTreeSet<String>> {
            list.as_ref().map(|list| list.iter().cloned().collect())
        };
        let expected = Expected { decision: self.expect, because: set(&self.because), approvals: set(&self.approvals) };
        let name = format!("{} {} {}", self.subject, self.action, self.resource);
        Ok(Evaluation { line, name, expected, said: self })
    }
}

impl Evaluation {
    /// The question, read by the company's own schema as one of another program is.
    pub fn question(&self, snapshot: &Snapshot, records: &Records) -> Result<OwnedQuestion, String> {
        let said = &self.said;
        if let Some(unknown) = said.granted.iter().find(|kind| !snapshot.kinds().any(|known| known == *kind)) {
            return Err(format!("granted: there is no approval kind `{unknown}`"));
        }
        let said = self.said(snapshot, records)?;
        said.to_question(snapshot, self.said.granted.clone()).map_err(|wrong| wrong.to_string())
    }

    /// What is asked, whole.
    pub fn said(&self, snapshot: &Snapshot, records: &Records) -> Result<Said, String> {
        let line = &self.said;
        let action = own::action(snapshot, &line.action).map_err(|wrong| format!("action: {wrong}"))?;
        let subject = records.described("subject", &line.subject)?;
        let resource = records.described("resource", &line.resource)?;
        Ok(Said { subject, action: name_of(action.as_ref()), resource, context: line.context.clone() })
    }

    /// The kinds of approval that were given.
    pub fn granted(&self) -> &[String] {
        &self.said.granted
    }
}
