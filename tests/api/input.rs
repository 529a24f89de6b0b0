//! What an operation is given is part of the question: rules about it are written, tested, compared, explained and replayed.

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::{Answer, Cast, Test};

/// Leads add members alone; whoever gets another role needs an admin's approval.
const BY_ROLE: &str = r#"
@id("add-with-approval")
@reason("adding somebody with a role needs an admin's approval")
forbid (
  principal is Ok::Actor,
  action in [Ok::Action::"actor.add", Ok::Action::"actor.hire"],
  resource
)
unless
{
  principal in Ok::Role::"admin" ||
  action == Ok::Action::"actor.add" && context.input.kind == "person" && (!(context.input has role) || context.input has role && context.input.role == "member") ||
  context.approvals.contains(Ok::ApprovalKind::"admin")
};
"#;

const TESTS: &str = r#"
now: 2026-03-02T09:00:00Z
teams:
  - {id: "team:ops", lead: lea}
actors:
  - {id: lea, role: lead, team: "team:ops"}
cases:
  - {actor: lea, op: actor.add, target: "team:ops", input: {kind: person, role: member}, expect: allow}
  - {actor: lea, op: actor.add, target: "team:ops", input: {kind: person}, expect: allow}
  - {actor: lea, op: actor.add, target: "team:ops", input: {kind: person, role: admin}, expect: needs_approval, approvals: [admin]}
  - {actor: lea, op: actor.add, target: "team:ops", input: {kind: agent}, expect: needs_approval}
"#;

fn by_role() -> Bundle {
    let mut policies = Bundle::built_in();
    let file = policies.files.get_mut("base/leads.cedar").unwrap();
    let (before, rest) = file.split_once("@id(\"add-with-approval\")").unwrap();
    let (_, after) = rest.split_once("};").unwrap();
    *file = format!("{before}{}{after}", BY_ROLE.trim());
    policies.files.insert("tests/roles.yaml".into(), TESTS.into());
    policies
}

fn person(id: &str, role: &str) -> Value {
    json!({ "id": id, "kind": "person", "team": "team:ops", "role": role })
}

async fn started(policies: Bundle) -> (Test, Cast) {
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    (test, cast)
}

#[tokio::test]
async fn leads_add_members_alone_and_admins_with_approval() {
    let (test, cast) = started(by_role()).await;
    assert_eq!(test.post("/actors", &cast.lea, person("new1", "member")).await.status, 201);
    let waits = test.post("/actors", &cast.lea, person("new2", "admin")).await;
    assert_eq!(waits.status, 202, "{}", waits.text());

    let ask = async |input: Value| {
        let question = json!({ "actor": "lea", "op": "actor.add", "target": "team:ops", "input": input });
        test.post("/policy/explain", &test.admin, question).await.json()
    };
    assert_eq!(ask(json!({ "kind": "person", "role": "member" })).await["decision"], "allow");
    let refused = ask(json!({ "kind": "person", "role": "auditor" })).await;
    assert_eq!(refused["decision"], "needs_approval");
    assert!(refused["because"].to_string().contains("auditor"), "what it read is told: {refused}");
    let texts: Vec<&str> = refused["what_would_change"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|set| set.as_array().unwrap())
        .map(|change| change["text"].as_str().unwrap())
        .collect();
    assert!(texts.contains(&"`role` is \"member\""), "{texts:?}");
}

#[tokio::test]
async fn a_rule_about_the_input_is_tested_compared_and_replayed() {
    let (test, cast) = started(by_role()).await;
    assert_eq!(test.post("/actors", &cast.lea, person("new1", "member")).await.status, 201);
    assert_eq!(test.post("/actors", &cast.lea, person("new2", "steward")).await.status, 202);

    let mut wider = by_role();
    let file = wider.files.get_mut("base/leads.cedar").unwrap();
    *file = file.replace("context.input.role == \"member\"", "context.input.role != \"admin\"");
    let checked = test.post("/policy/check", &test.admin, json!({ "files": wider.files })).await.json();
    assert_eq!(checked["tests"]["failed"], json!([]), "{checked}");

    let diff = test.post("/policy/diff", &test.admin, json!({ "files": wider.files })).await.json();
    let pair = diff["semantic"]["pairs"].as_array().unwrap().iter().find(|pair| pair["actor_kind"] == "lead").unwrap();
    assert_eq!((&pair["operation"], &pair["change"]), (&json!("actor.add"), &json!("looser")), "{pair}");
    let witness = &pair["witnesses"][0];
    assert!(witness["test"].as_str().unwrap().contains("input: {"), "{witness}");
    let shifted = &diff["impact"];
    assert_eq!(shifted["newly_allowed"], 1, "the steward would not have waited: {shifted}");
    assert_eq!(shifted["denominator"]["not_replayable"], 0, "{shifted}");

    // A rule about what is not kept cannot be replayed, and says so.
    let mut blind = by_role();
    let file = blind.files.get_mut("base/leads.cedar").unwrap();
    *file = file
        .replace("context.input.kind == \"person\"", "context.input.kind == \"person\" && !(context.input has name)");
    let diff = test.post("/policy/diff", &test.admin, json!({ "files": blind.files })).await.json();
    assert!(diff["impact"]["denominator"]["not_replayable"].as_u64().unwrap() >= 2, "{}", diff["impact"]);
    assert!(diff["impact"].to_string().contains("what its operation was given was not kept"), "{}", diff["impact"]);
}

