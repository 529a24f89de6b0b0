//! What words are found in, of what one may read.

use serde_json::{Value, json};

use super::{INVOICES, accounted_for, apply, change, company, create, typed, with_policies, write};
use crate::harness::Test;

async fn search(test: &Test, token: &str, query: &str) -> Vec<Value> {
    let found = test.get(&format!("/search?{query}"), token).await;
    assert_eq!(found.status, 200, "{}", found.text());
    found.json().as_array().unwrap().clone()
}

fn ids(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn words_are_found_in_records_and_tasks_the_best_first() {
    let (test, cast) = company().await;
    let note = json!({ "type": "long_text" });
    create(
        &test,
        "letters",
        json!({ "key": ["name"], "fields": { "name": { "type": "text", "required": true }, "body": note } }),
    )
    .await;
    let path = "/brain/collections/letters/records";
    let long = format!("{} the late invoice of Müller {}", "before ".repeat(40), "after ".repeat(40));
    let mut written = Vec::new();
    for (name, body) in [("one", "late late invoice"), ("two", long.as_str()), ("three", "on time")] {
        let answer = test.post(path, &cast.mia, json!({ "fields": { "name": name, "body": body } })).await.json();
        written.push(answer["id"].as_str().unwrap().to_owned());
    }
    let task = test.post("/tasks", &cast.mia, json!({ "title": "Pay the late invoice", "owner": "mia" })).await.json();
    let hits = search(&test, &cast.mia, "q=late%20invoi").await;
    assert_eq!(hits.len(), 3, "{hits:?}");
    assert_eq!(hits[0]["score"], 100);
    let mut found = ids(&hits);
    found.sort_unstable();
    let mut wanted = vec![written[0].as_str(), written[1].as_str(), task["id"].as_str().unwrap()];
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let hits = search(&test, &cast.mia, "q=muller&kinds=record").await;
    assert_eq!((ids(&hits), &hits[0]["title"]), (vec![written[1].as_str()], &json!("two")), "accents do not matter");
    assert!(hits[0]["snippet"].as_str().unwrap().contains("Müller"), "{hits:?}");
    let hits = search(&test, &cast.mia, "q=late&collections=letters").await;
    let snippet = hits.iter().find(|hit| hit["title"] == "two").unwrap()["snippet"].as_str().unwrap();
    assert!(
        snippet.starts_with('…') && snippet.ends_with('…') && snippet.contains("late invoice of Müller"),
        "{snippet}"
    );
    // What is changed or gone is not found by what it was.
    let one = format!("{path}/{}", written[0]);
    test.call("PATCH", &one, &cast.mia, Some(json!({ "fields": { "body": "paid" } }))).await;
    assert_eq!(ids(&search(&test, &cast.mia, "q=paid").await), [written[0].as_str()]);
    test.call("DELETE", &one, &cast.mia, None).await;
    assert_eq!(search(&test, &cast.mia, "q=paid").await, Vec::<Value>::new());
    assert_eq!(ids(&search(&test, &cast.mia, "q=late&kinds=task&limit=1").await), [task["id"].as_str().unwrap()]);
    accounted_for(&test);
}

#[tokio::test]
async fn what_one_may_not_read_is_not_found_and_neither_is_what_stands_in_such_a_field() {
    let (test, cast) = with_policies(typed()).await;
    let rows = r#"
@id("rows") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource.created_by == principal || principal in Ok::Role::"steward" };
"#;
    let applied = apply(&test, rows).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let secret = json!({ "type": "text", "label": "confidential" });
    let added = change(&test, "invoices", json!([{ "add_field": { "name": "memo", "field": secret } }])).await;
    assert_eq!(added.status, 200, "{}", added.text());
    let fields = json!({ "number": "zebra", "memo": "okapi", "iban": "tapir" });
    let mine = write(&test, &cast.mia, fields.clone()).await;
    let other = write(&test, &cast.max, json!({ "number": "zebra 2", "memo": "okapi 2" })).await;
    let (mine, other) = (mine["id"].as_str().unwrap(), other["id"].as_str().unwrap());
    assert_eq!(ids(&search(&test, &cast.mia, "q=zebra").await), [mine]);
    assert_eq!(ids(&search(&test, &cast.max, "q=zebra").await), [other]);
    // Confidential fields are read by stewards and leads; what is personal is found by nobody.
    assert_eq!(search(&test, &cast.mia, "q=okapi").await, Vec::<Value>::new());
    let mut found = search(&test, &cast.sam, "q=okapi").await;
    found.sort_by_key(|hit| hit["title"].as_str().unwrap().to_owned());
    assert_eq!(ids(&found), [mine, other]);
    assert_eq!(search(&test, &cast.sam, "q=tapir").await, Vec::<Value>::new());
    // Whoever may not read a snippet gets none of it, though the record is found by another field.
    let text = test.get("/search?q=zebra", &cast.mia).await.text();
    assert!(!text.contains("okapi"), "{text}");
    accounted_for(&test);
}

