//! Sums and averages that are exact, and of which one that is too large spoils no other: SQLite's own `sum` ends the whole
//! statement with an error where 64 bits do not hold it, and its `avg` is rounded as a binary number.

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::Value;

use types::expr::rounded;

/// What the functions are called in statements.
pub const SUM: &str = "whole_sum";
/// It takes what the average is multiplied by, too.
pub const MEAN: &str = "whole_mean";

/// Teaches a connection to figure so.
pub fn teach(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_aggregate_function(SUM, 1, flags, Sum)?;
    conn.create_aggregate_function(MEAN, 2, flags, Mean)
}

/// The average of whole numbers, multiplied by a scale, to the nearest; nothing where 64 bits do not hold it.
pub fn mean(sum: i128, count: i128, scale: u32) -> Option<i64> {
    i64::try_from(rounded(sum.checked_mul(scale.into())?, count)).ok()
}

/// What is added up; of nothing, nothing.
type Added = Option<i128>;

fn add(sum: &mut Added, number: i64) {
    // No table has the 2^64 rows that it would take until 128 bits do not hold them.
    *sum = Some(sum.unwrap_or_default() + i128::from(number));
}

/// A blob stands for what 64 bits do not hold.
fn stored(number: Option<i64>) -> Value {
    number.map_or(Value::Blob(Vec::new()), Value::Integer)
}

/// The sum of whole numbers.
struct Sum;

impl Aggregate<Added, Value> for Sum {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Added> {
        Ok(None)
    }

    fn step(&self, row: &mut Context<'_>, sum: &mut Added) -> rusqlite::Result<()> {
        row.get::<Option<i64>>(0)?.into_iter().for_each(|number| add(sum, number));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<Added>) -> rusqlite::Result<Value> {
        Ok(sum.flatten().map_or(Value::Null, |sum| stored(i64::try_from(sum).ok())))
    }
}

/// Their average.
struct Mean;

#[derive(Default)]
struct Averaged {
    sum: Added,
    count: i128,
    scale: u32,
}

impl Aggregate<Averaged, Value> for Mean {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Averaged> {
        Ok(Averaged::default())
    }

    fn step(&self, row: &mut Context<'_>, all: &mut Averaged) -> rusqlite::Result<()> {
        if let Some(number) = row.get::<Option<i64>>(0)? {
            add(&mut all.sum, number);
            (all.count, all.scale) = (all.count + 1, row.get(1)?);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, all: Option<Averaged>) -> rusqlite::Result<Value> {
        let of = |all: Averaged| Some(stored(mean(all.sum?, all.count, all.scale)));
        Ok(all.and_then(of).unwrap_or(Value::Null))
    }
}
