//! A list that grows while it is paged through.

use proptest::prelude::*;
use serde_json::json;

use super::run;
use crate::harness::Test;
use crate::harness::prove::law;

async fn add(test: &Test, count: &mut usize) {
    *count += 1;
    // Names in no order, so that rows of the same moment come before and after each other.
    let id = format!("p{:03}", (*count * 617) % 1_000);
    let added = test.post("/actors", &test.admin, json!({ "id": id, "kind": "agent", "owner": "ana" })).await;
    assert_eq!(added.status, 201, "{}", added.text());
    let issued = test.post("/tokens", &test.admin, json!({ "for": id })).await;
    assert_eq!(issued.status, 201);
}

async fn ids(test: &Test, path: &str) -> (Vec<String>, String) {
    let page = test.get(path, &test.admin).await;
    assert_eq!(page.status, 200, "{path}: {}", page.text());
    let id = |row: &serde_json::Value| row.get("id").or(row.get("name")).unwrap().as_str().unwrap().to_owned();
    (page.json().as_array().unwrap().iter().map(id).collect(), page.header("x-next-cursor").to_owned())
}

/// `pace`: after each page, how many rows are added, and by how much the clock moves.
async fn paged(list: &str, limit: usize, before: usize, pace: &[(usize, i64)]) {
    let test = Test::new().await;
    let mut count = 0;
    for row in 0..before {
        test.clock.advance(i64::from(row % 3 == 0));
        add(&test, &mut count).await;
    }
    let (all, _) = ids(&test, list).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for turn in 0.. {
        let query = if cursor.is_empty() { String::new() } else { format!("&cursor={cursor}") };
        let (page, next) = ids(&test, &format!("{list}?limit={limit}{query}")).await;
        assert!(page.len() <= limit);
        assert!(turn < 100, "the pages do not end");
        seen.extend(page);
        if next.is_empty() {
            break;
        }
        cursor = next;
        let (rows, ms) = pace.get(turn).copied().unwrap_or_default();
        test.clock.advance(ms);
        for _ in 0..rows {
            add(&test, &mut count).await;
        }
    }
    let mut once = seen.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), seen.len(), "repeated");
    let kept: Vec<&String> = seen.iter().filter(|id| all.contains(id)).collect();
    assert_eq!(kept, all.iter().collect::<Vec<_>>(), "skipped, or in another order");
}

proptest! {
    #![proptest_config(law(16))]

    #[test]
    fn cursors_neither_skip_nor_repeat_while_rows_are_added(
        list in prop::sample::select(vec!["/actors", "/tokens", "/directory/cards", "/directory/find"]),
        limit in 1..9_usize,
        before in 0..24_usize,
        pace in prop::collection::vec((0..4_usize, 0..2_i64), 0..8),
    ) {
        run(paged(list, limit, before, &pace));
    }
}
