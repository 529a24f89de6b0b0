//! Views: a question with a name opens nothing that its reader could not ask for.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::{accounted_for, apply, change, company, create, typed, with_policies, write};
use crate::harness::{Answer, Test};

fn view(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "ok/v1", "kind": "View", "metadata": { "name": name, "title": "A view" }, "spec": spec })
}

async fn propose(test: &Test, token: &str, name: &str, content: Value) -> Answer {
    let new = json!({ "target": "view", "target_id": name, "content": content, "reason": "everybody asks" });
    test.post("/changes", token, new).await
}

/// Proposes a view and brings it into force.
pub async fn saved(test: &Test, token: &str, name: &str, spec: Value) -> Answer {
    let proposed = propose(test, token, name, json!({ "definition": view(name, spec) })).await;
    if proposed.status == 201 { promoted(test, token, &proposed).await } else { proposed }
}

async fn promoted(test: &Test, token: &str, proposed: &Answer) -> Answer {
    let id = proposed.json()["id"].as_str().unwrap().to_owned();
    let tested = test.post(&format!("/changes/{id}/evals"), token, json!({})).await;
    assert_eq!(tested.status, 200, "{}", tested.text());
    test.post(&format!("/changes/{id}/promote"), token, json!({})).await
}

fn numbers(opened: &Answer) -> Vec<String> {
    assert_eq!(opened.status, 200, "{}", opened.text());
    let number = |record: &Value| record["fields"]["number"].as_str().unwrap().to_owned();
    opened.json()["records"].as_array().into_iter().flatten().map(number).collect()
}

#[tokio::test]
async fn a_view_is_proposed_by_anybody_and_brought_into_force_by_a_steward() {
    let (test, cast) = company().await;
    for (number, status, due) in [("1", "new", "2026-03-01"), ("2", "paid", "2026-01-01"), ("3", "new", "2026-02-01")] {
        write(&test, &test.admin, json!({ "number": number, "status": status, "due": due, "total": "5" })).await;
    }
    let spec = json!({
        "query": { "collection": "invoices", "filter": { "status": "new" }, "sort": ["due"], "fields": ["due", "number", "total"] },
        "layout": { "columns": ["number", "due", "total"] },
    });
    let content = json!({ "definition": view("open", spec) });
    let proposed = propose(&test, &cast.mia, "open", content.clone()).await;
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    assert_eq!((&proposed.json()["target"], &proposed.json()["target_id"]), (&json!("view"), &json!("open")));
    let path = format!("/changes/{}/promote", proposed.json()["id"].as_str().unwrap());
    assert_eq!(test.post(&path, &cast.mia, json!({})).await.status, 403);
    let source = test.get("/policy/applied", &test.admin).await.json()["source"].clone();
    let in_force = promoted(&test, &cast.sam, &proposed).await;
    assert_eq!(in_force.status, 200, "{}", in_force.text());
    // The policies that came with the program are still those.
    assert_eq!(test.get("/policy/applied", &test.admin).await.json()["source"], source);
    let again = propose(&test, &cast.mia, "open", content).await.error();
    assert_eq!(again, "409 conflict exactly this view is in force already");
    let opened = test.get("/views/open", &cast.mia).await;
    assert_eq!(numbers(&opened), ["3", "1"]);
    let shown = opened.json();
    assert_eq!((&shown["columns"], &shown["title"]), (&json!(["number", "due"]), &json!("A view")));
    assert_eq!(shown["records"][0]["withheld"], json!(["total"]));
    assert_eq!(test.get("/views/open", &cast.lea).await.json()["columns"], json!(["number", "due", "total"]));
    // Page by page.
    let first = test.get("/views/open?limit=1", &cast.mia).await;
    let cursor = first.header("x-next-cursor").to_owned();
    assert_eq!(numbers(&test.get(&format!("/views/open?limit=1&cursor={cursor}"), &cast.mia).await), ["1"]);
    let odd = test.get("/views/open?cursor=x", &cast.mia).await.error();
    assert_eq!(odd, "400 bad_request invalid cursor");
    // What comes into force of the policies leaves it there; a change of its own removes it.
    assert_eq!(apply(&test, "").await.status, 200);
    assert_eq!(test.get("/views", &cast.mia).await.json()[0]["id"], "open");
    let removed = propose(&test, &cast.sam, "open", json!({ "remove": true })).await;
    assert_eq!(promoted(&test, &cast.sam, &removed).await.status, 200);
    assert_eq!(test.get("/views/open", &cast.mia).await.error(), "404 not_found not found");
    accounted_for(&test);
}

