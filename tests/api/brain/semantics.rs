//! What records mean: metrics, dimensions and other words, under the same policies as the fields that they look at.

use serde_json::{Value, json};

use super::{INVOICES, accounted_for, apply, change, company, create, typed, with_policies, write};
use crate::harness::{Answer, Test};

fn semantics() -> Value {
    json!({
        "entities": { "invoice": { "key": "number" } },
        "dimensions": { "month": { "field": "due", "grain": "month" }, "size": { "field": "total" } },
        "metrics": {
            "open_count": { "agg": "count", "filter": { "status": { "ne": "paid" } }, "title": "Unpaid invoices" },
            "open_total": { "agg": "sum", "field": "total", "filter": { "status": { "ne": "paid" } }, "unit": "EUR" },
            "large": { "agg": "count", "filter": { "total": { "gte": "100" } } },
            "each": { "expr": "open_total / open_count", "unit": "EUR" },
        },
        "synonyms": { "open_total": ["receivables"], "due": ["deadline"], "size": ["turnover"] },
    })
}

async fn means(test: &Test, semantics: Value) -> Answer {
    change(test, "invoices", json!([{ "semantics": semantics }])).await
}

async fn figures(test: &Test, token: &str, ask: Value) -> Answer {
    test.post(&format!("{INVOICES}/aggregate"), token, ask).await
}

async fn written(test: &Test, token: &str) {
    for (number, total, status, due) in [
        ("1", "10", "new", "2026-01-01"),
        ("2", "200", "new", "2026-01-31"),
        ("3", "400", "paid", "2026-01-02"),
        ("4", "1", "new", "2026-02-02"),
        ("5", "2", "paid", "2026-02-02"),
    ] {
        write(test, token, json!({ "number": number, "total": total, "status": status, "due": due })).await;
    }
}

#[tokio::test]
async fn metrics_and_dimensions_are_asked_for_by_name() {
    let (test, _) = company().await;
    assert_eq!(means(&test, semantics()).await.status, 200);
    written(&test, &test.admin).await;
    let ask = json!({ "measures": ["count"], "metrics": ["open_count", "open_total"], "group_by": ["month"] });
    // One unpaid invoice of February is fewer than the collection's smallest group.
    assert_eq!(
        figures(&test, &test.admin, ask).await.json(),
        json!([
            { "group": { "month": "2026-01" }, "values": { "count": 3, "open_count": 2, "open_total": "210.00" } },
            { "group": { "month": "2026-02" }, "values": { "count": 2, "open_count": null, "open_total": null } },
        ])
    );
    // What is made of other figures is there where those are.
    let made = json!({ "metrics": ["each", "open_count"], "group_by": ["month"] });
    let made = figures(&test, &test.admin, made).await.json();
    assert_eq!(
        (&made[0]["values"], &made[1]["values"]),
        (&json!({ "each": "105.0", "open_count": 2 }), &json!({ "each": null, "open_count": null }))
    );
    let alone = json!({ "metrics": ["large"], "filter": { "due": { "lt": "2026-02-01" } } });
    assert_eq!(figures(&test, &test.admin, alone).await.json(), json!([{ "group": {}, "values": { "large": 2 } }]));
    let shown = test.get(&format!("{INVOICES}/semantics"), &test.admin).await;
    assert_eq!(shown.header("etag"), "\"2\"");
    let shown = shown.json();
    assert_eq!(shown["metrics"][0], json!({ "name": "each", "expr": "open_total / open_count", "unit": "EUR" }));
    assert_eq!(shown["dimensions"][0], json!({ "name": "month", "field": "due", "grain": "month" }));
    for (ask, why) in [
        (json!({ "metrics": ["open_totl"] }), "metrics: there is no metric `open_totl`; did you mean `open_total`?"),
        (json!({ "measures": ["open_total"] }), "it is a metric: ask for it in `metrics`"),
        (json!({ "measures": ["sum:totl"] }), "measures: there is no field `totl`; did you mean `total`?"),
        (
            json!({ "measures": ["count"], "group_by": ["due:week"] }),
            "group_by: `week` is not a grain: use day, month, year",
        ),
        (json!({}), "measures: must be 1 to 20, metrics included"),
    ] {
        let refused = figures(&test, &test.admin, ask).await.error();
        assert!(refused.starts_with("422 invalid ") && refused.contains(why), "{refused}");
    }
    accounted_for(&test);
}

