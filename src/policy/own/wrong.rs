//! What does not fit the schema, with its place in the question.

use std::fmt;

/// Why a question was not understood; it names the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// From the inside out.
    path: Vec<String>,
    what: String,
}

impl Wrong {
    pub fn new(what: impl Into<String>) -> Wrong {
        Wrong { path: Vec::new(), what: what.into() }
    }

    /// The same, found inside a field.
    #[must_use]
    pub fn within(mut self, field: impl AsRef<str>) -> Wrong {
        self.path.push(field.as_ref().to_owned());
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        if path.is_empty() { f.write_str(&self.what) } else { write!(f, "{}: {}", path.join("."), self.what) }
    }
}