#[tokio::test]
async fn a_view_tells_nothing_that_its_reader_may_not_read() {
    let (test, cast) = with_policies(typed()).await;
    const OWN: &str = "@id(\"own\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices)\n\
                       when { resource.created_by == principal };";
    assert_eq!(apply(&test, OWN).await.status, 200);
    for number in ["1", "2"] {
        write(&test, &test.admin, json!({ "number": number, "total": "500" })).await;
        write(&test, &cast.mia, json!({ "number": format!("m{number}") })).await;
    }
    let all = json!({ "query": { "collection": "invoices", "sort": ["number"] } });
    let large = json!({ "query": { "collection": "invoices", "filter": { "total": { "gt": "100" } } } });
    let sorted = json!({ "query": { "collection": "invoices", "sort": ["-total"] } });
    let count = json!({ "query": { "collection": "invoices", "measures": ["count"], "group_by": ["status"] }, "layout": { "kind": "bars" } });
    let sum = json!({ "query": { "collection": "invoices", "measures": ["sum:total"] } });
    for (name, spec) in [("all", &all), ("large", &large), ("sorted", &sorted), ("counted", &count), ("summed", &sum)] {
        assert_eq!(saved(&test, &test.admin, name, spec.clone()).await.status, 200, "{name}");
    }
    // The rows of a view are those that its reader sees, and so are its figures.
    assert_eq!(numbers(&test.get("/views/all", &cast.mia).await), ["m1", "m2"]);
    let counted = test.get("/views/counted", &cast.mia).await.json();
    assert_eq!(counted["figures"], json!([{ "group": { "status": "new" }, "values": { "count": 2 } }]));
    // A filter, an order or a figure by what is withheld is told, saved or not, and nothing is shown.
    for (name, spec) in [("large", large), ("sorted", sorted), ("summed", sum)] {
        for opened in
            [test.get(&format!("/views/{name}"), &cast.mia).await, test.post("/views/preview", &cast.mia, spec).await]
        {
            let opened = opened.json();
            assert!(
                opened["problems"][0].as_str().unwrap().contains("`total` is confidential, and you may not read it"),
                "{opened}"
            );
            assert_eq!((opened.get("records"), opened.get("figures")), (None, None), "{opened}");
        }
        let seen = test.get(&format!("/views/{name}"), &test.admin).await.json();
        assert_eq!(seen.get("problems"), None, "{seen}");
    }
    // Whoever may not ask a collection does not ask it by a view.
    let closed = format!(
        "{OWN}\n@id(\"closed\") @reason(\"closed\") forbid (principal == Ok::Actor::\"mia\", action in [Ok::Action::\"collection.query\", Ok::Action::\"record.aggregate\"], resource);"
    );
    assert_eq!(apply(&test, &closed).await.status, 200);
    for (view, operation) in [("all", "collection.query"), ("counted", "record.aggregate")] {
        let opened = test.get(&format!("/views/{view}"), &cast.mia).await.json();
        assert_eq!(opened["problems"], json!([format!("policy denied {operation}: closed")]), "{opened}");
    }
    // A policy that looks at what is asked looks at what a view asks.
    let narrow = format!(
        "{OWN}\n@id(\"no-sums\") @reason(\"no sums\") forbid (principal == Ok::Actor::\"mia\", action == Ok::Action::\"record.aggregate\", resource)\n\
         when {{ context has input && context.input has measures && context.input.measures.contains(\"count\") }};"
    );
    let applied = apply(&test, &narrow).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let preview = json!({ "query": { "collection": "invoices", "measures": ["count"] } });
    let opened =
        [test.get("/views/counted", &cast.mia).await, test.post("/views/preview", &cast.mia, preview.clone()).await];
    for opened in opened {
        assert_eq!(opened.json()["problems"], json!(["policy denied record.aggregate: no sums"]), "{}", opened.text());
    }
    let direct = test.post("/brain/collections/invoices/aggregate", &cast.mia, preview["query"].clone()).await;
    assert_eq!(direct.error(), "403 denied policy denied record.aggregate: no sums");
    let hidden = format!(
        "{OWN}\n@id(\"hidden\") @reason(\"hidden\") forbid (principal == Ok::Actor::\"mia\", action == Ok::Action::\"collection.read\", resource);"
    );
    assert_eq!(apply(&test, &hidden).await.status, 200);
    assert_eq!(test.get("/views", &cast.mia).await.json(), json!([]));
    assert_eq!(test.get("/views/all", &cast.mia).await.error(), "404 not_found not found");
    // Neither does what they propose tell of it: it is as one that is not there.
    for collection in ["invoices", "bills"] {
        let spec = json!({ "query": { "collection": collection, "filter": { "nonsense": "x" } } });
        let told = propose(&test, &cast.mia, "theirs", json!({ "definition": view("theirs", spec) })).await.error();
        let none = format!("spec.query.collection: there is no collection `{collection}`");
        assert_eq!(told, format!("422 invalid content.definition: {none}"));
        let ops = json!([{ "retire": {} }]);
        let proposal = json!({ "collection": collection, "ops": ops, "reason": "x" });
        let told = test.post("/schema/proposals", &cast.mia, proposal).await.error();
        assert_eq!(told, format!("422 invalid ops[0]: there is no collection `{collection}`; `create` makes one"));
    }
    for name in ["all", "none"] {
        let told = propose(&test, &cast.mia, name, json!({ "remove": true })).await.error();
        assert_eq!(told, format!("422 invalid target_id: there is no view `{name}`"));
    }
}

