//! POST /policy/check.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::permit;
use crate::harness::Test;

#[tokio::test]
async fn people_check_policies_and_agents_do_not() {
    // Of these policies alone, nobody of a company could make others.
    let locked_out = || {
        json!({
            "file": "*.cedar", "line": 1, "span": [0, 0], "code": "locked_out", "severity": "error", "help": null,
            "message": "under these policies nobody could perform policy.propose, even with approvals, so they could never be changed again: permit it to somebody",
        })
    };
    let test = Test::new().await;
    let max = test.add("max", "person", json!({})).await;
    let bot = test.add("bot", "agent", json!({ "owner": "max" })).await;
    let files = json!({ "files": { "a.cedar": permit("a", "tick"), "tests/a.yaml": "actors: [{id: ana, role: admin}]\ncases:\n  - {actor: ana, op: tick, expect: allow}\n" } });
    let checked = test.post("/policy/check", &max, files.clone()).await;
    assert_eq!(
        checked.json(),
        json!({ "ok": false, "policies": 1, "problems": [locked_out()], "tests": { "run": 1, "failed": [] }, "coverage": 33, "uncovered": [
            {
                "file": "a.cedar", "line": 3, "span": [20, 30], "code": "part_not_covered", "severity": "note",
                "message": "no test of `a` has seen `principal in Ok::Role::\"admin\"` false", "help": null
            },
            {
                "file": "a.cedar", "line": 4, "span": [54, 28], "code": "part_not_covered", "severity": "note",
                "message": "no test of `a` has seen `action == Ok::Action::\"tick\"` false", "help": null
            },
        ] })
    );
    assert_eq!(test.post("/policy/check", &bot, files).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_token_with_the_scope_policy_reaches_it() {
    let test = Test::new().await;
    let files = json!({ "files": {} });
    let policy = test.token("ana", json!({ "scopes": ["policy"] })).await;
    assert_eq!(test.post("/policy/check", &policy, files.clone()).await.status, 200);
    let read = test.token("ana", json!({ "scopes": ["read"] })).await;
    assert_eq!(
        test.post("/policy/check", &read, files).await.error(),
        "403 token_scope this token's scopes do not reach POST /policy/check"
    );
}

#[tokio::test]
async fn problems_come_with_file_line_span_and_code() {
    let test = Test::new().await;
    let checked =
        test.post("/policy/check", &test.admin, json!({ "files": { "x/a.cedar": permit("a", "tickk") } })).await.json();
    assert_eq!(checked["ok"], json!(false));
    let problem = &checked["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&json!("x/a.cedar"), &json!(4)));
    assert_eq!((&problem["code"], &problem["severity"]), (&json!("policy_invalid"), &json!("error")));
}

#[tokio::test]
async fn paths_stay_inside_the_bundle() {
    let test = Test::new().await;
    for path in [
        "../a.cedar",
        "/a.cedar",
        "a\\b.cedar",
        "x/../a.cedar",
        "./a.cedar",
        "x//a.cedar",
        ".a.cedar",
        "a.txt",
        "x/approvals.yaml",
        "a\n.cedar",
        "",
    ] {
        let mut files = serde_json::Map::new();
        files.insert(path.into(), Value::from(""));
        let answer = test.post("/policy/check", &test.admin, json!({ "files": files })).await;
        assert_eq!(answer.status, 422, "{path}: {}", answer.text());
    }
    let answer = test.post("/policy/check", &test.admin, json!({ "file": {} })).await;
    assert_eq!(answer.status, 422, "{}", answer.text());
}

#[tokio::test]
async fn a_threshold_that_the_company_cannot_meet_is_told() {
    let test = Test::new().await;
    let policy = "@id(\"a\")\n@reason(\"two must agree\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"tick\",\n  resource\n)\nunless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n";
    let approvals = "kinds:\n  admin:\n    eligible:\n      - role: admin\n    threshold: 2\n";
    let cases = "cases: [{actor: server, op: tick, expect: deny}]";
    let files = json!({ "files": { "a.cedar": policy, "approvals.yaml": approvals, "tests/a.yaml": cases } });
    let unreachable = async || {
        let checked = test.post("/policy/check", &test.admin, files.clone()).await.json();
        let problems = checked["problems"].as_array().unwrap().clone();
        problems.into_iter().find(|problem| problem["code"] == "approvals_unreachable")
    };
    let told = unreachable().await.unwrap();
    assert_eq!(told["message"], json!("an approval of `admin` takes 2, and the directory has 1 who may give it"));
    assert_eq!(told["line"], json!(5));
    test.add("eva", "person", json!({ "role": "admin" })).await;
    assert_eq!(unreachable().await, None);
}

#[tokio::test]
async fn a_check_knows_how_long_requests_live_where_no_rule_says() {
    let test = Test::new().await;
    let late = async |hours: u32| {
        let approvals = format!("kinds:\n  admin:\n    eligible: [{{role: admin}}]\n    remind_hours: {hours}\n");
        let files = json!({ "files": { "approvals.yaml": approvals } });
        let checked = test.post("/policy/check", &test.admin, files).await.json();
        let late = checked["problems"].as_array().unwrap().iter().find(|problem| problem["code"] == "expires_first");
        late.map(|problem| problem["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(late(30).await, None);
    test.call("PATCH", "/company", &test.admin, Some(json!({ "approvals": { "default_ttl_h": 30 } }))).await;
    assert_eq!(
        late(30).await.unwrap(),
        "kinds.admin.remind_hours: a request expires after 30 h, before these 30 h are over"
    );
    assert_eq!(late(29).await, None);
}

/// Whom the caller may not see is named as whom nobody knows.
#[tokio::test]
async fn a_check_tells_whom_policies_name_and_nobody_knows() {
    let test = Test::new().await;
    test.cast().await;
    test.add("team:new", "team", json!({})).await;
    let policy = "@id(\"a\") @reason(\"r\") forbid (principal in Ok::Team::\"team:op\", action == Ok::Action::\"task.read\", resource) when { [Ok::Actor::\"mia\", Ok::Actor::\"nyx\"].contains(principal) || principal in Ok::Team::\"team:ops\" };";
    let limits = "teams:\n  team:ops: {month_cents: 5}\n  team:opps: {month_cents: 5}\n";
    let approvals = "kinds:\n  admin:\n    eligible: [{role: admin}, {team: team:op}]\n    escalate: {after_hours: 2, to: [{team: team:opps}, {team: team:new}]}\n";
    let files = json!({ "files": { "a.cedar": policy, "approvals.yaml": approvals, "limits.yaml": limits } });
    let checked = test.post("/policy/check", &test.admin, files).await.json();
    let told = checked["problems"].as_array().unwrap().iter().filter(|problem| problem["code"] == "names_nobody");
    let told: Vec<&str> = told.map(|problem| problem["message"].as_str().unwrap()).collect();
    assert_eq!(
        told,
        [
            "the policy `a` names the team `team:op`, which does not exist",
            "the policy `a` names the actor `nyx`, which does not exist",
            "approvals of `admin` escalate to the team `team:opps`, which does not exist",
            "there is a budget for the team `team:opps`, which does not exist",
        ]
    );
}

#[tokio::test]
async fn a_comparison_tells_whom_the_candidate_names_and_nobody_knows() {
    let test = Test::new().await;
    test.cast().await;
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    let policy = |name: &str| {
        format!("@id(\"late\") permit (principal == Ok::Actor::\"{name}\", action == Ok::Action::\"tick\", resource);")
    };
    let mut warnings = async |name: &str| {
        files["late.cedar"] = Value::from(policy(name));
        let compared = test.post("/policy/diff", &test.admin, json!({ "files": files, "impact": false })).await.json();
        compared["warnings"].clone()
    };
    assert_eq!(warnings("mia").await, Value::Null);
    let told = warnings("nyx").await;
    assert_eq!(told[0]["message"], "the policy `late` names the actor `nyx`, which does not exist");
    assert_eq!(
        (&told[0]["file"], &told[0]["line"], told.as_array().unwrap().len()),
        (&json!("late.cedar"), &json!(1), 1)
    );
}

#[tokio::test]
async fn a_comparison_tells_which_approvals_too_few_people_could_give() {
    let test = Test::new().await;
    test.cast().await;
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    files["late.cedar"] = Value::from(
        "@id(\"late\") @reason(\"r\") forbid (principal, action == Ok::Action::\"tick\", resource) unless { context.approvals.contains(Ok::ApprovalKind::\"finance\") };",
    );
    let compared = test.post("/policy/diff", &test.admin, json!({ "files": files, "impact": false })).await.json();
    let told = &compared["warnings"][0];
    assert_eq!(told["code"], "approvals_unreachable", "{told}");
    assert_eq!(told["message"], "an approval of `finance` takes 1, and the directory has 0 who may give it");
}

#[tokio::test]
async fn a_request_runs_only_so_many_tests() {
    let test = Test::new().await;
    let ops = "tick,".repeat(700);
    let matrix = format!(
        "actors: [{{id: max}}]\nmatrix:\n  - {{actors: [{}], ops: [{ops}], expect: {{deny: rest}}}}\n",
        "max,".repeat(25)
    );
    let mut files = serde_json::Map::new();
    for number in 0..100 {
        files.insert(format!("tests/{number}.yaml"), Value::from(matrix.clone()));
    }
    for number in 0..40 {
        files.insert(format!("{number}.cedar"), Value::from(permit(&format!("p{number}"), "tick")));
    }
    let begun = std::time::Instant::now();
    let checked = test.post("/policy/check", &test.admin, json!({ "files": files })).await.json();
    assert!(checked["tests"]["run"].as_u64().unwrap() <= 500_000 / 40);
    assert_eq!(checked["tests"]["failed"][0]["code"], "tests_left_out", "{checked}");
    assert!(checked["tests"]["failed"][0]["message"].as_str().unwrap().contains("too many to run here"));
    assert!(begun.elapsed().as_secs() < 60);
}
