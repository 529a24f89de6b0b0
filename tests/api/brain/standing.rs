//! What stands besides the records: collections under policies that change, flags, the catalog.

use ok::policy::Bundle;
use ok::types::time::Clock as _;
use serde_json::{Value, json};

use super::{
    INVOICES, ROWS, accounted_for, apply, change, company, create, numbers, put_into_force, typed, with_policies, write,
};

#[tokio::test]
async fn policies_come_and_go_and_the_collections_stay() {
    let (test, _) = company().await;
    let files = Bundle::built_in().files;
    let mut other = files.clone();
    other.insert(
        "more.cedar".into(),
        "@id(\"more\") @reason(\"r\") forbid (principal == Ok::Actor::\"nobody\", action, resource);".into(),
    );
    let applied = put_into_force(&test, json!(other)).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    assert_eq!(test.get("/brain/collections", &test.admin).await.json().as_array().unwrap().len(), 2);
    // A bundle changes no collection: that is a proposal's.
    let mut wrong = files;
    wrong.insert(
        "collections/vendors.yaml".into(),
        "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: vendors}\nspec:\n  fields:\n    name: {type: text}\n"
            .into(),
    );
    let refused = test.post("/policy/proposals", &test.admin, json!({ "files": wrong, "reason": "no" })).await;
    assert!(
        refused.error().contains("`collections/vendors.yaml` differs from the one in force"),
        "{}",
        refused.error()
    );
}

#[tokio::test]
async fn flags_are_shown_to_whoever_may_read_the_record() {
    let (test, cast) = company().await;
    let record = write(&test, &cast.mia, json!({ "number": "1" })).await;
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    let flagged = test.post(&format!("{path}/flag"), &cast.max, json!({ "kind": "wrong", "note": "twice" })).await;
    assert_eq!(flagged.status, 201, "{}", flagged.text());
    let flags = test.get("/brain/flags", &cast.mia).await.json();
    assert_eq!((&flags[0]["kind"], &flags[0]["by"]), (&json!("wrong"), &json!("max")));
    test.call("DELETE", &path, &cast.mia, None).await;
    assert_eq!(test.get("/brain/flags", &cast.mia).await.json(), json!([]));
}

#[tokio::test]
async fn what_a_field_was_that_is_no_more_is_shown_to_nobody_and_its_name_is_not_used_again() {
    let (test, cast) = company().await;
    let record = write(&test, &test.admin, json!({ "number": "1", "total": "777", "iban": "DE00" })).await;
    let history = format!("{INVOICES}/records/{}/history", record["id"].as_str().unwrap());
    for ops in
        [json!([{ "rename_field": { "name": "total", "to": "sum" } }]), json!([{ "retire_field": { "name": "iban" } }])]
    {
        assert_eq!(change(&test, "invoices", ops).await.status, 200);
    }
    let shown = test.get(&history, &cast.mia).await;
    assert_eq!(shown.json()[0]["withheld"], json!(["sum"]), "{}", shown.text());
    let shown = shown.text();
    assert!(!shown.contains("777") && !shown.contains("DE00"), "the label is that of the field's new name: {shown}");
    let shown = test.get(&history, &test.admin).await.text();
    assert!(shown.contains("777") && !shown.contains("DE00"), "{shown}");
    let again = json!([{ "add_field": { "name": "total", "field": { "type": "money" } } }]);
    let refused = change(&test, "invoices", again).await.error();
    assert!(refused.contains("a field was called `total` before"), "{refused}");
    // The record can still be changed.
    let written = write(&test, &test.admin, json!({ "number": "1", "sum": "5" })).await;
    assert_eq!(written["fields"]["sum"], "5.00");
    let kept = change(&test, "invoices", json!([{ "retype_field": { "name": "status", "type": "text" } }])).await;
    assert_eq!(kept.status, 200, "{}", kept.text());
    assert_eq!(write(&test, &test.admin, json!({ "number": "2" })).await["fields"]["status"], "new");
}

#[tokio::test]
async fn a_rollback_answers_with_all_that_its_caller_may_read() {
    let (test, _) = company().await;
    let first = write(&test, &test.admin, json!({ "number": "1", "iban": "DE1" })).await;
    write(&test, &test.admin, json!({ "number": "1", "status": "paid" })).await;
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    let back = json!({ "to_version": 1, "reason": "r" });
    let back = test.post(&format!("{path}/rollback"), &test.admin, back).await.json();
    assert_eq!((&back["fields"]["iban"], &back["fields"]["status"]), (&json!("DE1"), &json!("new")), "{back}");
    assert_eq!(back, test.get(&path, &test.admin).await.json());
}

