//! Types of the company's own data.

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
    /// A new type; cannot be applied while values do not fit it.
    RetypeField {
        name: String,
        r#type: FieldKind,
        /// For a text that becomes a choice: all its options.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
    },
    /// New properties of a field; cannot be applied while records do not fit them.
    AlterField {
        name: String,
        field: Box<FieldChanges>,
    },
    /// Merge two fields with the same meaning: records without `into` take the value of `name`, which is removed.
    /// Cannot be applied while a record has two different values. History shows `name` as `into`.
    MergeField {
        name: String,
        into: String,
    },
    /// A field goes, with its values; they stay in the history of the records.
    RetireField {
        name: String,
    },
    /// Add or remove the index of a field.
    Index {
        name: String,
        on: bool,
    },
    /// The complete semantics of its records: whatever is omitted is removed.
    Semantics(Box<Semantics>),
    /// The complete retention of records and their earlier versions: whatever is omitted is kept forever.
    Retention(Retention),
    /// New properties of the collection.
    Alter(CollectionChanges),
    /// The collection goes, once it is empty.
    Retire {},
}
