//! The kinds of approval that policies may name: those that every company has, and those that a bundle's `approvals.yaml`
//! adds.
//!
//! Always true: there is one text of the product's schema for a bundle, and it is made here; whoever compiles, exports or
//! compares works with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::approvals::{FILE, MAX_KINDS, is_name};
use super::finding::code;
use super::{Bundle, Finding, brain, yaml};

/// How the product's schema begins to list them.
const BEGIN: &str = "entity ApprovalKind enum [";

/// What is needed of the file here; what is wrong with the rest of it is told elsewhere.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    kinds: BTreeMap<String, IgnoredAny>,
}

/// The kinds that a schema lists, and where its list stands.
fn listed(schema: &str) -> Option<(BTreeSet<String>, std::ops::Range<usize>)> {
    let from = schema.find(BEGIN)? + BEGIN.len();
    let list = schema.get(from..)?.split(']').next()?;
    let names = list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty());
    Some((names.collect(), from..from + list.len()))
}

/// The kinds that a schema lists.
pub fn of_schema(schema: &str) -> BTreeSet<String> {
    listed(schema).map(|(names, _)| names).unwrap_or_default()
}

/// Why it is not known which kinds a bundle adds.
pub fn unreadable(bundle: &Bundle) -> Option<Finding> {
    let error = yaml::read::<Named>(bundle.files.get(FILE)?).err()?;
    Some(Finding::new(code::APPROVALS_FILE, FILE, error.line, (0, 0), error.message))
}

/// Returns the product's schema with the approval kinds and collections of a bundle. The lines stay the same, so that
/// every position in it remains valid.
pub fn schema_for(product: &str, bundle: &Bundle) -> String {
    with_kinds(&brain::schema_for(product, bundle), bundle)
}

/// The product's schema with the kinds of a bundle.
pub(super) fn with_kinds(product: &str, bundle: &Bundle) -> String {
    let mut schema = product.to_owned();
    let (Some((mut names, place)), Some(text)) = (listed(product), bundle.files.get(FILE)) else {
        return schema;
    };
    let own = yaml::read::<Named>(text).map(|named| named.kinds).unwrap_or_default();
    names.extend(own.into_keys().filter(|name| is_name(name)).take(MAX_KINDS));
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    schema.replace_range(place, &names.join(", "));
    schema
}
