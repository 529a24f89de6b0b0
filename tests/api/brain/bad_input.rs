//! What is asked of the company's own data amiss is told with its field, and nothing is half done.

use serde_json::{Value, json};

use super::{INVOICES, accounted_for, change, company, create, write};
use crate::harness::Test;

#[tokio::test]
async fn a_filter_of_as_many_tests_as_there_may_be_is_answered() {
    let (test, _) = company().await;
    let tests = ["lt", "lte", "gt", "gte", "ne"].map(|op| (op.to_owned(), json!("2026-01-01")));
    let one = json!({ "due": tests.into_iter().collect::<serde_json::Map<_, _>>() });
    let filter = json!({ "and": vec![one; 499] });
    let found = test.post("/brain/collections/invoices/query", &test.admin, json!({ "filter": filter })).await;
    assert_eq!(found.status, 200, "{}", found.text());
}

#[tokio::test]
async fn names_that_are_longer_than_any_are_told_at_once() {
    let (test, cast) = company().await;
    let long = format!("{}é{}", "a".repeat(62), "b".repeat(300_000));
    let fields: serde_json::Map<_, _> =
        (0..900).map(|n| (format!("{}{n}", "c".repeat(300)), json!({ "type": "text" }))).collect();
    let metrics = json!({ "m": { "agg": "count", "filter": { long.as_str(): 1 } } });
    let spec = json!({ "fields": fields, "semantics": { "metrics": metrics } });
    let proposal = json!({ "collection": "wide", "ops": [{ "create": { "spec": spec } }], "reason": "x" });
    let told = test.post("/schema/proposals", &cast.mia, proposal).await;
    assert!(told.status == 422 && told.text().contains("must be 1 to 300 fields, not 900"), "{}", told.status);
    let preview = json!({ "query": { "collection": "invoices", "filter": { long.as_str(): 1 } } });
    let told = test.post("/views/preview", &cast.mia, preview).await;
    assert!(told.status == 422 && told.text().len() < 1_000, "{} {}", told.status, told.text().len());
}

#[tokio::test]
async fn options_must_fit_every_record_however_the_field_becomes_a_choice() {
    let (test, _) = company().await;
    super::write(&test, &test.admin, json!({ "number": "1", "status": "paid" })).await;
    let ops = json!([
        { "retype_field": { "name": "status", "type": "text" } },
        { "retype_field": { "name": "status", "type": "choice", "options": ["new"] } },
    ]);
    let told = super::change(&test, "invoices", ops).await.error();
    assert_eq!(told, "422 invalid ops: records have values of `status` that are not among the options");
}

#[tokio::test]
async fn what_is_amiss_with_a_record_is_told_with_its_field() {
    let (test, cast) = company().await;
    let path = format!("{INVOICES}/records");
    for (fields, told) in [
        (json!({}), "422 invalid fields.number: is required"),
        (
            json!({ "number": "\u{200b}\u{feff}" }),
            "422 invalid fields.number: is required, and must not be blank or invisible",
        ),
        (json!({ "number": "1", "no\"; DROP": 1 }), "422 invalid fields.no\\\"; DROP: there is no such field"),
        (
            json!({ "number": "1", "total": "1.23456" }),
            "422 invalid fields.total: must be a number with at most four decimal places, such as \"12.50\"",
        ),
        (json!({ "number": "1", "total": "-1" }), "422 invalid fields.total: must be at least 0"),
        (json!({ "number": "1", "due": "2026-02-30" }), "422 invalid fields.due: must be a day such as 2026-01-31"),
        (json!({ "number": "1", "status": "odd" }), "422 invalid fields.status: must be one of new, paid"),
        (json!({ "number": "1", "tags": ["rush", "x"] }), "422 invalid fields.tags: must be one of rush, old"),
        (json!({ "number": "1", "owner": "nobody" }), "422 invalid fields.owner: there is no nobody"),
        (json!({ "number": "1", "team": "mia" }), "422 invalid fields.team: must be a team's id, such as team:ops"),
        (json!({ "number": "1", "vendor": "rec_x" }), "422 invalid fields.vendor: there is no rec_x"),
        (json!({ "number": "a\u{0}b" }), "422 invalid fields.number: must not contain control characters"),
        (json!({ "number": "x".repeat(1_001) }), "422 invalid fields.number: must have at most 1000 characters"),
    ] {
        assert_eq!(test.post(&path, &cast.mia, json!({ "fields": fields })).await.error(), told);
    }
    // Names with markup, quotes and SQL are values like others.
    let odd = "'; DROP TABLE record_version; -- <b>\u{202e}🙂";
    write(&test, &cast.mia, json!({ "number": odd })).await;
    let found = test.post(&format!("{INVOICES}/query"), &cast.mia, json!({ "filter": { "number": odd } })).await.json();
    assert_eq!(found[0]["fields"]["number"], odd);
    for (method, path) in [("GET", "/brain/collections/none"), ("GET", "/brain/collections/invoices/records/rec_x")] {
        assert_eq!(test.call(method, path, &cast.mia, None).await.error(), "404 not_found not found");
    }
}

