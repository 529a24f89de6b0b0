//! Plans a schema migration: the collection after a proposal, and the policies with it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::judged::Withheld;
use crate::change::compiled;
use crate::policy::may_export;
use gate::Reader;
use policy::brain::{FOLDER, path_of};
use policy::{Bundle, views};
use store::brain::Proposal;
use types::brain::Operation;
use types::collection::{Collection, CollectionKind, NAME, OF_CEDAR, Source, is_free, is_name};
use types::condition::Condition;
use types::convert::{converts, in_form_of};
use types::definition::{ApiVersion, Metadata};
use types::field::{Field, FieldKind, Label};
use types::problems::Problems;
use types::refusal::{Refusal, Stop};

/// The maximum number of steps in a proposal.
const MOST_OPS: usize = 50;

/// The result of a proposal.
pub struct Plan {
    /// `None` if the collection is retired.
    pub definition: Option<Collection>,
    /// The previous names of fields.
    pub renamed: BTreeMap<String, String>,
    /// Fields that absorb another, and that other, by their previous names.
    pub merged: BTreeMap<String, String>,
    /// The policies with the collections after the change.
    pub bundle: Bundle,
}

impl Plan {
    /// Returns the defaults that existing records get in new fields. Personal data is stored apart from them.
    pub fn filled(&self, before: Option<&Collection>) -> BTreeMap<String, Value> {
        let (Some(before), Some(now)) = (before, &self.definition) else { return BTreeMap::new() };
        let was = |name: &String| before.field(self.renamed.get(name).unwrap_or(name)).is_some();
        let new = now.spec.fields.iter().filter(|(name, field)| !was(name) && field.label != Some(Label::Personal));
        new.filter_map(|(name, field)| Some((name.clone(), field.default.clone()?))).collect()
    }
}

/// Checks that these steps can be applied now. A collection that the caller may not know counts as missing.
pub fn could_be(collection: &str, ops: &[Operation], read: &Reader<'_>) -> Result<(), Stop> {
    let mut problems = Problems::default();
    problems.check(is_name(collection), format!("collection: {NAME}"));
    let creates = ops.iter().any(|op| matches!(op, Operation::Create { .. }));
    problems.check(!creates || is_free(collection), format!("collection: {OF_CEDAR}"));
    problems.check((1..=MOST_OPS).contains(&ops.len()), format!("ops: must be 1 to {MOST_OPS} steps"));
    let beside =
        |op: &Operation| matches!(op, Operation::MergeField { .. } | Operation::Index { .. } | Operation::Semantics(_));
    let merges = ops.iter().any(|op| matches!(op, Operation::MergeField { .. }));
    let apart = "ops: fields are merged in a proposal of their own, with no other steps than `index` and `semantics`";
    problems.check(!merges || ops.iter().all(beside), apart);
    if !problems.0.is_empty() {
        return Err(Refusal::invalid(problems.0).into());
    }
    if read.collection(collection).is_some() && !read.sees(&read.collection_target(collection)) {
        let problem = |(number, op): (usize, &Operation)| match op {
            Operation::Create { .. } => format!("ops[{number}]: the name `{collection}` is taken"),
            _ => format!("ops[{number}]: {}", no_collection(collection)),
        };
        return Err(Refusal::invalid(ops.iter().enumerate().map(problem).collect()).into());
    }
    let rows = rows_known(collection, read)?.unwrap_or(0);
    planned(collection, ops, (read.collection_version(collection)?, rows), may_export(read), read).map(drop)
}

/// Plans a proposal as far as the caller may know the records and the policies.
pub fn foreseen(proposal: &Proposal, read: &Reader<'_>) -> Result<Plan, Stop> {
    let rows = rows_known(&proposal.collection, read)?.unwrap_or(0);
    planned(&proposal.collection, &proposal.ops, (proposal.base, rows), may_export(read), read)
}

/// Plans a proposal against all records and policies.
pub fn of_proposal(proposal: &Proposal, read: &Reader<'_>) -> Result<Plan, Stop> {
    planned(&proposal.collection, &proposal.ops, (proposal.base, rows(&proposal.collection, read)?), true, read)
}

fn rows(collection: &str, read: &Reader<'_>) -> Result<i64, Stop> {
    read.collection(collection).map_or(Ok(0), |of| Ok(read.count_records(&of)?))
}

/// Counts a collection's records; `None` for callers who may not read all of them.
pub fn rows_known(collection: &str, read: &Reader<'_>) -> Result<Option<i64>, Stop> {
    sees_all(collection, read).then(|| rows(collection, read)).transpose()
}

