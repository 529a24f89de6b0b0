//! Profiles the values of a collection's fields, record by record in bounded memory: how many, how many distinct, and which
//! differ only in spelling.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use types::collection::Collection;
use types::condition::{Scalar, Values};
use types::field::{Field, FieldKind};

/// The maximum number of distinct values tracked per field; below, the maximum length of one.
const MOST_VALUES: usize = 500;
const LONGEST: usize = 100;

/// The profile of a collection's fields, as far as the caller may read them.
pub struct Seen {
    /// The number of records profiled.
    pub records: usize,
    pub fields: BTreeMap<String, SeenField>,
}

/// The profile of one field.
#[derive(Default)]
pub struct SeenField {
    pub filled: usize,
    /// The count of records per value; `None` with too many distinct ones.
    pub values: Option<BTreeMap<Scalar, usize>>,
    /// A hash over the values of all records in order: two fields with the same hash have the same value in each record.
    pub order: DefaultHasher,
}

impl Seen {
    pub fn of<'a>(fields: impl Iterator<Item = &'a String>) -> Seen {
        let new = || SeenField { values: Some(BTreeMap::new()), ..SeenField::default() };
        Seen { records: 0, fields: fields.map(|name| (name.clone(), new())).collect() }
    }

    pub fn add(&mut self, values: &Values) {
        self.records += 1;
        for (name, field) in &mut self.fields {
            let value = values.get(name);
            value.hash(&mut field.order);
            if let Some(value) = value {
                field.add(value);
            }
        }
    }

    /// Returns groups of fields of one type with the same value in each record, except constant ones.
    pub fn alike<'a>(&'a self, of: &'a Collection) -> Vec<Vec<&'a str>> {
        let mut by_order: BTreeMap<(FieldKind, u64), Vec<&str>> = BTreeMap::new();
        for (name, seen) in self.fields.iter().filter(|(_, seen)| seen.distinct().is_none_or(|count| count > 1)) {
            if let Some(field) = of.field(name) {
                by_order.entry((field.kind, seen.order.clone().finish())).or_default().push(name);
            }
        }
        by_order.into_values().filter(|names| names.len() > 1).collect()
    }
}

impl SeenField {
    fn add(&mut self, value: &Scalar) {
        self.filled += 1;
        let is_long = matches!(value, Scalar::Text(text) if text.len() > LONGEST);
        let Some(values) = self.values.as_mut().filter(|_| !is_long) else {
            self.values = None;
            return;
        };
        let is_full = values.len() == MOST_VALUES;
        match values.get_mut(value) {
            Some(count) => *count += 1,
            None if is_full => self.values = None,
            None => drop(values.insert(value.clone(), 1)),
        }
    }

    /// Returns the number of distinct values, if tracked.
    pub fn distinct(&self) -> Option<usize> {
        self.values.as_ref().map(BTreeMap::len)
    }

    /// Returns the values of a text field that is effectively a choice: at most `most` values, each in at least `least`
    /// records.
    pub fn options(&self, field: &Field, most: usize, least: usize) -> Option<Vec<String>> {
        let values = self.values.as_ref().filter(|values| field.kind == FieldKind::Text && values.len() <= most)?;
        let text = |(value, count): (&Scalar, &usize)| match value {
            Scalar::Text(text) if *count >= least && !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        values.iter().map(text).collect()
    }

    /// Returns groups of values that differ only in case, spaces and punctuation.
    pub fn spellings(&self) -> Vec<Vec<&str>> {
        let mut by_word: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for value in self.values.iter().flat_map(BTreeMap::keys) {
            if let Scalar::Text(text) = value {
                let word: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
                by_word.entry(word).or_default().insert(text);
            }
        }
        let several = by_word.into_iter().filter(|(word, texts)| !word.is_empty() && texts.len() > 1);
        several.map(|(_, texts)| texts.into_iter().collect()).collect()
    }
}
