//! Differences between the file and what the log says.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// A row that the log does not account for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    pub table: Cow<'static, str>,
    /// The row's key.
    pub key: String,
    pub message: String,
}