#[tokio::test]
async fn a_metric_tells_nothing_that_its_asker_may_not_read() {
    let (test, cast) = company().await;
    assert_eq!(means(&test, semantics()).await.status, 200);
    written(&test, &test.admin).await;
    for (ask, what) in [
        (json!({ "metrics": ["open_total"] }), "metrics: `open_total`: `total` is confidential"),
        (json!({ "metrics": ["each"] }), "metrics: `each`: `open_total`: `total` is confidential"),
        (json!({ "metrics": ["large"] }), "metrics: `large`: filter.total.gte: `total` is confidential"),
        (json!({ "measures": ["count"], "group_by": ["size"] }), "group_by: `total` is confidential"),
    ] {
        let refused = figures(&test, &cast.mia, ask).await.error();
        assert!(refused.contains(what), "{refused}");
    }
    assert_eq!(
        figures(&test, &cast.mia, json!({ "metrics": ["open_count"] })).await.json()[0]["values"],
        json!({ "open_count": 3 })
    );
    let shown = test.get(&format!("{INVOICES}/semantics"), &cast.mia).await.json();
    assert_eq!(shown["withheld"], json!(["each", "large", "open_total", "size"]));
    // Nor does the catalog lead to it, by whatever word.
    let found = async |token: &str, phrase: &str| {
        let hits = test.get(&format!("/brain/catalog?phrase={phrase}"), token).await.json();
        let name = |hit: &Value| format!("{} {}", hit["kind"].as_str().unwrap(), hit["name"].as_str().unwrap());
        hits.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    for phrase in ["receivables", "turnover", "total", "large"] {
        assert_eq!(found(&cast.mia, phrase).await, Vec::<String>::new(), "{phrase}");
        assert!(!found(&cast.lea, phrase).await.is_empty(), "{phrase}");
    }
    assert_eq!(
        found(&cast.mia, "unpaid%20invoices").await,
        ["metric open_count", "collection invoices", "entity invoice"]
    );
    assert_eq!(found(&cast.mia, "deadline").await, ["field due"]);
    assert_eq!(
        found(&cast.lea, "total%20of%20invoices").await,
        ["field total", "metric open_total", "collection invoices", "entity invoice", "metric open_count"]
    );
    assert_eq!(found(&cast.mia, "s").await, ["field status"]);
}

#[tokio::test]
async fn a_metric_counts_only_the_records_that_its_asker_may_read() {
    let (test, cast) = with_policies(typed()).await;
    assert_eq!(means(&test, semantics()).await.status, 200);
    const OWN: &str = "@id(\"own\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices)\n\
                       when { resource.created_by == principal };";
    // The same where the policies are a part of what the database is asked, and where each record is asked about.
    const EACH: &str = "@id(\"tags\") @reason(\"r\") forbid (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices)\n\
                        when { resource has tags && resource.tags == [\"old\"] };";
    written(&test, &test.admin).await;
    for number in ["7", "8"] {
        write(&test, &cast.mia, json!({ "number": number, "due": "2026-03-01" })).await;
    }
    for policies in [OWN.to_owned(), format!("{OWN}\n{EACH}")] {
        assert_eq!(apply(&test, &policies).await.status, 200);
        let told = figures(&test, &cast.mia, json!({ "metrics": ["open_count"], "group_by": ["month"] })).await;
        assert_eq!(told.json(), json!([{ "group": { "month": "2026-03" }, "values": { "open_count": 2 } }]));
        let told =
            figures(&test, &test.admin, json!({ "metrics": ["open_count"], "group_by": ["month"] })).await.json();
        assert_eq!(told[1], json!({ "group": { "month": "2026-02" }, "values": { "open_count": null } }));
    }
}

#[tokio::test]
async fn what_records_mean_is_proposed_whole_and_goes_with_the_fields() {
    let (test, cast) = company().await;
    let path = format!("{INVOICES}/semantics");
    let put = async |token: &str, body: Value| test.call("PUT", &path, token, Some(body)).await;
    let body = json!({
        "metrics": [{ "name": "unpaid", "agg": "count", "filter": { "status": "new" } }],
        "synonyms": [{ "of": "unpaid", "words": ["open"] }],
        "reason": "one word for it",
        "version": 1,
    });
    let proposed = put(&cast.mia, body.clone()).await;
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let id = proposed.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(test.post(&format!("/schema/proposals/{id}/apply"), &cast.mia, json!({})).await.status, 403);
    assert_eq!(test.post(&format!("/schema/proposals/{id}/apply"), &test.admin, json!({})).await.status, 200);
    assert!(put(&cast.mia, body).await.error().starts_with("409 conflict version: the current version is 2"));
    let twice = json!([{ "name": "a", "agg": "count" }, { "name": "a", "agg": "count" }]);
    let twice = put(&cast.mia, json!({ "metrics": twice, "reason": "r" })).await.error();
    assert_eq!(twice, "422 invalid metrics: `a` appears twice");
    for (wrong, why) in [
        (
            json!({ "metrics": { "m": { "agg": "sum", "field": "totl" } } }),
            "spec.semantics.metrics.m.field: there is no field `totl`; did you mean `total`?",
        ),
        (
            json!({ "metrics": { "m": { "agg": "sum", "field": "due" } } }),
            "`due` is of the type `date`, and only numbers can be added up",
        ),
        (json!({ "metrics": { "m": { "expr": "n / 2" } } }), "m.expr: there is no metric `n`"),
        (json!({ "metrics": { "m": { "expr": "2 +" } } }), "m.expr: ends too early"),
        (json!({ "metrics": { "m": { "agg": "count", "expr": "2" } } }), "m: must have either `agg` or `expr`"),
        (
            json!({ "metrics": { "m": { "expr": "n" }, "n": { "expr": "2" } } }),
            "m.expr: `n` is itself computed from other metrics",
        ),
        (json!({ "metrics": { "m": { "agg": "sum" } } }), "m.field: `sum` needs a field"),
        (
            json!({ "metrics": { "m": { "agg": "count", "filter": { "due": { "gt": 5 } } } } }),
            "m.filter.due.gt: must be a text",
        ),
        (
            json!({ "metrics": { "m": { "agg": "count", "filter": { "status": { "ne": "payed" } } } } }),
            "m.filter.status.ne: must be one of new, paid; it is never `payed`",
        ),
        (
            json!({ "metrics": { "m": { "agg": "count", "filter": { "iban": "x" } } } }),
            "m.filter.iban: `iban` is personal",
        ),
        (json!({ "metrics": { "due": { "agg": "count" } } }), "`due` is already used"),
        (json!({ "metrics": { "count": { "agg": "count" } } }), "`count` already counts records"),
        (json!({ "dimensions": { "d": { "field": "status", "grain": "day" } } }), "d.field: `status` is not a time"),
        (json!({ "entities": { "e": { "key": "tags" } } }), "e.key: records cannot be grouped by a choices"),
        (json!({ "synonyms": { "nothing": ["x"] } }), "synonyms.nothing: there is nothing named `nothing`"),
    ] {
        let refused = means(&test, wrong).await.error();
        assert!(refused.starts_with("422 invalid ops: spec.semantics.") && refused.contains(why), "{refused}");
    }
    // A field takes its new name along; what a metric looks at does not go.
    let applied = change(&test, "invoices", json!([{ "rename_field": { "name": "status", "to": "state" } }])).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let shown = test.get(&path, &cast.mia).await.json();
    assert_eq!(shown["metrics"][0]["filter"], json!({ "state": "new" }), "{shown}");
    let gone = change(&test, "invoices", json!([{ "retire_field": { "name": "state" } }])).await.error();
    assert!(gone.contains("ops: spec.semantics.metrics.unpaid.filter.state: there is no field `state`"), "{gone}");
    accounted_for(&test);
}

#[tokio::test]
async fn an_average_of_whole_numbers_has_decimal_places() {
    let (test, cast) = company().await;
    let semantics = json!({ "metrics": { "mean": { "agg": "avg", "field": "stars" }, "n": { "agg": "count" },
        "t": { "agg": "sum", "field": "stars" }, "ratio": { "expr": "t / n" }, "twice": { "expr": "mean * 2" } } });
    let fields = json!({ "stars": { "type": "integer" } });
    create(&test, "ratings", json!({ "fields": fields, "semantics": semantics })).await;
    for stars in [1, 2, 2] {
        let written = json!({ "fields": { "stars": stars } });
        assert_eq!(test.post("/brain/collections/ratings/records", &test.admin, written).await.status, 200);
    }
    let ask = json!({ "measures": ["avg:stars", "sum:stars"], "metrics": ["mean", "ratio", "twice"] });
    let values = async || {
        test.post("/brain/collections/ratings/aggregate", &cast.mia, ask.clone()).await.json()[0]["values"].clone()
    };
    let told = json!({ "avg:stars": "1.6667", "sum:stars": 5, "mean": "1.6667", "ratio": "1.6667", "twice": "3.3334" });
    assert_eq!(values().await, told);
    // The same where each record is asked about by itself.
    let named = "@id(\"named\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::ratings)\nwhen { context.input has collection && context.input.collection == \"ratings\" };\n";
    assert_eq!(apply(&test, named).await.status, 200);
    assert_eq!(values().await, told);
    // What JSON does not hold exactly is no figure.
    for _ in 0..2 {
        let most = json!({ "fields": { "stars": 9_007_199_254_740_991_i64 } });
        assert_eq!(test.post("/brain/collections/ratings/records", &test.admin, most).await.status, 200);
    }
    let figures = values().await;
    assert_eq!((&figures["sum:stars"], &figures["avg:stars"]), (&Value::Null, &Value::Null), "and not a wrong number");
}
