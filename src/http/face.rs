//! One route, as all that answers it knows it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::Schema;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use crate::gate::admit::shares::Shares;
use crate::gate::declare::operation::Body;
use crate::gate::{Entry, Gate};

/// One route, with what is known about it before any request.
pub(super) struct Face {
    pub entry: &'static Entry,
    pub form: Arc<Form>,
    pub gate: Arc<Gate>,
    pub limits: Limits,
    /// The room for long bodies, of all routes together.
    pub bodies: Arc<Shares>,
    pub stop: CancellationToken,
}

impl Face {
    pub fn new(
        entry: &'static Entry,
        gate: Arc<Gate>,
        (limits, bodies): (Limits, Arc<Shares>),
        stop: CancellationToken,
    ) -> Face {
        Face { entry, form: Form::of(entry), gate, limits, bodies, stop }
    }

    /// The most bytes that a body may have.
    pub fn body_bytes(&self) -> usize {
        match self.entry.spec.route.body {
            Body::Large => self.limits.large_body_bytes,
            Body::Usual | Body::Host => self.limits.body_bytes,
        }
    }

    pub fn in_path(&self, name: &str) -> bool {
        self.entry.spec.route.has_in_path(name)
    }
}

/// What the schemas of an operation say about its requests and answers.
pub(super) struct Form {
    pub params: BTreeMap<String, ParamKind>,
    /// Some field of a body has to be given.
    pub needs_body: bool,
    /// It answers with a record that has a version.
    pub is_versioned: bool,
}

impl Form {
    /// Made once for each operation, whatever router it is in.
    fn of(entry: &Entry) -> Arc<Form> {
        static FORMS: Mutex<BTreeMap<&'static str, Arc<Form>>> = Mutex::new(BTreeMap::new());
        let mut forms = FORMS.lock().unwrap_or_else(PoisonError::into_inner);
        let made = forms.entry(entry.spec.name).or_insert_with(|| {
            let params = params(&entry.input_schema());
            Arc::new(Form { params, needs_body: entry.needs_body(), is_versioned: entry.is_versioned() })
        });
        Arc::clone(made)
    }
}

/// How the text of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamKind {
    Text,
    Integer,
    Boolean,
    /// Separated by commas.
    List,
}

/// The fields of an input, by its schema.
fn params(schema: &Schema) -> BTreeMap<String, ParamKind> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, schema)| (name.clone(), kind(schema))).collect()
}

fn kind(schema: &Value) -> ParamKind {
    let is = |name: &str| match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(some)) => some.iter().any(|one| one == name),
        _ => false,
    };
    match () {
        () if is("integer") => ParamKind::Integer,
        () if is("boolean") => ParamKind::Boolean,
        () if is("array") => ParamKind::List,
        () => ParamKind::Text,
    }
}

impl ParamKind {
    pub fn read(self, text: &str) -> Result<Value, &'static str> {
        match self {
            ParamKind::Text => Ok(text.into()),
            ParamKind::Integer => text.parse::<i64>().map(Value::from).map_err(|_| "must be a whole number"),
            ParamKind::Boolean => text.parse::<bool>().map(Value::from).map_err(|_| "must be true or false"),
            ParamKind::List => Ok(text.split(',').filter(|part| !part.is_empty()).map(Value::from).collect()),
        }
    }
}
