//! Hiring: an agent joins by its definition, whole or not at all.

use serde_json::{Value, json};

use crate::harness::{Answer, Test, hiring};

const CLERK: &str = "\
apiVersion: ok/v1
kind: Agent
metadata:
  name: clerk
  title: Invoice clerk
  labels: {team: ops}
spec:
  owner: mia
  model: {prefer: [large, medium], temperature: 0.5}
  playbook: playbooks/clerk.md
  skills: [invoices]
  tools: [mail.draft]
  knowledge: {topics: [vendors], collections: [invoices]}
  trust: assist
  limits: {run_cents: 50, day_cents: 1000, steps: 40, wall: 20m}
";

async fn hire(test: &Test, token: &str, definition: &str) -> Answer {
    test.post("/actors/hire", token, json!({ "definition": definition })).await
}

#[tokio::test]
async fn a_hired_agent_is_shown_with_what_it_was_hired_by() {
    let test = Test::new().await;
    test.cast().await;
    let hired = hire(&test, &test.admin, CLERK).await;
    assert_eq!(hired.status, 201, "{}", hired.text());
    assert_eq!(hired.json()["tools_missing"], json!(["mail.draft"]));
    let shown = test.get("/actors/clerk", &test.admin).await.json();
    let is = |field: &str| shown[field].as_str().unwrap_or_default().to_owned();
    assert_eq!([is("kind"), is("name"), is("team"), is("owner")], ["agent", "Invoice clerk", "team:ops", "mia"]);
    assert_eq!((&shown["skills"], &shown["trust"]), (&json!(["invoices"]), &json!("assist")));
    assert_eq!(shown["definition"]["spec"]["limits"]["wall"], "20m");
    assert_eq!(shown["definition"]["spec"]["model"]["temperature"], json!(0.5));
    assert_eq!(test.newest(2).await, ["actor_added", "actor_hired"]);
    assert_eq!(hire(&test, &test.admin, CLERK).await.error(), "409 conflict metadata.name: clerk is taken");
    // What is kept survives a restart, and people have no definition.
    let test = test.reopened().await;
    assert_eq!(test.get("/actors/clerk", &test.admin).await.json()["definition"], shown["definition"]);
    assert_eq!(test.get("/actors/mia", &test.admin).await.json()["definition"], Value::Null);
}

#[tokio::test]
async fn more_trust_than_none_is_for_whoever_may_set_it() {
    let test = Test::new().await;
    test.cast().await;
    // Its owner may not, and hires it all the same.
    let own = hire(&test, &test.admin, &CLERK.replace("  owner: mia\n", "")).await.json();
    assert_eq!(
        (&own["owner"], &own["trust"], &own["trust_asked"]),
        (&json!("ana"), &json!("observe"), &json!("assist"))
    );
    // Whoever asks for nothing gets nothing.
    let meek = CLERK.replace("  trust: assist\n", "").replace("name: clerk", "name: meek");
    let meek = hire(&test, &test.admin, &meek).await.json();
    assert_eq!((&meek["trust"], &meek["trust_asked"]), (&json!("observe"), &Value::Null));
    // Every operation that a run may call is there, and a question to a person.
    let able = CLERK.replace("name: clerk", "name: able").replace("mail.draft", "task.read, run.ask");
    assert_eq!(hire(&test, &test.admin, &able).await.json()["tools_missing"], Value::Null);
}

#[tokio::test]
async fn a_lead_hires_into_their_own_team_with_an_admins_approval() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let asked = hire(&test, &cast.lea, CLERK).await;
    assert_eq!(asked.status, 202);
    assert!(asked.text().contains("actor.hire needs approval (admin)"), "{}", asked.text());
    assert_eq!(test.get("/actors/clerk", &ben).await.status, 404);
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let done = test.post(&path, &ben, json!({ "decision": "approve", "note": "" })).await.json();
    // In the lead's name: who may set the trust of their team's agents.
    assert_eq!((&done["status"], &done["result"]["trust"]), (&json!("used"), &json!("assist")), "{done}");
    for elsewhere in ["{team: dev}", "{}"] {
        let refused = hire(&test, &cast.lea, &CLERK.replace("{team: ops}", elsewhere)).await;
        assert_eq!(refused.status, 403, "{elsewhere}: {}", refused.text());
    }
    assert_eq!(hire(&test, &cast.mia, CLERK).await.status, 403);
}

