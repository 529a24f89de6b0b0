//! A call that two teams must approve, by distinct people.

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

const RULES: &str = "kinds:
  platform: {eligible: [{team: \"team:platform\"}]}
  security: {eligible: [{team: \"team:security\"}]}
";

const POLICY: &str = "@id(\"two-teams\") @reason(\"offboarding takes platform and security\")
forbid (principal is Ok::Actor, action == Ok::Action::\"actor.offboard\", resource)
unless { context.approvals.contains(Ok::ApprovalKind::\"platform\") && context.approvals.contains(Ok::ApprovalKind::\"security\") };
";

/// `pat` is of platform, `sue` of security; `eve` is of platform and leads security.
struct Teams {
    test: Test,
    pat: String,
    sue: String,
    eve: String,
    path: String,
}

impl Teams {
    async fn new() -> Teams {
        let mut policies = Bundle::built_in();
        policies.files.insert("approvals.yaml".into(), RULES.into());
        policies.files.insert("two.cedar".into(), POLICY.into());
        let test = Test::with_policies(policies).await;
        test.add("team:platform", "team", json!({})).await;
        let eve = test.add("eve", "person", json!({ "team": "team:platform" })).await;
        test.add("team:security", "team", json!({ "lead": "eve" })).await;
        let pat = test.add("pat", "person", json!({ "team": "team:platform" })).await;
        let sue = test.add("sue", "person", json!({ "team": "team:security" })).await;
        test.add("max", "person", json!({})).await;
        let waits = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "gone" })).await;
        let id = waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())).to_owned();
        Teams { test, pat, sue, eve, path: format!("/approvals/{id}") }
    }

    async fn approve(&self, token: &str, kind: Option<&str>) -> Answer {
        self.test.post(&self.path, token, json!({ "decision": "approve", "kind": kind })).await
    }

    async fn held(&self) -> Vec<Value> {
        let shown = self.test.get(&self.path, &self.test.admin).await.json();
        shown["approvers"].as_array().unwrap().iter().map(|kind| kind["held"].clone()).collect()
    }
}

#[tokio::test]
async fn a_member_of_both_teams_counts_for_one_of_them() {
    let teams = Teams::new().await;
    assert_eq!(teams.approve(&teams.eve, None).await.json()["status"], "pending");
    assert_eq!(teams.held().await, [json!(["eve"]), json!([])]);
    assert_eq!(teams.approve(&teams.eve, Some("security")).await.error(), "409 conflict you have decided already");
    // Another of the same team is no help; one of the other team is.
    assert_eq!(
        teams.approve(&teams.pat, Some("security")).await.error(),
        "403 not_approver you may not give this approval"
    );
    assert_eq!(teams.approve(&teams.sue, None).await.json()["status"], "used");
    assert_eq!(teams.test.get("/actors/max", &teams.test.admin).await.json()["status"], "offboarded");
}

#[tokio::test]
async fn a_member_of_both_teams_says_which_they_speak_for() {
    let teams = Teams::new().await;
    assert_eq!(teams.approve(&teams.eve, Some("security")).await.json()["status"], "pending");
    assert_eq!(teams.held().await, [json!([]), json!(["eve"])]);
    assert_eq!(teams.approve(&teams.pat, None).await.json()["status"], "used");
}

#[tokio::test]
async fn whom_the_inbox_tells_of_a_request_follows_it_in_the_events() {
    let teams = Teams::new().await;
    teams.approve(&teams.sue, None).await;
    teams.approve(&teams.pat, None).await;
    let seen = async |token: &str| -> Vec<String> {
        let told = teams.test.get("/events?type=approval_requested,approval_decided,approval_used", token).await;
        let kinds = told.json()["events"].as_array().unwrap().clone();
        kinds.iter().map(|record| record["event"]["type"].as_str().unwrap().to_owned()).collect()
    };
    let all = ["approval_requested", "approval_decided", "approval_decided", "approval_used"];
    assert_eq!(seen(&teams.pat).await, all);
    assert_eq!(seen(&teams.eve).await, all, "eve did not decide, and learns that nothing waits for her any more");
    let stranger = teams.test.add("tom", "person", json!({})).await;
    assert_eq!(seen(&stranger).await, [""; 0]);
}

#[tokio::test]
async fn whoever_has_approved_thinks_better_of_it_while_others_still_have_to_approve() {
    let teams = Teams::new().await;
    assert_eq!(teams.approve(&teams.pat, None).await.json()["status"], "pending");
    let rejected = teams.test.post(&teams.path, &teams.pat, json!({ "decision": "reject" })).await.json();
    assert_eq!((&rejected["status"], &rejected["decisions"][0]["decision"]), (&json!("rejected"), &json!("reject")));
    assert_eq!(rejected["decisions"].as_array().unwrap().len(), 1);
    assert_eq!(teams.approve(&teams.sue, None).await.error(), "409 conflict the approval is rejected already, by pat");
}

/// Whoever is in a team is in what that is in, near and far: at once when it moves, and after a restart.
#[tokio::test]
async fn a_team_that_moves_takes_along_everybody_in_and_below_it() {
    let mut policies = Bundle::built_in();
    let barred = "@id(\"barred\") @reason(\"not for security\")
        forbid (principal in Ok::Team::\"team:security\", action == Ok::Action::\"company.read\", resource);";
    policies.files.insert("approvals.yaml".into(), RULES.into());
    policies.files.insert("two.cedar".into(), format!("{POLICY}\n{barred}"));
    let test = Test::with_policies(policies).await;
    test.add("team:security", "team", json!({})).await;
    test.add("team:middle", "team", json!({})).await;
    test.add("team:low", "team", json!({ "team": "team:middle" })).await;
    let ann = test.add("ann", "person", json!({ "team": "team:low" })).await;
    test.add("sue", "person", json!({ "team": "team:security" })).await;
    test.add("max", "person", json!({})).await;
    let waits = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "gone" })).await;
    let path = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    let reads = async |test: &Test| {
        let shown = test.get(&path, &test.admin).await.json();
        let asked = shown["approvers"].as_array().unwrap().iter().find(|kind| kind["kind"] == "security").cloned();
        (test.get("/company", &ann).await.status.as_u16(), asked.unwrap()["any_of"].clone())
    };
    let (outside, inside) = ((200, json!(["sue"])), (403, json!(["ann", "sue"])));
    assert_eq!(reads(&test).await, outside);
    for (place, expected) in [(json!({ "team": "team:security" }), &inside), (json!({ "no_team": true }), &outside)] {
        let moved = test.call("PATCH", "/actors/team:middle", &test.admin, Some(place)).await;
        assert_eq!(moved.status, 200, "{}", moved.text());
        assert_eq!(reads(&test).await, *expected);
    }
    let back = json!({ "team": "team:security" });
    assert_eq!(test.call("PATCH", "/actors/team:middle", &test.admin, Some(back)).await.status, 200);
    let test = test.reopened().await;
    assert_eq!(reads(&test).await, inside);
}
