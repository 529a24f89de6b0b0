//! Collections that are kept in another system: an SQLite file of another program.

use std::path::Path;

use ok::adapters::Systems;
use ok::policy::Bundle;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{apply, change, typed};
use crate::harness::{Cast, Test};

const STOCK: &str = "/brain/collections/stock";

fn run(dir: &Path, sql: &str) {
    Connection::open(dir.join("shop.db")).unwrap().execute_batch(sql).unwrap();
}

fn systems(dir: &Path) -> Systems {
    let file = "systems:\n  shop:\n    adapter: sqlite\n    file: shop.db\n    tables: [stock, more]\n";
    std::fs::write(dir.join("systems.yaml"), file).unwrap();
    Systems::read(&dir.join("systems.yaml"), &|_| None).unwrap()
}

fn definition() -> Value {
    json!({
        "source": { "system": "shop", "table": "stock", "columns": { "cost": "price" } },
        "key": ["sku"],
        "fields": {
            "sku": { "type": "text", "required": true },
            "pieces": { "type": "integer" },
            "cost": { "type": "money", "label": "confidential" },
            "team": { "type": "team" },
        },
    })
}

async fn company(policies: Bundle) -> (Test, Cast, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    run(
        dir.path(),
        "CREATE TABLE stock (sku TEXT, pieces, price REAL, team TEXT);
         INSERT INTO stock VALUES ('a', 3, 1.5, 'team:ops'), ('b', 2, 2, 'team:dev'), ('c', NULL, 0.25, NULL);
         CREATE TABLE secrets (sku TEXT);",
    );
    let test = Test::with_systems(policies, systems(dir.path())).await;
    let cast = test.cast().await;
    let made = change(&test, "stock", json!([{ "create": { "spec": definition() } }])).await;
    assert_eq!(made.status, 200, "{}", made.text());
    (test, cast, dir)
}

