//! Lists of tables, and sums.

use rusqlite::types::Value;
use rusqlite::{Connection, params};
use serde_json::json;

use ok::store::brain::sum::{SUM, mean, teach};
use ok::store::event::{Event, Moment};
use ok::store::list::List;
use ok::store::{
    actors, approvals, brain, break_glass, changes, delegations, knowledge, runs, tasks, tokens, webhooks,
};
use ok::types::time::Time;

/// How SQLite would find the rows.
fn plans<T>(list: &List<T>) -> Vec<String> {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(&ok::store::schema()).unwrap();
    let which = list.own.iter().copied().chain(["?4 IS NULL"]);
    let plan = |which: &str| {
        let mut query = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", list.sql(which))).unwrap();
        let steps = query.query_map(params![0, "", 1, "ana"], |row| row.get::<_, String>(3)).unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    which.map(plan).collect()
}

#[test]
fn every_list_is_found_by_an_index() {
    let all = [
        plans(&actors::LIST),
        plans(&approvals::LIST),
        plans(&brain::FLAGS),
        plans(&brain::PROPOSALS),
        plans(&break_glass::LIST),
        plans(&changes::LIST),
        plans(&delegations::LIST),
        plans(&knowledge::LIST),
        plans(&knowledge::QUARANTINE),
        plans(&runs::LIST),
        plans(&runs::archive::ALL),
        plans(&runs::archive::ARCHIVED),
        plans(&tasks::LIST),
        plans(&tasks::ALL),
        plans(&tasks::owned(false)),
        plans(&tasks::owned(true)),
        plans(&tasks::STANDING),
        plans(&tokens::LIST),
        plans(&webhooks::LIST),
    ];
    for plan in all.into_iter().flatten() {
        assert!(plan.contains("SEARCH") && !plan.contains("SCAN"), "{plan}");
    }
}

fn summed(numbers: &str) -> Value {
    let conn = Connection::open_in_memory().unwrap();
    teach(&conn).unwrap();
    let sql = format!("SELECT {SUM}(column1) FROM (VALUES {numbers}) WHERE column1 IS NOT 0");
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

#[test]
fn an_average_is_exact_to_its_last_place() {
    let most = i128::from(i64::MAX);
    assert_eq!((mean(5, 3, 1), mean(5, 3, 10_000), mean(-5, 2, 1)), (Some(2), Some(16_667), Some(-3)));
    assert_eq!((mean(most * 2, 2, 1), mean(most, 1, 10_000)), (Some(i64::MAX), None));
}

#[test]
fn events_from_before_a_column_are_folded_into_tables_from_before_it() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(&ok::store::SCHEMAS[..3].concat()).unwrap();
    let (by, id) = ("ana".parse().unwrap(), "whk_01M7A0000000000000000000000");
    let created = json!({
        "type": "webhook_created", "id": id, "owner": "ana", "host": "example.com", "url": "https://example.com/",
        "topics": ["knowledge.indexed"], "agents": [], "description": "", "include_output": false, "format": "v1"
    });
    let rotated = json!({
        "type": "webhook_rotated", "id": id, "owner": "ana", "generation": 2, "both_until": "2026-11-21T09:00:00Z"
    });
    for (seq, event) in (1..).zip([created, rotated]) {
        Event::read(event).unwrap().fold(&Moment { conn: &conn, seq, at: Time(0), by: &by }).unwrap();
    }
    let generation: i64 = conn.query_row("SELECT generation FROM webhook", [], |row| row.get(0)).unwrap();
    assert_eq!(generation, 2);
}
