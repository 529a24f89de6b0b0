//! Long lists, of which the caller may see little.

use serde_json::json;

use crate::harness::{Test, together};

#[tokio::test]
async fn who_sees_few_rows_of_many_gets_them_on_the_first_page() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    test.add("bot", "agent", json!({ "owner": "ana" })).await;
    for _ in 0..7 {
        let issued = together((0..100).map(|_| test.post("/tokens", &test.admin, json!({ "for": "bot" })))).await;
        assert!(issued.iter().all(|answer| answer.status == 201), "{}", issued[0].text());
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = test.get(&format!("/tokens?limit=20{cursor}"), &mia).await;
        seen.extend(page.json().as_array().unwrap().iter().map(|row| row["actor"].clone()));
        assert_eq!(seen, ["mia"], "her own are not waited for, and shown once");
        pages += 1;
        match page.header("x-next-cursor") {
            "" => break,
            next => cursor = format!("&cursor={next}"),
        }
    }
    assert_eq!(pages, 2, "a page ends after so many rows that are not for her");
}

#[tokio::test]
async fn what_was_found_is_paged_best_match_first() {
    let test = Test::new().await;
    for (id, skills) in [("one", json!(["tax"])), ("two", json!(["tax", "law"])), ("six", json!(["law"]))] {
        test.add(id, "agent", json!({ "skills": skills })).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = test.get(&format!("/directory/find?skills=tax,law&limit=1{cursor}"), &test.admin).await;
        seen.push(page.json()[0]["actor"].clone());
        match page.header("x-next-cursor") {
            "" => break,
            next => cursor = format!("&cursor={next}"),
        }
    }
    assert_eq!(seen, ["two", "one", "six"]);
}
