//! The company's own data, through the router.

mod altered;
mod approved;
mod bad_input;
mod elsewhere;
mod elsewhere_postgres;
mod laws;
mod narrowed;
mod retention;
mod search;
mod semantics;
mod standing;
mod steward;
pub mod views;

use ok::gate::state::refold;
use ok::policy::Bundle;
use ok::types::time::{Clock as _, DAY};
use serde_json::{Value, json};

use crate::harness::{Answer, Cast, Test};

/// A company with invoices and vendors. `sam` is its steward.
pub async fn company() -> (Test, Cast) {
    with_policies(Bundle::built_in()).await
}

pub async fn with_policies(policies: Bundle) -> (Test, Cast) {
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let vendors = json!({ "key": ["name"], "fields": { "name": { "type": "text", "required": true } } });
    let invoices = json!({
        "key": ["number"],
        "smallest_group": 2,
        "fields": {
            "number": { "type": "text", "required": true },
            "vendor": { "type": "ref", "to": "vendors" },
            "total": { "type": "money", "min": "0", "label": "confidential" },
            "status": { "type": "choice", "options": ["new", "paid"], "default": "new", "index": true },
            "due": { "type": "date" },
            "owner": { "type": "actor" },
            "team": { "type": "team" },
            "tags": { "type": "choices", "options": ["rush", "old"] },
            "iban": { "type": "text", "label": "personal" },
        },
    });
    create(&test, "vendors", vendors).await;
    create(&test, "invoices", invoices).await;
    (test, cast)
}

pub async fn create(test: &Test, collection: &str, spec: Value) {
    let applied = change(test, collection, json!([{ "create": { "spec": spec } }])).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
}

/// Proposes to change a collection, and applies that.
pub async fn change(test: &Test, collection: &str, ops: Value) -> Answer {
    let proposal = json!({ "collection": collection, "ops": ops, "reason": "needed" });
    let proposed = test.post("/schema/proposals", &test.admin, proposal).await;
    if proposed.status != 201 {
        return proposed;
    }
    let id = proposed.json()["id"].as_str().unwrap().to_owned();
    test.post(&format!("/schema/proposals/{id}/apply"), &test.admin, json!({})).await
}

pub const INVOICES: &str = "/brain/collections/invoices";

pub async fn write(test: &Test, token: &str, fields: Value) -> Value {
    let written = test.post(&format!("{INVOICES}/records"), token, json!({ "fields": fields })).await;
    assert_eq!(written.status, 200, "{}", written.text());
    written.json()
}

/// The numbers of the invoices that a query finds.
pub async fn numbers(test: &Test, token: &str, query: Value) -> Vec<String> {
    let found = test.post(&format!("{INVOICES}/query"), token, query).await;
    assert_eq!(found.status, 200, "{}", found.text());
    let number = |record: &Value| record["fields"]["number"].as_str().unwrap().to_owned();
    found.json().as_array().unwrap().iter().map(number).collect()
}

