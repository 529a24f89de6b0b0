//! Made-up records: of whoever asks and of others, and with each value that a policy could tell from another.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::people::{self, Fill};
use crate::brain::Collections;
use crate::engine::{Goal, Named, Words};
use crate::testing::{Fixture, Row};
use types::field::{Field, FieldKind};

/// Values of one field, and whoever made records.
const MOST: usize = 8;
const MAKERS: [&str; 4] = ["max", "mia", "ana", "bot"];
/// What policies know of every record, beside its fields.
const BUILT_IN: [&str; 3] = ["created_by", "updated_by", "version"];

/// Adds records of every collection; one that no collection declares stands for what is only to be made.
pub(super) fn furnish(
    fixture: &mut Fixture,
    collections: &Collections,
    named: &Named,
    goals: &[Goal],
    words: &dyn Words,
) {
    let everybody: Vec<String> =
        fixture.actors.iter().filter(|row| !row.offboarded).map(|row| row.id.to_string()).collect();
    let plain = |name: &str, maker: &str, what: String| {
        let row = Row::new("brain", format!("rec_{name}_{what}.{maker}")).with("collection", name);
        row.with("created_by", maker).with("updated_by", maker).with("version", 1)
    };
    fixture.rows.extend(MAKERS.map(|maker| plain("notes", maker, "any".into())));
    let mut wanted: Vec<Vec<(String, Fill)>> = goals.iter().map(|goal| people::fills(fixture, goal)).collect();
    wanted.sort_by_cached_key(|fills| format!("{fills:?}"));
    wanted.dedup_by_key(|fills| format!("{fills:?}"));
    for (name, of) in collections {
        let seen: Vec<(&String, &Field)> = of.spec.fields.iter().filter(|(_, field)| field.is_seen()).collect();
        let values: Vec<Vec<Value>> = seen.iter().map(|(_, field)| samples(field, named)).collect();
        let first = |row: Row, with: bool| {
            seen.iter()
                .zip(&values)
                .filter(|((_, field), _)| with || field.required)
                .fold(row, |row, ((name, _), values)| values.first().map_or(row.clone(), |value| row.with(name, value)))
        };
        let own = |maker: &String| {
            let other = if maker == "max" { "pia" } else { "max" };
            let row = |what: &str| first(plain(name, maker, what.into()), true);
            [row("own"), row("changed").with("created_by", other)]
        };
        fixture.rows.extend(everybody.iter().flat_map(own));
        for maker in MAKERS {
            for (number, wanted) in wanted.iter().enumerate() {
                let row = first(plain(name, maker, format!("aim{number}")), true);
                fixture.rows.push(wanted.iter().fold(row, |row, (name, fill)| {
                    let field = of.spec.fields.get(name);
                    let value = match field {
                        Some(field) if field.is_seen() => filled(field, (name, fill), &row, words),
                        None if BUILT_IN.contains(&name.as_str()) => fill.value(&row, ("", name), false, words),
                        _ => None,
                    };
                    value.map_or(row.clone(), |value| row.with(name, value))
                }));
            }
            fixture.rows.push(first(plain(name, maker, "bare".into()), false));
            for ((field, _), values) in seen.iter().zip(&values) {
                let each = values.iter().enumerate().map(|(number, value)| {
                    first(plain(name, maker, format!("{field}{number}")), true).with(field, value)
                });
                fixture.rows.extend(each);
            }
        }
    }
}

/// A value that a policy looks for, as the field takes it.
fn filled(field: &Field, (name, fill): (&str, &Fill), row: &Row, words: &dyn Words) -> Option<Value> {
    let day = |text: &str| text.get(..10).map(Value::from);
    let value = match fill {
        Fill::Not(all) if !field.options.is_empty() => {
            field.options.iter().map(|option| json!(option)).find(|option| !all.contains(option))?
        }
        _ => fill.value(row, ("", name), field.kind == FieldKind::Team, words)?,
    };
    let value = match field.kind {
        FieldKind::Date => value.as_str().and_then(day)?,
        _ => value,
    };
    field.value(&value).is_ok().then_some(value)
}

/// Values of a field: those that policies name, and just beside them.
fn samples(field: &Field, named: &Named) -> Vec<Value> {
    let texts = named.texts.iter().filter(|text| !text.is_empty());
    let numbers = |step: i64| -> Vec<Value> {
        let named: Vec<i64> = match field.kind {
            FieldKind::Integer => named.numbers.iter().copied().collect(),
            kind => named.texts.iter().filter_map(|text| kind.number(&json!(text))).collect(),
        };
        let beside =
            named.into_iter().flat_map(|number| [number, number.saturating_sub(step), number.saturating_add(step)]);
        let all: BTreeSet<i64> = [0, 1_000_000 * step].into_iter().chain(beside).collect();
        all.into_iter().map(|number| field.kind.of_number(number)).collect()
    };
    let day = types::time::DAY;
    let all: Vec<Value> = match field.kind {
        FieldKind::Choice => field.options.iter().map(|one| json!(one)).collect(),
        FieldKind::Choices => {
            field.options.iter().map(|one| json!([one])).chain([json!([]), json!(field.options)]).collect()
        }
        FieldKind::Flag => vec![json!(true), json!(false)],
        FieldKind::Integer => numbers(1),
        FieldKind::Decimal | FieldKind::Money => numbers(1),
        FieldKind::Date | FieldKind::Time => numbers(day),
        FieldKind::Actor => ["max", "mia", "ana", "bot", "pia"].map(|id| json!(id)).into(),
        FieldKind::Team => ["team:ops", "team:dev", "team:far"].map(|id| json!(id)).into(),
        FieldKind::Link => vec![json!("https://example.com/")],
        FieldKind::Text | FieldKind::LongText | FieldKind::Ref | FieldKind::Json => {
            texts.map(|text| json!(text)).chain([json!("x")]).collect()
        }
    };
    all.into_iter().filter(|value| field.value(value).is_ok()).take(MOST * 2).collect()
}
