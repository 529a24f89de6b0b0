//! Types of inboxes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// Why something is in an inbox.
    ItemKind, "kind of inbox item", {
        /// A call waits for the reader.
        Approval = "approval",
        /// Something that the reader asked for was decided.
        Decision = "decision",
        /// The reader's position changed: they now answer for an agent, lead a team or no longer do, or may act on
        /// somebody's behalf; or they or an agent of theirs have a new role or team.
        Assignment = "assignment",
        /// A run waits for the reader's answer.
        Question = "question",
        /// A run that the reader asked for failed.
        Failure = "failure",
        /// Knowledge waits for the reader to accept or reject it.
        Knowledge = "knowledge",
        /// Somebody wrote the reader's name: `@ana`.
        Mention = "mention",
        /// A kill switch stops the reader or an agent of theirs, somebody proceeds without approval, or a webhook was
        /// disabled.
        Alert = "alert",
    }
}
