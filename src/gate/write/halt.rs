//! What stops the writer: a job, or all of them.

use rusqlite::ErrorCode;

use policy::Ruling;
use types::refusal::{Fault, Stop};

/// What ends a job, and what ends the whole transaction with it.
pub(crate) enum Halt {
    Job(Stop),
    /// A part of the call takes approvals that it does not go on with: the answer about that part, and what the caller is told
    /// where the call cannot wait for them.
    Lacks(Box<Ruling>, Stop),
    Transaction(Fault),
}

impl<S: Into<Stop>> From<S> for Halt {
    fn from(stop: S) -> Halt {
        match stop.into() {
            Stop::Failed(fault) if is_disk(&fault) => Halt::Transaction(fault),
            stop => Halt::Job(stop),
        }
    }
}

/// Whether a fault comes from the file or the disk: then no job of this transaction can be kept.
fn is_disk(fault: &Fault) -> bool {
    let Fault::Sqlite(error) = fault else { return false };
    !matches!(
        error.sqlite_error_code(),
        None | Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    )
}
