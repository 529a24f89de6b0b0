//! The vocabulary of the company's own data.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::altered::{CollectionChanges, FieldChanges};
use super::collection::CollectionSpec;
use super::field::{Field, FieldKind};
use super::retention::Retention;
use super::semantics::Semantics;

named! {
    /// What a search finds.
    FoundKind, "kind", {
        /// A record of a collection.
        Record = "record",
        /// A task, by its title.
        Task = "task",
        /// An accepted entry of knowledge, or a document.
        Knowledge = "knowledge",
    }
}

named! {
    /// What a phrase can mean; the first of these first, where two fit as well.
    CatalogKind, "kind", {
        Collection = "collection",
        /// A figure that has a name.
        Metric = "metric",
        /// By what figures are grouped.
        Dimension = "dimension",
        /// What records are of.
        Entity = "entity",
        Field = "field",
    }
}

named! {
    /// How a version of a record came about.
    Written, "way of writing", {
        Written = "written",
        Deleted = "deleted",
        RolledBack = "rolled_back",
    }
}

named! {
    /// The kind of problem with a record.
    FlagKind, "kind of flag", {
        Wrong = "wrong",
        Stale = "stale",
        Duplicate = "duplicate",
        Sensitive = "sensitive",
        Question = "question",
    }
}

named! {
    /// How a proposal stands.
    ProposalStatus, "status of a proposal", {
        Proposed = "proposed",
        Applied = "applied",
        Rejected = "rejected",
    }
}

/// One step of a change of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// A new collection.
    Create {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        spec: Box<CollectionSpec>,
    },
    AddField {
        name: String,
        field: Box<Field>,
    },
    RenameField {
        name: String,
        to: String,
    },
    /// Another type; values that do not fit it keep it from being applied.
    RetypeField {
        name: String,
        r#type: FieldKind,
        /// Of a text that becomes a choice: all that it can be.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
    },
    /// What is said of a field otherwise; records that do not fit it keep it from being applied.
    AlterField {
        name: String,
        field: Box<FieldChanges>,
    },
    /// Two fields that say the same become one: records that have no value of `into` take that of `name`, which goes. Records
    /// with two different values keep it from being applied. History reads `name` as `into`.
    MergeField {
        name: String,
        into: String,
    },
    /// A field goes, with its values; they stay in the history of the records.
    RetireField {
        name: String,
    },
    /// Records are found by it quickly, or no longer.
    Index {
        name: String,
        on: bool,
    },
    /// What its records mean to people, whole: what is left out is there no more.
    Semantics(Box<Semantics>),
    /// For how long records and what they were are kept, whole: what is left out is kept for good.
    Retention(Retention),
    /// What is said of the collection otherwise.
    Alter(CollectionChanges),
    /// The collection goes, once it is empty.
    Retire {},
}
