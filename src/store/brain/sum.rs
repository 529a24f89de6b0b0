//! Sums of which one that is too large spoils no other: SQLite's own `sum` ends the whole statement with an error where 64 bits do
//! not hold it.

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::Value;

/// What the function is called in statements.
pub const NAME: &str = "whole_sum";

/// Teaches a connection to add up so.
pub fn teach(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_aggregate_function(NAME, 1, flags, Sum)
}

/// The sum of whole numbers; of none, nothing. A blob stands for one that 64 bits do not hold.
struct Sum;

impl Aggregate<Option<i128>, Value> for Sum {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Option<i128>> {
        Ok(None)
    }

    fn step(&self, row: &mut Context<'_>, sum: &mut Option<i128>) -> rusqlite::Result<()> {
        // No table has the 2^64 rows that it would take until 128 bits do not hold them.
        if let Some(number) = row.get::<Option<i64>>(0)? {
            *sum = Some(sum.unwrap_or_default() + i128::from(number));
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<Option<i128>>) -> rusqlite::Result<Value> {
        Ok(match sum.flatten().map(i64::try_from) {
            None => Value::Null,
            Some(Ok(sum)) => Value::Integer(sum),
            Some(Err(_)) => Value::Blob(Vec::new()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(numbers: &str) -> Value {
        let conn = Connection::open_in_memory().unwrap();
        teach(&conn).unwrap();
        let sql = format!("SELECT {NAME}(column1) FROM (VALUES {numbers}) WHERE column1 IS NOT 0");
        conn.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_64_bits_hold_is_exact_and_what_they_do_not_hold_is_no_number() {
        let (most, least) = (i64::MAX, i64::MIN);
        assert_eq!(summed("(0)"), Value::Null);
        assert_eq!(summed("(NULL), (NULL)"), Value::Null);
        assert_eq!(summed("(NULL), (3), (-5)"), Value::Integer(-2));
        assert_eq!(summed(&format!("({most}), ({most}), (-{most}), (1), (-1)")), Value::Integer(most));
        assert_eq!(summed(&format!("({most}), (1)")), Value::Blob(Vec::new()));
        assert_eq!(summed(&format!("({least}), (-1)")), Value::Blob(Vec::new()));
    }
}