async fn approved(test: &Test, waits: Answer) -> String {
    let id = waits.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", waits.text())).to_owned();
    let decided = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    id
}

#[tokio::test]
async fn a_rule_from_an_approval_allows_nothing_that_was_not_approved() {
    let (test, cast) = started(Bundle::built_in()).await;
    let id = approved(&test, test.post("/actors", &cast.lea, person("new1", "member")).await).await;
    let draft = json!({ "from_approvals": [id], "reason": "no need to ask" });
    let change = test.post("/policy/proposals", &test.admin, draft).await.json();
    assert_eq!(
        change["also_allows"],
        json!([
            "lea actor.add at another time",
            "lea actor.add by cli",
            "lea actor.add with another `id`",
            "lea actor.add with another `name`"
        ])
    );
    let path = format!("/changes/{}", change["id"].as_str().unwrap());
    let evals = test.post(&format!("{path}/evals"), &test.admin, json!({})).await;
    assert_eq!(evals.status, 200, "{}", evals.text());
    let promoted = test.post(&format!("{path}/promote"), &test.admin, json!({})).await;
    assert_eq!(promoted.status, 200, "{}", promoted.text());

    assert_eq!(test.post("/actors", &cast.lea, person("new2", "member")).await.status, 201);
    for (id, role) in [("new3", "admin"), ("new4", "auditor")] {
        assert_eq!(test.post("/actors", &cast.lea, person(id, role)).await.status, 202, "{role}");
    }
    let without_role = json!({ "id": "new5", "kind": "person", "team": "team:ops" });
    assert_eq!(test.post("/actors", &cast.lea, without_role).await.status, 202);
    let skilled = json!({ "id": "new6", "kind": "person", "team": "team:ops", "role": "member", "skills": ["root"] });
    assert_eq!(test.post("/actors", &cast.lea, skilled).await.status, 202);
}

#[tokio::test]
async fn a_call_whose_arguments_no_policy_can_look_at_makes_no_rule() {
    let (test, cast) = started(Bundle::built_in()).await;
    let id =
        approved(&test, test.post("/actors/hire", &cast.lea, crate::harness::hiring("dev9", Some("team:ops"))).await)
            .await;
    let draft = json!({ "from_approvals": [id], "reason": "no need to ask" });
    let refused = test.post("/policy/proposals", &test.admin, draft).await;
    let told = format!(
        "422 invalid from_approvals: {id}: a policy cannot look at `definition` of actor.hire: it is free JSON"
    );
    assert_eq!(refused.error(), told);
    // Left out, it could be given by the next call.
    let mut with = Bundle::built_in();
    with.files.insert("more.cedar".into(), "@id(\"installed-with\") @reason(\"a second admin\") forbid (principal is Ok::Actor, action == Ok::Action::\"blueprint.install\", resource) unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n".into());
    let (test, _) = started(with).await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let installed = test.post("/blueprints", &ben, json!({ "id": "solo-founder" })).await;
    let id = approved(&test, installed).await;
    let draft = json!({ "from_approvals": [id], "reason": "no need to ask" });
    let refused = test.post("/policy/proposals", &test.admin, draft).await;
    assert!(refused.error().contains("a policy cannot look at `files` of blueprint.install"), "{}", refused.error());
}

