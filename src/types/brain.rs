//! The vocabulary of the company's own data.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// What is the matter with a record.
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

/// Why a field of this type has no default: somebody may leave, and not everybody may see them; a record may be deleted.
pub fn no_default(kind: FieldKind) -> Option<String> {
    let refers = matches!(kind, FieldKind::Actor | FieldKind::Team | FieldKind::Ref);
    refers.then(|| format!("a field of the type `{kind}` has none"))
}

/// A value that was kept of a type that `converts` into this one, in the form of this one.
pub fn in_form_of(kind: FieldKind, value: &Value) -> Value {
    let number = match kind {
        FieldKind::Decimal | FieldKind::Money => kind.number(value),
        FieldKind::Time => kind.number(value).or_else(|| FieldKind::Date.number(value)),
        _ => None,
    };
    number.map_or_else(|| value.clone(), |number| kind.of_number(number))
}

/// Whether every value of one type is one of another, in the same form or in one that follows from it; of a text that becomes
/// a choice, whether it can be one. People and teams become no texts, which would name them to those who may not see them.
pub const fn converts(from: FieldKind, to: FieldKind) -> bool {
    use FieldKind as Kind;
    matches!(
        (from, to),
        (Kind::Integer, Kind::Decimal | Kind::Money)
            | (Kind::Decimal, Kind::Money)
            | (Kind::Money, Kind::Decimal)
            | (Kind::Choice | Kind::Ref, Kind::Text)
            | (Kind::Text, Kind::Choice)
            | (Kind::Text | Kind::Choice | Kind::Ref | Kind::Link, Kind::LongText)
            | (Kind::Date, Kind::Time)
    )
}