#[tokio::test]
async fn a_view_in_force_supersedes_whatever_was_made_from_the_version_before() {
    let (test, cast) = company().await;
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    files["note.cedar"] = json!("// a note\n");
    let policies = json!({ "files": files, "reason": "a note" });
    let change = test.post("/policy/proposals", &test.admin, policies).await.json()["id"].as_str().unwrap().to_owned();
    let view = saved(&test, &cast.sam, "all", json!({ "query": { "collection": "invoices" } })).await;
    assert_eq!(view.status, 200, "{}", view.text());
    let listed = test.get("/changes", &test.admin).await.json();
    let told = listed.as_array().unwrap().iter().find(|one| one["id"] == change.as_str()).unwrap();
    assert_eq!(told["state"], "superseded");
    accounted_for(&test);
}

#[tokio::test]
async fn proposals_are_so_many_an_hour() {
    let (test, cast) = company().await;
    let proposal = json!({ "collection": "Not a name", "ops": [], "reason": "x" });
    for _ in 0..120 {
        assert_eq!(test.post("/schema/proposals", &cast.mia, proposal.clone()).await.status, 422);
    }
    let told = test.post("/schema/proposals", &cast.mia, proposal.clone()).await;
    assert_eq!(told.status, 429, "{}", told.text());
    assert_eq!(test.post("/schema/proposals", &test.admin, proposal).await.status, 422);
}

