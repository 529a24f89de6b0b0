//! Whoever decides sees what they decide: the exact arguments, why it waits, what would change, and what was decided before.

use ok::nouns::blueprint::{Source, onto};
use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::Test;

fn person(id: &str) -> Value {
    json!({ "id": id, "kind": "person", "team": "team:ops", "role": "admin", "name": "Nadia Rossi" })
}

async fn waiting(test: &Test, token: &str, id: &str) -> String {
    let waits = test.post("/actors", token, person(id)).await;
    waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())).to_owned()
}

#[tokio::test]
async fn a_request_is_told_as_a_sentence_with_its_arguments() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = waiting(&test, &cast.lea, "new2").await;
    let shown = test.get(&format!("/approvals/{id}"), &test.admin).await.json();
    assert_eq!(shown["summary"], "lea adds new2 as admin to team:ops");
    assert_eq!(shown["args"]["name"], "Nadia Rossi");
    let inbox = test.get("/inbox", &test.admin).await.json();
    assert!(inbox.to_string().contains("lea adds new2 as admin to team:ops: waits for you"), "{inbox}");

    let explained = test.get(&format!("/approvals/{id}/explain"), &test.admin).await.json();
    assert_eq!(explained["decision"], "needs_approval");
    assert_eq!(explained["because"][0]["policy"], "add-with-approval");
    assert!(explained["because"][0]["text"].as_str().unwrap().starts_with("@id(\"add-with-approval\")"), "{explained}");
    let own = test.get(&format!("/approvals/{id}/explain"), &cast.lea).await.json();
    assert_eq!(own["because"][0]["policy"], "add-with-approval");
    assert_eq!(own["because"][0]["text"], Value::Null, "the policies' text is for those who decide");

    let earlier = waiting(&test, &cast.lea, "new3").await;
    let rejected = test.post(&format!("/approvals/{earlier}"), &test.admin, json!({ "decision": "reject" })).await;
    assert_eq!(rejected.status, 200, "{}", rejected.text());
    let explained = test.get(&format!("/approvals/{id}/explain"), &test.admin).await.json();
    assert_eq!(explained["similar"][0]["approval"], earlier.as_str());
    assert_eq!(explained["similar"][0]["decision"], "rejected");
}

#[tokio::test]
async fn what_is_personal_is_for_those_concerned_and_can_be_erased() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = waiting(&test, &cast.lea, "new2").await;
    let events = test.get("/events?type=approval_requested,arguments_kept", &cast.aud).await.json();
    let all = events["events"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{events}");
    assert!(!events.to_string().contains("Nadia"), "no event shows it: {events}");
    let seen = test.get(&format!("/approvals/{id}"), &cast.aud).await.json();
    assert_eq!((&seen["args"]["name"], &seen["withheld"]), (&Value::Null, &json!(["name"])));
    let own = test.get(&format!("/approvals/{id}"), &cast.lea).await.json();
    assert_eq!((&own["args"]["name"], &own["withheld"]), (&json!("Nadia Rossi"), &Value::Null));

    let kept = all.iter().find(|event| event["event"]["type"] == "arguments_kept").unwrap()["seq"].clone();
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": [kept], "reason": "asked to" })).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    let seen = test.get(&format!("/approvals/{id}"), &cast.lea).await.json();
    assert_eq!(seen["args"]["name"], Value::Null);
    assert!(!test.get("/events?limit=1000", &test.admin).await.text().contains("Nadia"));
    assert_eq!(
        (&seen["status"], &seen["stale"]),
        (&json!("stale"), &json!("a part of what was asked for has been erased"))
    );
    let decided = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.error(), "409 conflict the approval is stale already");
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn whoever_approves_a_promotion_reads_the_change_in_every_blueprint() {
    for (blueprint, teams, kinds) in [
        ("engineering", &["team:platform", "team:security"][..], &["platform", "security"][..]),
        ("regulated", &["team:compliance"][..], &["compliance"][..]),
    ] {
        let source = Source::named(blueprint).unwrap_or_else(|refusal| panic!("{}", refusal.message));
        let (bundle, _) = onto(&Bundle::built_in(), &source.files);
        let test = Test::with_policies(bundle.clone()).await;
        let mut people = Vec::new();
        for (team, kind) in teams.iter().zip(kinds) {
            let added = test.local_as("ana", "actor.add", json!({ "id": team, "kind": "team" })).await;
            assert_eq!(added["id"], *team, "{added}");
            let id = format!("of-{kind}");
            test.local_as("ana", "actor.add", json!({ "id": id, "kind": "person", "team": team })).await;
            people.push(test.token(&id, json!({})).await);
        }
        test.local_as("ana", "actor.add", json!({ "id": "sam", "kind": "person", "role": "steward" })).await;
        let sam = test.token("sam", json!({})).await;
        let mut files = bundle.files.clone();
        files.insert("more.cedar".into(), "@id(\"more\")\npermit (\n  principal in Ok::Role::\"steward\",\n  action == Ok::Action::\"tick\",\n  resource\n);\n".into());
        let proposed = test.post("/policy/proposals", &sam, json!({ "files": files, "reason": "r" })).await;
        assert_eq!(proposed.status, 201, "{}", proposed.text());
        let path = format!("/changes/{}", proposed.json()["id"].as_str().unwrap());
        assert_eq!(test.post(&format!("{path}/evals"), &sam, json!({})).await.status, 200);
        let reviewed = test.post(&format!("{path}/review"), &test.admin, json!({ "verdict": "approve" })).await;
        assert_eq!(reviewed.status, 200, "{}", reviewed.text());
        for token in &people {
            assert_eq!(test.get(&format!("{path}/diff"), token).await.status, 404, "nothing waits for them yet");
        }
        let waits = test.post(&format!("{path}/promote"), &test.admin, json!({})).await;
        assert_eq!(waits.status, 202, "{blueprint}: {}", waits.text());
        let approval = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
        for token in &people {
            let diff = test.get(&format!("{path}/diff"), token).await;
            assert_eq!(diff.status, 200, "{blueprint}: {}", diff.text());
            assert!(diff.text().contains("more.cedar"));
            let explained = test.get(&format!("{approval}/explain"), token).await.json();
            assert_eq!(explained["decision"], "needs_approval", "{explained}");
        }
    }
}

