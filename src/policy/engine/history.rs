//! What the acting actor has done, as policies see it: `context.hist`. The schema wants a number for every operation; the facts of
//! a question hold those that are not zero, and only where policies look at them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::Schema;
use cedar_policy_core::ast::{EntityUID, Value, ValueKind};
use cedar_policy_core::validator::types::{Attributes, Type};
use smol_str::SmolStr;

use super::input::record;
use super::names::{is_own, name_of};

/// The attribute of the context that holds it.
pub(super) const ATTRIBUTE: &str = "hist";

/// The history of somebody who has done nothing.
#[derive(Clone, Debug)]
pub(super) struct Blank {
    fields: Arc<Attributes>,
    pairs: Arc<BTreeMap<SmolStr, Value>>,
}

impl Blank {
    /// Returns the blank history of an action. None if the action is not the product's. All of the product's actions
    /// share one history type, so `known` is reused.
    pub fn of(schema: &Schema, action: &EntityUID, known: Option<&Blank>) -> Option<Blank> {
        let Type::Record { attrs, .. } = schema.as_ref().context_type(action).filter(|_| !is_own(&name_of(action)))?
        else {
            return None;
        };
        let Type::Record { attrs: fields, .. } = &*attrs.get_attr(ATTRIBUTE)?.attr_type else { return None };
        if let Some(known) = known.filter(|known| *known.fields == *fields) {
            return Some(known.clone());
        }
        let blank = record(fields, None).ok()?;
        match blank.value_kind() {
            ValueKind::Record(pairs) => Some(Blank { fields: Arc::new(fields.clone()), pairs: Arc::clone(pairs) }),
            _ => None,
        }
    }

    /// With what was done, of the operations that there are.
    pub fn with(&self, done: Option<&Value>) -> Value {
        let mut pairs = Arc::clone(&self.pairs);
        if let Some(ValueKind::Record(done)) = done.map(Value::value_kind) {
            let known = done.iter().filter(|(name, _)| self.pairs.contains_key(*name));
            Arc::make_mut(&mut pairs).extend(known.map(|(name, value)| (name.clone(), value.clone())));
        }
        Value::record_arc(pairs, None)
    }
}
