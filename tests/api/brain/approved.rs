//! Writes that wait for approval: what they take, what is shown of them, and what comes of them.

use serde_json::{Value, json};

use super::{INVOICES, accounted_for, apply, typed, with_policies, write};
use crate::harness::Answer;

/// What needs an admin's approval.
const LARGE: &str = r#"@id("large") @reason("an admin looks at large ones")
forbid (principal is Ok::Actor, action == Ok::Action::"record.write", resource is Brain::invoices)
when { resource has total && resource.total.greaterThan(decimal("1000.0")) }
unless { context.approvals.contains(Ok::ApprovalKind::"admin") };
"#;

#[tokio::test]
async fn what_is_personal_in_a_write_that_waited_can_be_erased_too() {
    let (test, cast) = with_policies(typed()).await;
    let applied = apply(&test, LARGE).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let fields = json!({ "fields": { "number": "1", "total": "2000", "iban": "DE99PERSONAL" } });
    let waits = test.post(&format!("{INVOICES}/records"), &cast.mia, fields).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let path = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    let asked = test.get(&path, &test.admin).await.json();
    assert_eq!((&asked["title"], &asked["summary"]), (&json!("1"), &json!("mia writes a record of invoices")));
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    let events = test.get("/events?limit=30", &test.admin).await.json();
    let kept = ["content_kept", "arguments_kept"];
    let all = events["events"].as_array().unwrap().iter();
    let seqs: Vec<&Value> = all
        .filter(|event| kept.contains(&event["event"]["type"].as_str().unwrap()))
        .map(|event| &event["seq"])
        .collect();
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": seqs, "reason": "asked for" })).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    let file = std::fs::read(test.path()).unwrap();
    assert!(!file.windows(12).any(|window| window == b"DE99PERSONAL"), "it is still in the file");
    accounted_for(&test);
}

#[tokio::test]
async fn a_write_waits_for_what_any_part_of_it_takes_and_is_then_carried_out_whole() {
    let (test, cast) = with_policies(typed()).await;
    let finance = r#"@id("read") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices);
@id("paid") @reason("finance looks at what is paid")
forbid (principal is Ok::Actor, action == Ok::Action::"record.change", resource is Brain::invoices)
when { resource has status && resource.status == "paid" }
unless { context.approvals.contains(Ok::ApprovalKind::"finance") };
"#;
    assert_eq!(apply(&test, &format!("{LARGE}{finance}")).await.status, 200);
    let (path, mia) = (format!("{INVOICES}/records"), &cast.mia);
    let write = async |fields: Value| test.post(&path, mia, json!({ "fields": fields })).await;
    let decide = async |waits: &Answer| {
        let approval = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap_or_default());
        test.post(&approval, &test.admin, json!({ "decision": "approve" })).await.json()
    };
    let needs = |kinds: &str, why: &str| format!("202 needs_approval record.write needs approval ({kinds}): {why}");
    // As it is to be, as it is, and both.
    let mut first = None;
    for (version, total, status) in [(1, "2000", "new"), (2, "3000", "new"), (3, "1", "paid")] {
        let waits = write(json!({ "number": "1", "total": total, "status": status })).await;
        assert_eq!(waits.error(), needs("admin", "an admin looks at large ones"));
        let again = write(json!({ "number": "1", "total": total, "status": status })).await;
        assert_eq!(again.json()["approval"], waits.json()["approval"], "asked twice, it waits once");
        let decided = decide(&waits).await;
        assert_eq!((&decided["status"], &decided["result"]["version"]), (&json!("used"), &json!(version)));
        first.get_or_insert(waits);
    }
    let first = first.unwrap();
    // Of a part that another operation decides, and of two parts.
    let waits = write(json!({ "number": "1", "total": "2" })).await;
    assert_eq!(waits.error(), needs("finance", "finance looks at what is paid"));
    let both = write(json!({ "number": "1", "total": "5000" })).await;
    assert!(
        both.error().starts_with("202 needs_approval record.write needs approval (admin and finance): "),
        "{}",
        both.error()
    );
    // What was approved is good for nothing else.
    let id = write(json!({ "number": "9" })).await.json()["id"].as_str().unwrap().to_owned();
    let other = test.call("PATCH", &format!("{path}/{id}"), mia, Some(json!({ "fields": { "total": "6000" } }))).await;
    assert_eq!(other.error(), "202 needs_approval record.change needs approval (admin): an admin looks at large ones");
    // Explained, it is what it waits for, with the policies of its parts.
    for (waits, policies) in [(&other, vec!["large"]), (&both, vec!["large", "paid"])] {
        let path = format!("/approvals/{}/explain", waits.json()["approval"].as_str().unwrap());
        let told = test.get(&path, &test.admin).await.json();
        assert_eq!(told["decision"], "needs_approval", "{told}");
        let because = told["because"].as_array().unwrap().iter().map(|one| one["policy"].as_str().unwrap());
        assert_eq!(because.collect::<Vec<_>>(), policies);
        let current = told["about"].as_array().unwrap().iter().find(|line| line["what"] == "as it is");
        assert!(current.is_some_and(|line| line["said"].as_str().unwrap().contains("status: ")), "{told}");
    }
    // The same before anybody asks, as far as whoever wants to know may see it; and no exception is drafted of a part.
    let input = json!({ "collection": "invoices", "fields": { "number": "1", "total": "5000" } });
    let question = json!({ "actor": "mia", "op": "record.write", "input": input });
    let told = test.post("/policy/explain", &test.admin, question).await.json();
    assert_eq!(told["decision"], "needs_approval", "{told}");
    let because = told["because"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
    assert_eq!(because.collect::<Vec<_>>(), ["large", "paid"], "{told}");
    let kinds = told["approvals"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["admin", "finance"]);
    let change = told["what_would_change"].as_array().unwrap();
    let all = change.iter().map(|set| set.as_array().unwrap().iter().map(|one| one["to"].as_str().unwrap()).collect());
    assert_eq!(all.collect::<Vec<Vec<_>>>(), [["admin", "finance"]], "with less it still waits");
    let input = json!({ "collection": "invoices", "fields": { "number": "1", "total": "2" } });
    let question = json!({ "op": "record.write", "input": input });
    let told = test.post("/policy/explain", mia, question).await.json();
    assert_eq!(told["what_would_change"][0][0]["to"], "finance", "{told}");
    let drafted = json!({ "from_approvals": [first.json()["approval"]], "reason": "r" });
    let drafted = test.post("/policy/proposals", &test.admin, drafted).await.error();
    assert!(drafted.contains("a part of record.write is decided while it runs"), "{drafted}");
    assert_eq!(
        test.call("PATCH", &format!("{path}/{id}"), mia, Some(json!({ "fields": { "total": "3" } }))).await.status,
        200
    );
    let stale = decide(&other).await;
    assert_eq!(stale["status"], "stale", "{stale}");
    // Where a part takes more by then, nothing is done, and what it takes is told.
    let waits = test.call("PATCH", &format!("{path}/{id}"), mia, Some(json!({ "fields": { "total": "7000" } }))).await;
    let more = r#"@id("more") @reason("finance looks at large ones, too")
forbid (principal is Ok::Actor, action == Ok::Action::"record.write", resource is Brain::invoices)
when { resource has total && resource.total.greaterThan(decimal("1000.0")) }
unless { context.approvals.contains(Ok::ApprovalKind::"finance") };
"#;
    assert_eq!(apply(&test, &format!("{LARGE}{finance}{more}")).await.status, 200);
    let stale = decide(&waits).await;
    let why = "it now also needs the approval finance: finance looks at large ones, too";
    assert_eq!((&stale["status"], &stale["stale"]), (&json!("stale"), &json!(why)), "{stale}");
    // What only a part decided is not asked again of other policies, and they are told so.
    let files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    let diff = test.post("/policy/diff", &test.admin, json!({ "files": files, "since": "1" })).await.json();
    let why = &diff["impact"]["denominator"]["why"];
    assert_eq!(why["a part of it was decided while it ran"], 5, "{}", diff["impact"]["denominator"]);
    accounted_for(&test);
}