async fn ids(test: &Test, token: &str, query: Value) -> Vec<String> {
    let found = test.post(&format!("{STOCK}/query"), token, query).await;
    assert_eq!(found.status, 200, "{}", found.text());
    found.json().as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn records_that_are_kept_elsewhere_are_read_as_those_that_are_kept_here() {
    let (test, cast, _dir) = company(Bundle::built_in()).await;
    assert_eq!(ids(&test, &cast.mia, json!({})).await, ["a", "b", "c"]);
    assert_eq!(
        ids(&test, &cast.mia, json!({ "filter": { "pieces": { "gte": 2 } }, "sort": ["-pieces"] })).await,
        ["a", "b"]
    );
    let refused = test.post(&format!("{STOCK}/query"), &cast.mia, json!({ "sort": ["cost"] })).await;
    assert_eq!(refused.error(), "422 invalid sort: `cost` is confidential, and you may not read it");
    let one = test.get(&format!("{STOCK}/records/a"), &cast.mia).await.json();
    assert_eq!(
        (&one["fields"], &one["withheld"]),
        (&json!({ "pieces": 3, "sku": "a", "team": "team:ops" }), &json!(["cost"]))
    );
    let one = test.get(&format!("{STOCK}/records/a"), &test.admin).await.json();
    assert_eq!(one["fields"]["cost"], "1.50");
    assert_eq!(test.get(&format!("{STOCK}/records/z"), &test.admin).await.error(), "404 not_found not found");
    let figures = json!({ "measures": ["count", "sum:cost"] });
    let figures = test.post(&format!("{STOCK}/aggregate"), &test.admin, figures).await.json();
    assert_eq!(figures[0]["values"], json!({ "count": 3, "sum:cost": "3.75" }));
    let view =
        json!({ "query": { "collection": "stock", "filter": { "team": "team:ops" } }, "layout": { "kind": "table" } });
    let shown = test.post("/views/preview", &cast.mia, view).await;
    assert!(
        shown.status == 200 && shown.text().contains(r#""id":"a""#) && !shown.text().contains("1.50"),
        "{}",
        shown.text()
    );
    let listed = test.get("/brain/collections", &cast.mia).await.json();
    assert_eq!(listed[0]["source"]["system"], "shop");
}

#[tokio::test]
async fn policies_decide_about_each_of_them() {
    let (test, cast, dir) = company(typed()).await;
    let rows = r#"@id("own") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::stock)
        when { resource has team && principal in resource.team };
        @id("cheap") @reason("cheap things are not shown") forbid (principal is Ok::Actor, action == Ok::Action::"record.read",
        resource is Brain::stock) when { resource has cost && resource.cost.lessThan(decimal("1.0")) };
        @id("unknown") @reason("max need not know") forbid (principal == Ok::Actor::"max", action == Ok::Action::"collection.read",
        resource);"#;
    let applied = apply(&test, rows).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let mine = ids(&test, &cast.mia, json!({})).await;
    let me = test.get("/me", &cast.mia).await.json();
    let of_team = if me["team"] == "team:ops" { "a" } else { "b" };
    assert_eq!(mine, [of_team], "{me}");
    let other = if of_team == "a" { "b" } else { "a" };
    let hidden = test.get(&format!("{STOCK}/records/{other}"), &cast.mia).await;
    assert_eq!(hidden.status, 404, "{}", hidden.text());
    let count = test.post(&format!("{STOCK}/aggregate"), &cast.mia, json!({ "measures": ["count"] })).await.json();
    assert_eq!(count[0]["values"]["count"], 1);
    // Whoever may not know the collection learns nothing of where it is kept, nor whether that answers.
    std::fs::remove_file(dir.path().join("shop.db")).unwrap();
    let unknown = test.get(&format!("{STOCK}/records/a"), &cast.max).await;
    assert_eq!(unknown.error(), "404 not_found not found");
    assert_eq!(test.get(&format!("{STOCK}/records/a"), &cast.mia).await.status, 503);
}

#[tokio::test]
async fn nothing_changes_them_here() {
    let (test, cast, _dir) = company(Bundle::built_in()).await;
    let one = format!("{STOCK}/records/a");
    let fields = json!({ "fields": { "sku": "a", "pieces": 9 } });
    let calls = [
        ("POST", format!("{STOCK}/records"), fields.clone()),
        ("PUT", one.clone(), fields.clone()),
        ("PATCH", one.clone(), fields),
        ("DELETE", one.clone(), Value::Null),
        ("POST", format!("{STOCK}/import"), json!({ "records": [{ "sku": "a" }] })),
        ("POST", format!("{one}/flag"), json!({ "kind": "wrong" })),
        ("POST", format!("{one}/rollback"), json!({ "to_version": 1, "reason": "r" })),
        ("GET", format!("{one}/history"), Value::Null),
    ];
    for (method, path, body) in calls {
        let body = (!body.is_null()).then_some(body);
        let refused = test.call(method, &path, &test.admin, body).await.error();
        assert!(
            refused
                .starts_with("422 invalid collection: this collection is read-only here: its records are kept in shop"),
            "{method} {path}: {refused}"
        );
    }
    assert_eq!(ids(&test, &cast.mia, json!({ "filter": { "pieces": 9 } })).await, [""; 0]);
    for (query, why) in [
        (
            json!({ "sort": ["created_at"] }),
            "422 invalid sort: `created_at` is not known of records that are kept elsewhere",
        ),
        (
            json!({ "as_of": "2026-01-01T00:00:00Z" }),
            "422 invalid as_of: earlier versions of records kept in shop are not known",
        ),
    ] {
        assert_eq!(test.post(&format!("{STOCK}/query"), &cast.mia, query).await.error(), why);
    }
    let searched = test.get("/search?q=a&collections=stock", &cast.mia).await.error();
    assert!(searched.contains("they are queried, and not searched"), "{searched}");
    let merged = change(&test, "stock", json!([{ "merge_field": { "name": "pieces", "into": "cost" } }])).await;
    assert!(merged.error().contains("changed there"), "{}", merged.error());
}

#[tokio::test]
async fn an_answer_that_is_not_all_says_so_and_of_which_adapter() {
    let (test, cast, dir) = company(Bundle::built_in()).await;
    let all = test.post(&format!("{STOCK}/query"), &cast.mia, json!({})).await;
    assert_eq!((all.header("x-ok-partial"), all.header("x-ok-partial-from")), ("", ""));
    // What does not fit is left out whole: a policy may forbid by what is wrong about it.
    run(
        dir.path(),
        "INSERT INTO stock VALUES ('d', 'many', 1, NULL), ('a', 1, 1, NULL), (NULL, 1, 1, NULL), ('e', 5, 5, NULL)",
    );
    let some = test.post(&format!("{STOCK}/query"), &cast.mia, json!({})).await;
    assert_eq!(some.json().as_array().unwrap().len(), 4, "{}", some.text());
    assert_eq!((some.header("x-ok-partial"), some.header("x-ok-partial-from")), ("true", "sqlite"));
    run(dir.path(), "DELETE FROM stock WHERE sku IS NULL OR sku IN ('a', 'd')");
    run(
        dir.path(),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
         INSERT INTO stock SELECT printf('n%05d', i), i, i, NULL FROM n",
    );
    let figures = test.post(&format!("{STOCK}/aggregate"), &cast.mia, json!({ "measures": ["count"] })).await;
    assert_eq!(figures.json()[0]["values"]["count"], 5_000);
    assert_eq!((figures.header("x-ok-partial"), figures.header("x-ok-partial-from")), ("true", "sqlite"));
    let page = test.post(&format!("{STOCK}/query"), &cast.mia, json!({ "limit": 10 })).await;
    assert_eq!(page.header("x-ok-partial"), "", "a page that is whole");
    assert!(!page.header("x-next-cursor").is_empty());
    // The first in any order are the first of all rows, and each row is found, however many there are.
    let largest = json!({ "limit": 2, "sort": ["-pieces"] });
    assert_eq!(ids(&test, &cast.mia, largest).await, ["n05001", "n05000"]);
    assert_eq!(ids(&test, &cast.mia, json!({ "filter": { "pieces": 4999 } })).await, ["n04999"]);
    assert_eq!(test.get(&format!("{STOCK}/records/n05001"), &cast.mia).await.status, 200);
    let (mut walked, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let query = json!({ "limit": 1_000, "sort": ["pieces"], "cursor": cursor });
        let page = test.post(&format!("{STOCK}/query"), &cast.mia, query).await;
        walked.extend(page.json().as_array().unwrap().iter().map(|one| one["id"].clone()));
        match page.header("x-next-cursor") {
            "" => break,
            next => cursor = json!(next),
        }
    }
    let distinct: std::collections::BTreeSet<String> = walked.iter().map(Value::to_string).collect();
    assert_eq!((walked.len(), distinct.len()), (5_004, 5_004));
}

#[tokio::test]
async fn a_definition_says_only_what_has_an_effect_and_what_may_be_read() {
    let (test, _, _dir) = company(Bundle::built_in()).await;
    let with = |path: &str, value: Value| {
        let mut spec = definition();
        *spec.pointer_mut(path).unwrap() = value;
        spec
    };
    let wrong = [
        (with("/key", json!([])), "spec.key: must be one text or whole number"),
        (
            with("/fields/pieces", json!({ "type": "integer", "unique": true })),
            "spec.fields.pieces.unique: has no effect",
        ),
        (
            with("/fields/pieces", json!({ "type": "integer", "default": 1 })),
            "spec.fields.pieces.default: has no effect",
        ),
        (
            with("/fields/pieces", json!({ "type": "text", "label": "personal" })),
            "`personal` is what can be erased here",
        ),
        (with("/source/columns", json!({ "nope": "x" })), "spec.source.columns.nope: there is no field"),
        (with("/source/table", json!("a.b.c")), "spec.source.table: must be a table"),
        (with("/source/table", json!("secrets")), "the table `secrets` of `shop` may not be read by this server"),
        (with("/source/system", json!("erp")), "no system `erp` is set up on this server"),
    ];
    for (spec, why) in wrong {
        let refused = change(&test, "other", json!([{ "create": { "spec": spec } }])).await;
        assert!(refused.status == 422 && refused.text().contains(why), "{why}: {}", refused.text());
    }
    let refers = json!({ "fields": { "sku": { "type": "ref", "to": "stock" } } });
    let refused = change(&test, "uses", json!([{ "create": { "spec": refers } }])).await;
    assert!(refused.text().contains("the records of `stock` are kept elsewhere"), "{}", refused.text());
}

#[tokio::test]
async fn a_renamed_field_keeps_its_column_and_a_collection_can_be_retired() {
    let (test, cast, _dir) = company(Bundle::built_in()).await;
    let ops = json!([{ "rename_field": { "name": "pieces", "to": "count" } }, { "retire_field": { "name": "cost" } }]);
    let renamed = change(&test, "stock", ops).await;
    assert_eq!(renamed.status, 200, "{}", renamed.text());
    assert_eq!(ids(&test, &cast.mia, json!({ "filter": { "count": 3 } })).await, ["a"]);
    let retired = change(&test, "stock", json!([{ "retire": {} }])).await;
    assert_eq!(retired.status, 200, "{}", retired.text());
    assert_eq!(test.post(&format!("{STOCK}/query"), &cast.mia, json!({})).await.status, 404);
}

#[tokio::test]
async fn a_system_that_cannot_be_read_is_said_to_be_so_without_where_it_is() {
    let (test, cast, dir) = company(Bundle::built_in()).await;
    run(dir.path(), "ALTER TABLE stock RENAME COLUMN pieces TO count");
    let refused = test.post(&format!("{STOCK}/query"), &cast.mia, json!({})).await;
    assert!(
        refused.error().starts_with("503 unavailable stock is kept in shop, which cannot be read: "),
        "{}",
        refused.error()
    );
    std::fs::remove_file(dir.path().join("shop.db")).unwrap();
    let refused = test.post(&format!("{STOCK}/query"), &cast.mia, json!({})).await.error();
    assert_eq!(refused, "503 unavailable stock is kept in shop, which cannot be read: its file cannot be read");
}
