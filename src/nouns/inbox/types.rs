//! The vocabulary of inboxes.

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
        /// What the reader is from now on: who answers for an agent, who leads a team or does no longer, who may act on
        /// somebody's behalf; another role or team of theirs or of an agent of theirs.
        Assignment = "assignment",
        /// A run waits for the reader's answer.
        Question = "question",
        /// A run that the reader asked for failed.
        Failure = "failure",
        /// Knowledge waits for the reader to accept or reject it.
        Knowledge = "knowledge",
        /// Somebody wrote the reader's name: `@ana`.
        Mention = "mention",
        /// A kill switch stops the reader or an agent of theirs, somebody goes on without approval, or a webhook was disabled.
        Alert = "alert",
    }
}