#[tokio::test]
async fn what_is_amiss_with_a_query_is_told_with_its_place() {
    let (test, cast) = company().await;
    let deep = (0..30).fold(json!({ "number": "1" }), |inner, _| json!({ "not": inner }));
    let wide: Vec<Value> = (0..600).map(|number| json!({ "number": number.to_string() })).collect();
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    for (query, told) in [
        (json!({ "filter": { "none": 1 } }), "422 invalid filter.none: there is no field `none`"),
        (
            json!({ "filter": { "number": { "like": "x" } } }),
            "422 invalid filter.number.like: a text is compared with eq, ne, in, nin, has, lt, lte, gt, gte, contains, starts_with",
        ),
        (
            json!({ "filter": { "due": { "gt": "soon" } } }),
            "422 invalid filter.due.gt: must be a day such as 2026-01-31",
        ),
        (json!({ "filter": { "or": 1 } }), "422 invalid filter.or: must be a list"),
        // Bit by bit, an order would spell out whom one may not see.
        (
            json!({ "filter": { "created_by": { "gt": "m" } } }),
            "422 invalid filter.created_by.gt: an actor is compared with eq, ne, in, nin, has",
        ),
        (json!({ "filter": [] }), "422 invalid filter: must be an object"),
        (json!({ "filter": { "or": wide } }), "422 invalid filter: has more than 500 parts"),
        (
            json!({ "filter": { "number": { "in": many } } }),
            "422 invalid filter.number.in: must be a list of at most 1000 values",
        ),
        (
            json!({ "filter": { "iban": "DE" } }),
            "422 invalid filter.iban: `iban` is personal: it is kept apart, and records are not found by it",
        ),
        (json!({ "sort": ["none"] }), "422 invalid sort: there is no field `none`"),
        (
            json!({ "sort": ["tags"] }),
            "422 invalid sort: records cannot be sorted by `tags`: it is of the type `choices`",
        ),
        (json!({ "fields": ["none"] }), "422 invalid fields: there is no field `none`"),
        (json!({ "limit": 0 }), "400 bad_request limit: must be 1 to 1000, not 0"),
        (json!({ "cursor": "x" }), "400 bad_request invalid cursor"),
    ] {
        assert_eq!(test.post(&format!("{INVOICES}/query"), &cast.mia, query).await.error(), told);
    }
    let full: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let parts: Vec<Value> = (0..4).map(|_| json!({ "number": { "nin": full } })).collect();
    let refused = test.post(&format!("{INVOICES}/query"), &cast.mia, json!({ "filter": { "and": parts } })).await;
    assert_eq!(refused.error(), "422 invalid filter: has more than 3000 values");
    let refused = test.post(&format!("{INVOICES}/query"), &cast.mia, json!({ "filter": deep })).await.error();
    assert!(refused.ends_with("nests deeper than 20"), "{refused}");
    for (ask, told) in [
        (json!({ "measures": [] }), "422 invalid measures: must be 1 to 20, metrics included"),
        (
            json!({ "measures": ["sum"] }),
            "422 invalid measures: `sum`: must be count, or sum, avg, min, max, distinct and a field, such as sum:total",
        ),
        (
            json!({ "measures": ["sum:number"] }),
            "422 invalid measures: `number` is of the type `text`, and only numbers can be added up",
        ),
        (
            json!({ "measures": ["count"], "group_by": ["status:month"] }),
            "422 invalid group_by: `status` is not a time: it has no day, month or year",
        ),
    ] {
        assert_eq!(test.post(&format!("{INVOICES}/aggregate"), &cast.mia, ask).await.error(), told);
    }
}

#[tokio::test]
async fn a_sum_that_is_too_large_is_told_and_spoils_no_other() {
    let (test, _) = company().await;
    for (number, status) in [("1", "new"), ("2", "new"), ("3", "paid"), ("4", "paid")] {
        let total = if status == "new" { "922337203685477" } else { "7" };
        write(&test, &test.admin, json!({ "number": number, "status": status, "total": total })).await;
    }
    let figures = async |ask: Value| test.post(&format!("{INVOICES}/aggregate"), &test.admin, ask).await.json();
    let too_large = json!({ "count": 2, "sum:total": null });
    assert_eq!(
        figures(json!({ "measures": ["count", "sum:total"], "group_by": ["status"] })).await,
        json!([
            { "group": { "status": "new" }, "values": too_large, "too_large": ["sum:total"] },
            { "group": { "status": "paid" }, "values": { "count": 2, "sum:total": "14.00" } },
        ])
    );
}

