//! Every vector that the AuthZEN working group publishes, answered as it says: `tests/foreign/authzen`.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::{Map, Value, json};

use super::ask;
use super::entities::{find, keep};
use crate::harness::Test;

const SEARCH_SCHEMA: &str = "entity user = { role: String, department: String };
entity record = { title: String, department: String, owner: user };
action view, edit, delete appliesTo { principal: [user], resource: [record] };
";

const SEARCH_POLICIES: &str = "@id(\"owners\") permit (principal is user, action, resource is record)
when { resource.owner == principal };
@id(\"departments\") permit (principal is user, action == Action::\"view\", resource is record)
when { resource.department == principal.department };
@id(\"managers-view\") permit (principal is user, action == Action::\"view\", resource is record)
when { principal.role == \"manager\" };
@id(\"managers-edit\") permit (principal is user, action == Action::\"edit\", resource is record)
when { principal.role == \"manager\" && resource.department == principal.department };
";

const SCHEMA: &str = "entity user = { email?: String, roles?: Set<String>, role?: String, balance?: Long };
entity identity = { roles: Set<String> };
entity todo = { ownerID?: String };
entity application, route;
action can_read_user appliesTo { principal: [user], resource: [user] };
action can_read_todos, can_create_todo, can_update_todo, can_delete_todo
  appliesTo { principal: [user], resource: [todo] };
action GET, POST, PUT, DELETE appliesTo { principal: [identity], resource: [route] };
action issue appliesTo { principal: [user], resource: [application] };
";

const POLICIES: &str =
    "@id(\"users\") permit (principal is user, action == Action::\"can_read_user\", resource is user);
@id(\"todos\") permit (principal is user, action == Action::\"can_read_todos\", resource is todo);
@id(\"create\") permit (principal is user, action == Action::\"can_create_todo\", resource is todo)
when { principal has roles && principal.roles.containsAny([\"admin\", \"editor\"]) };
@id(\"own\") permit (
  principal is user, action in [Action::\"can_update_todo\", Action::\"can_delete_todo\"], resource is todo)
when { principal has roles && principal.roles.contains(\"editor\") }
when { principal has email && resource has ownerID && resource.ownerID == principal.email };
@id(\"update\") permit (principal is user, action == Action::\"can_update_todo\", resource is todo)
when { principal has roles && principal.roles.contains(\"evil_genius\") };
@id(\"delete\") permit (principal is user, action == Action::\"can_delete_todo\", resource is todo)
when { principal has roles && principal.roles.contains(\"admin\") };
@id(\"routes\") permit (principal is identity, action == Action::\"GET\", resource is route);
@id(\"writing\") permit (
  principal is identity, action in [Action::\"POST\", Action::\"PUT\", Action::\"DELETE\"], resource is route)
when { principal.roles.containsAny([\"admin\", \"editor\"]) };
@id(\"issue\") permit (principal is user, action == Action::\"issue\", resource is application)
when { principal has role && [\"manager\", \"editor\"].contains(principal.role) };
";

/// The people of the todo application: how they are called in the vectors, the start of their id, address and roles.
const PEOPLE: [(&str, &str, &str, &[&str]); 5] = [
    ("rick", "CiRmZDA2", "rick@the-citadel.com", &["admin", "evil_genius"]),
    ("morty", "CiRmZDE2", "morty@the-citadel.com", &["editor"]),
    ("summer", "CiRmZDI2", "summer@the-smiths.com", &["editor"]),
    ("beth", "CiRmZDM2", "beth@the-smiths.com", &["viewer"]),
    ("jerry", "CiRmZDQ2", "jerry@the-smiths.com", &["viewer"]),
];

/// What a vector asks, and what is answered.
type Vector<'a> = (Vec<&'a str>, Vec<&'a str>);

fn vectors(text: &str) -> Vec<Vector<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (asked, answered) = line.split_once(" =").expect("a question and its answer");
            (asked.split(' ').collect(), answered.split_whitespace().collect())
        })
        .collect()
}

fn truths(answered: &[&str]) -> Vec<Value> {
    answered.iter().map(|one| serde_json::from_str(one).unwrap()).collect()
}

async fn company_of(schema: &str, policies: &str) -> Test {
    let built_in = Bundle::built_in().files.into_iter().filter(|(path, _)| path != "schema.cedarschema");
    let own = [("schema.cedarschema", schema), ("own.cedar", policies)];
    Test::with_policies(Bundle::new(built_in.chain(own.map(|(path, text)| (path.to_owned(), text.to_owned()))))).await
}

/// A company that keeps what the published searches are about.
pub async fn search_company() -> Test {
    let test = company_of(SEARCH_SCHEMA, SEARCH_POLICIES).await;
    let data: BTreeMap<String, Map<String, Value>> =
        serde_json::from_str(include_str!("../../foreign/authzen/search_data.json")).unwrap();
    let user = |(id, properties): (&String, &Value)| json!({ "type": "user", "id": id, "properties": properties });
    let record = |(id, properties): (&String, &Value)| {
        let mut properties = properties.clone();
        properties["owner"] = json!({ "type": "user", "id": properties["owner"] });
        json!({ "type": "record", "id": id, "properties": properties })
    };
    let entities: Vec<Value> = data["users"].iter().map(user).chain(data["records"].iter().map(record)).collect();
    let kept = keep(&test, json!(entities)).await;
    assert_eq!(kept.json()["kept"], 26, "{}", kept.text());
    test
}

/// One that keeps the people of the todo application; what else is asked about is told with the question.
async fn people_company() -> Test {
    let test = company_of(SCHEMA, POLICIES).await;
    let kept = PEOPLE.iter().flat_map(|(name, _, email, roles)| {
        let entity = |kind: &str, properties: Value| json!({ "type": kind, "id": id(name), "properties": properties });
        [entity("user", json!({ "email": email, "roles": roles })), entity("identity", json!({ "roles": roles }))]
    });
    let kept = keep(&test, kept.collect()).await;
    assert_eq!(kept.json()["kept"], 10, "{}", kept.text());
    test
}

fn id(name: &str) -> String {
    let (_, start, ..) = PEOPLE.iter().find(|(one, ..)| *one == name).expect("one of the people");
    format!("{start}MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs")
}

/// What is found, and the same in the order that is compared.
async fn assert_found(test: &Test, what: &str, body: Value, mut wanted: Vec<Value>) {
    let answer = find(test, what, body.clone()).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["page"]["next_token"], "", "{body}");
    let mut found = answer["results"].as_array().unwrap().clone();
    for list in [&mut found, &mut wanted] {
        list.sort_by_key(ToString::to_string);
    }
    assert_eq!(found, wanted, "{body}");
}

#[tokio::test]
async fn the_published_searches_are_answered_as_published() {
    let test = search_company().await;
    let vectors = vectors(include_str!("../../foreign/authzen/search.txt"));
    assert_eq!(vectors.len(), 198);
    let (user, record) = (json!({ "type": "user" }), json!({ "type": "record" }));
    let named = |kind: &Value, id: &str| json!({ "type": kind["type"], "id": id });
    let action = |name: &str| json!({ "name": name });
    for (asked, answered) in vectors {
        let of = |kind: &Value| answered.iter().map(|id| named(kind, id)).collect::<Vec<_>>();
        let (body, wanted) = match asked[..] {
            ["subject", name, id] => {
                (json!({ "resource": named(&record, id), "action": action(name), "subject": user }), of(&user))
            }
            ["resource", id, name] => {
                (json!({ "subject": named(&user, id), "action": action(name), "resource": record }), of(&record))
            }
            ["action", id, about] => (
                json!({ "subject": named(&user, id), "resource": named(&record, about) }),
                answered.iter().map(|name| action(name)).collect(),
            ),
            _ => panic!("{asked:?}"),
        };
        assert_found(&test, asked[0], body, wanted).await;
    }
}

#[tokio::test]
async fn a_search_for_any_other_value_finds_nothing() {
    let test = search_company().await;
    let (user, record) = (json!({ "type": "user" }), json!({ "type": "record" }));
    let (zed, view) = (json!({ "type": "user", "id": "zed" }), json!({ "name": "view" }));
    for (what, body) in [
        ("subject", json!({ "subject": user, "action": view, "resource": { "type": "record", "id": "999" } })),
        ("resource", json!({ "subject": zed, "action": view, "resource": record })),
        (
            "resource",
            json!({ "subject": { "type": "user", "id": "bob" }, "action": { "name": "burn" }, "resource": record }),
        ),
        ("action", json!({ "subject": zed, "resource": { "type": "record", "id": "101" } })),
    ] {
        assert_found(&test, what, body, Vec::new()).await;
    }
}

fn todo(id: &str, owner: Option<&str>) -> Value {
    let mut todo = json!({ "type": "todo", "id": id });
    if let Some(owner) = owner {
        todo["properties"] = json!({ "ownerID": owner });
    }
    todo
}

fn decisions(answers: &Value) -> Vec<Value> {
    answers["evaluations"].as_array().unwrap().iter().map(|one| one["decision"].clone()).collect()
}

#[tokio::test]
async fn the_published_evaluations_of_the_todo_application_are_decided_as_published() {
    let test = people_company().await;
    let (mut alone, mut batches, mut wanted_of_all) = (Vec::new(), 0, Vec::new());
    for (asked, answered) in vectors(include_str!("../../foreign/authzen/todo.txt")) {
        let wanted = truths(&answered);
        let (subject, action) = (json!({ "type": "user", "id": id(asked[1]) }), json!({ "name": asked[2] }));
        match asked[..] {
            ["evaluation", _, _, kind, about, ref owner @ ..] => {
                let mut resource = todo(about, owner.first().copied());
                resource["type"] = json!(kind);
                let question = json!({ "subject": subject, "action": action, "resource": resource });
                let answer = ask(&test, question.clone()).await;
                assert_eq!(answer.json()["decision"], wanted[0], "{question}: {}", answer.text());
                alone.push(question);
                wanted_of_all.extend(wanted);
            }
            ["evaluations", _, _, _, about, ref owners @ ..] => {
                let each: Vec<Value> =
                    owners.iter().map(|owner| json!({ "resource": todo(about, Some(owner)) })).collect();
                let batch = json!({ "subject": subject, "action": action, "evaluations": each });
                let answers = test.post("/access/v1/evaluations", &test.admin, batch.clone()).await.json();
                assert_eq!(decisions(&answers), wanted, "{batch}: {answers}");
                batches += 1;
            }
            _ => panic!("{asked:?}"),
        }
    }
    assert_eq!((alone.len(), batches), (40, 3));
    // One batch of them all decides as each alone.
    let answers = test.post("/access/v1/evaluations", &test.admin, json!({ "evaluations": alone })).await.json();
    assert_eq!(decisions(&answers), wanted_of_all);
}

#[tokio::test]
async fn the_published_evaluations_of_gateways_and_token_issuers_are_decided_as_published() {
    let test = people_company().await;
    let gateway = vectors(include_str!("../../foreign/authzen/gateway.txt"));
    let issuance = vectors(include_str!("../../foreign/authzen/issuance.txt"));
    assert_eq!((gateway.len(), issuance.len()), (25, 6));
    for (asked, answered) in gateway.into_iter().chain(issuance) {
        let question = match asked[..] {
            [subject, method, route] => json!({ "subject": { "type": "identity", "id": id(subject) },
                "action": { "name": method }, "resource": { "type": "route", "id": route } }),
            [subject, role, balance, action, application] => json!({
                "subject": { "type": "user", "id": subject,
                             "properties": { "role": role, "balance": balance.parse::<i64>().unwrap() } },
                "resource": { "type": "application", "id": application }, "action": { "name": action } }),
            _ => panic!("{asked:?}"),
        };
        let answer = ask(&test, question.clone()).await;
        assert_eq!(json!([answer.json()["decision"]]), json!(truths(&answered)), "{question}: {}", answer.text());
    }
}
