//! Decisions for other programs: AuthZEN about the company's own types.

mod batch;
mod changes;
mod completed;
mod entities;
mod explain;
mod published;

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

const SCHEMA: &str = "namespace Docs {
  entity Team;
  entity User in [Team] = { level?: Long };
  entity Doc = { open: Bool, owner?: User, tags?: Set<String> };
  action view, edit appliesTo { principal: [User], resource: [Doc], context: { mfa?: Bool } };
  action purge appliesTo { principal: [User], resource: [Doc], context: { approvals: Set<Ok::ApprovalKind> } };
}
";

const POLICIES: &str = "@id(\"open-docs\")
permit (principal is Docs::User, action == Docs::Action::\"view\", resource is Docs::Doc)
when { resource.open };

@id(\"own-docs\")
permit (principal is Docs::User, action, resource is Docs::Doc)
when { resource has owner && resource.owner == principal };

@id(\"editors\")
permit (principal in Docs::Team::\"editors\", action == Docs::Action::\"edit\", resource is Docs::Doc)
when { context has mfa && context.mfa };

@id(\"purge-approved\")
@reason(\"purging takes an admin\")
forbid (principal is Docs::User, action == Docs::Action::\"purge\", resource)
unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };
";

async fn company() -> Test {
    company_of(SCHEMA, POLICIES).await
}

async fn company_of(schema: &str, policies: &str) -> Test {
    let built_in = Bundle::built_in().files;
    let files = built_in.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let own = [("schema.cedarschema", schema), ("docs.cedar", policies)];
    Test::with_policies(Bundle::new(files.filter(|(path, _)| *path != "schema.cedarschema").chain(own))).await
}

fn user(id: &str) -> Value {
    json!({ "type": "Docs::User", "id": id })
}

fn doc(id: &str, properties: Value) -> Value {
    json!({ "type": "Docs::Doc", "id": id, "properties": properties })
}

fn question(action: &str, resource: Value) -> Value {
    json!({ "subject": user("ann"), "action": { "name": action }, "resource": resource })
}

async fn ask(test: &Test, question: Value) -> Answer {
    test.post("/access/v1/evaluation", &test.admin, question).await
}

async fn record(test: &Test, what: &str) {
    let set = test.call("PATCH", "/company", &test.admin, Some(json!({ "decisions": { "record": what } }))).await;
    assert_eq!(set.status, 200, "{}", set.text());
}

/// What the API's document shows as examples: the operation, what is sent and what is answered.
pub async fn examples() -> Vec<(&'static str, Value, Value)> {
    let test = company().await;
    let (kind, plan) = (json!({ "type": "Docs::Doc" }), doc("plan", json!({ "open": true })));
    let asked = question("view", plan.clone());
    let (subject, action) = (&asked["subject"], &asked["action"]);
    let candidates = |all: Value| json!({ "candidates": all });
    let sent = [
        ("access.evaluate.batch", json!({ "evaluations": [asked] })),
        (
            "access.evaluate.subjects",
            json!({ "subject": { "type": "Docs::User" }, "action": action, "resource": plan, "options": candidates(json!([{ "id": "ann" }])) }),
        ),
        (
            "access.evaluate.resources",
            json!({ "subject": subject, "action": action, "resource": kind, "options": candidates(json!([plan])) }),
        ),
        ("access.evaluate.actions", json!({ "subject": subject, "resource": plan })),
        ("entity.keep", json!({ "entities": [plan] })),
        ("access.evaluate", asked),
    ];
    let mut examples = Vec::new();
    for (name, sent) in sent {
        let route = ok::nouns::OPERATIONS.iter().find(|entry| entry.spec.name == name).unwrap().spec.route;
        let answer = test.call(route.method.name(), route.path, &test.admin, Some(sent.clone())).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        examples.push((name, sent, answer.json()));
    }
    let list = test.get("/access/v1/entities?type=Docs::Doc&limit=20", &test.admin).await;
    assert_eq!(list.json().as_array().map(Vec::len), Some(1), "{}", list.text());
    examples.push(("entity.list", json!({ "type": "Docs::Doc", "limit": 20 }), list.json()));
    examples
}

#[tokio::test]
async fn what_a_policy_permits_is_a_yes_and_the_rest_a_no_that_says_why() {
    let test = company().await;
    let yes = ask(&test, question("view", doc("1", json!({ "open": true })))).await;
    assert_eq!((yes.status.as_u16(), yes.json()), (200, json!({ "decision": true })));
    let no = ask(&test, question("Docs::Action::view", doc("1", json!({ "open": false })))).await;
    assert_eq!(
        no.json(),
        json!({ "decision": false, "context": { "reason": "no policy permits it", "policy_version": 1 } })
    );
    // Properties, groups, the context and an action's own properties all reach the policies.
    let owned = doc("1", json!({ "open": false, "owner": user("ann"), "tags": ["a"] }));
    assert_eq!(ask(&test, question("view", owned)).await.json()["decision"], true);
    let editor = json!({
        "subject": { "type": "Docs::User", "id": "bob", "properties": {
            "level": 3, "parents": [{ "type": "Docs::Team", "id": "editors" }] } },
        "action": { "name": "edit" }, "resource": doc("1", json!({ "open": false })), "context": { "mfa": true },
    });
    assert_eq!(ask(&test, editor.clone()).await.json()["decision"], true);
    let mut without = editor.clone();
    without["context"] = json!({});
    assert_eq!(ask(&test, without.clone()).await.json()["decision"], false);
    without["action"]["properties"] = json!({ "mfa": true });
    assert_eq!(ask(&test, without).await.json()["decision"], true);
}

#[tokio::test]
async fn what_needs_approval_is_a_no_that_names_the_kinds_and_nobody_claims_one() {
    let test = company().await;
    let owned = doc("1", json!({ "open": true, "owner": user("ann") }));
    let no = ask(&test, question("purge", owned.clone())).await;
    let context = json!({
        "reason": "purging takes an admin", "needs_approval": ["admin"], "policies": ["purge-approved"],
        "policy_version": 1,
    });
    assert_eq!(no.json(), json!({ "decision": false, "context": context }));
    // An approval would not help where no policy permits it.
    let foreign = ask(&test, question("purge", doc("2", json!({ "open": true })))).await.json();
    assert_eq!(foreign["context"]["needs_approval"], Value::Null);
    let mut claimed = question("purge", owned);
    claimed["context"] = json!({ "approvals": [{ "type": "Ok::ApprovalKind", "id": "admin" }] });
    let told = ask(&test, claimed).await.error();
    assert_eq!(told, "400 bad_request context.approvals: the context of `Docs::Action::\"purge\"` has no such field");
}

#[tokio::test]
async fn what_does_not_fit_the_schema_is_told_by_its_field() {
    let test = company().await;
    let open = || doc("1", json!({ "open": true }));
    let with = |field: &str, value: Value| {
        let mut question = question("view", open());
        question.as_object_mut().unwrap().insert(field.into(), value);
        question
    };
    let far = json!({ "open": true, "owner": { "type": "Docs::Team", "id": "x" } });
    for (question, told) in [
        (json!({ "action": { "name": "view" }, "resource": open() }), "subject: is required"),
        (with("subject", json!({ "id": "ann" })), "subject.type: is required"),
        (with("subject", json!({ "type": "Docs::User" })), "subject.id: is required"),
        (with("action", json!({})), "action.name: is required"),
        (with("subject", json!({ "type": "Docs::User", "id": "" })), "subject.id: must have 1 to 1024 bytes"),
        (
            with("subject", json!({ "type": "Docs::Robot", "id": "r" })),
            "subject.type: the company's schema has no entity type `Docs::Robot`",
        ),
        (
            with("subject", json!({ "type": "Ok::Actor", "id": "ana" })),
            "subject.type: `Ok::Actor` is the product's own and cannot be asked about here",
        ),
        (
            with("action", json!({ "name": "Ok::Action::kill" })),
            "action.name: `Ok::Action::kill` is the product's own and cannot be asked about here",
        ),
        (with("action", json!({ "name": "burn" })), "action.name: the company's schema has no action `burn`"),
        (
            with("subject", open()),
            "subject.type: `Docs::Action::\"view\"` does not apply to a subject of the type `Docs::Doc`",
        ),
        (
            with("resource", json!({ "type": "Docs::Doc", "id": "1" })),
            "resource.properties: of `Docs::Doc::\"1\"`, open: is missing",
        ),
        (with("resource", doc("1", json!({}))), "resource.properties.open: is missing"),
        (with("resource", doc("1", json!({ "open": "yes" }))), "resource.properties.open: must be true or false"),
        (
            with("resource", doc("1", json!({ "open": true, "tags": ["a", 1] }))),
            "resource.properties.tags.1: must be a string",
        ),
        (
            with("resource", doc("1", json!({ "open": true, "opn": 1 }))),
            "resource.properties.opn: the schema has no such attribute of `Docs::Doc`",
        ),
        (with("resource", doc("1", far)), "resource.properties.owner.type: must be `Docs::User`"),
        (
            with("resource", doc("1", json!({ "open": true, "parents": [user("a")] }))),
            "resource.properties.parents.0.type: the schema has no `Docs::Doc` in a `Docs::User`",
        ),
        (with("context", json!({ "mfa": 1 })), "context.mfa: must be true or false"),
        (
            with("context", json!({ "when": 1 })),
            "context.when: the context of `Docs::Action::\"view\"` has no such field",
        ),
        (with("subject", json!("ann")), "subject: invalid type: string \"ann\", expected an object"),
    ] {
        assert_eq!(ask(&test, question).await.error(), format!("400 bad_request {told}"));
    }
    let path = "/access/v1/evaluation";
    let json = [("content-type", "application/json")];
    assert_eq!(test.raw("POST", path, &json, "{").await.status, 400);
    assert_eq!(test.raw("POST", path, &json, "").await.status, 400);
    assert_eq!(test.raw("POST", path, &json, "[]").await.error().split(' ').next(), Some("400"));
    assert_eq!(test.raw("POST", path, &[("content-type", "text/plain")], "{}").await.status, 400);
    // What a later version of the standard may add is passed over.
    assert_eq!(ask(&test, with("future", json!({ "a": 1 }))).await.json()["decision"], true);
}

#[tokio::test]
async fn a_decision_is_recorded_as_the_company_has_set() {
    let test = company().await;
    let yes = || question("view", doc("1", json!({ "open": true })));
    let no = || question("view", doc("1", json!({ "open": false })));
    let both = || json!({ "evaluations": [yes(), no(), {}] });
    for (what, expected) in [("refusals", [0, 1, 1]), ("all", [1, 1, 2]), ("none", [0, 0, 0])] {
        record(&test, what).await;
        for ((path, body), expected) in
            [("evaluation", yes()), ("evaluation", no()), ("evaluations", both())].into_iter().zip(expected)
        {
            let before = test.last_seq().await;
            let answer = test.post(&format!("/access/v1/{path}"), &test.admin, body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let now = test.last_seq().await;
            assert_eq!(now - before, expected, "{what} {path}");
            let recorded = if expected > 0 { (before + 1).to_string() } else { String::new() };
            assert_eq!(answer.header("ok-decision"), recorded);
        }
        if what == "all" {
            let event = test.event().await;
            let kept = json!({
                "type": "access_decided", "subject": "Docs::User::\"ann\"", "action": "Docs::Action::\"view\"",
                "resource": "Docs::Doc::\"1\"", "decision": false, "needs_approval": [], "policies": [],
                "policy_version": 1,
            });
            assert_eq!(event["event"], kept);
        }
    }
    assert!(test.verdict().ok);
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
    // The setting holds after a restart.
    record(&test, "all").await;
    let test = test.reopened().await;
    assert_ne!(ask(&test, yes()).await.header("ok-decision"), "");
}

#[tokio::test]
async fn agents_and_admins_ask_and_nobody_else() {
    let test = company().await;
    let cast = test.cast().await;
    let asked = || question("view", doc("1", json!({ "open": true })));
    assert_eq!(test.post("/access/v1/evaluation", &cast.bot, asked()).await.status, 200);
    let refused = test.post("/access/v1/evaluation", &cast.mia, asked()).await;
    assert_eq!(refused.error(), "403 denied policy denied access.evaluate: no policy permits it");
    let none = test.raw("POST", "/access/v1/evaluation", &[("authorization", "")], "{}").await;
    assert_eq!(none.status, 401);
    let read = test.token("ana", json!({ "scopes": ["read"] })).await;
    let scoped = test.post("/access/v1/evaluation", &read, asked()).await;
    assert_eq!(scoped.error(), "403 token_scope this token's scopes do not reach POST /access/v1/evaluation");
}

#[tokio::test]
async fn searches_answer_from_the_candidates_and_the_schema() {
    let test = company().await;
    let find = async |what: &str, body: Value| test.post(&format!("/access/v1/search/{what}"), &test.admin, body).await;
    let view = json!({ "name": "view" });
    let docs = json!([
        { "id": "1", "properties": { "open": true } },
        { "id": "2", "properties": { "open": false } },
        { "type": "Docs::Doc", "id": "3", "properties": { "open": false, "owner": user("ann") } },
    ]);
    let mut resources = json!({
        "subject": user("ann"), "action": view, "resource": { "type": "Docs::Doc" }, "options": { "candidates": docs },
    });
    let found = find("resource", resources.clone()).await.json();
    let ids: Vec<&str> = found["results"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &found["page"]["next_token"]), (vec!["1", "3"], &json!("")));
    resources["options"]["candidates"][1]["properties"]["open"] = json!(1);
    let wrong = find("resource", resources.clone()).await.error();
    assert_eq!(wrong, "400 bad_request options.candidates.1.properties.open: must be true or false");
    resources.as_object_mut().unwrap().remove("options");
    assert_eq!(find("resource", resources).await.json()["results"], json!([]), "nothing is kept");
    let subjects = json!({
        "subject": { "type": "Docs::User" }, "action": view,
        "resource": doc("3", json!({ "open": false, "owner": user("ann") })),
        "options": { "candidates": [{ "id": "ann" }, { "id": "bob" }] },
    });
    assert_eq!(
        find("subject", subjects.clone()).await.json()["results"],
        json!([{ "type": "Docs::User", "id": "ann" }])
    );
    let actions = json!({
        "subject": user("ann"), "resource": doc("3", json!({ "open": false, "owner": user("ann") })),
    });
    let named = json!([{ "name": "edit" }, { "name": "view" }]);
    assert_eq!(find("action", actions.clone()).await.json()["results"], named, "by the names that they are asked by");
    // Whatever the schema does not have, nobody may.
    let none = json!([]);
    let with = |value: &Value, field: &str, other: Value| {
        let mut value = value.clone();
        value[field] = other;
        value
    };
    let unknown = json!({ "type": "Docs::Nothing", "id": "1" });
    for (what, asked) in [
        ("action", with(&actions, "subject", unknown.clone())),
        ("action", with(&actions, "resource", unknown.clone())),
        ("subject", with(&subjects, "action", json!({ "name": "fly" }))),
        ("subject", with(&subjects, "subject", json!({ "type": "Docs::Nothing" }))),
        ("subject", with(&subjects, "resource", unknown)),
    ] {
        let found = find(what, asked.clone()).await;
        assert_eq!((found.status.as_u16(), &found.json()["results"]), (200, &none), "{asked}");
    }
    for (asked, told) in [
        (with(&subjects, "action", json!({})), "400 bad_request action.name: is required"),
        (with(&subjects, "resource", json!({ "type": "Docs::Nothing" })), "400 bad_request resource.id: is required"),
    ] {
        assert_eq!(find("subject", asked).await.error(), told);
    }
}

#[tokio::test]
async fn the_metadata_is_open_and_a_request_keeps_its_own_id() {
    let test = company().await;
    let path = "/.well-known/authzen-configuration";
    let of = async |host: &str| test.raw("GET", path, &[("host", host), ("authorization", "")], "").await;
    let told = of("pdp.example.com").await.json();
    assert_eq!(of("pdp.example.com").await.header("cache-control"), "no-store");
    assert_eq!(told["policy_decision_point"], "https://pdp.example.com");
    assert_eq!(told["search_action_endpoint"], "https://pdp.example.com/access/v1/search/action");
    assert_eq!(of("127.0.0.1:8080").await.json()["policy_decision_point"], "http://127.0.0.1:8080");
    assert_eq!(of("a/b").await.status, 400);
    let body = question("view", doc("1", json!({ "open": true }))).to_string();
    let headers = [("content-type", "application/json"), ("x-request-id", "bfe9eb29")];
    let answer = test.raw("POST", "/access/v1/evaluation", &headers, body).await;
    assert_eq!(answer.header("x-request-id"), "bfe9eb29");
    assert_ne!(test.raw("GET", "/me", &headers, "").await.header("x-request-id"), "bfe9eb29");
}

/// Whether `access.evaluate` itself is allowed.
async fn may_ask(test: &Test, token: &str) -> bool {
    let question = question("view", doc("1", json!({ "open": true })));
    test.post("/access/v1/evaluation", token, question).await.status == 200
}

#[tokio::test]
async fn who_may_ask_is_decided_anew_whenever_the_company_changes() {
    let test = company().await;
    let eva = test.add("eva", "person", json!({ "role": "admin" })).await;
    let (mine, hers) = (test.admin.clone(), eva);
    assert!(may_ask(&test, &hers).await && may_ask(&test, &hers).await);
    assert!(!may_ask(&test, &test.add("max", "person", json!({})).await).await, "one's yes is not another's");
    test.post("/kill", &mine, json!({ "scope": "actor:eva" })).await;
    assert!(!may_ask(&test, &hers).await && may_ask(&test, &mine).await);
    test.post("/kill", &mine, json!({ "scope": "actor:eva", "off": true })).await;
    assert!(may_ask(&test, &hers).await);
}

#[tokio::test]
async fn policies_that_read_the_time_are_asked_each_time() {
    let late = "@id(\"no-questions-after-ten-past\")
@reason(\"it is late\")
forbid (principal, action == Ok::Action::\"access.evaluate\", resource)
when { context.now >= datetime(\"2026-11-20T09:10:00Z\") };
";
    let mut policies = Bundle::built_in();
    let own = [("schema.cedarschema", SCHEMA), ("docs.cedar", POLICIES), ("late.cedar", late)];
    policies.files.extend(own.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let test = Test::with_policies(policies).await;
    assert!(may_ask(&test, &test.admin).await && may_ask(&test, &test.admin).await);
    test.clock.advance(600_000);
    assert!(!may_ask(&test, &test.admin).await);
}
