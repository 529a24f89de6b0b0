//! Made-up records: some belong to the asker and some to others, with each value that a policy could distinguish.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::people::{self, Fill};
use crate::brain::Collections;
use crate::engine::{Goal, Named, Words};
use crate::testing::{Fixture, Member, Row};
use types::collection::Collection;
use types::field::{Field, FieldKind};
use types::id::ActorId;

/// Values of one field, and whoever made records.
const MOST: usize = 8;
const MAKERS: [&str; 4] = ["max", "mia", "ana", "bot"];
/// What policies know of every record, beside its fields.
const BUILT_IN: [&str; 3] = ["created_by", "updated_by", "version"];

/// Adds records of every collection; a record that no collection declares stands for one that is only to be created.
/// Returns the records that only one actor is asked about, each with that actor: everybody has a record for each value,
/// but a few records suffice to tell makers apart.
pub(super) fn furnish(
    fixture: &mut Fixture,
    collections: &Collections,
    named: &Named,
    goals: &[Goal],
    words: &dyn Words,
) -> BTreeMap<String, ActorId> {
    fixture.rows.extend(MAKERS.map(|maker| plain("notes", maker, "any".into())));
    let mut wanted: Vec<Vec<(String, Fill)>> = goals.iter().map(|goal| people::fills(fixture, goal)).collect();
    wanted.sort_by_cached_key(|fills| format!("{fills:?}"));
    wanted.dedup_by_key(|fills| format!("{fills:?}"));
    let makers: Vec<Member> = fixture.actors.iter().filter(|row| !row.offboarded).cloned().collect();
    let teams: Vec<Value> = fixture.teams.iter().map(|team| json!(team.id)).collect();
    let mut only = BTreeMap::new();
    for (name, of) in collections {
        let seen = of.spec.fields.iter().filter(|(_, field)| field.is_seen());
        let seen = seen.map(|(name, field)| (name.as_str(), field, samples(field, named, &teams)));
        let made = Made { name, of, seen: seen.collect(), wanted: &wanted, words };
        for maker in &makers {
            let id = maker.id.as_str();
            let other = if id == "max" { "pia" } else { "max" };
            let changed = made.row(maker, "changed", true).with("created_by", other);
            fixture.rows.extend([made.row(maker, "own", true), changed]);
            let each = made.each(maker);
            if !MAKERS.contains(&id) {
                only.extend(each.iter().map(|row| (row.id.clone(), maker.id.clone())));
            }
            fixture.rows.extend(each);
        }
    }
    only
}

fn plain(collection: &str, maker: &str, what: String) -> Row {
    let row = Row::new("brain", format!("rec_{collection}_{what}.{maker}")).with("collection", collection);
    row.with("created_by", maker).with("updated_by", maker).with("version", 1)
}

/// The records of one collection.
struct Made<'a> {
    name: &'a str,
    of: &'a Collection,
    /// The fields that policies can look at, with values of each.
    seen: Vec<(&'a str, &'a Field, Vec<Value>)>,
    wanted: &'a [Vec<(String, Fill)>],
    words: &'a dyn Words,
}

impl Made<'_> {
    /// Somebody's record, of their team, with a value in each field, or in those alone that need one.
    fn row(&self, maker: &Member, what: &str, whole: bool) -> Row {
        let fields = self.seen.iter().filter(|(_, field, _)| whole || field.required);
        fields.fold(plain(self.name, maker.id.as_str(), what.to_owned()), |row, (name, field, values)| {
            let team = maker.team.as_ref().filter(|_| field.kind == FieldKind::Team).map(|team| json!(team));
            match team.as_ref().or(values.first()) {
                Some(value) => row.with(name, value),
                None => row,
            }
        })
    }

    /// As policies look for them, with the fewest fields, and with each value of each field.
    fn each(&self, maker: &Member) -> Vec<Row> {
        let aimed = self.wanted.iter().enumerate().map(|(number, wanted)| self.aimed(maker, number, wanted));
        let values = self.seen.iter().flat_map(|(field, _, values)| {
            let numbered = values.iter().enumerate();
            numbered.map(move |(number, value)| self.row(maker, &format!("{field}{number}"), true).with(field, value))
        });
        aimed.chain([self.row(maker, "bare", false)]).chain(values).collect()
    }

    fn aimed(&self, maker: &Member, number: usize, wanted: &[(String, Fill)]) -> Row {
        let row = self.row(maker, &format!("aim{number}"), true);
        wanted.iter().fold(row, |row, (name, fill)| {
            let value = match self.of.spec.fields.get(name) {
                Some(field) if matches!(fill, Fill::Nothing) && !field.required => return row.without(name),
                Some(field) if field.is_seen() => filled(field, (name, fill), &row, self.words),
                None if BUILT_IN.contains(&name.as_str()) => fill.value(&row, ("", name), false, self.words),
                _ => None,
            };
            match value {
                Some(value) => row.with(name, value),
                None => row,
            }
        })
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
fn samples(field: &Field, named: &Named, teams: &[Value]) -> Vec<Value> {
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
        FieldKind::Team => teams.to_vec(),
        FieldKind::Link => vec![json!("https://example.com/")],
        FieldKind::Text | FieldKind::LongText | FieldKind::Ref | FieldKind::Json => {
            texts.map(|text| json!(text)).chain([json!("x")]).collect()
        }
    };
    all.into_iter().filter(|value| field.value(value).is_ok()).take(MOST * 2).collect()
}
