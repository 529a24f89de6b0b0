//! Rows of a system that judges and orders nothing as we do: each is judged here, and of those that may fit the first are kept,
//! in the order that is wanted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{MOST_BYTES, MOST_ROWS, Rows, SourceRow, Wanted, kept};
use types::condition::{Condition, Scalar, Values};

/// The most rows that are kept of those that are no records: whoever asks only learns that there are some.
const MOST_MISFITS: usize = 100;

/// The first of the rows that came.
pub struct First<'a> {
    wanted: &'a Wanted<'a>,
    /// Which of the columns of the order go from the largest down.
    down: Vec<bool>,
    found: BinaryHeap<Ranked>,
    misfits: Vec<Vec<Option<String>>>,
    bytes: usize,
    is_cut: bool,
}

impl<'a> First<'a> {
    pub fn of(wanted: &'a Wanted<'a>) -> First<'a> {
        let down = wanted.sorted.iter().map(|(_, down)| *down).collect();
        First { wanted, down, found: BinaryHeap::new(), misfits: Vec::new(), bytes: 0, is_cut: false }
    }

    /// Keeps a row, if it may fit and is among the first.
    pub fn take(&mut self, row: Vec<Option<String>>) {
        let Ok(record) = kept(self.wanted.of, row.clone()) else {
            if self.misfits.len() < MOST_MISFITS {
                self.misfits.push(row);
            }
            return;
        };
        let values = self.values(record);
        if !may_hold(self.wanted.condition, &values) {
            return;
        }
        let by = |(name, _): &(&str, bool)| values.get(*name).cloned();
        let order = self.wanted.sorted.iter().map(by).chain([values.get("id").cloned()]);
        let order = order.zip(self.down.iter().copied().chain([false])).collect();
        self.bytes += bytes(&row);
        self.found.push(Ranked { order, row });
        while self.found.len() > MOST_ROWS || self.bytes > MOST_BYTES {
            self.is_cut = true;
            self.bytes -= self.found.pop().map_or(self.bytes, |last| bytes(&last.row));
        }
    }

    /// That there are more, which were not read.
    pub fn cut(&mut self) {
        self.is_cut = true;
    }

    pub fn rows(self) -> Rows {
        let found = self.found.into_sorted_vec().into_iter().map(|ranked| ranked.row);
        Rows { rows: found.chain(self.misfits).collect(), is_cut: self.is_cut }
    }

    fn values(&self, record: SourceRow) -> Values {
        let of = self.wanted.of;
        let scalar = |name: &str, value| Scalar::of(of.field(name)?.kind, value);
        let fields = record.fields.iter().filter_map(|(name, value)| Some((name.clone(), scalar(name, value)?)));
        let mut values: Values = fields.collect();
        values.insert("id".into(), Scalar::Text(record.id));
        values
    }
}

fn bytes(row: &[Option<String>]) -> usize {
    row.iter().flatten().map(String::len).sum()
}

/// Whether a condition may hold of a row: what it asks about everything else than the row's own fields is judged later.
fn may_hold(condition: &Condition, values: &Values) -> bool {
    const LATER: [&str; 5] = ["version", "created_by", "created_at", "updated_by", "updated_at"];
    match condition {
        Condition::All(inner) => inner.iter().all(|one| may_hold(one, values)),
        Condition::Any(inner) => inner.iter().any(|one| may_hold(one, values)),
        other if other.columns().iter().any(|column| LATER.contains(column)) => true,
        other => other.holds(values),
    }
}

/// A value that rows are ordered by, and whether the largest comes first.
type Placed = (Option<Scalar>, bool);

/// A row, with where it stands.
struct Ranked {
    order: Vec<Placed>,
    row: Vec<Option<String>>,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        let one = |((own, down), (other, _)): (&Placed, &Placed)| match (own, other) {
            (Some(own), Some(other)) if *down => other.cmp(own),
            (Some(own), Some(other)) => own.cmp(other),
            // What is not there comes last, whichever way.
            (own, other) => own.is_none().cmp(&other.is_none()),
        };
        self.order.iter().zip(&other.order).map(one).find(|found| found.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