#[tokio::test]
async fn of_no_records_there_are_figures_too_unless_few_are_not_to_be_told_of() {
    let (test, _) = company().await;
    let fields = json!({ "number": { "type": "text" }, "total": { "type": "money" } });
    create(&test, "rows", json!({ "fields": fields })).await;
    let none = json!({ "measures": ["count", "sum:total", "max:total"], "filter": { "number": "none" } });
    let figures = test.post("/brain/collections/rows/aggregate", &test.admin, none.clone()).await.json();
    let values = json!({ "count": 0, "sum:total": null, "max:total": null });
    assert_eq!(figures, json!([{ "group": {}, "values": values }]));
    assert_eq!(test.post(&format!("{INVOICES}/aggregate"), &test.admin, none).await.json(), json!([]));
}

#[tokio::test]
async fn what_no_record_can_be_is_no_question() {
    let (test, cast) = company().await;
    let later = json!({ "as_of": "2999-01-01T00:00:00Z" });
    for (ask, told) in [
        (json!({ "filter": { "status": "payed" } }), "filter.status: must be one of new, paid; it is never `payed`"),
        (
            json!({ "filter": { "or": [{ "status": { "in": ["new", "old"] } }] } }),
            "filter.or[0].status.in: must be one of new, paid; it is never `old`",
        ),
        (later, "as_of: must not be in the future"),
    ] {
        let refused = test.post(&format!("{INVOICES}/query"), &cast.mia, ask).await;
        assert_eq!(refused.error(), format!("422 invalid {told}"));
    }
}

/// Of what is cut short, nobody notices what is missing.
#[tokio::test]
async fn more_groups_than_an_answer_has_are_refused() {
    let test = Test::new().await;
    let spec = json!({ "key": ["number"], "fields": { "number": { "type": "text", "required": true } } });
    create(&test, "rows", spec).await;
    for (from, to) in [(0, 1_000), (1_000, 1_001)] {
        let records: Vec<Value> = (from..to).map(|number| json!({ "number": number.to_string() })).collect();
        let done = test.post("/brain/collections/rows/import", &test.admin, json!({ "records": records })).await;
        assert_eq!(done.status, 200, "{}", done.text());
        let ask = json!({ "measures": ["count"], "group_by": ["number"] });
        let figures = test.post("/brain/collections/rows/aggregate", &test.admin, ask).await;
        match to {
            1_000 => assert_eq!(figures.json().as_array().unwrap().len(), 1_000),
            _ => assert_eq!(
                figures.error(),
                "422 invalid group_by: makes more than 1000 groups: group by a longer period, or narrow the records down with \
                 filter"
            ),
        }
    }
}

#[tokio::test]
async fn a_collection_that_cannot_be_is_not_proposed() {
    let (test, _) = company().await;
    let fields: Value = (0..301).map(|number| (format!("f{number}"), json!({ "type": "text" }))).collect();
    for (spec, told) in [
        (json!({ "fields": {} }), "ops: spec.fields: must be 1 to 300 fields, not 0"),
        (json!({ "fields": fields }), "ops: spec.fields: must be 1 to 300 fields, not 301"),
        (
            json!({ "fields": { "version": { "type": "text" } } }),
            "ops: spec.fields.version: every record has a `version` of its own",
        ),
        (
            json!({ "fields": { "in": { "type": "text" } } }),
            "ops: spec.fields.in: a field's name must have 1 to 63 small letters",
        ),
        (
            json!({ "fields": { "a": { "type": "choice" } } }),
            "ops: spec.fields.a.options: choices have 1 to 200, other fields none",
        ),
        (json!({ "fields": { "a": { "type": "ref" } } }), "ops: spec.fields.a.to: a reference names its collection"),
        (
            json!({ "key": ["a"], "fields": { "a": { "type": "text" } } }),
            "ops: spec.key: `a` must be required: a key is never empty",
        ),
        (
            json!({ "fields": { "a": { "type": "text", "unique": true, "label": "personal" } } }),
            "ops: spec.fields.a: personal fields cannot be indexed",
        ),
        (
            json!({ "fields": { "a": { "type": "integer", "default": "x" } } }),
            "ops: spec.fields.a.default: must be a whole number",
        ),
    ] {
        let refused = change(&test, "things", json!([{ "create": { "spec": spec } }])).await;
        assert_eq!(refused.status, 422);
        assert!(refused.error().contains(told), "{} is not {told}", refused.error());
    }
    // A type of that name would hide Cedar's own from policies about any collection. A field may be called so.
    for name in ["datetime", "decimal", "duration", "ipaddr"] {
        let spec = json!({ "fields": { name: { "type": "text" } } });
        let refused = change(&test, name, json!([{ "create": { "spec": spec } }])).await;
        assert!(refused.status == 422 && refused.error().contains("none of Cedar's types"), "{}", refused.text());
        assert_eq!(change(&test, &format!("{name}s"), json!([{ "create": { "spec": spec } }])).await.status, 200);
    }
    let lost = json!([{ "create": { "spec": { "fields": { "a": { "type": "ref", "to": "nowhere" } } } } }]);
    let refused = change(&test, "things", lost).await.error();
    assert!(refused.contains("there is no collection `nowhere`"), "{refused}");
    let odd = change(&test, "Things; DROP", json!([{ "retire": {} }])).await.error();
    assert!(odd.starts_with("422 invalid collection: must have 1 to 63 small letters"), "{odd}");
    let unknown = json!({ "collection": "things", "ops": [{ "explode": {} }], "reason": "r" });
    assert_eq!(test.post("/schema/proposals", &test.admin, unknown).await.status, 422);
}