/// The default policies, where these operations wait for an admin.
fn waiting_for_an_admin(operations: &[&str]) -> Bundle {
    let mut policies = Bundle::built_in();
    let actions: Vec<String> = operations.iter().map(|name| format!("Ok::Action::\"{name}\"")).collect();
    let all = format!(
        "@id(\"all-wait\") @reason(\"a second admin\") forbid (principal is Ok::Actor, action in [{}], resource) \
         unless {{ context.approvals.contains(Ok::ApprovalKind::\"admin\") }};\n",
        actions.join(", ")
    );
    policies.files.insert("all.cedar".into(), all);
    policies
}

#[tokio::test]
async fn what_has_changed_since_is_told_of_every_kind_of_thing() {
    let test = Test::with_policies(waiting_for_an_admin(&[
        "token.revoke",
        "webhook.delete",
        "delegation.revoke",
        "actor.trust",
        "company.update",
    ]))
    .await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let token = test.get("/tokens?actor=mia", &test.admin).await.json()[0]["id"].as_str().unwrap().to_owned();
    let hook = json!({ "url": "https://hooks.example.com/a", "events": ["agent.gate.pending"] });
    let hook = test.post("/v1/webhooks", &test.admin, hook).await.json()["id"].as_str().unwrap().to_owned();
    let given = json!({ "to": "max", "scope": ["query"], "authority": "act", "ttl": "1h" });
    let given = test.post("/delegations", &cast.mia, given).await.json()["id"].as_str().unwrap().to_owned();
    let company = test.get("/company", &test.admin).await.json()["version"].clone();

    let mut asked = Vec::new();
    for (method, path, body) in [
        ("DELETE", format!("/tokens/id/{token}"), None),
        ("DELETE", format!("/v1/webhooks/{hook}"), None),
        ("DELETE", format!("/delegations/{given}"), None),
        ("POST", "/actors/bot/trust".into(), Some(json!({ "tier": "assist", "reason": "r" }))),
        ("PATCH", "/company".into(), Some(json!({ "name": "Another", "version": company }))),
    ] {
        let waits = test.call(method, &path, &ben, body).await;
        assert_eq!(waits.status, 202, "{path}: {}", waits.text());
        asked.push((path, waits.json()["approval"].as_str().unwrap().to_owned()));
    }
    for (path, id) in &asked {
        let explained = test.get(&format!("/approvals/{id}/explain"), &test.admin).await.json();
        assert_eq!(explained["diff"], json!({}), "{path}");
    }
    let narrowed =
        test.call("PATCH", &format!("/tokens/id/{token}"), &test.admin, Some(json!({ "scopes": ["read"] }))).await;
    assert_eq!(narrowed.status, 200, "{}", narrowed.text());
    let moved = json!({ "url": "https://other.example.com/b" });
    assert_eq!(test.call("PATCH", &format!("/v1/webhooks/{hook}"), &test.admin, Some(moved)).await.status, 200);
    test.post("/kill", &test.admin, json!({ "scope": "actor:mia", "reason": "r" })).await;
    let rows = [("token", "scopes"), ("webhook", "host")];
    for (noun, field) in rows {
        let (_, id) = asked.iter().find(|(path, _)| path.contains(noun)).unwrap();
        let explained = test.get(&format!("/approvals/{id}/explain"), &test.admin).await.json();
        let shown = test.get(&format!("/approvals/{id}"), &test.admin).await.json();
        assert_eq!((&explained["args"], &explained["withheld"]), (&shown["args"], &shown["withheld"]));
        assert!(explained["args"].is_object(), "{explained}");
        assert!(explained["diff"][field].is_object(), "{noun}: {explained}");
    }
}