#[tokio::test]
async fn a_score_tells_nothing_of_what_one_may_not_read() {
    let (test, cast) = with_policies(typed()).await;
    let rows = r#"
@id("rows") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource.created_by == principal };
"#;
    assert_eq!(apply(&test, rows).await.status, 200);
    let memo = json!({ "type": "text", "label": "confidential" });
    let note = json!({ "type": "text" });
    for (name, field) in [("memo", memo), ("note", note)] {
        let ops = json!([{ "add_field": { "name": name, "field": field } }]);
        assert_eq!(change(&test, "invoices", ops).await.status, 200);
    }
    let mut mine = Vec::new();
    for (number, note) in [("1", "layoffs filler filler"), ("2", "layoffs layoffs filler")] {
        mine.push(write(&test, &cast.max, json!({ "number": number, "note": note })).await["id"].clone());
    }
    let before = search(&test, &cast.max, "q=layoffs%20filler").await;
    // Others write of the same, and a steward adds what its maker may not read.
    for number in 0..6 {
        write(&test, &test.admin, json!({ "number": format!("h{number}"), "note": "layoffs" })).await;
    }
    let path = format!("{INVOICES}/records/{}", mine[0].as_str().unwrap());
    let long = json!({ "fields": { "memo": "word ".repeat(150) } });
    let changed = test.call("PATCH", &path, &test.admin, Some(long)).await;
    assert!([200, 404].contains(&changed.status.as_u16()), "{}", changed.text());
    assert_eq!(search(&test, &cast.max, "q=layoffs%20filler").await, before);
}

#[tokio::test]
async fn what_is_looked_for_is_words_and_nothing_else() {
    let (test, cast) = company().await;
    write(&test, &cast.mia, json!({ "number": "a OR b\"c* NEAR(x) {open}: -" })).await;
    for q in ["OR", "NEAR", "%22", "b%22c*", "open:a", "a%20AND%20NOT", "%27%3B--x", "%F0%9F%99%82x"] {
        let found = test.get(&format!("/search?q={q}"), &cast.mia).await;
        assert!([200, 422].contains(&found.status.as_u16()), "{q}: {}", found.text());
    }
    assert_eq!(search(&test, &cast.mia, "q=a%20OR%20b").await.len(), 1);
    for (query, told) in [
        ("q=", "422 invalid q: must have a letter or a digit"),
        ("q=%F0%9F%99%82", "422 invalid q: must have a letter or a digit"),
        (&format!("q={}", "x".repeat(201)), "422 invalid q: must have 1 to 200 characters"),
        ("q=x&limit=0", "422 invalid limit: must be 1 to 100"),
        ("q=x&collections=nothing", "422 invalid collections: there is no collection `nothing`"),
        ("q=x&kinds=letter", "400 bad_request kinds[0]: `letter` is not a kind: use record, task, knowledge"),
    ] {
        assert_eq!(test.get(&format!("/search?{query}"), &cast.mia).await.error(), told);
    }
}

#[tokio::test]
async fn what_leads_to_a_record_is_listed() {
    let (test, cast) = company().await;
    let vendor =
        test.post("/brain/collections/vendors/records", &cast.mia, json!({ "fields": { "name": "Acme" } })).await;
    let id = vendor.json()["id"].as_str().unwrap().to_owned();
    let invoice = write(&test, &cast.mia, json!({ "number": "7", "vendor": id })).await;
    let task = test.post("/tasks", &cast.mia, json!({ "title": "Call Acme", "owner": "mia" })).await.json();
    let refs = format!("/tasks/{}/refs", task["id"].as_str().unwrap());
    let added = test.post(&refs, &cast.mia, json!({ "collection": "vendors", "thing": id, "note": "soon" })).await;
    assert!(added.status.is_success(), "{}", added.text());
    for (collection, thing) in [("vendors", "rec_none"), ("nothing", id.as_str()), ("vendor", "7")] {
        let lost = test.post(&refs, &cast.mia, json!({ "collection": collection, "thing": thing })).await.error();
        assert_eq!(lost, "422 invalid thing: there is no such record that you may see");
    }
    let links = test.get(&format!("/refs/vendors/{id}"), &cast.mia).await.json();
    assert_eq!(
        links,
        json!([
            { "kind": "record", "collection": "invoices", "field": "vendor", "id": invoice["id"], "title": "7" },
            { "kind": "task", "collection": null, "field": null, "id": task["id"], "title": "Call Acme" },
        ])
    );
    // Of a task that one may not see, nothing is told.
    let links = test.get(&format!("/refs/vendors/{id}"), &cast.max).await.json();
    assert_eq!(links.as_array().unwrap().len(), 1, "{links}");
    assert_eq!(test.get(&format!("{INVOICES}/records/x"), &cast.max).await.error(), "404 not_found not found");
    assert_eq!(test.get("/refs/vendors/rec_x", &cast.max).await.error(), "404 not_found not found");
}
