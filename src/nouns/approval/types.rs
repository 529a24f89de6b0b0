//! Types of approvals.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// Where an approval stands.
    ApprovalStatus, "state of an approval", {
        /// Waits for people.
        Pending = "pending",
        /// Granted; used up by the requester's next identical call.
        Approved = "approved",
        /// The operation was carried out.
        Used = "used",
        /// What was asked for is no longer what would happen.
        Stale = "stale",
        Rejected = "rejected",
        /// The requester took it back, or may not act any more.
        Cancelled = "cancelled",
        /// Nobody decided in time, which is a rejection.
        Expired = "expired",
    }
}

named! {
    /// What a person decides.
    Verdict, "decision", {
        Approve = "approve",
        Reject = "reject",
    }
}

named! {
    /// What waiting leads to, once for each kind of approval of a request.
    Notice, "notice", {
        /// Whoever may decide is told again.
        Reminded = "reminded",
        /// More people may decide, and are told.
        Escalated = "escalated",
    }
}