/// A company whose tick needs a second admin's approval, and the token that `ana` issued for the second, `ben`.
async fn two_admins() -> (Test, String) {
    let mut policies = Bundle::built_in();
    policies.files.insert("tick.cedar".into(), "@id(\"tick-with\") @reason(\"a second admin\") forbid (principal is Ok::Actor, action == Ok::Action::\"tick\", resource) unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n".into());
    let test = Test::with_policies(policies).await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let issued = test.post("/tokens", &test.admin, json!({ "for": "ben" })).await;
    let kept = issued.json()["token"].as_str().unwrap().to_owned();
    (test, kept)
}

#[tokio::test]
async fn who_issued_a_token_does_not_decide_with_it() {
    let (test, kept) = two_admins().await;
    let inbox = test.local_as("ben", "inbox.list", json!({})).await;
    assert!(inbox.to_string().contains("ana issued a token for you"), "{inbox}");
    // A token that was issued with such a one is no better.
    let second = test.post("/tokens", &kept, json!({})).await.json()["token"].as_str().unwrap().to_owned();
    let waits = test.post("/tick", &test.admin, json!({})).await;
    let path =
        format!("/approvals/{}", waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())));
    for token in [&kept, &second] {
        let refused = test.post(&path, token, json!({ "decision": "approve" })).await;
        let told = "policy denied approval.decide: who issued this token does not decide their own request with it";
        assert_eq!(refused.error(), format!("403 not_approver {told}"));
    }
    let own = test.token("ben", json!({})).await;
    assert_eq!(test.post(&path, &own, json!({ "decision": "approve" })).await.status, 200);
}

#[tokio::test]
async fn who_issued_a_token_does_not_decide_what_was_asked_with_it() {
    let (test, kept) = two_admins().await;
    let cem = test.add("cem", "person", json!({ "role": "admin" })).await;
    // Ana, in the name of ben, and then in her own.
    let waits = test.post("/tick", &kept, json!({})).await;
    let approval = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    let refused = test.post(&approval, &test.admin, json!({ "decision": "approve" })).await;
    let told = "policy denied approval.decide: who issued the token that asked does not decide the request";
    assert_eq!(refused.error(), format!("403 not_approver {told}"));
    // Nor in a third name.
    let third = test.post("/tokens", &test.admin, json!({ "for": "cem" })).await.json()["token"].clone();
    let refused = test.post(&approval, third.as_str().unwrap(), json!({ "decision": "approve" })).await;
    assert_eq!(refused.error(), format!("403 not_approver {told}"));
    // So it is not among what waits for them.
    let waiting = async |token: &str| {
        let listed = test.get("/approvals?mine=true&status=pending", token).await.json();
        listed.as_array().unwrap().len()
    };
    assert_eq!(waiting(third.as_str().unwrap()).await, 0);
    assert_eq!(waiting(&cem).await, 1);
    assert_eq!(test.post(&approval, &cem, json!({ "decision": "approve" })).await.status, 200);

    let mut files = Bundle::built_in().files;
    files.insert(
        "more.cedar".into(),
        "@id(\"more\") permit (principal, action == Ok::Action::\"tick\", resource);\n".into(),
    );
    let change = test.post("/policy/proposals", &kept, json!({ "files": files, "reason": "r" })).await.json();
    let review = format!("/changes/{}/review", change["id"].as_str().unwrap());
    let refused = test.post(&review, &test.admin, json!({ "verdict": "approve" })).await;
    let told = "policy denied change.review: who issued the token that proposed does not review the change";
    assert_eq!(refused.error(), format!("403 not_approver {told}"));
    assert_eq!(test.post(&review, &cem, json!({ "verdict": "approve" })).await.status, 200);
}

