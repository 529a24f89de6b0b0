//! What outlives a token that was stolen, and what ends it.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::approvals::two_admins;
use super::with_token::Leaked;
use crate::harness::Test;

impl Leaked {
    /// Does with the stolen token all that outlives it: what a reader of the token is told of, by field. And the value of a token
    /// that was issued with it.
    async fn outliving(&self) -> (Value, String) {
        let Leaked { test, stolen: (token, _), .. } = self;
        test.add("bot", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
        let made = async |path: &str, body: Value| {
            let answer = test.post(path, token, body).await;
            assert_eq!(answer.status, 201, "{path}: {}", answer.text());
            answer.json()
        };
        let id = |made: Value| made["id"].as_str().unwrap().to_owned();
        let more = made("/tokens", json!({})).await;
        let value = more["token"].as_str().unwrap().to_owned();
        let delegation = id(made("/delegations", json!({ "to": "bot", "authority": "inform" })).await);
        let hook = json!({ "url": "https://example.org/a", "events": ["agent.gate.pending"] });
        let webhook = id(made("/v1/webhooks", hook).await);
        let grant = json!({ "scope": ["actor.offboard"], "reason": "the key is stolen", "minutes": 10 });
        let grant = id(made("/policy/break-glass", grant).await);
        let request = self.add("new", token).await;
        let left = json!({
            "requests": [request], "tokens": [id(more)], "delegations": [delegation], "webhooks": [webhook],
            "break_glass": [grant],
        });
        (left, value)
    }

    /// What somebody reads of the stolen token, beside the token itself.
    async fn read(&self, reader: &str) -> Value {
        let shown = self.test.get(&format!("/tokens/id/{}", self.stolen.1), reader).await;
        assert_eq!(shown.status, 200, "{}", shown.text());
        let Value::Object(fields) = shown.json() else { panic!("{}", shown.text()) };
        let token = [
            "id",
            "actor",
            "issuer",
            "kind",
            "label",
            "scopes",
            "access",
            "status",
            "created_at",
            "expires_at",
            "revoked_at",
        ];
        fields.into_iter().filter(|(name, _)| !token.contains(&name.as_str())).collect()
    }
}

const LEADS_SUBSCRIBE: &str = "@id(\"leads-subscribe\") permit (principal in Ok::Role::\"lead\", action == Ok::Action::\"webhook.create\", resource);";

#[tokio::test]
async fn a_token_is_shown_with_what_outlives_it_until_each_has_ended() {
    let mut policies = Bundle::built_in();
    policies.files.insert("hooks.cedar".into(), LEADS_SUBSCRIBE.into());
    let leaked = Leaked::of(Test::with_policies(policies).await).await;
    let Leaked { test, lea, ben, stolen: (_, id), .. } = &leaked;
    assert_eq!(leaked.read(lea).await, json!({}), "nothing was begun with it yet");
    let (left, issued) = leaked.outliving().await;
    let further = test.post("/tokens", &issued, json!({})).await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(leaked.read(ben).await, left);
    assert_eq!(leaked.read(lea).await, left);
    let mia = test.add("mia", "person", json!({ "team": "team:ops" })).await;
    for (reader, token) in [(&mia, id.as_str()), (ben, "tok_01M7A0000000000000000000000")] {
        assert_eq!(test.get(&format!("/tokens/id/{token}"), reader).await.status, 404);
    }
    // Revoked, or expired since, it is the same.
    assert_eq!(leaked.revoke(&format!("/tokens/id/{id}")).await.json()["revoked"], 1);
    assert_eq!(leaked.read(ben).await, left);
    let first = |field: &str| left[field][0].as_str().unwrap().to_owned();
    let [request, more, delegation, webhook, grant] =
        ["requests", "tokens", "delegations", "webhooks", "break_glass"].map(first);
    for (method, path, body) in [
        ("POST", format!("/approvals/{request}"), Some(json!({ "decision": "reject" }))),
        ("DELETE", format!("/tokens/id/{more}"), None),
        ("DELETE", format!("/delegations/{delegation}"), None),
        ("DELETE", format!("/v1/webhooks/{webhook}"), None),
        ("DELETE", format!("/policy/break-glass/{grant}"), None),
    ] {
        let ended = test.call(method, &path, ben, body).await;
        assert_eq!(ended.status, 200, "{path}: {}", ended.text());
    }
    // What was issued with a token that was issued with it is found once that has ended.
    assert_eq!(leaked.read(ben).await, json!({ "tokens": [further] }));
    leaked.revoke(&format!("/tokens/id/{further}")).await;
    assert_eq!(leaked.read(ben).await, json!({}));
}

#[tokio::test]
async fn whoever_revokes_a_token_ends_what_was_requested_with_it_and_nothing_else() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own, .. } = &leaked;
    test.add("bot", "agent", json!({ "team": "team:ops", "owner": "lea", "trust": "observe" })).await;
    let in_a_run = leaked.in_a_run(&stolen.0).await;
    let [theirs, others] = [leaked.add("new", &stolen.0).await, leaked.add("other", &own.0).await];
    let revoked = leaked.revoke(&format!("/tokens/id/{}?requests=true", stolen.1)).await.json();
    assert_eq!((&revoked["revoked"], &revoked["ended"], revoked.get("requests")), (&json!(1), &json!(2), None));
    for (id, status) in [(&theirs, "stale"), (&in_a_run, "cancelled"), (&others, "pending")] {
        assert_eq!(test.get(&format!("/approvals/{id}"), ben).await.json()["status"], status);
    }
    let approve = json!({ "decision": "approve" });
    let late = test.post(&format!("/approvals/{theirs}"), ben, approve).await;
    assert_eq!(late.error(), "409 conflict the approval is stale already");
    let told = test.get("/inbox", &leaked.lea).await.text();
    assert!(told.contains("your request is stale (the token that it was made with was revoked)"), "{told}");
    test.go_on().await;
    let run = test.get("/runs", ben).await.json()[0].clone();
    assert_eq!(run["status"], "completed", "the step was refused, and the run went on: {run}");
    // Of all tokens of somebody, and of one that is revoked already.
    let all = leaked.revoke("/tokens/lea?requests=true").await.json();
    assert_eq!((&all["revoked"], &all["ended"]), (&json!(2), &json!(1)));
    let again = leaked.revoke(&format!("/tokens/id/{}?requests=true", stolen.1)).await.json();
    assert_eq!((&again["revoked"], again.get("ended")), (&json!(0), None));
}

#[tokio::test]
async fn what_was_only_decided_with_a_token_is_another_person_s_request_and_stays() {
    let leaked = Leaked::of(Test::with_policies(two_admins()).await).await;
    let Leaked { test, ben, own, .. } = &leaked;
    let id = leaked.add("new", &own.0).await;
    let voted = test.post("/tokens", ben, json!({})).await.json();
    let approve = json!({ "decision": "approve" });
    let pending = test.post(&format!("/approvals/{id}"), voted["token"].as_str().unwrap(), approve).await.json();
    assert_eq!(pending["status"], "pending");
    let revoked = leaked.revoke(&format!("/tokens/id/{}?requests=true", voted["id"].as_str().unwrap())).await.json();
    assert_eq!(revoked, json!({ "revoked": 1, "requests": [id] }));
}