/// What the tables hold is what the log says, and the log verifies.
fn accounted_for(test: &Test) {
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn records_are_written_by_key_found_and_again_what_they_were() {
    let (test, cast) = company().await;
    let first = write(&test, &cast.mia, json!({ "number": "1", "total": 12.5, "due": "2026-03-01" })).await;
    assert_eq!(
        (&first["version"], &first["fields"]["status"], &first["fields"]["due"], &first["withheld"]),
        (&json!(1), &json!("new"), &json!("2026-03-01"), &json!(["iban", "total"]))
    );
    // The same key is the same record; what is not given stays.
    let again = write(&test, &cast.mia, json!({ "number": "1", "status": "paid" })).await;
    assert_eq!(
        (&again["id"], &again["version"], &again["fields"]["due"]),
        (&first["id"], &json!(2), &json!("2026-03-01"))
    );
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    let shown = test.get(&path, &test.admin).await;
    assert_eq!((shown.json()["fields"]["total"].clone(), shown.header("etag")), (json!("12.50"), "\"2\""));
    let stale =
        test.call("PATCH", &path, &cast.mia, Some(json!({ "fields": { "status": "new" }, "version": 1 }))).await;
    assert_eq!(stale.error(), "409 conflict version: the current version is 2");
    // Whoever may not read a field has not taken it away by leaving it out.
    let blind = test.call("PUT", &path, &cast.mia, Some(json!({ "fields": { "number": "1" } }))).await;
    assert!(blind.error().starts_with("422 invalid version: required to replace a record"), "{}", blind.error());
    let put = test.call("PUT", &path, &cast.mia, Some(json!({ "fields": { "number": "1" }, "version": 2 }))).await;
    assert_eq!(put.json()["fields"], json!({ "number": "1" }), "{}", put.text());
    assert_eq!(test.get(&path, &test.admin).await.json()["fields"], json!({ "number": "1", "total": "12.50" }));
    let gone = test.call("DELETE", &path, &cast.mia, None).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(test.get(&path, &cast.mia).await.error(), "404 not_found not found");
    let history = test.get(&format!("{path}/history"), &cast.mia).await.json();
    let what: Vec<&str> = history.as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["deleted", "written", "written", "written"]);
    let back = json!({ "to_version": 2, "reason": "it was needed" });
    let back = test.post(&format!("{path}/rollback"), &cast.mia, back).await;
    assert_eq!(back.json()["version"], 5, "{}", back.text());
    assert_eq!(back.json()["fields"]["status"], "paid");
    accounted_for(&test);
}

#[tokio::test]
async fn a_query_answers_what_fits_in_order_page_by_page() {
    let (test, cast) = company().await;
    for (number, total, due) in [("1", "5", "2026-03-01"), ("2", "50", "2026-01-01"), ("3", "500", "2026-02-01")] {
        write(&test, &cast.mia, json!({ "number": number, "total": total, "due": due, "tags": ["rush"] })).await;
    }
    write(&test, &cast.mia, json!({ "number": "4" })).await;
    let admin = &test.admin;
    for (filter, sort, found) in [
        (json!({ "total": { "gt": 5 } }), json!(["number"]), vec!["2", "3"]),
        (json!({ "or": [{ "number": "1" }, { "due": { "lt": "2026-01-15" } }] }), json!(["-number"]), vec!["2", "1"]),
        (json!({ "not": { "due": { "gte": "2026-02-01" } } }), json!(["number"]), vec!["2", "4"]),
        (json!({ "due": { "has": false } }), json!([]), vec!["4"]),
        (json!({ "tags": { "contains": "rush" }, "number": { "in": ["1", "4", "9"] } }), json!([]), vec!["1"]),
        (json!({ "number": { "nin": ["1", "2"] } }), json!(["due", "number"]), vec!["3", "4"]),
        (json!({ "number": { "starts_with": "*" } }), json!([]), vec![]),
        (json!({ "total": { "ne": "5.00" } }), json!(["total"]), vec!["2", "3", "4"]),
    ] {
        assert_eq!(numbers(&test, admin, json!({ "filter": filter, "sort": sort })).await, found, "{filter}");
    }
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let query = json!({ "sort": ["-due"], "fields": ["number"], "limit": 1, "cursor": cursor });
        let page = test.post(&format!("{INVOICES}/query"), admin, query).await;
        seen.extend(page.json().as_array().unwrap().iter().map(|record| record["fields"].clone()));
        if page.header("x-next-cursor").is_empty() {
            break;
        }
        cursor = Some(page.header("x-next-cursor").to_owned());
    }
    assert_eq!(json!(seen), json!([{ "number": "1" }, { "number": "3" }, { "number": "2" }, { "number": "4" }]));
    // A cursor is good for one question.
    let other = test.post(&format!("{INVOICES}/query"), admin, json!({ "sort": ["due"], "cursor": cursor })).await;
    assert_eq!(other.error(), "400 bad_request invalid cursor");
}

#[tokio::test]
async fn records_are_read_as_they_were() {
    let (test, cast) = company().await;
    let record = write(&test, &cast.mia, json!({ "number": "1" })).await;
    let then = test.clock.now();
    test.clock.advance(DAY);
    write(&test, &cast.mia, json!({ "number": "1", "status": "paid" })).await;
    write(&test, &cast.mia, json!({ "number": "2" })).await;
    let query = json!({ "as_of": then, "filter": { "status": "new" } });
    assert_eq!(numbers(&test, &cast.mia, query).await, ["1"]);
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    test.call("DELETE", &path, &cast.mia, None).await;
    assert_eq!(numbers(&test, &cast.mia, json!({ "as_of": then })).await, ["1"]);
    assert_eq!(numbers(&test, &cast.mia, json!({})).await, ["2"]);
}