/// Cannot be asked of the database: it looks at what each call is given.
const NAMED: &str = r#"
@id("named") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { context.input has collection && context.input.collection == "invoices" && !(resource has status && resource.status == "paid") };
"#;

#[tokio::test]
async fn a_policy_over_what_a_call_names_holds_in_queries_figures_and_imports() {
    let (test, cast) = with_policies(typed()).await;
    let applied = apply(&test, NAMED).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    for (number, status) in [("1", "new"), ("2", "new"), ("3", "paid")] {
        let fields = json!({ "number": number, "status": status, "total": "922337203685477" });
        write(&test, &test.admin, fields).await;
    }
    assert_eq!(numbers(&test, &cast.mia, json!({ "sort": ["number"] })).await, ["1", "2"]);
    let path = format!("{INVOICES}/aggregate");
    let count = test.post(&path, &cast.mia, json!({ "measures": ["count"] })).await.json();
    assert_eq!(count[0]["values"]["count"], 2);
    write(&test, &test.admin, json!({ "number": "4", "total": "1" })).await;
    let sum = test.post(&path, &test.admin, json!({ "measures": ["sum:total"] })).await.json();
    assert_eq!(sum[0]["too_large"], json!(["sum:total"]));
    // Of a record that is hidden, an import tells as much as a look does.
    let import = json!({ "records": [{ "number": "3", "status": "new" }] });
    let refused = test.post(&format!("{INVOICES}/import"), &cast.mia, import).await;
    assert_eq!(refused.error(), "422 invalid records[0]: not found");
}

#[tokio::test]
async fn an_import_changes_some_values_of_what_is_there() {
    let (test, cast) = company().await;
    let text = json!({ "type": "text", "required": true });
    create(
        &test,
        "parts",
        json!({ "key": ["code"], "fields": { "code": text, "name": text, "note": { "type": "text" } } }),
    )
    .await;
    let path = "/brain/collections/parts/import";
    let whole = json!({ "records": [{ "code": "a", "name": "axle" }] });
    assert_eq!(test.post(path, &cast.mia, whole).await.status, 200);
    let part = json!({ "records": [{ "code": "a", "note": "long" }] });
    let changed = test.post(path, &cast.mia, part).await;
    assert_eq!(
        changed.json(),
        json!({ "collection": "parts", "created": 0, "changed": 1, "unchanged": 0 }),
        "{}",
        changed.text()
    );
    // Again it says nothing new, beside what does.
    let records = json!([{ "code": "a", "name": "axle", "note": "long" }, { "code": "b", "name": "bolt" }]);
    let again = test.post(path, &cast.mia, json!({ "records": records })).await.json();
    assert_eq!(again, json!({ "collection": "parts", "created": 1, "changed": 0, "unchanged": 1 }));
    let before = test.last_seq().await;
    let again = test.post(path, &cast.mia, json!({ "records": records })).await.json();
    assert_eq!((&again["unchanged"], test.last_seq().await), (&json!(2), before), "{again}");
    let shown = test.get("/brain/collections/parts/records", &cast.mia).await.json();
    let shown = shown.as_array().unwrap().iter().find(|one| one["fields"]["code"] == "a").unwrap();
    assert_eq!(shown["fields"], json!({ "code": "a", "name": "axle", "note": "long" }));
    assert_eq!(shown["version"], 2, "{shown}");
}

#[tokio::test]
async fn an_import_tells_nobody_that_they_have_guessed_what_is_withheld_from_them() {
    let (test, cast) = company().await;
    let text = json!({ "type": "text", "required": true });
    let pin = json!({ "type": "integer", "label": "confidential" });
    create(&test, "keys", json!({ "key": ["code"], "fields": { "code": text, "pin": pin } })).await;
    let import = async |token: &str, pin: i64| {
        let records = json!({ "records": [{ "code": "a", "pin": pin }] });
        let answer = test.post("/brain/collections/keys/import", token, records).await.json();
        ["created", "changed", "unchanged"].map(|count| answer[count].as_i64().unwrap_or_else(|| panic!("{answer}")))
    };
    assert_eq!(import(&cast.mia, 37).await, [1, 0, 0]);
    assert_eq!(import(&cast.mia, 37).await, [0, 1, 0]);
    assert_eq!(import(&cast.sam, 37).await, [0, 0, 1]);
}

