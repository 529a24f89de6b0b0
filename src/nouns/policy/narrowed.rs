//! Explains which of a collection's records the policies let somebody read, and which policies restrict them how.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::ShownPolicy;
use crate::brain::{ANSWERED_WITH_RECORDS, COLLECTION, refused_labels};
use gate::{Reader, Target};
use policy::Ruling;
use types::collection::{Collection, OWN};
use types::condition::{Condition, Order, Piece, Scalar};
use types::field::{FieldKind, Label};

const READ: &str = "record.read";

/// What of a collection a query answers with.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Narrowed {
    /// `all` of the records, `some`, or `none`; `each` if they are decided one by one: a policy reads what no column
    /// holds, or the query is on somebody's behalf.
    #[schemars(with = "String", extend("enum" = ["all", "some", "none", "each"]))]
    pub records: Share,
    /// The condition on those records, for those who may read policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The policies that decide this, except those that match no record.
    pub by: Vec<NarrowedBy>,
    /// The fields that are left out of every record.
    pub withheld: Vec<WithheldFields>,
}

/// A share of a collection's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    All,
    Some,
    None,
    /// Each record is decided on its own.
    Each,
}

/// A policy, and the records that it is about.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NarrowedBy {
    #[serde(flatten)]
    pub policy: ShownPolicy,
    /// `all` of the records, or `some`.
    #[schemars(with = "String", extend("enum" = ["all", "some"]))]
    pub records: Share,
    /// The condition on them, for those who may read policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// The fields with a label, and why they are left out.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct WithheldFields {
    pub label: Label,
    pub fields: Vec<String>,
    pub reason: String,
}

/// Returns `None` unless the operation answers with records.
pub fn narrowed(operation: &str, target: &Target, caller: &Reader<'_>, with_source: bool) -> Option<Narrowed> {
    let Target::Thing(thing) = target else { return None };
    if thing.kind != COLLECTION.name || !ANSWERED_WITH_RECORDS.contains(&operation) {
        return None;
    }
    let of = caller.collection(&thing.id)?;
    let withheld = refused_labels(&of, caller).into_iter().map(|(label, ruling)| withheld(&of, label, &ruling));
    let said = |condition: &Condition| with_source.then(|| describe(condition, &of));
    let (records, condition) = match caller.rows(READ, &of) {
        None => (Share::Each, None),
        Some(rows) => (share(&rows), said(&rows)),
    };
    let by = caller.rows_by_policy(READ, &of).unwrap_or_default().into_iter();
    let by = by.filter(|(_, rows)| *rows != Condition::Never).map(|(policy, rows)| NarrowedBy {
        policy: ShownPolicy::named(&policy),
        records: share(&rows),
        condition: said(&rows),
    });
    Some(Narrowed { records, condition, by: by.collect(), withheld: withheld.collect() })
}

fn share(rows: &Condition) -> Share {
    match rows {
        Condition::Always => Share::All,
        Condition::Never => Share::None,
        _ => Share::Some,
    }
}

fn withheld(of: &Collection, label: Label, ruling: &Ruling) -> WithheldFields {
    let fields = of.spec.fields.iter().filter(|(_, field)| field.label == Some(label));
    WithheldFields { label, fields: fields.map(|(name, _)| name.clone()).collect(), reason: ruling.reason().to_owned() }
}

/// Formats a condition like `team in ["team:ops"] or owner = "mia"`.
fn describe(condition: &Condition, of: &Collection) -> String {
    let value = |column: &str, scalar: &Scalar| shown(column, scalar, of);
    let each = |all: &[&Condition], word: &str| {
        let parts = all.iter().map(|one| match one {
            Condition::All(_) | Condition::Any(_) if all.len() > 1 => parted(one, of),
            one => describe(one, of),
        });
        parts.collect::<Vec<_>>().join(word)
    };
    match condition {
        Condition::Always => "every record".into(),
        Condition::Never => "no record".into(),
        Condition::All(all) => each(&together(all), " and "),
        Condition::Any(all) => each(&all.iter().collect::<Vec<_>>(), " or "),
        Condition::Not(inner) => match &**inner {
            Condition::Has(column) => format!("{column} is missing"),
            inner => format!("not ({})", describe(inner, of)),
        },
        Condition::Has(column) => format!("{column} is there"),
        Condition::Is(column, order, scalar) => format!("{column} {} {}", sign(*order), value(column, scalar)),
        Condition::In(column, all) => {
            let all: Vec<String> = all.iter().map(|one| value(column, one)).collect();
            format!("{column} in [{}]", all.join(", "))
        }
        Condition::Holds(column, one) => format!("{column} holds {one:?}"),
        Condition::Like(column, pattern) => {
            let pattern: String = pattern
                .iter()
                .map(|piece| match piece {
                    Piece::Any => Cow::from("*"),
                    Piece::One('*') => Cow::from("\\*"),
                    Piece::One(one) => Cow::from(one.to_string()),
                })
                .collect();
            format!("{column} like {pattern:?}")
        }
    }
}

/// Returns conditions of a conjunction without redundant ones: a comparison implies that the value is there.
fn together(all: &[Condition]) -> Vec<&Condition> {
    let is_said = |one: &&Condition| match one {
        Condition::Has(column) => !all.iter().any(|other| is_about(other, column)),
        _ => true,
    };
    all.iter().filter(is_said).collect()
}

/// Formats a condition in parentheses if it has parts.
fn parted(condition: &Condition, of: &Collection) -> String {
    let text = describe(condition, of);
    match condition {
        Condition::All(all) if together(all).len() < 2 => text,
        _ => format!("({text})"),
    }
}

/// Checks whether a condition implies that a column has a value.
fn is_about(condition: &Condition, column: &str) -> bool {
    match condition {
        Condition::Is(of, ..) | Condition::In(of, _) | Condition::Holds(of, _) | Condition::Like(of, _) => of == column,
        _ => false,
    }
}

fn sign(order: Order) -> &'static str {
    match order {
        Order::Equal => "=",
        Order::Less => "<",
        Order::LessOrEqual => "<=",
        Order::Greater => ">",
        Order::GreaterOrEqual => ">=",
    }
}

/// Formats a value of a column for people.
fn shown(column: &str, scalar: &Scalar, of: &Collection) -> String {
    let kind = match of.field(column) {
        Some(field) => field.kind,
        None if OWN.contains(&column) && column.ends_with("_at") => FieldKind::Time,
        None => FieldKind::Text,
    };
    match scalar {
        Scalar::Number(number) => match kind.of_number(*number) {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        },
        Scalar::Text(text) => format!("{text:?}"),
    }
}
