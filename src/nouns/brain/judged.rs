//! Asks the policies what a caller may read of a collection: which records, and which fields.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{COLLECTION, known};
use crate::Nothing;
use gate::{Permit, Query, Reader, Route, Spec, Target};
use policy::Ruling;
use policy::brain::collection_of;
use store::brain::Record;
use types::collection::Collection;
use types::condition::{Scalar, Values};
use types::field::Label;
use types::refusal::Stop;
use types::scope::Reach;

/// The labels whose fields a caller may not read.
pub struct Withheld(BTreeSet<Label>);

impl Withheld {
    pub fn of(of: &Collection, read: &Reader<'_>) -> Withheld {
        Withheld(refused_labels(of, read).into_keys().collect())
    }

    pub fn has(&self, label: Label) -> bool {
        self.0.contains(&label)
    }

    /// Checks whether a field is withheld.
    pub fn is(&self, of: &Collection, name: &str) -> bool {
        of.field(name).and_then(|field| field.label).is_some_and(|label| self.0.contains(&label))
    }

    pub fn names<'a>(&'a self, of: &'a Collection) -> impl Iterator<Item = &'a str> {
        of.spec.fields.keys().map(String::as_str).filter(|name| self.is(of, name))
    }
}

/// Returns the labels whose fields a caller may not read, and why. Asked once per label of a collection.
pub fn refused_labels(of: &Collection, read: &Reader<'_>) -> BTreeMap<Label, Ruling> {
    let labels: BTreeSet<Label> = of.spec.fields.values().filter_map(|field| field.label).collect();
    let target = read.collection_target(of.name());
    let asked = |label| {
        let input = json!({ "collection": of.name(), "label": label });
        (label, read.ruling_on(read.caller(), ReadField::SPEC.name, &target, &input))
    };
    labels.into_iter().map(asked).filter(|(_, ruling)| !ruling.is_allowed()).collect()
}

/// Returns the fields of a record that a caller may not read; none for other targets.
pub fn withheld(target: &Target, read: &Reader<'_>) -> BTreeSet<String> {
    let Target::Thing(thing) = target else { return BTreeSet::new() };
    let of = collection_of(&thing.kind).and_then(|name| read.collection(name));
    of.map_or_else(BTreeSet::new, |of| Withheld::of(&of, read).names(&of).map(str::to_owned).collect())
}

/// Returns the ruling on a record, as it is or would be: asked as for a call that names the record.
pub fn ruling(operation: &str, of: &Collection, record: &Record, read: &Reader<'_>) -> Ruling {
    read.ruling_on(read.caller(), operation, &read.record_target(of, record), &named(of, record))
}

/// Returns the input of a call that names a record.
pub fn named(of: &Collection, record: &Record) -> Value {
    json!({ "collection": of.name(), "id": record.id })
}

/// Checks whether the caller may read a record.
pub fn may_read(of: &Collection, record: &Record, read: &Reader<'_>) -> bool {
    ruling("record.read", of, record, read).is_allowed()
}

/// Returns a record's values as stored in its columns.
pub fn values_of(of: &Collection, record: &Record) -> Values {
    let text = |text: &str| Scalar::Text(text.to_owned());
    let own = [
        ("id", text(&record.id)),
        ("version", Scalar::Number(record.version)),
        ("created_by", text(record.created_by.as_str())),
        ("created_at", Scalar::Number(record.created_at.0)),
        ("updated_by", text(record.updated_by.as_str())),
        ("updated_at", Scalar::Number(record.updated_at.0)),
    ];
    let fields =
        record.fields.iter().filter_map(|(name, value)| Some((name.clone(), Scalar::of(of.field(name)?.kind, value)?)));
    own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(fields).collect()
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Labelled {
    pub collection: String,
    pub label: Label,
}

/// Read the fields with a label.
pub enum ReadField {}

impl Query for ReadField {
    const SPEC: Spec = Spec {
        name: "field.read",
        doc: "Read the fields of a collection that have a label. Decided once for each query and label; the answer \
              leaves out refused fields, and names them.",
        scope: Reach::READ,
        route: Route::LOCAL,
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = Labelled;
    type Output = Nothing;

    fn target(input: &Labelled, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, _: Labelled, _: &Reader<'_>) -> Result<Nothing, Stop> {
        Ok(Nothing {})
    }
}