#[tokio::test]
async fn a_request_is_explained_as_it_was_asked() {
    let mut policies = Bundle::built_in();
    policies.files.insert("tick.cedar".into(), "@id(\"issued-tick\") @reason(\"not their own token\") forbid (principal is Ok::Actor, action == Ok::Action::\"tick\", resource) when { context.token has issuer } unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n".into());
    let test = Test::with_policies(policies).await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let cem = test.add("cem", "person", json!({ "role": "admin" })).await;
    let issued = test.post("/tokens", &test.admin, json!({ "for": "ben" })).await.json()["token"].clone();
    let waits = test.post("/tick", issued.as_str().unwrap(), json!({})).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let path = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    let explained = test.get(&format!("{path}/explain"), &cem).await.json();
    assert_eq!(
        (&explained["decision"], &explained["because"][0]["policy"]),
        (&json!("needs_approval"), &json!("issued-tick")),
        "{explained}"
    );
}

#[tokio::test]
async fn what_an_update_would_change_is_shown_beside_what_is_so_to_those_who_may_read_it() {
    let test =
        Test::with_policies(waiting_for_an_admin(&["actor.trust", "company.update", "company.replace", "task.assign"]))
            .await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let task = test.post("/tasks", &cast.mia, json!({ "title": "t", "owner": "mia" })).await.json()["id"].clone();
    let task = task.as_str().unwrap();
    let company = test.get("/company", &test.admin).await.json();
    let waits = async |answer: crate::harness::Answer| {
        let approval = answer.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
        let effect = test.get(&format!("/approvals/{approval}/explain"), &test.admin).await.json()["effect"].clone();
        (approval, effect)
    };
    // Only the values that it gives, and of these only what is otherwise.
    let team = test.call("PATCH", "/actors/mia", &cast.lea, Some(json!({ "team": "team:dev", "name": "mia" }))).await;
    let (_, effect) = waits(team).await;
    assert_eq!(effect, json!({ "team": { "was": "team:ops", "is": "team:dev" } }));
    // A field that is called otherwise there.
    let trust = test.post("/actors/bot/trust", &test.admin, json!({ "tier": "trusted", "reason": "r" })).await;
    let (trust, effect) = waits(trust).await;
    assert_eq!(effect, json!({ "trust": { "was": "observe", "is": "trusted" } }));
    let assigned = test.post(&format!("/tasks/{task}/assign"), &cast.mia, json!({ "to": "lea" })).await;
    assert_eq!(waits(assigned).await.1, json!({ "owner": { "was": "mia", "is": "lea" } }));
    // Where no read shows one thing alone, the one at the same address does.
    let named = test
        .call("PATCH", "/company", &test.admin, Some(json!({ "name": "Other", "version": company["version"] })))
        .await;
    assert_eq!(waits(named).await.1, json!({ "name": { "was": company["name"], "is": "Other" } }));
    // All of it is replaced: what is not given is reset.
    let hours = json!({ "hours": { "from": "08:00", "to": "17:00" }, "version": company["version"] });
    let (hours, effect) = waits(test.call("PATCH", "/company", &ben, Some(hours)).await).await;
    assert_eq!(effect, json!({ "hours.from": { "was": "09:00", "is": "08:00" } }));
    let decided = test.post(&format!("/approvals/{hours}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    let version = test.get("/company", &test.admin).await.json()["version"].clone();
    let replaced = json!({ "name": company["name"], "version": version });
    let replaced = test.call("PUT", "/company", &test.admin, Some(replaced)).await;
    assert_eq!(waits(replaced).await.1, json!({ "hours.from": { "was": "08:00", "is": "09:00" } }));
    let left = test.call("PATCH", "/actors/mia", &cast.lea, Some(json!({ "no_team": true }))).await;
    assert_eq!(waits(left).await.1, json!({ "team": { "was": "team:ops", "is": null } }));
    // What makes something new changes nothing that there is.
    assert_eq!(waits(test.post("/actors", &cast.lea, person("new2")).await).await.1, json!({}));

    let decided = test.post(&format!("/approvals/{trust}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 403, "their own: {}", decided.text());
    let decided = test.post(&format!("/approvals/{trust}"), &ben, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    let explained = test.get(&format!("/approvals/{trust}/explain"), &test.admin).await.json();
    assert_eq!(explained["effect"], json!({}), "it has ended");
}