/// Rows by a typed policy: one's own, those of one's team, and small ones.
fn typed() -> Bundle {
    let mut policies = Bundle::built_in();
    let base = policies.files.get_mut("base/brain.cedar").unwrap();
    *base = base.replace("\"record.read\",\n     Ok::Action::", "");
    policies.files.retain(|path, _| !path.starts_with("tests/"));
    let test = "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n";
    policies.files.insert("tests/one.yaml".into(), test.into());
    policies
}

const ROWS: &str = r#"
@id("rows") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource.created_by == principal || (resource has team && principal in resource.team) ||
       (resource has total && resource.total.lessThan(decimal("10.0"))) };
@id("final") @reason("paid invoices are final")
forbid (principal is Ok::Actor, action == Ok::Action::"record.change", resource is Brain::invoices)
when { resource has status && resource.status == "paid" };
"#;

/// Puts a file more into force; the answer to the step that did not go well, or to the last.
pub async fn apply(test: &Test, policy: &str) -> Answer {
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].as_object().unwrap().clone();
    files.insert("rows.cedar".into(), policy.into());
    put_into_force(test, json!(files)).await
}

pub async fn put_into_force(test: &Test, files: Value) -> Answer {
    let proposed = test.post("/policy/proposals", &test.admin, json!({ "files": files, "reason": "rows" })).await;
    if proposed.status != 201 {
        return proposed;
    }
    let id = proposed.json()["id"].as_str().unwrap().to_owned();
    test.post(&format!("/changes/{id}/evals"), &test.admin, json!({})).await;
    test.post(&format!("/changes/{id}/promote"), &test.admin, json!({})).await
}

#[tokio::test]
async fn policies_about_records_are_typed_and_say_which_rows_there_are() {
    let (test, cast) = with_policies(typed()).await;
    let applied = apply(&test, ROWS).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    for (number, total, team) in [("1", "5", None), ("2", "50", Some("team:ops")), ("3", "500", Some("team:dev"))] {
        write(&test, &test.admin, json!({ "number": number, "total": total, "team": team })).await;
    }
    let mine = write(&test, &cast.max, json!({ "number": "4", "total": "700" })).await;
    let by_number = json!({ "sort": ["number"] });
    assert_eq!(numbers(&test, &cast.mia, by_number.clone()).await, ["1", "2"]);
    assert_eq!(numbers(&test, &cast.max, by_number.clone()).await, ["1", "3", "4"]);
    // What one may not see is not there: not by its id, and not in a figure.
    let path = format!("{INVOICES}/records/{}", mine["id"].as_str().unwrap());
    assert_eq!(test.get(&path, &cast.mia).await.error(), "404 not_found not found");
    let count = test.post(&format!("{INVOICES}/aggregate"), &cast.mia, json!({ "measures": ["count"] })).await;
    assert_eq!(count.json(), json!([{ "group": {}, "values": { "count": 2 } }]));
    // A rule about what is there is not passed by changing it first.
    write(&test, &cast.max, json!({ "number": "4", "status": "paid" })).await;
    let refused = test.call("PATCH", &path, &cast.max, Some(json!({ "fields": { "status": "new" } }))).await;
    assert_eq!(refused.error(), "403 denied policy denied record.change: paid invoices are final");
    let path = format!("{INVOICES}/records");
    for body in [json!({ "fields": { "number": "4", "total": "1" } }), json!({ "id": mine["id"], "fields": {} })] {
        assert_eq!(test.post(&path, &cast.max, body).await.error(), refused.error());
    }
    // A policy that names what is not there does not come into force, and a field that policies look at does not go.
    let wrong = apply(&test, &ROWS.replace("resource.total", "resource.sum")).await;
    assert!(wrong.error().contains("attribute `sum`"), "{}", wrong.error());
    let gone = change(&test, "invoices", json!([{ "retire_field": { "name": "total" } }])).await;
    assert_eq!(gone.error(), "422 invalid ops: policies use `total`: `rows` (rows.cedar:2); change them first");
    accounted_for(&test);
}

