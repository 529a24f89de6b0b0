//! Records: named values that are built as typed values, so that no JSON is parsed between the server and a decision.
//!
//! Always true: a record holds values, never expressions; a clone costs one pointer; a value that Cedar refuses is left
//! out, and the check against the schema then refuses the whole question.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use cedar_policy::EntityUid;
use cedar_policy_core::FromNormalizedStr;
use cedar_policy_core::ast::{self, Context, Literal, Name, PartialValue, Value, ValueKind};
use cedar_policy_core::extensions::Extensions;

use types::decimal::{decimal, shown_decimal};

/// What the server itself knows about a request: the context without `approvals`, which the engine adds.
pub type Facts = Record;

/// Named values: the facts of a request, a record inside them, or the attributes of an entity.
#[derive(Clone, Debug)]
pub struct Record(Context);

impl Default for Record {
    fn default() -> Self {
        Self(Context::empty())
    }
}

impl Record {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn bool(self, name: &str, value: bool) -> Self {
        self.with(name, Value::from(value))
    }

    #[must_use]
    pub fn long(self, name: &str, value: i64) -> Self {
        self.with(name, Value::from(value))
    }

    #[must_use]
    pub fn string(self, name: &str, value: &str) -> Self {
        self.with(name, Value::from(value))
    }

    /// A reference to an entity.
    #[must_use]
    pub fn entity(self, name: &str, uid: &EntityUid) -> Self {
        self.with(name, reference(uid.as_ref()))
    }

    /// A set of references.
    #[must_use]
    pub fn entities<'a>(self, name: &str, uids: impl IntoIterator<Item = &'a EntityUid>) -> Self {
        self.with(name, Value::set(uids.into_iter().map(|uid| reference(uid.as_ref())), None))
    }

    /// A set of texts.
    #[must_use]
    pub fn strings<'a>(self, name: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(name, Value::set(values.into_iter().map(Value::from), None))
    }

    #[must_use]
    pub fn record(self, name: &str, value: Record) -> Self {
        match value.0 {
            Context::Value(pairs) => self.with(name, Value::record_arc(pairs, None)),
            Context::RestrictedResidual(_) => self,
        }
    }

    /// A Cedar `decimal`, from ten-thousandths.
    #[must_use]
    pub fn decimal(self, name: &str, number: i64) -> Self {
        match call("decimal", &[Value::from(shown_decimal(number, 1))]) {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A Cedar `datetime`, from milliseconds since 1970.
    #[must_use]
    pub fn datetime(self, name: &str, unix_millis: i64) -> Self {
        match remembered(unix_millis) {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        if let Context::Value(pairs) = &mut self.0 {
            Arc::make_mut(pairs).insert(name.into(), value);
        }
        self
    }

    pub(super) fn context(self) -> Context {
        self.0
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.pairs().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The values by name.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &Value)> {
        let pairs = match &self.0 {
            Context::Value(pairs) => Some(pairs),
            Context::RestrictedResidual(_) => None,
        };
        pairs.into_iter().flat_map(|pairs| pairs.iter()).map(|(name, value)| (name.as_str(), value))
    }
}

/// A value that refers to an entity.
pub(super) fn reference(uid: &ast::EntityUID) -> Value {
    Value::new(Literal::EntityUID(Arc::new(uid.clone())), None)
}

/// Calls `visit` with each entity that a policy could open through this value. Cedar offers no way to a member of a set:
/// sets are only compared and searched.
pub(super) fn references<'a>(value: &'a Value, visit: &mut impl FnMut(&'a ast::EntityUID)) {
    match value.value_kind() {
        ValueKind::Lit(Literal::EntityUID(uid)) => visit(uid),
        ValueKind::Record(pairs) => pairs.values().for_each(|item| references(item, visit)),
        ValueKind::Lit(_) | ValueKind::Set(_) | ValueKind::ExtensionValue(_) => {}
    }
}

/// As many instants are remembered.
const REMEMBERED: usize = 4;

/// The last instants made on this thread: many questions are asked within one millisecond, and each may name a few others.
pub fn remembered(unix_millis: i64) -> Option<Value> {
    thread_local! {
        static LAST: RefCell<VecDeque<(i64, Value)>> = const { RefCell::new(VecDeque::new()) };
    }
    LAST.with_borrow_mut(|last| {
        if let Some((_, known)) = last.iter().find(|(at, _)| *at == unix_millis) {
            return Some(known.clone());
        }
        let value = moved(unix_millis)?;
        last.truncate(REMEMBERED - 1);
        last.push_front((unix_millis, value.clone()));
        Some(value)
    })
}

/// Milliseconds of one stretch of time.
const STRETCH: i64 = 1_024;

/// An instant as so many milliseconds after the beginning of its stretch, which is made once on this thread: Cedar makes
/// instants and durations from text only, and that is slow.
fn moved(unix_millis: i64) -> Option<Value> {
    thread_local! {
        static BEGINNING: RefCell<Option<(i64, Value)>> = const { RefCell::new(None) };
    }
    static STEPS: [OnceLock<Option<Value>>; STRETCH as usize] = [const { OnceLock::new() }; STRETCH as usize];
    let step = unix_millis.rem_euclid(STRETCH);
    let start = unix_millis - step;
    let beginning = BEGINNING.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(at, _)| *at != start) {
            let epoch = call("datetime", &[Value::from("1970-01-01")])?;
            *last = call("offset", &[epoch, duration(start)?]).map(|value| (start, value));
        }
        last.as_ref().map(|(_, value)| value.clone())
    })?;
    let since = STEPS.get(usize::try_from(step).ok()?)?.get_or_init(|| duration(step)).clone()?;
    call("offset", &[beginning, since])
}

pub fn duration(millis: i64) -> Option<Value> {
    call("duration", &[Value::from(format!("{millis}ms"))])
}

/// A Cedar `decimal` in ten-thousandths.
pub(super) fn decimal_of(value: &Value) -> Option<i64> {
    let text = value.to_string();
    let number = text.strip_prefix("decimal(\"")?.strip_suffix("\")")?;
    decimal(&serde_json::Value::from(number)).ok()
}

/// A Cedar `datetime` in milliseconds since 1970.
pub(super) fn millis_of(value: &Value) -> Option<i64> {
    let epoch = call("datetime", &[Value::from("1970-01-01")])?;
    milliseconds(call("durationSince", &[value.clone(), epoch])?)
}

/// What Cedar reads as a `datetime`, in milliseconds since 1970.
pub(super) fn instant(text: &str) -> Option<i64> {
    millis_of(&call("datetime", &[Value::from(text)])?)
}

/// What Cedar reads as a `duration`, in milliseconds.
pub(super) fn span(text: &str) -> Option<i64> {
    milliseconds(call("duration", &[Value::from(text)])?)
}

fn milliseconds(duration: Value) -> Option<i64> {
    match call("toMilliseconds", &[duration])?.value_kind() {
        ValueKind::Lit(Literal::Long(millis)) => Some(*millis),
        _ => None,
    }
}

/// The value of one of Cedar's extension functions.
pub fn call(function: &str, arguments: &[Value]) -> Option<Value> {
    let name = Name::from_normalized_str(function).ok()?;
    match Extensions::all_available().func(&name).ok()?.call(arguments).ok()? {
        PartialValue::Value(value) => Some(value),
        PartialValue::Residual(_) => None,
    }
}