#[tokio::test]
async fn a_view_is_seen_by_whom_it_is_for() {
    let (test, cast) = company().await;
    for (name, visibility) in
        [("all", None), ("dev", Some("team:dev")), ("mine", Some("mia")), ("ops", Some("team:ops"))]
    {
        let mut spec = json!({ "query": { "collection": "invoices" } });
        spec["visibility"] = json!(visibility);
        assert_eq!(saved(&test, &test.admin, name, spec).await.status, 200, "{name}");
    }
    let names = async |token: &str| {
        let (mut names, mut next) = (Vec::new(), String::new());
        loop {
            let page = test.get(&format!("/views?limit=1{next}"), token).await;
            names.extend(page.json().as_array().unwrap().iter().map(|view| view["id"].as_str().unwrap().to_owned()));
            match page.header("x-next-cursor") {
                "" => return names,
                cursor => next = format!("&cursor={cursor}"),
            }
        }
    };
    assert_eq!(names(&cast.mia).await, ["all", "mine", "ops"]);
    assert_eq!(names(&cast.max).await, ["all", "dev"]);
    assert_eq!(names(&cast.sam).await, ["all", "dev", "mine", "ops"]);
    assert_eq!(test.get("/views/mine", &cast.max).await.error(), "404 not_found not found");
    assert_eq!(test.get("/views?collection=vendors", &cast.sam).await.json(), json!([]));
}

#[tokio::test]
async fn what_a_view_asks_for_must_be_there_and_stays() {
    let (test, cast) = company().await;
    for (spec, why) in [
        (
            json!({ "query": { "collection": "invoices", "filter": { "status": {} } } }),
            "spec.query.filter.status: names no test",
        ),
        (
            json!({ "query": { "collection": "invoices", "filter": { "statsu": "new" } } }),
            "there is no field `statsu`; did you mean `status`?",
        ),
        (
            json!({ "query": { "collection": "invoices", "filter": { "status": "payed" } } }),
            "spec.query.filter.status: must be one of new, paid; it is never `payed`",
        ),
        (
            json!({ "query": { "collection": "invoices", "sort": ["tags"] } }),
            "spec.query.sort: records cannot be sorted by `tags`: it is of the type `choices`",
        ),
        (json!({ "query": { "collection": "invoices", "fields": ["x"] } }), "spec.query.fields: there is no field `x`"),
        (
            json!({ "query": { "collection": "invoices", "metrics": ["m"] } }),
            "spec.query.metrics: there is no metric `m`",
        ),
        (
            json!({ "query": { "collection": "invoices", "measures": ["sum:due"] } }),
            "`due` is of the type `date`, and only numbers can be added up",
        ),
        (
            json!({ "query": { "collection": "invoices", "measures": ["count"], "fields": ["due"] } }),
            "asks for figures or for records",
        ),
        (json!({ "query": { "collection": "invoices" }, "layout": { "kind": "bars" } }), "bars need figures"),
        (
            json!({ "query": { "collection": "invoices", "fields": ["due"] }, "layout": { "columns": ["number"] } }),
            "`number` is not asked for",
        ),
    ] {
        let refused = saved(&test, &test.admin, "v", spec.clone()).await.error();
        assert!(refused.starts_with("422 invalid views/v.yaml:") && refused.contains(why), "{refused}");
        let previewed = test.post("/views/preview", &cast.mia, spec).await;
        assert!(previewed.status == 422 || previewed.status == 404, "{}", previewed.text());
    }
    let absent = saved(&test, &test.admin, "v", json!({ "query": { "collection": "bills" } })).await.error();
    assert_eq!(absent, "422 invalid content.definition: spec.query.collection: there is no collection `bills`");
    let other = propose(
        &test,
        &cast.mia,
        "w",
        json!({ "definition": view("v", json!({ "query": { "collection": "invoices" } })) }),
    )
    .await;
    assert!(other.error().contains("metadata.name: the file of `v` is `views/v.yaml`"), "{}", other.error());
    for (content, why) in [
        (json!({}), "content: a change to a view has a `definition`"),
        (json!({ "remove": true }), "target_id: there is no view `w`"),
        (json!({ "definition": "kind: Table" }), "content.definition: line 1: kind: unknown variant"),
        (json!({ "files": {} }), "content: a change to a view has a `definition`"),
    ] {
        let refused = propose(&test, &cast.mia, "w", content).await.error();
        assert!(refused.starts_with("422 invalid ") && refused.contains(why), "{refused}");
    }
    let up = propose(&test, &cast.mia, "../base/brain", json!({ "remove": true })).await.error();
    assert!(up.starts_with("422 invalid target_id: must have 1 to 63"), "{up}");
    // What a view looks at does not go from under it.
    let query = json!({ "collection": "invoices", "filter": { "due": { "has": true } } });
    let spec = json!({ "query": query, "visibility": "team:dev" });
    assert_eq!(saved(&test, &test.admin, "dated", spec).await.status, 200);
    for op in [json!({ "retire_field": { "name": "due" } }), json!({ "rename_field": { "name": "due", "to": "day" } })]
    {
        let proposed = json!({ "collection": "invoices", "ops": [op], "reason": "r" });
        let proposed = test.post("/schema/proposals", &cast.mia, proposed).await.json();
        let path = format!("/schema/proposals/{}", proposed["id"].as_str().unwrap());
        let impact = test.get(&path, &test.admin).await.json()["impact"].clone();
        assert_eq!(impact["views"], json!(["dated"]));
        let impact = impact["problems"].clone();
        assert_eq!(impact.as_array().map(Vec::len), Some(1), "{impact}");
        assert!(
            impact[0].as_str().unwrap().starts_with("views/dated.yaml:")
                && impact[0].as_str().unwrap().contains("there is no field `due`"),
            "{impact}"
        );
        // Whoever may not see the view is not told its name.
        let unseen = test.get(&path, &cast.mia).await.json()["impact"].clone();
        let told = json!(["a view that you may not see uses what would be removed"]);
        assert_eq!((&unseen["views"], &unseen["problems"]), (&json!([]), &told));
        let refused = test.post(&format!("{path}/apply"), &test.admin, json!({})).await.error();
        assert!(refused.starts_with("422 invalid views/dated.yaml:"), "{refused}");
    }
    create(&test, "notes", json!({ "fields": { "text": { "type": "text" } } })).await;
    assert_eq!(saved(&test, &test.admin, "noted", json!({ "query": { "collection": "notes" } })).await.status, 200);
    let gone = change(&test, "notes", json!([{ "retire": {} }])).await.error();
    assert!(gone.contains("views/noted.yaml") && gone.contains("there is no collection `notes`"), "{gone}");
    accounted_for(&test);
    let test = test.reopened().await;
    assert_eq!(test.get("/views", &test.admin).await.json().as_array().map(Vec::len), Some(2));
}

