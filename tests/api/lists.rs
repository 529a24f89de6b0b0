//! Long lists, of which the caller may see little.

use serde_json::json;

use crate::harness::{Test, together};

#[tokio::test]
async fn who_sees_few_rows_of_many_gets_them_on_the_first_page() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    test.add("bot", "agent", json!({ "owner": "mia" })).await;
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

/// More rows than a page looks at in vain, of somebody whom the lead does not lead.
#[tokio::test]
async fn who_leads_a_team_finds_its_tasks_under_many_newer_ones_of_others() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let create = async |token: &str, title: String, owner: &str| {
        let created = test.post("/tasks", token, json!({ "title": title, "owner": owner })).await;
        assert_eq!(created.status, 201, "{}", created.text());
    };
    for number in 0..3 {
        create(&cast.mia, format!("mia's {number}"), "mia").await;
    }
    test.clock.advance(1_000);
    for _ in 0..7 {
        together((0..100).map(|number| create(&test.admin, format!("ana's {number}"), "ana"))).await;
    }
    let page = test.get("/tasks?limit=20", &cast.lea).await.json();
    let titles: Vec<&str> = page.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert!(titles.iter().all(|title| title.starts_with("mia's")), "{titles:?}");
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

/// More than a stretch that is looked through at once.
#[tokio::test]
async fn a_part_of_a_name_is_found_far_down_the_directory_and_the_beginning_of_an_id_first() {
    let test = Test::new().await;
    for number in 0..230 {
        test.add(&format!("p{number:03}"), "person", json!({ "name": format!("Number {number}") })).await;
    }
    test.add("number-nine", "agent", json!({ "name": "Else" })).await;
    let found = async |query: &str| {
        let page = test.get(&format!("/directory/find?{query}"), &test.admin).await;
        let ids: Vec<String> =
            page.json().as_array().unwrap().iter().map(|one| one["actor"].as_str().unwrap().to_owned()).collect();
        (ids, page.header("x-next-cursor").to_owned())
    };
    assert_eq!(found("text=NUMBER%20229").await, (vec!["p229".to_owned()], String::new()));
    let (first, cursor) = found("text=number&limit=2").await;
    assert_eq!(first, ["number-nine", "p000"]);
    assert_eq!(found(&format!("text=number&limit=2&cursor={cursor}")).await.0, ["p001", "p002"]);
    assert_eq!(found("text=number&humans=true&limit=1000").await.0.len(), 230);
    assert_eq!(found("text=nobody").await, (Vec::new(), String::new()));
}
