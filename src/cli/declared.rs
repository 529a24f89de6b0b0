//! What of a declared command the rest of the command line uses, whatever the types of its input and output.

use clap::ArgMatches;
use serde_json::Value;

use super::column::Column;
use super::exit::{Exit, Failure};

/// What of a declaration differs from operation to operation.
pub trait Declared: Sync {
    fn op(&self) -> &'static str;
    fn input(&self, given: &ArgMatches) -> Result<Value, Failure>;
    fn is_paged(&self) -> bool;
    fn human(&self, answer: &Value) -> Result<(), Failure>;
    fn exit(&self, answer: Value) -> Result<Exit, Failure>;
    /// The fields of the answer that people read.
    fn columns(&self) -> &'static [Column];
}