/// Checks whether the caller may read every field of every record.
fn sees_all(collection: &str, read: &Reader<'_>) -> bool {
    let all = |of: &Collection| {
        read.rows("record.read", of) == Some(Condition::Always) && Withheld::of(of, read).names(of).next().is_none()
    };
    read.collection(collection).is_none_or(|of| all(&of))
}

/// Plans these steps from this version of the collection and number of records; with `tells`, checks that no policy uses a
/// field that is removed or absorbs another.
fn planned(
    collection: &str,
    ops: &[Operation],
    (base, rows): (i64, i64),
    tells: bool,
    read: &Reader<'_>,
) -> Result<Plan, Stop> {
    if read.collection_version(collection)? != base {
        let message = format!("{collection} has changed since: propose it again");
        return Err(Refusal::conflict(message).into());
    }
    let before = read.collection(collection);
    if before.is_none() && read.had_records(collection)? {
        let what = format!("a collection was called {collection} before, and its history is kept: take another name");
        return Err(Refusal::field("collection", what).into());
    }
    let (renamed, merged) = (BTreeMap::new(), BTreeMap::new());
    let mut altered = Altered { definition: before.as_deref().cloned(), renamed, merged, rows, name: collection };
    let problems: Vec<String> = ops
        .iter()
        .enumerate()
        .filter_map(|(number, op)| altered.apply(op).err().map(|what| format!("ops[{number}]: {what}")))
        .collect();
    if !problems.is_empty() {
        return Err(Refusal::invalid(problems).into());
    }
    let Altered { definition, renamed, merged, .. } = altered;
    let mut found = Problems::default();
    definition.iter().for_each(|of| of.problems(&mut found));
    if !found.0.is_empty() {
        return Err(Refusal::invalid(found.0.into_iter().map(|what| format!("ops: {what}")).collect()).into());
    }
    if let Some(source) = definition.as_ref().and_then(|of| of.spec.source.as_ref()) {
        read.is_readable(source).map_err(|why| Refusal::field("ops", format!("spec.source: {why}")))?;
    }
    let kept =
        |name: &str| definition.as_ref().is_some_and(|of| of.field(name).is_some() && !renamed.contains_key(name));
    let gone = before.iter().flat_map(|of| of.spec.fields.keys()).filter(|name| !kept(name));
    // A field that absorbs another means something else to policies, too: records could become visible to others.
    let otherwise = gone.chain(merged.keys()).filter(|_| tells);
    let problems: Vec<String> = otherwise.filter_map(|name| looked_at(collection, name, read)).collect();
    if !problems.is_empty() {
        return Err(Refusal::invalid(problems).into());
    }
    let mut bundle = read.bundle()?;
    match &definition {
        Some(of) => drop(bundle.files.insert(path_of(of.name()), written(of)?)),
        None => drop(bundle.files.remove(&path_of(collection))),
    }
    Ok(Plan { definition, renamed, merged, bundle })
}

/// Checks that policies and views still fit. A view that the caller may not see is not named; when only previewing for a caller
/// who may not read the policies, nor is a policy.
pub fn still_fit(plan: &Plan, is_foreseen: bool, read: &Reader<'_>) -> Result<(), Stop> {
    let is_hidden = |problem: &String| {
        let name = problem.strip_prefix(views::FOLDER).and_then(|rest| rest.split_once(".yaml:"));
        let view = name.and_then(|(name, _)| read.view(name));
        view.is_some_and(|view| !read.may("view.read", &read.view_target(&view)))
    };
    let is_withheld = is_foreseen && !may_export(read);
    let is_of_policies = |problem: &String| !problem.starts_with(views::FOLDER) && !problem.starts_with(FOLDER);
    let unseen = || "a view that you may not see uses what would be removed".to_owned();
    match compiled(&plan.bundle, read) {
        Err(Stop::Refused(refusal)) if !refusal.problems.is_empty() => {
            let mut problems = refusal.problems;
            problems.retain(|problem| !(is_withheld && is_of_policies(problem)));
            problems.iter_mut().filter(|problem| is_hidden(problem)).for_each(|problem| *problem = unseen());
            problems.dedup();
            if problems.is_empty() { Ok(()) } else { Err(Refusal::invalid(problems).into()) }
        }
        compiled => compiled.map(drop),
    }
}