#[tokio::test]
async fn the_name_of_a_collection_that_is_gone_is_not_used_again() {
    let (test, cast) = company().await;
    let record = write(&test, &cast.mia, json!({ "number": "1" })).await;
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    assert_eq!(test.call("DELETE", &path, &cast.mia, None).await.status, 200);
    let gone = change(&test, "invoices", json!([{ "retire": {} }])).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    let spec = json!({ "fields": { "number": { "type": "text", "label": "confidential" } } });
    let again = change(&test, "invoices", json!([{ "create": { "spec": spec } }])).await;
    assert!(again.error().contains("a collection was called invoices before"), "{}", again.error());
}

#[tokio::test]
async fn a_field_that_is_called_otherwise_keeps_its_history() {
    let (test, cast) = company().await;
    let first = write(&test, &cast.mia, json!({ "number": "1", "status": "new" })).await;
    let then = test.clock.now();
    test.clock.advance(1_000);
    write(&test, &cast.mia, json!({ "number": "1", "status": "paid" })).await;
    let rename = |name: &str, to: &str| json!([{ "rename_field": { "name": name, "to": to } }]);
    for (name, to) in [("status", "state"), ("state", "stand"), ("number", "no")] {
        let renamed = change(&test, "invoices", rename(name, to)).await;
        assert_eq!(renamed.status, 200, "{}", renamed.text());
    }
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    let history = test.get(&format!("{path}/history"), &cast.mia).await.json();
    assert_eq!(history[0]["fields"], json!({ "no": "1", "stand": "paid" }));
    assert_eq!(history[1]["fields"], json!({ "no": "1", "stand": "new" }));
    let old = test.post(&format!("{INVOICES}/query"), &cast.mia, json!({ "as_of": then })).await.json();
    assert_eq!(old[0]["fields"], json!({ "no": "1", "stand": "new" }));
    let back = test.post(&format!("{path}/rollback"), &cast.mia, json!({ "to_version": 1, "reason": "so" })).await;
    assert_eq!(back.json()["fields"], json!({ "no": "1", "stand": "new" }), "{}", back.text());
    // Back to a name of its own, and never to another's.
    let again =
        change(&test, "invoices", json!([{ "add_field": { "name": "status", "field": { "type": "text" } } }])).await;
    assert!(again.error().contains("a field was called `status` before"), "{}", again.error());
    assert_eq!(change(&test, "invoices", rename("stand", "status")).await.status, 200);
    let history = test.get(&format!("{path}/history"), &cast.mia).await.json();
    assert_eq!(history[2]["fields"], json!({ "no": "1", "status": "new" }));
    accounted_for(&test);
}

/// Whoever is in its team reads a record.
const TEAMS: &str = r#"
@id("teams") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource has team && principal in resource.team };
"#;

#[tokio::test]
async fn what_a_record_was_is_seen_by_whoever_may_read_it_then_and_now() {
    let (test, cast) = with_policies(typed()).await;
    let applied = apply(&test, TEAMS).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let mut times = Vec::new();
    let mut id = String::new();
    for (team, due) in [("team:ops", "2026-01-01"), ("team:dev", "2026-01-02"), ("team:ops", "2026-01-03")] {
        test.clock.advance(1_000);
        let written = write(&test, &test.admin, json!({ "number": "1", "team": team, "due": due })).await;
        id = written["id"].as_str().unwrap().to_owned();
        times.push((test.clock.now(), test.last_seq().await));
    }
    let history = async |token: &str| {
        let shown = test.get(&format!("{INVOICES}/records/{id}/history"), token).await.json();
        let dues = shown.as_array().map(|all| all.iter().map(|one| one["fields"]["due"].clone()).collect::<Vec<_>>());
        dues.unwrap_or_default()
    };
    let seen = async |token: &str, at: usize| numbers(&test, token, json!({ "as_of": times[at].0 })).await.len();
    // mia is in ops, max in dev.
    assert_eq!(history(&cast.mia).await, [json!("2026-01-03"), json!("2026-01-01")]);
    assert_eq!((seen(&cast.mia, 0).await, seen(&cast.mia, 1).await, seen(&cast.max, 1).await), (1, 0, 0));
    // The past is explained as it was.
    for (at, mia, max) in [(0, "allow", "deny"), (1, "deny", "allow"), (2, "allow", "deny")] {
        for (actor, expected) in [("mia", mia), ("max", max)] {
            let ask = json!({ "op": "record.read", "target": id, "actor": actor, "at": times[at].1 });
            let told = test.post("/policy/explain", &test.admin, ask).await.json();
            assert_eq!(told["decision"], expected, "{actor} at {at}: {told}");
        }
    }
}