#[tokio::test]
async fn fields_go_by_their_label_and_what_is_personal_can_be_erased() {
    let (test, cast) = company().await;
    let written = json!({ "number": "1", "total": "9", "iban": "DE00" });
    let record = write(&test, &test.admin, written).await;
    assert_eq!(record["fields"]["iban"], "DE00");
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    let shown = test.get(&path, &cast.mia).await.json();
    assert_eq!(
        (&shown["fields"], &shown["withheld"]),
        (&json!({ "number": "1", "status": "new" }), &json!(["iban", "total"]))
    );
    assert_eq!(test.get(&path, &cast.lea).await.json()["fields"]["total"], "9.00");
    // What one may not read can be neither looked for nor sorted by.
    for query in [json!({ "filter": { "total": { "gt": 1 } } }), json!({ "sort": ["total"] })] {
        let refused = test.post(&format!("{INVOICES}/query"), &cast.mia, query).await;
        assert!(refused.error().contains("`total` is confidential, and you may not read it"), "{}", refused.error());
    }
    let refused = test.post(&format!("{INVOICES}/aggregate"), &cast.mia, json!({ "measures": ["max:total"] })).await;
    assert!(refused.error().contains("`total` is confidential"), "{}", refused.error());
    // Nothing of it stands in an entry that cannot be erased.
    let events = test.get("/events?limit=50", &test.admin).await.json();
    let all = events["events"].as_array().unwrap();
    let kept = all.iter().find(|event| event["event"]["type"] == "content_kept").unwrap()["seq"].clone();
    let forgotten = json!({ "events": [kept], "reason": "asked for" });
    assert_eq!(test.post("/context/forget", &test.admin, forgotten).await.status, 200);
    assert_eq!(test.get(&path, &test.admin).await.json()["fields"].get("iban"), None);
    let file = std::fs::read(test.path()).unwrap();
    assert!(!file.windows(4).any(|window| window == b"DE00"), "it is still in the file");
    accounted_for(&test);
}

#[tokio::test]
async fn many_records_are_written_at_once_or_none() {
    let (test, cast) = company().await;
    let path = format!("{INVOICES}/import");
    let rows = |count: usize| (0..count).map(|number| json!({ "number": number.to_string() })).collect::<Vec<_>>();
    let imported = test.post(&path, &cast.mia, json!({ "records": rows(500) })).await;
    assert_eq!(
        imported.json(),
        json!({ "collection": "invoices", "created": 500, "changed": 0, "unchanged": 0 }),
        "{}",
        imported.text()
    );
    let wrong = json!({ "records": [{ "number": "x" }, { "number": 7 }, { "status": "odd" }, { "number": "x" }] });
    let refused = test.post(&path, &cast.mia, wrong).await.error();
    assert_eq!(
        refused,
        "422 invalid records[1]: fields.number: must be a text; records[2]: fields.status: must be one of new, paid; \
         records[2]: fields.number: is required; records[3]: has the same number as records[0]"
    );
    // Another's record is not theirs to change, and then nothing is.
    let mixed = json!({ "records": [{ "number": "new" }, { "number": "7", "status": "paid" }] });
    let refused = test.post(&path, &cast.max, mixed).await;
    let told = "policy denied record.import: records[1]: policy denied record.change: no policy permits it";
    assert_eq!(refused.error(), format!("403 denied {told}"));
    // It stands in the log before it is answered, like any refusal.
    let logged = test.event().await;
    assert_eq!((&logged["event"]["type"], &logged["actor"]), (&json!("denied"), &json!("max")), "{logged}");
    assert_eq!(refused.header("ok-decision"), logged["seq"].to_string());
    assert_eq!(numbers(&test, &cast.max, json!({ "filter": { "number": "new" } })).await, Vec::<String>::new());
    accounted_for(&test);
}

