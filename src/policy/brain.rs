//! The company's own data as policies see it: each collection of a bundle is a type in the namespace `Brain`, with its
//! fields as attributes.
//!
//! Always true: what policies may name of a collection follows from its file alone, so checking a bundle without a
//! server gives the same result as with one. Fields that are personal, long or free JSON are not attributes, because
//! the log permanently keeps what policies look at, or because Cedar has no type for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::finding::code;
use super::{Bundle, Finding, yaml};
use types::collection::{Collection, MOST_COLLECTIONS, is_name};
use types::problems::Problems;

/// The folder of a bundle that holds its collections.
pub const FOLDER: &str = "collections/";
/// The namespace of their types.
pub const NAMESPACE: &str = "Brain";
/// What stands for all of them in the product's schema.
const ANY: &str = "resource: [Record";
/// Attributes that every record has.
const OWN: &str =
    "    collection: String,\n    created_by: Ok::Actor,\n    updated_by: Ok::Actor,\n    version: Long,\n";

/// Collections by name.
pub type Collections = BTreeMap<String, Arc<Collection>>;

/// Whether a file of a bundle is a collection.
pub fn is_collection(path: &str) -> bool {
    name_of(path).is_some()
}

fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".yaml").filter(|name| !name.contains('/'))
}

/// The file of a collection.
pub fn path_of(name: &str) -> String {
    format!("{FOLDER}{name}.yaml")
}

/// The type of a collection's records, as a target names its kind.
pub fn kind_of(collection: &str) -> String {
    format!("{NAMESPACE}::{collection}")
}

/// The collection whose records are of this kind.
pub fn collection_of(kind: &str) -> Option<&str> {
    kind.strip_prefix(NAMESPACE)?.strip_prefix("::").filter(|name| is_name(name))
}

/// The collections of a bundle, and what is wrong with the others.
pub fn read(bundle: &Bundle) -> (Collections, Vec<Finding>) {
    let (mut collections, mut findings) = (Collections::new(), Vec::new());
    for (path, text) in bundle.files.iter().filter(|(path, _)| is_collection(path)) {
        match one(path, text) {
            Ok(collection) => drop(collections.insert(collection.name().to_owned(), Arc::new(collection))),
            Err(mut found) => findings.append(&mut found),
        }
    }
    for (name, collection) in &collections {
        let lost = collection.spec.fields.iter().filter_map(|(field, spec)| Some((field, spec.to.as_ref()?)));
        for (field, to) in lost.filter(|(_, to)| collections.get(*to).is_none_or(|to| to.spec.source.is_some())) {
            let (path, at) = (path_of(name), ["spec", "fields", field, "to"]);
            let line = bundle.files.get(&path).map_or(1, |text| yaml::line_of(text, &at));
            let why = match collections.get(to) {
                None => format!("there is no collection `{to}`"),
                Some(_) => format!("the records of `{to}` are kept elsewhere: make it a text"),
            };
            let message = format!("spec.fields.{field}.to: {why}");
            findings.push(Finding::new(code::COLLECTION, path, line, (0, 0), message));
        }
    }
    if collections.len() > MOST_COLLECTIONS {
        let message = format!("more than {MOST_COLLECTIONS} collections");
        findings.push(Finding::new(code::COLLECTION, FOLDER, 1, (0, 0), message));
    }
    (collections, findings)
}

fn one(path: &str, text: &str) -> Result<Collection, Vec<Finding>> {
    let finding = |line, message: String| Finding::new(code::COLLECTION, path, line, (0, 0), message);
    let read = yaml::read::<Collection>(text).map_err(|error| vec![finding(error.line, error.message)])?;
    let mut problems = Problems::default();
    read.problems(&mut problems);
    problems.check(
        name_of(path) == Some(read.name()),
        format!("metadata.name: the file of `{}` is `{}`", read.name(), path_of(read.name())),
    );
    let to_finding = |problem: String| {
        let key: Vec<&str> = problem.split(':').next().unwrap_or_default().split('.').collect();
        finding(yaml::line_of(text, &key), problem)
    };
    if problems.0.is_empty() { Ok(read) } else { Err(problems.0.into_iter().map(to_finding).collect()) }
}

/// The product's schema with the types of the collections: what stands in it stays on its lines.
pub fn schema_for(product: &str, bundle: &Bundle) -> String {
    let Some(types) = types(bundle) else { return product.to_owned() };
    let names: String = types.names.iter().map(|name| format!(", {name}")).collect();
    product.replace(ANY, &format!("{ANY}{names}")) + "\n" + &types.namespace
}

/// The types of a bundle's collections.
pub(super) struct Types {
    /// With their namespace.
    pub names: Vec<String>,
    /// The namespace that declares them.
    pub namespace: String,
}

/// The types of the collections, where there are any.
pub(super) fn types(bundle: &Bundle) -> Option<Types> {
    let (collections, _) = read(bundle);
    let declared: String = collections.values().map(|collection| entity(collection)).collect();
    let namespace = format!("namespace {NAMESPACE} {{\n{declared}}}\n");
    let names: Vec<String> = collections.keys().map(|name| kind_of(name)).collect();
    (!names.is_empty()).then_some(Types { names, namespace })
}

fn entity(collection: &Collection) -> String {
    let seen = collection.spec.fields.iter().filter(|(_, field)| field.is_seen());
    let fields: String = seen
        .map(|(name, field)| format!("    {name}{}: {},\n", if field.required { "" } else { "?" }, field.kind.cedar()))
        .collect();
    format!("  entity {} = {{\n{OWN}{fields}  }};\n", collection.name())
}