/// Explains why a field cannot be removed, if policies use it.
fn looked_at(collection: &str, field: &str, read: &Reader<'_>) -> Option<String> {
    let policies = read.serving().looking_at(collection, field);
    let named: Vec<String> =
        policies.iter().map(|policy| format!("`{}` ({}:{})", policy.id, policy.file, policy.line)).collect();
    let what = format!("ops: policies use `{field}`: {}; change them first", named.join(", "));
    (!named.is_empty()).then_some(what)
}

/// Serializes a collection as a policy file.
fn written(of: &Collection) -> Result<String, Refusal> {
    serde_yaml::to_string(of).map_err(|error| Refusal::field("ops", error))
}

/// Returns the message for a missing collection.
pub fn no_collection(name: &str) -> String {
    format!("there is no collection `{name}`; `create` makes one")
}

/// A collection while the steps are applied to it.
struct Altered<'a> {
    definition: Option<Collection>,
    renamed: BTreeMap<String, String>,
    merged: BTreeMap<String, String>,
    rows: i64,
    name: &'a str,
}

impl Altered<'_> {
    fn apply(&mut self, op: &Operation) -> Result<(), String> {
        match (op, &mut self.definition) {
            (Operation::Create { .. }, Some(_)) => Err(format!("there is a collection `{}` already", self.name)),
            (Operation::Create { title, spec }, None) => {
                let metadata = Metadata { name: self.name.to_owned(), title: title.clone(), labels: BTreeMap::new() };
                let kind = CollectionKind::Collection;
                self.definition =
                    Some(Collection { api_version: ApiVersion::V1, kind, metadata, spec: (**spec).clone() });
                Ok(())
            }
            (_, None) => Err(no_collection(self.name)),
            (Operation::Retire {}, Some(_)) if self.rows > 0 => Err("it has records: delete them first".into()),
            (Operation::Retire {}, definition) => {
                *definition = None;
                Ok(())
            }
            (Operation::MergeField { .. }, Some(of)) if of.spec.source.is_some() => {
                Err("records kept in another system are changed there: retire the field that you do not want".into())
            }
            (Operation::MergeField { name, into }, Some(of)) => {
                merge(of, name, into)?;
                let is_second =
                    self.merged.contains_key(name) || self.merged.insert(into.clone(), name.clone()).is_some();
                match is_second {
                    true => Err("a field takes in one other at a time: propose the next merge after this one".into()),
                    false => Ok(()),
                }
            }
            (Operation::Alter(changes), Some(of)) => changes.apply(of),
            (op, Some(of)) => alter(of, op, self.rows, &mut self.renamed),
        }
    }
}

/// Merges one field into another: they must hold the same kind of value, readable by the same callers.
fn merge(of: &mut Collection, name: &str, into: &str) -> Result<(), String> {
    let field = |name: &str| of.field(name).cloned().ok_or_else(|| of.no_field(name));
    let (from, to) = (field(name)?, field(into)?);
    let fits = from.kind == to.kind && from.to == to.to && from.options.iter().all(|one| to.options.contains(one));
    match () {
        () if name == into => return Err("a field cannot be merged into itself".into()),
        () if of.spec.key.iter().any(|key| key == name || key == into) => {
            return Err("fields of the key cannot be merged".into());
        }
        () if !fits => return Err(format!("`{into}` cannot hold every value of `{name}`: retype one of them first")),
        () if !from.kind.is_comparable() => return Err(format!("fields of the type `{}` cannot be merged", from.kind)),
        () if from.unit != to.unit => return Err(format!("`{name}` and `{into}` have different units")),
        () if (&from.min, &from.max) != (&to.min, &to.max) => {
            return Err(format!("`{name}` and `{into}` do not have the same bounds"));
        }
        () if from.unique => return Err(format!("`{name}` is unique, and `{into}` is not")),
        () if from.label != to.label => {
            return Err("their labels differ, and so do those who may read them".into());
        }
        () if from.label == Some(Label::Personal) => {
            return Err(format!("`{name}` is personal: its values are kept apart, under this name"));
        }
        () if to.unique => return Err(format!("`{into}` is unique, and merging could make two records the same")),
        () => {}
    }
    let spec = &mut of.spec;
    spec.fields.remove(name);
    spec.renamed.values_mut().filter(|now| *now == name).for_each(|now| *now = into.to_owned());
    spec.renamed.insert(name.to_owned(), into.to_owned());
    Ok(())
}

/// Checks that no earlier field had this name, since records would have that in their history.
fn never_called(of: &Collection, name: &str) -> Result<(), String> {
    match of.was_called(name) {
        true => Err(format!(
            "a field was called `{name}` before, and records have it in their history: choose another name"
        )),
        false => Ok(()),
    }
}