#[tokio::test]
async fn two_fields_that_say_the_same_become_one_with_their_history() {
    let (test, cast) = company().await;
    let text = |name: &str, more: Value| {
        let mut field = json!({ "type": "text" });
        field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "add_field": { "name": name, "field": field } })
    };
    let money =
        |name: &str, unit: &str| json!({ "add_field": { "name": name, "field": { "type": "money", "unit": unit } } });
    let fields = json!([
        text("city", json!({})),
        text("town", json!({})),
        text("code", json!({ "unique": true })),
        money("eur", "EUR"),
        money("usd", "USD"),
    ]);
    assert_eq!(change(&test, "vendors", fields).await.status, 200);
    let keep = async |fields: Value| {
        let kept = test.post("/brain/collections/vendors/records", &cast.mia, json!({ "fields": fields })).await;
        kept.json()["id"].as_str().unwrap().to_owned()
    };
    let both = keep(json!({ "name": "both", "city": "Graz", "town": "Linz" })).await;
    let old = keep(json!({ "name": "old", "town": "Wels" })).await;
    keep(json!({ "name": "new", "city": "Wien", "town": "Wien" })).await;
    let merge = |name: &str, into: &str| json!({ "merge_field": { "name": name, "into": into } });
    for (ops, why) in [
        (json!([merge("town", "town")]), "ops[0]: a field cannot be merged into itself"),
        (json!([merge("town", "name")]), "ops[0]: fields of the key cannot be merged"),
        (json!([merge("town", "code")]), "ops[0]: `code` is unique"),
        (json!([merge("code", "city")]), "ops[0]: `code` is unique, and `city` is not"),
        (json!([merge("usd", "eur")]), "ops[0]: `usd` and `eur` have different units"),
        (json!([merge("none", "city")]), "ops[0]: there is no field `none`"),
        (json!([merge("town", "city"), merge("city", "code")]), "ops[1]: `code` is unique"),
        (json!([merge("town", "city"), text("x", json!({}))]), "ops: fields are merged in a proposal of their own"),
        (json!([merge("town", "city")]), "ops: records have a `town` and another `city`: change them first"),
    ] {
        let refused = change(&test, "vendors", ops).await.error();
        assert!(refused.starts_with("422 invalid ") && refused.contains(why), "{refused}");
    }
    let path = |id: &str| format!("/brain/collections/vendors/records/{id}");
    test.call("PATCH", &path(&both), &cast.mia, Some(json!({ "fields": { "town": null } }))).await;
    let merged =
        change(&test, "vendors", json!([merge("town", "city"), { "index": { "name": "city", "on": true } }])).await;
    assert_eq!(merged.json()["rows"], 3, "{}", merged.text());
    for (id, city) in [(&both, "Graz"), (&old, "Wels")] {
        let shown = test.get(&path(id), &cast.mia).await.json();
        assert_eq!((&shown["fields"]["city"], shown["fields"].get("town")), (&json!(city), None), "{shown}");
    }
    // What was is read under the name that stayed, and of two values the one that stayed.
    let history = test.get(&format!("{}/history", path(&both)), &cast.mia).await.text();
    assert!(history.contains("Graz") && !history.contains("Linz") && !history.contains("town"), "{history}");
    let again = change(&test, "vendors", json!([text("town", json!({}))])).await.error();
    assert!(again.contains("a field was called `town` before"), "{again}");
    accounted_for(&test);
}

/// Whoever has a day is hidden from all but admins.
const DATED: &str = r#"
@id("all") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices);
@id("dated") @reason("it is dated")
forbid (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource has due } unless { principal in Ok::Role::"admin" };
"#;

