//! Types of knowledge: what people and agents have learnt and others may rely on.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// What an entry of knowledge is.
    KnowledgeKind, "kind of knowledge", {
        /// How something is.
        Fact = "fact",
        /// How somebody wants something.
        Preference = "preference",
        /// How something is done.
        Procedure = "procedure",
        /// What to beware of.
        Warning = "warning",
        /// A document, which is recalled by its passages.
        Document = "document",
    }
}

named! {
    /// How an entry of knowledge stands. Only what is accepted is recalled.
    KnowledgeStatus, "status of knowledge", {
        Proposed = "proposed",
        /// Quarantined: it comes from outside, looks like an attack, or contradicts what is accepted.
        Quarantined = "quarantined",
        Accepted = "accepted",
        Rejected = "rejected",
        /// Another entry has taken its place.
        Superseded = "superseded",
        Expired = "expired",
        /// It was accepted, and no longer holds.
        Retracted = "retracted",
    }
}

impl KnowledgeStatus {
    /// Checks whether it is undecided.
    pub const fn is_open(self) -> bool {
        matches!(self, KnowledgeStatus::Proposed | KnowledgeStatus::Quarantined)
    }
}

named! {
    /// What a document is made of.
    DocumentType, "content type", {
        Text = "text/plain",
        Markdown = "text/markdown",
        Html = "text/html",
        Csv = "text/csv",
        /// A document of Word (`.docx`).
        Docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        /// Read where the server is built with the feature `pdf`.
        Pdf = "application/pdf",
    }
}

impl DocumentType {
    /// Checks whether a file of this type can be given as text.
    pub const fn is_text(self) -> bool {
        !matches!(self, DocumentType::Docx | DocumentType::Pdf)
    }
}

named! {
    /// Where an entry of knowledge comes from.
    SourceKind, "kind of source", {
        /// Whoever proposes it knows it.
        Own = "own",
        /// A document of the company's.
        Document = "document",
        Web = "web",
        Mail = "mail",
        Webhook = "webhook",
    }
}

impl SourceKind {
    /// Checks whether anybody outside could have written it.
    pub const fn is_outside(self) -> bool {
        matches!(self, SourceKind::Web | SourceKind::Mail | SourceKind::Webhook)
    }
}

named! {
    /// Whether what an entry of knowledge comes from is the company's own.
    Origin, "origin of knowledge", {
        Trusted = "trusted",
        /// Anybody outside could have written it.
        Untrusted = "untrusted",
    }
}