/// Whoever decides reads of the result what they may read of the record.
#[tokio::test]
async fn what_an_approved_write_answers_is_shown_as_its_approver_may_read_it() {
    let (test, cast) = with_policies(typed()).await;
    let hidden = r#"@id("read") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices);
@id("not-lea") @reason("not for lea")
forbid (principal == Ok::Actor::"lea", action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource has status && resource.status == "paid" };
@id("leads") @reason("a lead looks first")
forbid (principal is Ok::Actor, action == Ok::Action::"record.write", resource is Brain::invoices)
unless { context.approvals.contains(Ok::ApprovalKind::"lead") };
"#;
    for (number, status) in [("new", "new"), ("paid", "new"), ("was", "paid")] {
        write(&test, &cast.mia, json!({ "number": number, "status": status, "iban": "DE0" })).await;
    }
    assert_eq!(apply(&test, hidden).await.status, 200);
    let result = async |number: &str, status: &str| {
        let fields = json!({ "fields": { "number": number, "status": status, "iban": "DE1" } });
        let waits = test.post(&format!("{INVOICES}/records"), &cast.mia, fields).await;
        let approval =
            format!("/approvals/{}", waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())));
        let about = test.get(&format!("{approval}/explain"), &cast.lea).await.json()["about"].to_string();
        // The stored record is read by itself: what it is to be may be hers to read, and what it is not.
        let named = about.contains("iban") == (number == "new");
        assert!(named && !about.contains("DE0"), "what she may not read is at most named: {about}");
        let decided = test.post(&approval, &cast.lea, json!({ "decision": "approve" })).await.json();
        assert_eq!(decided["status"], "used", "{decided}");
        decided["result"].clone()
    };
    let seen = result("new", "new").await;
    assert_eq!(seen["fields"], json!({ "number": "new", "status": "new" }));
    assert_eq!(seen["withheld"], json!(["iban"]), "{seen}");
    result("was", "new").await;
    assert_eq!(result("paid", "paid").await, Value::Null, "what she may not read at all is not told by its approval");
}
