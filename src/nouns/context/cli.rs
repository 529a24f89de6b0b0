//! `ok context`: erases the content of events; their entries stay in the log.

use super::column::columns;
use super::command::{Commands, group};
use super::operation::change;
use crate::nouns::context::{Count, Forget};

pub const COMMANDS: Commands = &[&group(
    "context",
    "Erase recorded content",
    &[&change::<Forget>()
        .command("forget")
        .help("Erase the content of events; the log still verifies")
        .fields(columns!(Count; forgotten))],
)];
