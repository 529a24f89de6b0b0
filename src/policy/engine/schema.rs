//! The schema that policies are checked against: the product's, generated from its operations, and beside it what the
//! company declares for itself in `schema.cedarschema`; its kinds of approval come from `approvals.yaml`.
//!
//! Always true: the product's declarations are exactly the product's; the company adds, and redefines nothing.

use std::collections::BTreeMap;
use std::str::FromStr as _;
use std::sync::Arc;

use cedar_policy::{Schema, SchemaFragment};
use cedar_policy_core::ast::{EntityType, EntityUID, Literal, Value};
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::json_schema::Fragment;
use cedar_policy_core::validator::{RawName, ValidatorEntityTypeKind};

use super::approvals::KIND_TYPE;
use crate::policy::expansion::too_much;
use crate::policy::finding::{MARK, MARKED, SCHEMA_FILE, Source, code};
use crate::policy::folder::PRODUCT_SCHEMA;
use crate::policy::lexer::{Tokens, out_of_bounds};
use crate::policy::{Bundle, Finding, kinds};

/// How the product's own schema begins.
const GENERATED: &str = "// The company as policies see it. The actions below are generated from the operations.\n";

/// The product's schema with the kinds of the default policies, in both of Cedar's forms.
const BUILT_IN: &str = include_str!("../../../policies/ok.cedarschema");
const BUILT_IN_JSON: &str = include_str!("schema.json");

/// Each approval kind with its value.
pub(super) type Kinds = BTreeMap<String, Value>;

/// What policies may name.
pub(super) struct Known {
    pub schema: Schema,
    pub kind_type: EntityType,
    pub kinds: Kinds,
}

/// The schema of product and company. Findings in the company's leave the product's alone.
pub(super) fn read(ours: &str, bundle: &Bundle, findings: &mut Vec<Finding>) -> Result<Known, Finding> {
    let ours = &kinds::schema_for(ours, bundle);
    let known = product(ours)?;
    findings.extend(kinds::unreadable(bundle));
    let Some(theirs) = bundle.files.get(SCHEMA_FILE) else { return Ok(known) };
    match extended(ours, theirs) {
        Ok(schema) => Ok(Known { schema, ..known }),
        Err(mut found) => {
            findings.append(&mut found);
            Ok(known)
        }
    }
}

/// The schema of a company that declares nothing of its own, read from Cedar's JSON form: that takes a fifth of the time, and
/// every command reads it.
fn built_in(text: &str) -> Option<Schema> {
    (text == BUILT_IN).then(|| Schema::from_json_str(BUILT_IN_JSON).ok()).flatten()
}

/// The JSON form of a schema.
pub fn as_json(text: &str) -> Option<String> {
    let (fragment, _warnings) = Fragment::<RawName>::from_cedarschema_str(text, Extensions::all_available()).ok()?;
    serde_json::to_string(&fragment).ok().map(|json| json + "\n")
}

fn product(text: &str) -> Result<Known, Finding> {
    let source = Source::new(SCHEMA_FILE, text);
    let told = |error: &dyn miette::Diagnostic| source.diagnostic(code::SCHEMA, error, (0, 0));
    let schema = match built_in(text) {
        Some(schema) => schema,
        None => Schema::from_cedarschema_str(text).map_err(|error| told(&error))?.0,
    };
    let kind_type = EntityType::from_normalized_str(KIND_TYPE).map_err(|error| told(&error))?;
    match schema.as_ref().get_entity_type(&kind_type).map(|ty| &ty.kind) {
        Some(ValidatorEntityTypeKind::Enum(choices)) => {
            let kinds = choices.iter().map(|eid| {
                let uid = EntityUID::from_components(kind_type.clone(), eid.clone(), None);
                (AsRef::<str>::as_ref(eid).to_owned(), Value::new(Literal::EntityUID(Arc::new(uid)), None))
            });
            let kinds = kinds.collect();
            Ok(Known { schema, kind_type, kinds })
        }
        _ => Err(source.finding(code::SCHEMA, (0, 0), format!("`{KIND_TYPE}` is not declared as an enumerated type"))),
    }
}

fn extended(ours: &str, theirs: &str) -> Result<Schema, Vec<Finding>> {
    let source = Source::new(SCHEMA_FILE, theirs);
    let told = |error: &dyn miette::Diagnostic| vec![source.diagnostic(code::SCHEMA, error, (0, 0))];
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
    let parse = |text| {
        let parsed = Fragment::<RawName>::from_cedarschema_str(text, Extensions::all_available());
        parsed.map(|(fragment, _warnings)| fragment).map_err(|error| told(&error))
    };
    let (product, company) = (parse(ours)?, parse(theirs)?);
    let twice = redefined(&product, &company);
    if !twice.is_empty() {
        let findings = twice.into_iter().map(|(what, name, word)| {
            let at = Tokens::new(theirs).find(|token| token.text == word).map_or((0, 0), |at| (at.at, at.text.len()));
            source.finding(
                code::REDEFINED,
                at,
                format!("the {what} `{name}` is the product's and cannot be declared again"),
            )
        });
        return Err(findings.collect());
    }
    let fragments = [SchemaFragment::from_str(ours), SchemaFragment::from_str(theirs)];
    let [product, company] = fragments;
    let fragments = [product.map_err(|error| told(&error))?, company.map_err(|error| told(&error))?];
    Schema::from_schema_fragments(fragments).map_err(|error| told(&error))
}

/// What the company declares although the product does: what it is, its name, and the word of the text that names it.
fn redefined(product: &Fragment<RawName>, company: &Fragment<RawName>) -> Vec<(&'static str, String, String)> {
    let mut twice = Vec::new();
    for (namespace, theirs) in &company.0 {
        let Some(ours) = product.0.get(namespace) else { continue };
        let full = |name: &str| namespace.as_ref().map_or_else(|| name.to_owned(), |space| format!("{space}::{name}"));
        let types = theirs.entity_types.keys().filter(|name| ours.entity_types.contains_key(*name));
        twice.extend(types.map(|name| ("entity type", full(name.as_ref()), name.to_string())));
        let commons = theirs.common_types.keys().filter(|name| ours.common_types.contains_key(*name));
        twice.extend(commons.map(|name| ("type", full(name.as_ref().as_ref()), name.as_ref().to_string())));
        let actions = theirs.actions.keys().filter(|name| ours.actions.contains_key(*name));
        twice.extend(actions.map(|name| ("action", full(&format!("Action::\"{name}\"")), format!("\"{name}\""))));
    }
    twice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_built_in_schema_say_the_same() {
        let (text, _) = Fragment::<RawName>::from_cedarschema_str(BUILT_IN, Extensions::all_available()).unwrap();
        assert_eq!(Fragment::<RawName>::from_json_str(BUILT_IN_JSON).unwrap(), text);
        assert!(built_in(BUILT_IN).is_some() && built_in("namespace Ok {}").is_none());
    }
}