#[tokio::test]
async fn what_a_record_was_is_judged_and_restored_in_the_type_that_its_fields_have_by_now() {
    let (test, cast) = with_policies(typed()).await;
    let bounded = json!({ "type": "integer", "min": 0, "max": 100, "default": 7 });
    let added = change(&test, "invoices", json!([{ "add_field": { "name": "pieces", "field": bounded } }])).await;
    assert_eq!(added.status, 200, "{}", added.text());
    let first = write(&test, &test.admin, json!({ "number": "1", "due": "2026-01-31", "pieces": 3 })).await;
    let then = test.clock.now();
    test.clock.advance(1_000);
    let ops = json!([
        { "retype_field": { "name": "due", "type": "time" } }, { "retype_field": { "name": "pieces", "type": "decimal" } }
    ]);
    let retyped = change(&test, "invoices", ops).await;
    assert_eq!(retyped.status, 200, "{}", retyped.text());
    let of = test.get(INVOICES, &test.admin).await.json();
    let kept = json!({ "type": "decimal", "min": "0.0", "max": "100.0", "default": "7.0" });
    assert_eq!(of["fields"]["pieces"], kept, "its bounds stay");
    assert_eq!(apply(&test, DATED).await.status, 200);
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    let undated = json!({ "fields": { "due": null } });
    assert_eq!(test.call("PATCH", &path, &test.admin, Some(undated)).await.status, 200);
    let was = json!({ "number": "1", "due": "2026-01-31T00:00:00Z", "pieces": "3.0", "status": "new" });
    let history = async |who: &str| test.get(&format!("{path}/history"), who).await.json();
    let asked = json!({ "as_of": then });
    assert_eq!(history(&test.admin).await[1]["fields"], was);
    let versions =
        history(&cast.mia).await.as_array().unwrap().iter().map(|one| one["version"].clone()).collect::<Vec<_>>();
    assert_eq!(versions, [json!(2)], "the first was dated");
    assert_eq!(numbers(&test, &cast.mia, asked.clone()).await, [""; 0]);
    assert_eq!(numbers(&test, &test.admin, asked).await, ["1"]);
    let back = json!({ "to_version": 1, "reason": "r" });
    let back = test.post(&format!("{path}/rollback"), &test.admin, back).await;
    assert_eq!(back.json()["fields"], was, "{}", back.text());
    accounted_for(&test);
}

#[tokio::test]
async fn a_proposal_tells_nobody_of_policies_that_they_may_not_read() {
    let (test, cast) = with_policies(typed()).await;
    assert_eq!(apply(&test, ROWS).await.status, 200);
    let proposed = async |who: &str, name: &str| {
        let ops = json!([{ "rename_field": { "name": name, "to": "other" } }]);
        let new = json!({ "collection": "invoices", "ops": ops, "reason": "r" });
        let made = test.post("/schema/proposals", who, new).await;
        if made.status != 201 {
            return made.json();
        }
        test.get(&format!("/schema/proposals/{}", made.json()["id"].as_str().unwrap()), who).await.json()
    };
    for name in ["status", "due"] {
        assert_eq!(proposed(&cast.mia, name).await["impact"]["problems"], json!([]), "{name}");
    }
    assert!(proposed(&test.admin, "status").await.to_string().contains("`final`"));
}

/// Nothing tells of a version whose personal values are erased that it had any.
#[tokio::test]
async fn a_rollback_to_what_is_erased_takes_nothing_personal_away() {
    let (test, _) = company().await;
    let first = write(&test, &test.admin, json!({ "number": "1", "iban": "DE1" })).await;
    let kept = test.get("/events?type=content_kept", &test.admin).await.json();
    let seq = kept["events"][0]["seq"].clone();
    assert!(seq.is_number(), "{kept}");
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": [seq], "reason": "asked" })).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    write(&test, &test.admin, json!({ "number": "1", "iban": "DE2", "status": "paid" })).await;
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    let back = json!({ "to_version": 1, "reason": "r" });
    let back = test.post(&format!("{path}/rollback"), &test.admin, back).await.json();
    assert_eq!((&back["fields"]["iban"], &back["fields"]["status"]), (&json!("DE2"), &json!("new")), "{back}");
    accounted_for(&test);
}