#[tokio::test]
async fn what_nobody_else_may_have_nobody_gets_twice() {
    let (test, cast) = company().await;
    let spec = json!({ "fields": { "code": { "type": "text", "unique": true } } });
    super::create(&test, "codes", spec).await;
    let path = "/brain/collections/codes/records";
    let first = test.post(path, &cast.mia, json!({ "fields": { "code": "a" } })).await.json();
    let twice = test.post(path, &cast.max, json!({ "fields": { "code": "a" } })).await;
    assert_eq!(twice.error(), "409 conflict fields.code: another record has \"a\"");
    // One that goes makes room, and then does not come back.
    let one = format!("{path}/{}", first["id"].as_str().unwrap());
    assert_eq!(test.call("DELETE", &one, &cast.mia, None).await.status, 200);
    assert_eq!(test.post(path, &cast.max, json!({ "fields": { "code": "a" } })).await.status, 200);
    let back = test.post(&format!("{one}/rollback"), &cast.mia, json!({ "to_version": 1, "reason": "r" })).await;
    assert_eq!(back.error(), "409 conflict fields.code: another record has \"a\"");
}

#[tokio::test]
async fn numbers_are_kept_as_the_log_keeps_them_or_refused() {
    let (test, _) = company().await;
    let spec = json!({ "key": ["k"], "fields": {
        "k": { "type": "text", "required": true }, "payload": { "type": "json" }, "n": { "type": "integer" } } });
    create(&test, "odd", spec).await;
    let write = async |fields: &str| {
        let body = format!("{{\"fields\": {fields}}}");
        let bearer = format!("Bearer {}", test.admin);
        let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
        test.raw("POST", "/brain/collections/odd/records", &headers, body).await
    };
    for (number, payload) in [
        r#"{"b":1,"a":{"z":1,"y":2}}"#,
        r#"{"x":1.0}"#,
        r#"[1e2,-0.0,0.1,1e300,1e21]"#,
        r#"{"ü":1,"a":[{"c":1,"b":0}]}"#,
    ]
    .iter()
    .enumerate()
    {
        let written = write(&format!("{{\"k\":\"{number}\",\"payload\":{payload}}}")).await;
        assert_eq!(written.status, 200, "{payload}: {}", written.text());
        let id = written.json()["id"].as_str().unwrap().to_owned();
        let history = test.get(&format!("/brain/collections/odd/records/{id}/history"), &test.admin).await.json();
        let shown = test.get(&format!("/brain/collections/odd/records/{id}"), &test.admin).await.json();
        assert_eq!(history[0]["fields"]["payload"].to_string(), shown["fields"]["payload"].to_string());
    }
    accounted_for(&test);
    for fields in [
        r#"{"k":"a","n":-9223372036854775808}"#,
        r#"{"k":"a","n":9007199254740992}"#,
        r#"{"k":"a","payload":{"tweet":1790000000000000001}}"#,
        r#"{"k":"a","payload":[-9223372036854775808]}"#,
    ] {
        let refused = write(fields).await;
        assert_eq!(refused.status, 422, "{fields}: {}", refused.text());
        assert!(refused.text().contains("9007199254740991"), "{}", refused.text());
    }
    assert_eq!(write(r#"{"k":"last","n":-9007199254740991}"#).await.status, 200);
    accounted_for(&test);
}
