//! Exact sums and averages, where an overflow does not affect other results: SQLite's own `sum` fails the whole statement if 64
//! bits overflow, and its `avg` is rounded as a binary number.

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::Value;

use types::expr::rounded;

/// The names of the functions in SQL.
pub const SUM: &str = "whole_sum";
/// Also takes the factor of the average.
pub const MEAN: &str = "whole_mean";

/// Registers the functions with a connection.
pub fn teach(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_aggregate_function(SUM, 1, flags, Sum)?;
    conn.create_aggregate_function(MEAN, 2, flags, Mean)
}

/// Returns the average of integers, multiplied by a scale, rounded to the nearest; `None` if it overflows 64 bits.
pub fn mean(sum: i128, count: i128, scale: u32) -> Option<i64> {
    i64::try_from(rounded(sum.checked_mul(scale.into())?, count)).ok()
}

/// The running sum; `None` without any value.
type Added = Option<i128>;

fn add(sum: &mut Added, number: i64) {
    // Overflowing 128 bits would take 2^64 rows.
    *sum = Some(sum.unwrap_or_default() + i128::from(number));
}

/// Returns a number for SQL; a blob stands for one that overflows 64 bits.
fn stored(number: Option<i64>) -> Value {
    number.map_or(Value::Blob(Vec::new()), Value::Integer)
}

/// The sum of integers.
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

/// The average of integers.
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