/// A slip in a name would show it to everybody, or hide it from everybody.
#[tokio::test]
async fn a_view_is_limited_to_somebody_who_is_there_and_else_nobody_sees_it() {
    let (test, _) = company().await;
    for id in ["team:borad", "nobody"] {
        let spec = json!({ "query": { "collection": "invoices" }, "visibility": id });
        let refused = saved(&test, &test.admin, "v", spec).await.error();
        assert_eq!(refused, format!("422 invalid views/v.yaml: spec.visibility: there is no {id}"));
    }
    // Such as one that came with the policies of a company that begins.
    let mut policies = Bundle::built_in();
    let collection =
        "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: rows}\nspec: {fields: {no: {type: text}}}\n";
    policies.files.insert("collections/rows.yaml".into(), collection.into());
    for (name, id) in [("a", "team:borad"), ("b", "nobody"), ("c", "team:ops")] {
        let view = format!(
            "apiVersion: ok/v1\nkind: View\nmetadata: {{name: {name}}}\nspec: {{query: {{collection: rows}}, visibility: \"{id}\"}}\n"
        );
        policies.files.insert(format!("views/{name}.yaml"), view);
    }
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    for (token, seen) in [(&cast.mia, vec!["c"]), (&cast.max, vec![]), (&test.admin, vec!["a", "b", "c"])] {
        let views = test.get("/views", token).await.json();
        let ids: Vec<&str> = views.as_array().unwrap().iter().map(|view| view["id"].as_str().unwrap()).collect();
        assert_eq!(ids, seen);
    }
}
