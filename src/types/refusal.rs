//! The two ways in which something does not happen. A `Refusal` is the caller's business: it has a stable code and a
//! sentence. A `Fault` is ours: its cause is logged once, at the face, and the answer carries only the request id.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::token::masked;

/// Why a caller does not get what was asked, in words for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    /// What is wrong, a line each, with [`Code::Invalid`]; the evals that fail or are missing, with
    /// [`Code::EvalsFailing`] and [`Code::EvalsNotRun`].
    pub problems: Vec<String>,
    /// The approval that is waited for; only with [`Code::NeedsApproval`].
    pub approval: Option<Box<str>>,
    /// Seconds after which trying again makes sense.
    pub retry_after: Option<u64>,
    /// The number of the event that records it, where there is one.
    pub decision: Option<i64>,
    /// The policies and the log at the time of the refusal, if it got as far as a decision.
    pub stands: Option<Box<Stands>>,
}

/// Where a decision stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stands {
    /// The version of the policies that it was made under.
    pub policy: i64,
    /// The log, as every answer names it.
    pub audit: Arc<str>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal, $code:literal;)*) => {
        /// Every error code, with its HTTP status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $name,)* }
        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name,)*];
            pub const fn status(self) -> u16 { match self { $(Code::$name => $status,)* } }
            pub const fn name(self) -> &'static str { match self { $(Code::$name => $code,)* } }
        }
    };
}

codes! {
    NeedsApproval = 202, "needs_approval";
    BadRequest = 400, "bad_request";
    Unauthorized = 401, "unauthorized";
    Denied = 403, "denied";
    NotApprover = 403, "not_approver";
    NotOwner = 403, "not_owner";
    TokenScope = 403, "token_scope";
    AgentTokenScope = 403, "agent_token_scope";
    NotFound = 404, "not_found";
    Conflict = 409, "conflict";
    EvalsNotRun = 409, "evals_not_run";
    EvalsFailing = 409, "evals_failing";
    LastAdmin = 409, "last_admin";
    LastApprover = 409, "last_approver";
    TooLarge = 413, "too_large";
    Invalid = 422, "invalid";
    IdempotencyMismatch = 422, "idempotency_mismatch";
    RateLimited = 429, "rate_limited";
    Timeout = 408, "timeout";
    Internal = 500, "internal";
    AuditUnavailable = 503, "audit_unavailable";
    Unavailable = 503, "unavailable";
}

/// How the message begins of what was given up because it took too long.
pub const TOO_LONG: &str = "this takes too long to answer";

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            message: message.into(),
            problems: Vec::new(),
            approval: None,
            retry_after: None,
            decision: None,
            stands: None,
        }
    }

    pub fn not_found() -> Refusal {
        Refusal::new(Code::NotFound, "not found")
    }

    pub fn bad_request(message: impl Into<String>) -> Refusal {
        Refusal::new(Code::BadRequest, message)
    }

    pub fn conflict(message: impl Into<String>) -> Refusal {
        Refusal::new(Code::Conflict, message)
    }

    /// Well formed but not acceptable; each problem names its field first: `days: must be 1, 7, 30 or 90`.
    pub fn invalid(problems: Vec<String>) -> Refusal {
        Refusal { problems: problems.clone(), ..Refusal::new(Code::Invalid, problems.join("; ")) }
    }

    /// One field that is not acceptable.
    pub fn field(name: &str, what: impl fmt::Display) -> Refusal {
        Refusal::invalid(vec![format!("{name}: {what}")])
    }

    /// A refusal that the log itself causes: nothing happened.
    pub fn audit_unavailable(why: impl fmt::Display) -> Refusal {
        let message = format!("the log cannot be written: {why}");
        Refusal { retry_after: Some(5), ..Refusal::new(Code::AuditUnavailable, message) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What went wrong on our side. Never shown to a caller.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("the state file: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the pool of readers: {0}")]
    Pool(#[from] r2d2::Error),
    #[error("a stored value cannot be read: {0}")]
    Stored(#[from] serde_json::Error),
    #[error("{0}")]
    Broken(String),
}

impl Fault {
    /// Returns whether the error is a stored value of the wrong type: a fault of whoever wrote it, not of the disk.
    pub fn is_of_a_value(&self) -> bool {
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
        let of_sqlite = |error: &rusqlite::Error| {
            matches!(
                error,
                FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
            )
        };
        match self {
            Fault::Sqlite(error) => of_sqlite(error),
            Fault::Stored(_) => true,
            Fault::Pool(_) | Fault::Broken(_) => false,
        }
    }
}

/// Anything that stops an operation.
#[derive(Debug)]
pub enum Stop {
    Refused(Box<Refusal>),
    Failed(Fault),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Refused(Box::new(refusal))
    }
}

impl Stop {
    /// Returns the same refusal with the current state of the log, if it was decided.
    #[must_use]
    pub fn standing_in(self, audit: &Arc<str>) -> Stop {
        match self {
            Stop::Refused(mut refusal) => {
                if let Some(stands) = &mut refusal.stands {
                    stands.audit = Arc::clone(audit);
                }
                Stop::Refused(refusal)
            }
            failed @ Stop::Failed(_) => failed,
        }
    }

    /// Notes under which version of the policies it was decided, and in which log it stands.
    #[must_use]
    pub fn under(self, stands: Stands) -> Stop {
        self.map(|refusal| Refusal { stands: Some(Box::new(stands)), ..refusal })
    }

    /// The same with another refusal.
    #[must_use]
    pub fn map(self, other: impl FnOnce(Refusal) -> Refusal) -> Stop {
        match self {
            Stop::Refused(refusal) => Stop::Refused(Box::new(other(*refusal))),
            failed @ Stop::Failed(_) => failed,
        }
    }
}

impl<F: Into<Fault>> From<F> for Stop {
    fn from(fault: F) -> Stop {
        Stop::Failed(fault.into())
    }
}

/// An error as it travels: `problems`, `evals` and `approval` where they belong.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorBody {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub problems: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub evals: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub approval: Option<String>,
}

/// Errors come from proxies, too: a field of another type is none.
fn lenient<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

impl Refusal {
    /// The error as JSON. A token's value that somebody sent in the wrong place is not repeated: errors are logged.
    pub fn body(&self) -> Vec<u8> {
        let list = || Some(self.problems.iter().map(|problem| masked(problem).into_owned()).collect());
        let (problems, evals) = match self.code {
            Code::Invalid => (list(), None),
            Code::EvalsFailing | Code::EvalsNotRun => (None, list()),
            _ => (None, None),
        };
        let body = ErrorBody {
            error: Some(self.code.name().to_owned()),
            message: Some(masked(&self.message).into_owned()),
            problems,
            evals,
            approval: self.approval.as_deref().map(str::to_owned),
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ErrorBody;

    #[test]
    fn what_a_proxy_writes_otherwise_costs_no_other_field() {
        let read = |body: Value| serde_json::from_value::<ErrorBody>(body).unwrap();
        let foreign = read(json!({ "error": { "code": 403 }, "message": "quota exceeded", "problems": [{ "at": 1 }] }));
        assert_eq!((foreign.error, foreign.message.as_deref(), foreign.problems), (None, Some("quota exceeded"), None));
        let ours = read(json!({ "error": "invalid", "message": "no", "problems": ["id: taken"] }));
        assert_eq!((ours.error.as_deref(), ours.problems), (Some("invalid"), Some(vec!["id: taken".to_owned()])));
    }
}
