//! The forms of an operation's input and answer, each on its own (JSON Schema).

use schemars::Schema;
use serde_json::Value;

use super::input::inline;
use super::operation::Entry;

impl Entry {
    /// The input's, for reading parameters by their types.
    pub fn input_schema(&self) -> Schema {
        inline(self.input)
    }

    /// The answer's.
    pub fn output_schema(&self) -> Schema {
        inline(self.output)
    }

    /// Whether it answers with a record that has a version.
    pub fn is_versioned(&self) -> bool {
        let schema = self.output_schema().to_value();
        schema.pointer("/properties/version/type").is_some_and(|kind| kind == "integer")
    }

    /// Whether a request must have a body: some field that is not in its path has to be given.
    pub fn needs_body(&self) -> bool {
        let schema = self.input_schema();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).any(|name| !self.spec.route.has_in_path(name))
    }
}
