//! The vocabulary of approvals.

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
        /// The requester may not act any more.
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
