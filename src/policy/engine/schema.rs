//! The schema that policies are checked against: the product's, generated from its operations, and beside it what the
//! company declares for itself in `schema.cedarschema`; its kinds of approval come from `approvals.yaml`.
//!
//! Always true: the product's declarations are exactly the product's; the company adds, and redefines nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{Schema, SchemaFragment};
use cedar_policy_core::ast::{EntityType, EntityUID, Literal, Value};
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::json_schema::Fragment;
use cedar_policy_core::validator::{CedarSchemaError, RawName, ValidatorEntityTypeKind};

use super::approvals::KIND_TYPE;
use super::built_in;
use crate::policy::expansion::too_much;
use crate::policy::finding::{MARK, MARKED, SCHEMA_FILE, Source, code};
use crate::policy::folder::PRODUCT_SCHEMA;
use crate::policy::lexer::{Tokens, out_of_bounds};
use crate::policy::{Bundle, Finding, kinds};

/// How the product's own schema begins.
const GENERATED: &str = "// The company as policies see it. The actions below are generated from the operations.\n";

/// Cedar's own types, as a schema names them.
const CEDARS: [&str; 8] = ["Bool", "Boolean", "Long", "String", "datetime", "decimal", "duration", "ipaddr"];

/// Each approval kind with its value.
pub(super) type Kinds = BTreeMap<String, Value>;

/// What policies may name.
pub(super) struct Known {
    pub schema: Schema,
    pub kind_type: EntityType,
    pub kinds: Kinds,
    /// The built-in schema, with no more than the bundle's kinds and collections, and what the company declares in namespaces of
    /// its own.
    pub extends_built_in: bool,
}

/// What a schema declares.
pub(super) type Declared = Fragment<RawName>;

/// The schema of product and company. Findings in the company's leave the product's alone.
pub(super) fn read(ours: &str, bundle: &Bundle, findings: &mut Vec<Finding>) -> Result<Known, Finding> {
    let (ours, known) = match built_in::declared_for(ours, bundle) {
        Some(declared) => {
            let known = product(&Source::new(SCHEMA_FILE, ours), &declared)?;
            (declared, Known { extends_built_in: true, ..known })
        }
        None => {
            let text = kinds::schema_for(ours, bundle);
            let source = Source::new(SCHEMA_FILE, &text);
            let declared = declared(&text).map_err(|error| source.diagnostic(code::SCHEMA, &*error, (0, 0)))?;
            let known = product(&source, &declared)?;
            (declared, known)
        }
    };
    findings.extend(kinds::unreadable(bundle));
    let Some(theirs) = bundle.files.get(SCHEMA_FILE) else { return Ok(known) };
    match extended(&ours, theirs) {
        Ok((schema, is_apart)) => Ok(Known { schema, extends_built_in: known.extends_built_in && is_apart, ..known }),
        Err(mut found) => {
            findings.append(&mut found);
            Ok(known)
        }
    }
}

pub(super) fn declared(text: &str) -> Result<Declared, Box<CedarSchemaError>> {
    let parsed = Declared::from_cedarschema_str(text, Extensions::all_available());
    Ok(parsed.map_err(Box::new)?.0)
}

/// The JSON form of a schema.
pub fn as_json(text: &str) -> Option<String> {
    serde_json::to_string(&declared(text).ok()?).ok().map(|json| json + "\n")
}

/// All that these declare, as one schema.
fn whole(source: &Source, parts: &[&Declared]) -> Result<Schema, Finding> {
    let told = |error: &dyn miette::Diagnostic| source.diagnostic(code::SCHEMA, error, (0, 0));
    let mut fragments = Vec::new();
    for part in parts {
        fragments.push(SchemaFragment::try_from((*part).clone()).map_err(|error| told(&error))?);
    }
    Schema::from_schema_fragments(fragments).map_err(|error| told(&error))
}

/// What policies may name, by the product's schema alone.
fn product(source: &Source, ours: &Declared) -> Result<Known, Finding> {
    let schema = whole(source, &[ours])?;
    let told = |error: &dyn miette::Diagnostic| source.diagnostic(code::SCHEMA, error, (0, 0));
    let kind_type = EntityType::from_normalized_str(KIND_TYPE).map_err(|error| told(&error))?;
    match schema.as_ref().get_entity_type(&kind_type).map(|ty| &ty.kind) {
        Some(ValidatorEntityTypeKind::Enum(choices)) => {
            let kinds = choices.iter().map(|eid| {
                let uid = EntityUID::from_components(kind_type.clone(), eid.clone(), None);
                (AsRef::<str>::as_ref(eid).to_owned(), Value::new(Literal::EntityUID(Arc::new(uid)), None))
            });
            let kinds = kinds.collect();
            Ok(Known { schema, kind_type, kinds, extends_built_in: false })
        }
        _ => Err(source.finding(code::SCHEMA, (0, 0), format!("`{KIND_TYPE}` is not declared as an enumerated type"))),
    }
}