/// Adds a field that existing records can have.
fn add(of: &mut Collection, (name, field): (&str, &Field), rows: i64) -> Result<(), String> {
    match () {
        () if of.field(name).is_some() => return Err(format!("there is a field `{name}` already")),
        () if field.required && field.default.is_none() && rows > 0 => {
            return Err("existing records do not have this field: give it a default, or do not require it".into());
        }
        () if field.unique && field.default.is_some() && rows > 1 => {
            return Err("existing records would all get the same default, but the field is unique".into());
        }
        () => never_called(of, name)?,
    }
    of.spec.fields.insert(name.to_owned(), field.clone());
    Ok(())
}

fn alter(of: &mut Collection, op: &Operation, rows: i64, renamed: &mut BTreeMap<String, String>) -> Result<(), String> {
    if let Operation::AddField { name, field } = op {
        return add(of, (name, field), rows);
    }
    let before = of.clone();
    let missing = |name: &str| before.no_field(name);
    let spec = &mut of.spec;
    let fields = &mut spec.fields;
    match op {
        Operation::Create { .. }
        | Operation::AddField { .. }
        | Operation::Retire {}
        | Operation::MergeField { .. }
        | Operation::Alter(_) => {}
        Operation::RenameField { name, to } => {
            if fields.contains_key(to) {
                return Err(format!("there is a field `{to}` already"));
            }
            // Renaming back to an earlier name of the same field is allowed.
            if spec.renamed.get(to) != Some(name) {
                never_called(&before, to)?;
            }
            let field = fields.remove(name).ok_or_else(|| missing(name))?;
            if field.label == Some(Label::Personal) {
                return Err(format!("`{name}` is personal: its values are kept apart, under this name"));
            }
            fields.insert(to.clone(), field);
            if let Some(Source { columns, .. }) = &mut spec.source {
                let column = columns.remove(name).unwrap_or_else(|| name.clone());
                columns.insert(to.clone(), column);
            }
            spec.renamed.remove(to);
            spec.renamed.values_mut().filter(|now| *now == name).for_each(|now| now.clone_from(to));
            spec.renamed.insert(name.clone(), to.clone());
            let was = renamed.remove(name).unwrap_or_else(|| name.clone());
            renamed.insert(to.clone(), was);
            spec.key.iter_mut().filter(|key| *key == name).for_each(|key| key.clone_from(to));
            spec.semantics.rename(name, to);
        }
        Operation::RetypeField { name, r#type, options } => {
            retype(fields.get_mut(name).ok_or_else(|| missing(name))?, name, *r#type, options)?;
        }
        Operation::AlterField { name, field } => {
            field.apply(name, fields.get_mut(name).ok_or_else(|| missing(name))?)?
        }
        Operation::RetireField { name } => {
            if spec.key.contains(name) {
                return Err(format!("`{name}` is a part of the key"));
            }
            fields.remove(name).ok_or_else(|| missing(name))?;
            spec.source.iter_mut().for_each(|source| drop(source.columns.remove(name)));
            let was = spec.renamed.iter().filter(|(_, now)| *now == name).map(|(was, _)| was.clone());
            let gone: Vec<String> = was.chain([name.clone()]).collect();
            spec.renamed.retain(|was, _| !gone.contains(was));
            spec.retired.extend(gone);
        }
        Operation::Semantics(semantics) => spec.semantics = (**semantics).clone(),
        Operation::Retention(retention) => spec.retention = Some(*retention).filter(|kept| !kept.is_empty()),
        Operation::Index { name, on } => fields.get_mut(name).ok_or_else(|| missing(name))?.index = *on,
    }
    Ok(())
}

fn retype(field: &mut Field, name: &str, kind: FieldKind, options: &[String]) -> Result<(), String> {
    if !converts(field.kind, kind) {
        return Err(format!("`{name}` is of the type `{}`, which cannot become `{kind}`", field.kind));
    }
    let chooses = kind == FieldKind::Choice;
    if chooses && field.label.is_some() {
        return Err(format!("`{name}` has a label, but everybody can read a choice's options"));
    }
    if chooses == options.is_empty() {
        return Err("a `choice` has options, and no other type has".into());
    }
    field.kind = kind;
    field.options = options.to_vec();
    field.to = None;
    for value in [&mut field.min, &mut field.max, &mut field.default].into_iter().flatten() {
        *value = in_form_of(kind, value);
    }
    field.default = field.default.take().and_then(|default| field.value(&default).ok());
    Ok(())
}
