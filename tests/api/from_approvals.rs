//! From what people approved to a policy that does not ask again.

use serde_json::{Value, json};

use crate::harness::{Answer, Cast, Test, snapshots};

/// A lead's call that an admin has approved: to take an agent into the team.
async fn hired(test: &Test, cast: &Cast, id: &str) -> String {
    let new = json!({ "id": id, "kind": "agent", "team": "team:dev", "owner": "max" });
    approved(test, test.post("/actors", &cast.liv, new).await).await
}

async fn offboarded(test: &Test, cast: &Cast, id: &str) -> String {
    let path = format!("/actors/{id}/offboard");
    approved(test, test.post(&path, &cast.liv, json!({ "reason": "gone" })).await).await
}

async fn approved(test: &Test, waits: Answer) -> String {
    let id = waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())).to_owned();
    let decided = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    id
}

async fn propose(test: &Test, token: &str, ids: Value) -> Answer {
    test.post("/policy/proposals", token, json!({ "from_approvals": ids, "reason": "no need to ask" })).await
}

async fn diff(test: &Test, change: &Value) -> Value {
    test.get(&format!("/changes/{}/diff?semantic=false", change["id"].as_str().unwrap()), &test.admin).await.json()
}

#[tokio::test]
async fn a_drafted_policy_lets_such_calls_go_on_and_nobody_elses() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = hired(&test, &cast, "dev1").await;
    let proposed = propose(&test, &test.admin, json!([id])).await;
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let change = proposed.json();
    assert_eq!(change["state"], "proposed", "nothing comes into force by it");
    assert_eq!(test.get("/policy/applied", &test.admin).await.json()["version"], 1);

    let text = diff(&test, &change).await["text"].clone();
    snapshots("api")
        .bind(|| insta::assert_snapshot!("a_rule_from_an_approval", serde_json::to_string_pretty(&text).unwrap()));

    let path = format!("/changes/{}", change["id"].as_str().unwrap());
    let evals = test.post(&format!("{path}/evals"), &test.admin, json!({})).await;
    assert_eq!(evals.status, 200, "{}", evals.text());
    let promoted = test.post(&format!("{path}/promote"), &test.admin, json!({})).await;
    assert_eq!(promoted.status, 200, "{}", promoted.text());

    let agent = |id: &str, team: &str| json!({ "id": id, "kind": "agent", "team": team, "owner": "max" });
    assert_eq!(test.post("/actors", &cast.liv, agent("dev2", "team:dev")).await.status, 201);
    assert_eq!(test.post("/actors", &cast.lea, agent("ops2", "team:ops")).await.status, 202);
    assert_eq!(test.post("/actors", &cast.liv, agent("ops3", "team:ops")).await.status, 403);
    assert_eq!(test.post("/actors/max/offboard", &cast.liv, json!({ "reason": "r" })).await.status, 202);
}

#[tokio::test]
async fn what_was_approved_apart_is_not_allowed_together() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let agent = |id: &str, owner: &str, skills: Value| json!({ "id": id, "kind": "agent", "team": "team:dev", "owner": owner, "skills": skills });
    let of_max = agent("dev1", "max", json!(["read"]));
    let of_liv = agent("dev2", "liv", json!(["read", "deploy"]));
    let mut ids = Vec::new();
    for new in [of_max, of_liv] {
        ids.push(approved(&test, test.post("/actors", &cast.liv, new).await).await);
    }
    let change = propose(&test, &test.admin, json!(ids)).await.json();
    let path = format!("/changes/{}", change["id"].as_str().unwrap());
    for step in ["evals", "promote"] {
        let done = test.post(&format!("{path}/{step}"), &test.admin, json!({})).await;
        assert_eq!(done.status, 200, "{}", done.text());
    }
    let asked = async |new: Value| test.post("/actors", &cast.liv, new).await.status.as_u16();
    assert_eq!(asked(agent("dev3", "max", json!(["read"]))).await, 201);
    assert_eq!(asked(agent("dev4", "liv", json!(["read", "deploy"]))).await, 201);
    assert_eq!(asked(agent("dev5", "max", json!(["read", "deploy"]))).await, 202);
    assert_eq!(asked(agent("dev6", "liv", json!(["read"]))).await, 202);
}

