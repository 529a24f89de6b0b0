//! Decisions that are events themselves. Neither changes a table: each is its own record.

use crate::event::{Content, Notify, events};
use crate::memory::Memory;
use crate::settles::Settles;
use types::time::Time;

events! {
    /// The gate refused an operation; with a `count`, so many more times within a second of the previous entry.
    Denied = "denied" {
        operation: String, #[schemars(extend("x-names" = "reference"))] target: String, reason: String,
        fault: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_at: Option<Time>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_at: Option<Time>,
    } about [target] => {
        says: "was refused `{operation}`[ on {target:}][, {count#more time}][: «{reason}»]",
        content: Content::ERASABLE, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
    /// Another program asked for a decision about the company's own types.
    AccessDecided = "access_decided" {
        subject: String, action: String, resource: String, decision: bool, needs_approval: Vec<String>,
        policies: Vec<String>, policy_version: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<serde_json::Value>,
    // Whom another program asks about is nobody in the directory.
    } about [] => {
        says: "asked whether `{subject}` may `{action}` `{resource}`",
        content: Content::ERASABLE.hiding(&["asked"]), tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
}
