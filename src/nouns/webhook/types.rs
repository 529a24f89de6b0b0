//! Types of webhooks: what is sent to a subscriber, and the outcome of its delivery.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// An event type that a subscription can receive.
    Topic, "kind of webhook event", {
        /// An agent's run finished.
        RunCompleted = "agent.run.completed",
        /// An agent's run failed or took too long.
        RunFailed = "agent.run.failed",
        /// A call of an agent waits for a person's approval.
        GatePending = "agent.gate.pending",
        /// A document was indexed.
        KnowledgeIndexed = "knowledge.indexed",
    }
}

named! {
    /// How a message is signed.
    SignatureFormat, "signature format", {
        /// HMAC-SHA256, with a secret that both sides know.
        V1 = "v1",
        /// Ed25519: the receiver has the public key alone.
        V1a = "v1a",
    }
}

named! {
    /// How a subscription stands.
    WebhookStatus, "status of a webhook", {
        Active = "active",
        /// The last attempts failed; after five days without a delivery it is disabled.
        Failing = "failing",
        /// Nothing is sent.
        Disabled = "disabled",
    }
}

named! {
    /// What came of one attempt to deliver.
    Outcome, "outcome of an attempt", {
        Delivered = "delivered",
        /// It is tried again.
        Failed = "failed",
        /// It is not tried again by itself.
        GivenUp = "given_up",
    }
}

named! {
    /// How something stands that is to be done outside.
    IntentState, "state of a delivery", {
        /// To be tried, or tried again.
        Pending = "pending",
        Done = "delivered",
        GivenUp = "given_up",
        /// Its subscription was disabled or deleted first.
        Cancelled = "cancelled",
    }
}

impl Outcome {
    /// Returns the state of the delivery after this outcome.
    pub const fn state(self) -> IntentState {
        match self {
            Outcome::Delivered => IntentState::Done,
            Outcome::Failed => IntentState::Pending,
            Outcome::GivenUp => IntentState::GivenUp,
        }
    }
}

/// The message that `webhook.test` sends.
pub const TEST: &str = "webhook.test";