#[tokio::test]
async fn figures_leave_small_groups_out() {
    let (test, cast) = company().await;
    for (number, total, status, due) in [
        ("1", "10.50", "new", "2026-01-01"),
        ("2", "20", "new", "2026-01-31"),
        ("3", "40", "paid", "2026-02-01"),
        ("4", "40", "paid", "2026-01-02"),
    ] {
        let fields = json!({ "number": number, "total": total, "status": status, "due": due });
        write(&test, &cast.mia, fields).await;
    }
    let path = format!("{INVOICES}/aggregate");
    let ask =
        json!({ "measures": ["count", "sum:total", "avg:total", "max:due", "distinct:total"], "group_by": ["status"] });
    let figures = test.post(&path, &test.admin, ask).await.json();
    assert_eq!(
        figures[0],
        json!({ "group": { "status": "new" }, "values": { "count": 2, "sum:total": "30.50", "avg:total": "15.25", "max:due": "2026-01-31", "distinct:total": 2 } })
    );
    let monthly = json!({ "measures": ["count"], "group_by": ["due:month"] });
    let figures = test.post(&path, &test.admin, monthly).await.json();
    assert_eq!(
        figures,
        json!([{ "group": { "due:month": "2026-01" }, "values": { "count": 3 } }]),
        "one of February is too few"
    );
}

#[tokio::test]
async fn a_collection_changes_with_its_records_and_only_as_they_fit() {
    let (test, cast) = company().await;
    write(&test, &cast.mia, json!({ "number": "1", "total": "5", "status": "paid" })).await;
    for (ops, why) in [
        (
            json!([{ "add_field": { "name": "x", "field": { "type": "flag", "required": true } } }]),
            "existing records do not have this field",
        ),
        (
            json!([{ "retype_field": { "name": "owner", "type": "text" } }]),
            "`owner` is of the type `actor`, which cannot become `text`",
        ),
        (json!([{ "retire_field": { "name": "number" } }]), "`number` is a part of the key"),
        (json!([{ "retire": {} }]), "it has records: delete them first"),
        (json!([{ "rename_field": { "name": "none", "to": "x" } }]), "there is no field `none`"),
        (
            json!([{ "create": { "spec": { "fields": { "a": { "type": "text" } } } } }]),
            "there is a collection `invoices` already",
        ),
    ] {
        let refused = change(&test, "invoices", ops).await.error();
        assert!(refused.starts_with("422 invalid ops[0]:") && refused.contains(why), "{refused}");
    }
    let ops = json!([
        { "add_field": { "name": "urgent", "field": { "type": "flag", "default": false } } },
        { "rename_field": { "name": "number", "to": "no" } },
        { "retype_field": { "name": "status", "type": "text" } },
        { "index": { "name": "due", "on": true } },
    ]);
    let applied = change(&test, "invoices", ops).await;
    assert_eq!(applied.json()["rows"], 1, "{}", applied.text());
    let found = test.post(&format!("{INVOICES}/query"), &test.admin, json!({ "filter": { "no": "1" } })).await.json();
    assert_eq!(found[0]["fields"], json!({ "no": "1", "status": "paid", "total": "5.00", "urgent": false }));
    accounted_for(&test);
    // What was proposed before is to be proposed again.
    let propose = |ops: Value| json!({ "collection": "vendors", "ops": ops, "reason": "r" });
    let late =
        test.post("/schema/proposals", &cast.mia, propose(json!([{ "index": { "name": "name", "on": true } }]))).await;
    change(&test, "vendors", json!([{ "add_field": { "name": "city", "field": { "type": "text" } } }])).await;
    let path = format!("/schema/proposals/{}", late.json()["id"].as_str().unwrap());
    assert_eq!(
        test.get(&path, &cast.mia).await.json()["impact"]["problems"][0],
        "vendors has changed since: propose it again"
    );
    assert_eq!(test.post(&format!("{path}/apply"), &cast.mia, json!({})).await.status, 403);
    assert_eq!(test.post(&format!("{path}/apply"), &test.admin, json!({})).await.status, 409);
    let taken_back = test.post(&format!("{path}/reject"), &cast.mia, json!({ "reason": "late" })).await;
    assert_eq!(taken_back.json()["status"], "rejected");
    accounted_for(&test);
    let test = test.reopened().await;
    assert_eq!(test.get("/brain/collections", &cast.mia).await.json().as_array().unwrap().len(), 2);
}