#[tokio::test]
async fn calls_about_several_people_become_one_about_their_team() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for id in ["joe", "jim"] {
        test.add(id, "person", json!({ "team": "team:dev" })).await;
    }
    let ids = [offboarded(&test, &cast, "joe").await, offboarded(&test, &cast, "jim").await];
    let change = propose(&test, &test.admin, json!(ids)).await.json();
    let text = diff(&test, &change).await["text"]["policies"][0]["diff"].as_str().unwrap().to_owned();
    assert!(text.contains("resource in Ok::Team::\"team:dev\""), "{text}");
    assert!(!text.contains("Ok::Actor::\"joe\""), "{text}");
    let evals = test.post(&format!("/changes/{}/evals", change["id"].as_str().unwrap()), &test.admin, json!({})).await;
    assert_eq!(evals.status, 200, "{}", evals.text());
}

#[tokio::test]
async fn a_policy_comes_from_what_people_approved_and_the_proposer_may_see() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = hired(&test, &cast, "dev1").await;
    let agent = json!({ "id": "dev2", "kind": "agent", "team": "team:dev", "owner": "max" });
    let pending = test.post("/actors", &cast.liv, agent).await.json()["approval"].as_str().unwrap().to_owned();
    let many: Vec<String> = (0..21).map(|number| format!("apr_{number}")).collect();
    for (token, ids, error) in [
        (
            &test.admin,
            json!([pending]),
            format!("422 invalid from_approvals: {pending} is pending; policies are drafted from what people approved"),
        ),
        (&test.admin, json!([]), "422 invalid from_approvals: name 1 to 20 approvals".into()),
        (&test.admin, json!(many), "422 invalid from_approvals: name 1 to 20 approvals".into()),
        (&test.admin, json!(["apr_none"]), "404 not_found not found".into()),
        (&cast.sam, json!([id]), "404 not_found not found".into()),
        (&cast.mia, json!([id]), "403 denied policy denied policy.propose: no policy permits it".into()),
    ] {
        let answer = propose(&test, token, ids.clone()).await;
        assert_eq!(answer.error(), error, "{ids}");
    }
    let both = json!({ "from_approvals": [id], "version": 1, "reason": "r" });
    let answer = test.post("/policy/proposals", &test.admin, both).await;
    assert_eq!(answer.error(), "422 invalid files: give one of files, version and from_approvals");
}

#[tokio::test]
async fn what_one_was_allowed_is_not_allowed_to_another() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ops = json!({ "id": "ops1", "kind": "agent", "team": "team:ops", "owner": "mia" });
    let ids = [hired(&test, &cast, "dev1").await, approved(&test, test.post("/actors", &cast.lea, ops).await).await];
    let change = propose(&test, &test.admin, json!(ids)).await.json();
    let text = diff(&test, &change).await["text"]["policies"][0]["diff"].as_str().unwrap().to_owned();
    let pairs = text.matches("principal ==").count();
    assert_eq!((pairs, text.matches("resource ==").count()), (2, 2), "{text}");
}

#[tokio::test]
async fn two_policies_of_one_file_get_their_exceptions_both() {
    let mut policies = ok::policy::Bundle::built_in();
    let two = ["one", "two"].map(|id| {
        format!("@id(\"{id}\") @reason(\"{id}\") forbid (principal is Ok::Actor, action == Ok::Action::\"tick\", resource) unless {{ context.approvals.contains(Ok::ApprovalKind::\"admin\") }};\n")
    });
    policies.files.insert("two.cedar".into(), two.concat());
    let test = Test::with_policies(policies).await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let waits = test.post("/tick", &ben, json!({})).await;
    let id = approved(&test, waits).await;
    let change = propose(&test, &test.admin, json!([id])).await;
    assert_eq!(change.status, 201, "{}", change.text());
    let policies = diff(&test, &change.json()).await["text"]["policies"].clone();
    let excepted = |policy: &&Value| policy["diff"].as_str().unwrap().contains("principal == Ok::Actor::\"ben\"");
    assert_eq!(policies.as_array().unwrap().iter().filter(excepted).count(), 2, "{policies}");
}