/// The schema with what the company declares, and whether that stands in namespaces of its own, where it changes the meaning of
/// no name that the product uses.
fn extended(ours: &Declared, theirs: &str) -> Result<(Schema, bool), Vec<Finding>> {
    let source = Source::new(SCHEMA_FILE, theirs);
    if theirs.starts_with(MARK) {
        return Err(vec![source.finding(code::SCHEMA, (0, MARK.len_utf8()), MARKED)]);
    }
    if theirs.starts_with(GENERATED) {
        let what = format!("this begins with the product's own schema, which is exported as `{PRODUCT_SCHEMA}`");
        let finding = source.finding(code::REDEFINED, (0, GENERATED.len()), what);
        return Err(vec![finding.helped("keep what you declare yourself, and take the rest out")]);
    }
    if let Some((at, what)) = out_of_bounds(theirs).or_else(|| too_much(theirs)) {
        return Err(vec![source.finding(code::SCHEMA, (at, 1), what)]);
    }
    let company = declared(theirs).map_err(|error| vec![source.diagnostic(code::SCHEMA, &*error, (0, 0))])?;
    let twice = redefined(ours, &company);
    if !twice.is_empty() {
        let findings = twice.into_iter().map(|Twice { what, name, word, whose }| {
            let at = Tokens::new(theirs).find(|token| token.text == word).map_or((0, 0), |at| (at.at, at.text.len()));
            source.finding(code::REDEFINED, at, format!("the {what} `{name}` is {whose} and cannot be declared again"))
        });
        return Err(findings.collect());
    }
    let is_apart = company.0.keys().all(|space| space.is_some() && !ours.0.contains_key(space));
    let schema = whole(&source, &[ours, &company]).map_err(|finding| vec![finding])?;
    Ok((schema, is_apart))
}

/// What the company declares although somebody else does.
struct Twice {
    what: &'static str,
    name: String,
    /// The word of the text that names it.
    word: String,
    whose: &'static str,
}

/// What the company declares although the product does; and names of Cedar's own types, where the product's declarations would
/// take them for the company's: in the product's namespace, and in none.
/// <https://docs.cedarpolicy.com/schema/human-readable-schema.html#name-resolution>
fn redefined(product: &Declared, company: &Declared) -> Vec<Twice> {
    let mut twice = Vec::new();
    for (namespace, theirs) in &company.0 {
        let full = |name: &str| namespace.as_ref().map_or_else(|| name.to_owned(), |space| format!("{space}::{name}"));
        let ours = product.0.get(namespace);
        let reaches = ours.is_some() || namespace.is_none();
        let mut take = |what, name: &str, word: &str, is_ours: bool| {
            let whose = if is_ours { "the product's" } else { "Cedar's" };
            if is_ours || (reaches && CEDARS.contains(&name)) {
                twice.push(Twice { what, name: full(name), word: word.to_owned(), whose });
            }
        };
        for name in theirs.entity_types.keys() {
            let word = name.to_string();
            take("entity type", &word, &word, ours.is_some_and(|ours| ours.entity_types.contains_key(name)));
        }
        for name in theirs.common_types.keys() {
            let word = name.as_ref().to_string();
            take("type", &word, &word, ours.is_some_and(|ours| ours.common_types.contains_key(name)));
        }
        for name in theirs.actions.keys() {
            let is_ours = ours.is_some_and(|ours| ours.actions.contains_key(name));
            take("action", &format!("Action::\"{name}\""), &format!("\"{name}\""), is_ours);
        }
    }
    twice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_built_in_schema_say_the_same() {
        let notes = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: notes}\nspec: {fields: {text: {type: text}, cost: {type: money}}}\n";
        let files = [("approvals.yaml", "kinds: {board: {}}"), ("collections/notes.yaml", notes)];
        for bundle in [Bundle::default(), Bundle::built_in(), Bundle::new(files)] {
            let text = declared(&kinds::schema_for(built_in::SCHEMA, &bundle)).unwrap();
            assert_eq!(built_in::declared_for(built_in::SCHEMA, &bundle).unwrap(), text);
        }
        assert!(built_in::declared_for("namespace Ok {}", &Bundle::default()).is_none());
    }
}
