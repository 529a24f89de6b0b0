//! How a command ends: every exit code there is, and the sentence that goes with one that is not success.

use std::process::ExitCode;

use super::call::Refused;
use crate::gate::open::CannotOpen;
use crate::log::verify::Unreadable;
use crate::store::open::OpenError;
use crate::types::refusal::{Code, Fault};

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Findings = 2,
    Untested = 3,
    Waits = 4,
    Usage = 64,
    Busy = 75,
    Interrupted = 130,
}

impl Exit {
    pub const ALL: &[Exit] = &[
        Exit::Done,
        Exit::Failed,
        Exit::Findings,
        Exit::Untested,
        Exit::Waits,
        Exit::Usage,
        Exit::Busy,
        Exit::Interrupted,
    ];

    /// For the reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "It is done",
            Exit::Failed => "It did not happen: it was refused, or something is broken",
            Exit::Findings => "The command worked, and what it looked at is not as it should be",
            Exit::Untested => "Tests of policies failed, none was run, too little is covered, or a budget is exceeded",
            Exit::Waits => "People must approve it first",
            Exit::Usage => "The command was not understood",
            Exit::Busy => "Another process has the state file; trying again may help",
            Exit::Interrupted => "A second signal ended a server that was still stopping",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command did not end well.
#[derive(Debug)]
pub enum Failure {
    /// A sentence for stderr.
    Told(Exit, String),
    /// The arguments do not fit together.
    Usage(String),
    /// Nobody reads what is printed any more; that is no error.
    NobodyReads,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Told(Exit::Failed, message.into())
    }

    pub fn busy(message: impl Into<String>) -> Failure {
        Failure::Told(Exit::Busy, message.into())
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        let exit = if refused.code == Code::NeedsApproval.name() { Exit::Waits } else { Exit::Failed };
        let approval = refused.approval.map(|id| format!("; approval {id}")).unwrap_or_default();
        Failure::Told(exit, format!("{}{approval}", refused.message))
    }
}

impl From<CannotOpen> for Failure {
    fn from(error: CannotOpen) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::new(fault.to_string())
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Fault::from(error).into()
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<Unreadable> for Failure {
    fn from(error: Unreadable) -> Failure {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        Failure::new(format!("{error}{}", cause.unwrap_or_default()))
    }
}
