//! The built-in parts: the product's schema, also in Cedar's JSON form, and the default policies. A test has validated
//! these policies against the schema, so the program need not read and validate them at every start, which is most of
//! what a command costs.
//!
//! Always true: this applies only to that very schema, extended at most by a bundle's approval kinds and collections,
//! and only to files that equal the default ones byte for byte; `tests/reference.rs` writes their digest once they pass
//! validation, and fails while the digest does not match.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use cedar_policy::Schema;
use cedar_policy_core::ast::{self, Eid};
use cedar_policy_core::validator::RawName;
use cedar_policy_core::validator::json_schema::EntityTypeKind;
use sha2::{Digest, Sha256};

use super::fragment::{Declared, declared};
use super::names::covers;
use crate::{Bundle, brain, kinds};

/// The product's schema with the kinds of the default policies, in both of Cedar's forms.
pub const SCHEMA: &str = include_str!("../../../policies/ok.cedarschema");
pub(super) const SCHEMA_JSON: &str = include_str!("schema.json");
/// The digest of that schema and the default policies, which have passed.
const PASSED: &str = include_str!("validated.txt");
/// The product's namespace.
const NAMESPACE: &str = "Ok";

/// The default policies, if they are those that have passed.
pub static DEFAULTS: LazyLock<Option<Bundle>> = LazyLock::new(|| {
    let bundle = Bundle::built_in();
    (digest(SCHEMA, &bundle) == PASSED.trim_end()).then_some(bundle)
});

/// The digest of a schema and a bundle.
pub(super) fn digest(schema: &str, bundle: &Bundle) -> String {
    let mut both = Sha256::new();
    both.update(Sha256::digest(schema));
    both.update(bundle.hash().to_string());
    hex::encode(both.finalize())
}

/// What `kinds::schema_for` makes of the product's schema for a bundle, read from Cedar's JSON form; nothing where the product's
/// schema is not the built-in one. That takes a fifth of the time of reading the text.
pub fn declared_for(product: &str, bundle: &Bundle) -> Option<Declared> {
    let text = kinds::with_kinds(product, bundle);
    if text != kinds::with_kinds(SCHEMA, bundle) {
        return None;
    }
    let mut whole = Declared::from_json_str(SCHEMA_JSON).ok()?;
    let ours = whole.0.get_mut(&Some(NAMESPACE.parse().ok()?))?;
    let EntityTypeKind::Enum { choices } = &mut ours.entity_types.get_mut(&"ApprovalKind".parse().ok()?)?.kind else {
        return None;
    };
    let known: BTreeSet<Eid> = choices.iter().cloned().collect();
    let all = kinds::of_schema(&text).into_iter().map(Eid::new);
    all.filter(|kind| !known.contains(kind)).for_each(|kind| choices.push(kind));
    choices.sort();
    if let Some(types) = brain::types(bundle) {
        let record: RawName = "Record".parse().ok()?;
        let names: Vec<RawName> = types.names.iter().map(|name| name.parse().ok()).collect::<Option<_>>()?;
        for action in ours.actions.values_mut().filter_map(|action| action.applies_to.as_mut()) {
            if action.resource_types.contains(&record) {
                action.resource_types.extend(names.iter().cloned());
            }
        }
        whole.0.extend(declared(&types.namespace).ok()?.0);
    }
    Some(whole)
}

/// Which policies need no validation under a schema that is the built-in one with more kinds, collections, and types and actions
/// in namespaces of their own. Cedar validates a policy once for each pair of types that an action takes; those of the built-in
/// schema mean the same in the larger one, so a policy that has passed there is wrong here at most about another pair.
pub struct Passed {
    defaults: &'static Bundle,
    /// Actions that take types which are not built in, or are not built in themselves.
    others: Vec<ast::Entity>,
}

impl Passed {
    pub fn under(schema: &Schema) -> Option<Passed> {
        let defaults = DEFAULTS.as_ref()?;
        let is_ours = |space: String| space == NAMESPACE;
        let is_new = |kind: &cedar_policy::RequestEnv| {
            !is_ours(kind.action().type_name().namespace())
                || !is_ours(kind.principal().namespace())
                || !is_ours(kind.resource().namespace())
        };
        let new = schema.request_envs().filter(is_new);
        let names: BTreeSet<ast::EntityUID> = new.map(|kind| kind.action().as_ref().clone()).collect();
        let entities = schema.as_ref().action_entities().ok()?;
        let others = entities.iter().filter(|action| names.contains(action.uid())).cloned().collect();
        Some(Passed { defaults, others })
    }

    /// Whether a policy of this file has passed.
    pub fn has(&self, file: &str, text: Option<&String>, policy: &ast::Policy) -> bool {
        let is_default = text.is_some() && self.defaults.files.get(file) == text;
        is_default && !self.others.iter().any(|action| covers(policy.action_constraint(), action))
    }
}
