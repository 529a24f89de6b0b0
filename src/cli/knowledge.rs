//! `ok brain recall` and what goes with it: knowledge on the command line.

use super::column::{Columns, columns};
use super::exit::Failure;
use super::show;
use crate::operations::knowledge::{Recalled, ShownKnowledge};

/// An entry.
pub const ENTRY: Columns<ShownKnowledge> = columns!(
    ShownKnowledge; id, status, kind, statement, topics, scope, reasons, origin, source, reference, confidence, proposed_by,
    run, supersedes, superseded_by, decided_by, expires_at, version, created_at
);
/// One of many.
pub const ROW: Columns<ShownKnowledge> =
    columns!(ShownKnowledge; id, status, kind, statement, topics, scope, origin, proposed_by, created_at);
/// One that is quarantined.
pub const HELD: Columns<ShownKnowledge> =
    columns!(ShownKnowledge; id, statement, reasons, source, proposed_by, created_at);

/// What is known, as a table.
pub fn told(recalled: &Recalled) -> Result<(), Failure> {
    let entries = serde_json::to_value(&recalled.entries)?;
    let rows = entries.as_array().map(Vec::as_slice).unwrap_or_default();
    show::list(
        "nothing is known",
        &["id", "kind", "statement", "topics", "origin", "proposed_by", "accepted_by"],
        rows,
    )?;
    if !recalled.is_all {
        show::note("There is more than was looked at: name topics.");
    }
    Ok(())
}