#[tokio::test]
async fn what_cannot_be_is_told_by_key_and_line_and_nobody_joins() {
    let test = Test::new().await;
    test.cast().await;
    let (first, second) = CLERK.split_once("spec:\n").unwrap();
    let bomb: String = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".into(), |text, level| {
        format!("{text}a{level}: &a{level} [{}]\n", format!("*a{},", level - 1).repeat(10))
    });
    let cases = [
        (CLERK.replace("skills:", "skils:"), "definition: line 11: spec: unknown field `skils`"),
        (format!("{first}sepc:\n{second}"), "definition: line 7: unknown field `sepc`"),
        (CLERK.replace("run_cents", "runcents"), "definition: line 15: spec.limits: unknown field `runcents`"),
        (CLERK.replace("kind: Agent", "kind: Blueprint"), "definition: line 2: kind: unknown variant `Blueprint`"),
        (CLERK.replace("ok/v1", "ok/v2"), "definition: line 1: apiVersion: unknown variant `ok/v2`"),
        (CLERK.replace("trust: assist", "trust: blind"), "definition: line 8: spec: `blind` is not a trust tier"),
        (CLERK.replace("wall: 20m", "wall: 2 weeks"), "spec.limits.wall: must be a number and s, m or h"),
        (CLERK.replace("0.5", "3"), "spec.model.temperature: must be 0 to 2"),
        (CLERK.replace("name: clerk", "name: The Clerk"), "metadata.name: `The Clerk` is not an actor id"),
        (
            CLERK.replace("name: clerk", "name: hire"),
            "metadata.name: `ok`, `company`, `global`, `hidden`, `hire`, `server` and `visitor` are",
        ),
        (CLERK.replace("owner: mia", "owner: bot"), "spec.owner: there is no such person"),
        (CLERK.replace("{team: ops}", "{team: none}"), "metadata.labels.team: there is no such team"),
        ("[".repeat(50_000), "definition: line 1: "),
        (bomb, "definition: line "),
        (" ".repeat(64 * 1024 + 1), "definition: is larger than 65536 bytes"),
        (String::new(), "definition: line 1: "),
    ];
    let before = test.last_seq().await;
    for (definition, told) in cases {
        let refused = hire(&test, &test.admin, &definition).await;
        assert!(refused.error().starts_with(&format!("422 invalid {told}")), "{}", refused.text());
    }
    // Everything at once, and JSON instead of text.
    let mut both = hiring("The Clerk", None);
    both["definition"]["spec"]["limits"] = json!({ "steps": 0 });
    let told = test.post("/actors/hire", &test.admin, both).await.json();
    assert_eq!(told["problems"].as_array().unwrap().len(), 2, "{told}");
    let mut odd = hiring("clerk", None);
    odd["definition"]["spec"]["modle"] = json!({});
    let told = test.post("/actors/hire", &test.admin, odd).await;
    assert!(told.error().starts_with("422 invalid definition: spec: unknown field `modle`"), "{}", told.text());
    let huge = json!({ "definition": "x".repeat(10 << 20) }).to_string();
    let headers = [("content-type", "application/json")];
    assert_eq!(test.raw("POST", "/actors/hire", &headers, huge).await.status, 413);
    let broken = test.raw("POST", "/actors/hire", &headers, b"{\"definition\": \"\xff\xfe\"}".to_vec()).await;
    assert_eq!(broken.status, 400);
    assert_eq!(test.last_seq().await, before);
}

#[tokio::test]
async fn the_schemas_of_definitions_are_for_everybody_of_the_company() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let schemas = test.get("/schemas", &cast.bot).await.json();
    let agent = &schemas["Agent"];
    assert_eq!(agent["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!((&agent["additionalProperties"], &agent["required"][0]), (&json!(false), &json!("apiVersion")));
    assert_eq!(schemas["Blueprint"]["$schema"], agent["$schema"]);
}

#[tokio::test]
async fn an_outside_agents_token_reaches_the_gateway_alone() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ext = test.add("ext", "outside_agent", json!({ "owner": "mia", "team": "team:ops" })).await;
    assert!(ext.starts_with("ok_ag_"), "{ext}");
    let listed = test.get("/tokens?actor=ext", &test.admin).await.json();
    assert_eq!(listed[0]["access"], "the gateway for outside agents alone (not served yet)", "{listed}");
    let me = test.get("/actors/ext", &test.admin).await.json();
    assert_eq!([&me["kind"], &me["role"], &me["trust"]], ["outside_agent", "outside-agent", "observe"]);
    for path in ["/me", "/approvals", "/actors/mia", "/events", "/openapi.json", "/v1/webhooks", "/nothing"] {
        let refused = test.get(path, &ext).await;
        let told = "403 agent_token_scope an outside agent's token reaches only the gateway for outside agents, which this version does not serve yet";
        assert_eq!(
            refused.error(),
            if path == "/nothing" { "404 not_found no such API route" } else { told },
            "{path}"
        );
    }
    // What it may do where it is let in is for the policies, as for everybody.
    assert_eq!(test.local_as("ext", "me.read", json!({})).await["id"], "ext");
    // Others see it, and somebody who is not its owner sets its trust.
    assert_eq!(test.get("/actors?kind=outside_agent", &cast.max).await.json()[0]["id"], "ext");
    let trusted = test.post("/actors/ext/trust", &cast.lea, json!({ "tier": "assist", "reason": "did well" })).await;
    assert_eq!(trusted.json()["trust"], "assist");
    let wrong = json!({ "id": "eve", "kind": "outside_agent", "role": "admin" });
    assert_eq!(test.post("/actors", &test.admin, wrong).await.status, 422);
    let wrong = json!({ "id": "eve", "kind": "person", "role": "outside-agent" });
    assert_eq!(test.post("/actors", &test.admin, wrong).await.status, 422);
}
