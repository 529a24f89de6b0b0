//! The schema that policies are checked against: the product's, generated from its operations, and beside it what the
//! company declares for itself in `schema.cedarschema`; its kinds of approval come from `approvals.yaml`.
//!
//! Always true: the product's declarations are exactly the product's; the company adds, and redefines nothing.

use std::sync::Arc;

use cedar_policy::{Schema, SchemaFragment};
use cedar_policy_core::ast::{EntityType, EntityUID, Literal, Value};
use cedar_policy_core::validator::ValidatorEntityTypeKind;

use super::approvals::KIND_TYPE;
use super::built_in;
use super::fragment::{Declared, declared};
use super::vocabulary::Vocabulary;
use crate::expansion::too_much;
use crate::finding::{MARK, MARKED, SCHEMA_FILE, Source, code};
use crate::folder::PRODUCT_SCHEMA;
use crate::lexer::{Tokens, out_of_bounds};
use crate::{Bundle, Finding, kinds};

/// How the product's own schema begins.
const GENERATED: &str = "// The company as policies see it. The actions below are generated from the operations.\n";

/// Cedar's own types, as a schema names them.
const CEDARS: [&str; 8] = ["Bool", "Boolean", "Long", "String", "datetime", "decimal", "duration", "ipaddr"];

/// The schema of product and company.
pub(super) fn read(ours: &str, bundle: &Bundle) -> Result<Arc<Vocabulary>, Vec<Finding>> {
    let text = kinds::schema_for(ours, bundle);
    let theirs = bundle.files.get(SCHEMA_FILE);
    // No schema of the company's own declares as much as an empty one.
    Vocabulary::of(&[&text, theirs.map_or("", String::as_str)], || {
        let source = Source::new(SCHEMA_FILE, &text);
        let built_in = built_in::declared_for(ours, bundle);
        let is_built_in = built_in.is_some();
        let ours = built_in.map_or_else(|| declared(&text), Ok);
        let ours = ours.map_err(|error| vec![source.diagnostic(code::SCHEMA, &*error, (0, 0))])?;
        let alone = || whole(&source, &[&ours]).map_err(|finding| vec![finding]);
        let (schema, is_apart) = match theirs {
            None => (alone()?, true),
            // What is wrong with the product's is not told of the company's.
            Some(theirs) => extended(&ours, theirs).or_else(|found| alone().and(Err(found)))?,
        };
        vocabulary(&source, schema, is_built_in && is_apart).map_err(|finding| vec![finding])
    })
}

/// All that these declare, as one schema.
fn whole(source: &Source, parts: &[&Declared]) -> Result<Schema, Finding> {
    let finding = |error: &dyn miette::Diagnostic| source.diagnostic(code::SCHEMA, error, (0, 0));
    let mut fragments = Vec::new();
    for part in parts {
        fragments.push(SchemaFragment::try_from((*part).clone()).map_err(|error| finding(&error))?);
    }
    Schema::from_schema_fragments(fragments).map_err(|error| finding(&error))
}

/// What policies may name by this schema, which lists the kinds of approval.
fn vocabulary(source: &Source, schema: Schema, extends_built_in: bool) -> Result<Vocabulary, Finding> {
    let finding = |error: &dyn miette::Diagnostic| source.diagnostic(code::SCHEMA, error, (0, 0));
    let kind_type = EntityType::from_normalized_str(KIND_TYPE).map_err(|error| finding(&error))?;
    let Some(ValidatorEntityTypeKind::Enum(choices)) = schema.as_ref().get_entity_type(&kind_type).map(|ty| &ty.kind)
    else {
        let what = format!("`{KIND_TYPE}` is not declared as an enumerated type");
        return Err(source.finding(code::SCHEMA, (0, 0), what));
    };
    let kinds = choices.iter().map(|eid| {
        let uid = EntityUID::from_components(kind_type.clone(), eid.clone(), None);
        (AsRef::<str>::as_ref(eid).to_owned(), Value::new(Literal::EntityUID(Arc::new(uid)), None))
    });
    let kinds = kinds.collect();
    Ok(Vocabulary::new(schema, kind_type, kinds, extends_built_in))
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
