//! How a command ends: every exit code there is, and the sentence that goes with one that is not success.

use std::convert::Infallible;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::call::Refused;
use crate::gate::state::open::CannotOpen;
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
    Unread = 141,
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
        Exit::Unread,
    ];

    /// For the reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "It is done",
            Exit::Failed => "The command failed: it was refused, or an error occurred",
            Exit::Findings => "The command ran and found problems",
            Exit::Untested => "Policy tests failed or none ran, coverage is too low, or a budget is exceeded",
            Exit::Waits => "Not finished: an approval is pending, or the followed run is still active",
            Exit::Usage => "The command line is invalid",
            Exit::Busy => "Another process holds the state file; a retry may succeed",
            Exit::Unread => "The reader of its output closed it early, so the result is unknown",
            Exit::Interrupted => "A second signal ended the server while it was shutting down",
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
    Exits(Exit, String),
    /// What the gate refused.
    Refused(Box<Refused>),
    /// A server could not be reached, or did not answer: it may be restarting.
    NoAnswer(String),
    /// The arguments do not fit together.
    Usage(String),
    /// Nobody reads what is printed any more. Nothing is said, but it is no success: a script would take it for one.
    NobodyReads,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Exits(Exit::Failed, message.into())
    }

    pub fn busy(message: impl Into<String>) -> Failure {
        Failure::Exits(Exit::Busy, message.into())
    }
}

impl Failure {
    /// What is wrong with what comes after others: those are done by then.
    pub fn after(self, before: usize, done: &str) -> Failure {
        if before == 0 {
            return self;
        }
        self.with_message(&|message| format!("{done}; {message}"))
    }

    /// Rewrites problems with `list[0]`, `list[1]` … as problems with the lines of the file that these items were read
    /// from.
    pub fn at_lines(mut self, list: &str, lines: &[u64]) -> Failure {
        let placed = |text: &str| placed(text, &format!("{list}["), lines);
        if let Failure::Refused(refused) = &mut self {
            refused.problems.iter_mut().for_each(|problem| *problem = placed(problem));
        }
        self.with_message(&placed)
    }

    /// With its sentence told otherwise.
    fn with_message(self, reword: &dyn Fn(&str) -> String) -> Failure {
        match self {
            Failure::Exits(exit, message) => Failure::Exits(exit, reword(&message)),
            Failure::NoAnswer(message) => Failure::NoAnswer(reword(&message)),
            Failure::Refused(mut refused) => {
                refused.message = reword(&refused.message);
                Failure::Refused(refused)
            }
            other => other,
        }
    }

    pub fn exit(&self) -> Exit {
        match self {
            Failure::Exits(exit, _) => *exit,
            Failure::Refused(refused) if refused.code == Code::NeedsApproval.name() => Exit::Waits,
            Failure::Refused(_) | Failure::NoAnswer(_) => Exit::Failed,
            Failure::Usage(_) => Exit::Usage,
            Failure::NobodyReads => Exit::Unread,
        }
    }

    /// The sentence, and after it what to do next where people come first.
    pub fn sentence(&self) -> String {
        match self {
            Failure::Exits(_, message) | Failure::Usage(message) | Failure::NoAnswer(message) => message.clone(),
            Failure::NobodyReads => "the reader closed the output".into(),
            Failure::Refused(refused) => match &refused.approval {
                None => refused.message.clone(),
                Some(id) => format!(
                    "{}; approval {id}\nNext: `ok approval explain {id}` shows who may decide; they run `ok approve {id}`.",
                    refused.message
                ),
            },
        }
    }

    /// Returns the failure for programs: the refusal's code, or how the command ended.
    pub fn json(&self) -> Value {
        let code = match self {
            Failure::Refused(refused) => return serde_json::to_value(refused).map(coded).unwrap_or_default(),
            Failure::Usage(_) => "usage",
            Failure::Exits(Exit::Busy, _) => "busy",
            Failure::Exits(Exit::Untested, _) => Code::EvalsFailing.name(),
            Failure::Exits(..) | Failure::NoAnswer(_) | Failure::NobodyReads => "failed",
        };
        json!({ "error": code, "message": self.sentence() })
    }
}

/// A refusal as the API shapes it.
fn coded(mut refused: Value) -> Value {
    if let Some(fields) = refused.as_object_mut()
        && let Some(code) = fields.remove("code")
    {
        fields.insert("error".into(), code);
    }
    refused
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure::Refused(Box::new(refused))
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

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<Infallible> for Failure {
    fn from(never: Infallible) -> Failure {
        match never {}
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

/// A text in which `opening` and a number, such as `records[3`, are lines.
fn placed(text: &str, opening: &str, lines: &[u64]) -> String {
    let mut parts = text.split(opening);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let place =
            part.split_once(']').and_then(|(number, rest)| Some((lines.get(number.parse::<usize>().ok()?)?, rest)));
        match place {
            Some((line, rest)) => format!("{before}line {line}{rest}"),
            None => format!("{before}{opening}{part}"),
        }
    })
}