#[tokio::test]
async fn break_glass_adds_agents_and_puts_nobody_into_a_team_or_a_role() {
    let (test, cast) = started(Bundle::built_in()).await;
    let grant = json!({ "scope": ["actor.add"], "reason": "incident" });
    let opened = test.post("/policy/break-glass", &cast.lea, grant).await;
    assert_eq!(opened.status, 201, "{}", opened.text());
    let agent = json!({ "id": "bot9", "kind": "agent", "team": "team:ops" });
    assert_eq!(test.post("/actors", &cast.lea, agent).await.status, 201);
    for role in ["member", "admin", "lead", "steward", "auditor"] {
        let waits = test.post("/actors", &cast.lea, person(&format!("a-{role}"), role)).await;
        assert_eq!(waits.status, 202, "{role}: {}", waits.text());
    }
}

/// Only admins say, by a plan, what an agent does.
const SCRIPTED: &str = r#"
@id("only-admins-give-plans")
@reason("only admins may give an agent a plan")
forbid (
  principal is Ok::Actor,
  action in [Ok::Action::"agent.ask", Ok::Action::"task.run"],
  resource
)
when { context.input has plan }
unless { principal in Ok::Role::"admin" };
"#;

const SCRIPTED_TESTS: &str = r#"
now: 2026-03-02T09:00:00Z
actors:
  - {id: ana, role: admin}
  - {id: mia, role: member}
  - {id: bot, kind: agent, owner: mia}
cases:
  - {actor: mia, op: agent.ask, target: bot, input: {agent: bot}, expect: allow}
  - {actor: mia, op: agent.ask, target: bot, input: {agent: bot, plan: {}}, expect: deny}
  - {actor: mia, op: agent.ask, target: bot, input: {agent: bot, plan: "steps: [{say: x}]"}, expect: deny}
  - {actor: ana, op: agent.ask, target: bot, input: {agent: bot, plan: {}}, expect: allow}
"#;

#[tokio::test]
async fn policies_see_whether_an_agent_is_asked_with_a_plan() {
    let (test, cast) = started(Bundle::built_in()).await;
    let planned = || json!({ "agent": "bot", "text": "x", "plan": { "steps": [{ "say": "x" }] } });
    let written = || json!({ "agent": "bot", "text": "x", "plan": "steps: [{say: x}]" });
    for ask in [planned(), written()] {
        assert_eq!(test.post("/ask", &cast.mia, ask).await.status, 202);
    }
    let mut scripted = Bundle::built_in();
    scripted.files.insert("plans.cedar".into(), SCRIPTED.into());
    // No test tells the comparison what to ask.
    let diff = test.post("/policy/diff", &test.admin, json!({ "files": scripted.files })).await.json();
    scripted.files.insert("tests/plans.yaml".into(), SCRIPTED_TESTS.into());
    let checked = test.post("/policy/check", &test.admin, json!({ "files": scripted.files })).await.json();
    assert_eq!(checked["tests"]["failed"], json!([]), "{checked}");
    // That there was a plan is kept with the question; what it said can be erased.
    let pairs = diff["semantic"]["pairs"].as_array().unwrap().iter();
    let asks = pairs.filter(|pair| pair["operation"] == "agent.ask" && pair["actor_kind"] == "member");
    assert_eq!(asks.map(|pair| &pair["change"]).collect::<Vec<_>>(), ["tighter"], "{}", diff["semantic"]);
    assert_eq!(diff["semantic"]["unmet"], json!([]), "{}", diff["semantic"]);
    let impact = &diff["impact"];
    assert_eq!((&impact["newly_denied"], &impact["denominator"]["not_replayable"]), (&json!(2), &json!(0)), "{impact}");

    let (test, cast) = started(scripted).await;
    for ask in [planned(), written()] {
        let refused = test.post("/ask", &cast.mia, ask).await;
        assert_eq!(refused.error(), "403 denied policy denied agent.ask: only admins may give an agent a plan");
    }
    let question =
        json!({ "actor": "mia", "op": "agent.ask", "target": "bot", "input": { "agent": "bot", "plan": {} } });
    let explained = test.post("/policy/explain", &test.admin, question).await.json();
    let ways = explained["what_would_change"].to_string();
    assert!(ways.contains("`plan` is not given"), "{explained}");
    let plain = test.post("/ask", &cast.mia, json!({ "agent": "bot", "text": "x", "plan": null })).await;
    assert_eq!(plain.error(), "422 invalid no model provider is configured");
    assert_eq!(test.post("/ask", &test.admin, planned()).await.status, 202);
}
