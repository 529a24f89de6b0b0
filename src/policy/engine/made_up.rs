//! Made-up inputs of an operation, for comparisons: such as its policies could tell apart.

use cedar_policy_core::validator::types::{AttributeType, Type};
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

use super::looks::{Looks, Named};
use super::snapshot::Snapshot;

/// The most inputs of one operation.
const MOST: usize = 96;

impl Snapshot {
    /// Inputs that policies could tell apart: each field that they read with each constant that they name, one field and two
    /// at a time. At most [`MOST`].
    pub(crate) fn inputs<'a>(&self, operation: &str, looks: &Looks, of: &dyn Fn(&str) -> Constants<'a>) -> Vec<Json> {
        let found = self.actions.values().find(|action| action.name == operation);
        let Some(input) = found.and_then(|action| action.input.as_ref()) else { return Vec::new() };
        let read = input.fields.iter().filter(|(name, _)| looks.reads_input(name));
        let ways: Vec<(&str, Vec<Json>)> =
            read.map(|(name, field)| (name.as_str(), values(&field.attr_type, &of(name)))).collect();
        let singles = ways.iter().flat_map(|(name, values)| values.iter().map(move |value| json!({ *name: value })));
        let both =
            ways.iter().enumerate().flat_map(|(at, one)| ways.iter().skip(at + 1).map(move |other| (one, other)));
        let pairs = both.flat_map(|((one, values), (other, others))| {
            let pair = values.iter().flat_map(|value| others.iter().map(move |second| (value, second)));
            pair.map(move |(value, second)| json!({ *one: value, *other: second }))
        });
        singles.chain(pairs).take(MOST).collect()
    }
}

/// What the values of a field are made of.
pub(crate) struct Constants<'a> {
    /// What policies name.
    pub named: &'a Named,
    /// The only texts that the operation takes; nothing where it takes any.
    pub choices: &'a [String],
}

impl Constants<'_> {
    /// Those that are named, and one that is not, as far as the operation takes them.
    fn texts(&self) -> Vec<Json> {
        let named = self.named.texts.iter().map(String::as_str);
        if self.choices.is_empty() {
            return named.chain(["another"]).map(Json::from).collect();
        }
        let is_named = |text: &&str| self.named.texts.contains(*text);
        let all = || self.choices.iter().map(String::as_str);
        let other = all().find(|text| !is_named(text));
        all().filter(is_named).chain(other).map(Json::from).collect()
    }
}

/// Values of a type that policies with these constants could tell apart.
fn values(ty: &Type, constants: &Constants<'_>) -> Vec<Json> {
    let (named, texts) = (constants.named, constants.texts());
    match ty {
        Type::Bool(_) => vec![true.into()],
        Type::Long => {
            let around = |number: &i64| [number.saturating_sub(1), *number, number.saturating_add(1)];
            match named.numbers.is_empty() {
                true => vec![1.into()],
                false => named.numbers.iter().flat_map(around).map(Json::from).collect(),
            }
        }
        Type::String => texts,
        Type::Set { element_type: Some(element) } if matches!(&**element, Type::String) => {
            texts.iter().map(|text| json!([text])).chain([texts.clone().into()]).collect()
        }
        // Only whether it is there is seen.
        Type::Record { attrs, .. } if attrs.iter().next().is_none() => vec![json!({})],
        Type::Record { attrs, .. } => {
            let one = |(name, field): (&SmolStr, &AttributeType)| {
                let name = name.clone();
                values(&field.attr_type, constants).into_iter().map(move |value| json!({ name.as_str(): value }))
            };
            attrs.iter().flat_map(one).collect()
        }
        _ => Vec::new(),
    }
}
