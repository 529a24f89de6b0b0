//! The things that an input names. An answer that something does not exist lists all of them, so it is the same
//! whichever is missing.

use serde_json::Value;

use crate::declare::operation::Entry;
use crate::declare::target::Target;
use types::id::Id;
use types::token::{is_value, masked};
use types::visible::visible;

/// No id is longer.
const LONGEST: usize = 70;

impl Entry {
    /// The fields of an input that name something: an actor, what stands in the path, or anything else by its id.
    fn named<'a>(&self, input: &'a Value) -> Vec<(&'a str, &'a str)> {
        let (schema, path) = (self.input_schema().to_value(), self.spec.route.address());
        let names = |field: &str, value: &str| {
            is_reference(schema.pointer(&format!("/properties/{field}")))
                || path.contains(&format!("{{{field}}}"))
                || Id::is_generated(value)
        };
        let fields = input
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(field, value)| Some((field.as_str(), value.as_str()?)));
        fields.filter(|(field, value)| names(field, value)).collect()
    }

    /// Returns the fields that name something, each with its value, as the caller is told. A token is shown as `ok_…`.
    pub fn names(&self, input: &Value) -> Vec<String> {
        // A token that was pasted here is not told on.
        let shown = |value: &str| if is_value(value) { "ok_…".into() } else { visible(value) };
        self.named(input).into_iter().map(|(field, value)| format!("{field} `{}`", shown(value))).collect()
    }

    /// What an input is about that names what is not there: the one id that it names, or its `id`, of which nothing is known.
    pub(crate) fn absent(&self, input: &Value) -> Target {
        let of_an_id = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        // Nor is a token that was pasted here kept.
        let is_id = |id: &str| id.len() <= LONGEST && id.bytes().all(of_an_id) && masked(id) == id;
        let named = self.named(input);
        let id = match named[..] {
            [(_, id)] => Some(id),
            _ => named.iter().find(|(field, _)| *field == "id").map(|(_, id)| *id),
        };
        self.spec.absent(id.filter(|id| is_id(id)))
    }
}

/// The end of a sentence about what is not found.
pub fn absent(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(", or not yours to see: {one}"),
        more => format!(": one of these is not there, or not yours to see: {}", more.join(", ")),
    }
}

/// Whether a field is declared as the id of an actor, or of something else.
fn is_reference(schema: Option<&Value>) -> bool {
    let Some(schema) = schema else { return false };
    let either = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let is_id = |schema: &Value| {
        schema.get("x-id").is_some() || schema.get("x-names").is_some_and(|names| names == "reference")
    };
    std::iter::once(schema).chain(either).any(is_id)
}
