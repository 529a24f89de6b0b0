//! Blueprints: a starting company in one transaction, and never over what is there.

use std::collections::BTreeMap;

use ok::types::caller::Credential;
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

async fn install(test: &Test, body: Value) -> Answer {
    test.post("/blueprints", &test.admin, body).await
}

fn texts(answer: &Value, field: &str) -> Vec<String> {
    answer[field].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn installing_makes_teams_at_once_and_proposes_the_policies() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let listed = test.get("/blueprints", &test.admin).await.json();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["engineering", "regulated", "small-firm", "solo-founder"]);

    let body = json!({ "id": "engineering", "values": { "company_name": "Acme", "security_lead": "ben" } });
    let answer = install(&test, body.clone()).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let done = answer.json();
    assert_eq!(
        texts(&done, "created"),
        [
            "setting name",
            "setting retention_days",
            "team:engineering",
            "team:platform",
            "team:security",
            "agent reviewer",
            "file approvals.yaml",
            "file production.cedar",
            "file tests/issuers.yaml",
            "file tests/leaving.yaml",
            "file tests/promote.yaml",
        ]
    );
    assert_eq!(texts(&done, "skipped"), Vec::<String>::new());
    assert!(done["needs"].to_string().contains("2 people in team:platform, 1 there"), "{done}");
    assert_eq!(test.get("/company", &test.admin).await.json()["name"], "Acme");
    assert_eq!(test.get("/actors/team:security", &test.admin).await.json()["lead"], "ben");
    assert_eq!(test.get("/actors/reviewer", &test.admin).await.json()["definition"]["kind"], "Agent");
    let event = test.event().await;
    assert_eq!(event["event"]["type"], "blueprint_installed");
    assert_eq!((&event["event"]["change"], &event["event"]["needs"]), (&done["change"], &done["needs"]));

    // Asked again meanwhile, it is the same proposal.
    let same = install(&test, body.clone()).await.json();
    assert_eq!((texts(&same, "created"), &same["change"]), (Vec::new(), &done["change"]), "{same}");

    // Its policies are a proposal like any other, and those in force are as they were.
    let applied = test.get("/policy/applied", &test.admin).await.json();
    assert_eq!(applied["version"], 1);
    let change = format!("/changes/{}", done["change"].as_str().unwrap());
    assert_eq!(test.post(&format!("{change}/review"), &ben, json!({ "verdict": "approve" })).await.status, 200);
    let evals = test.post(&format!("{change}/evals"), &test.admin, json!({})).await.json();
    assert_eq!(evals["evals"]["passed"], true, "{evals}");
    assert_eq!(test.post(&format!("{change}/promote"), &test.admin, json!({})).await.status, 200);
    test.add("max", "person", json!({})).await;
    let asked = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "left" })).await;
    assert!(asked.text().contains("actor.offboard needs approval (platform and security)"), "{}", asked.text());

    // Installed again, everything is there.
    let again = install(&test, body).await.json();
    assert_eq!((texts(&again, "created"), &again["change"]), (Vec::new(), &Value::Null), "{again}");
    assert_eq!(texts(&again, "skipped").len(), texts(&done, "created").len());
}

#[tokio::test]
async fn two_teams_approve_and_nobody_for_both() {
    let test = begun("engineering").await;
    let (both, sec) = (test.add("both", "person", json!({ "team": "team:platform" })).await, "team:security");
    let sue = test.add("sue", "person", json!({ "team": sec })).await;
    let leaver = test.add("max", "person", json!({})).await;
    assert!(!leaver.is_empty());
    let asked = test.post("/actors/max/offboard", &test.admin, json!({ "reason": "left" })).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let yes = |kind: &str| json!({ "decision": "approve", "note": "", "kind": kind });
    assert_eq!(test.post(&path, &both, yes("platform")).await.json()["status"], "pending");
    assert_ne!(test.post(&path, &both, yes("security")).await.status, 200, "one person, one voice");
    assert_eq!(test.post(&path, &sue, yes("security")).await.json()["status"], "used");
    assert_eq!(test.get("/actors/max", &test.admin).await.json()["status"], "offboarded");
}

/// A company that begins with a blueprint; its admin is ana.
async fn begun(id: &str) -> Test {
    let mut test = Test::uninitialised(ok::policy::Bundle::built_in());
    let input = json!({ "id": "ana", "blueprint": { "id": id } });
    let begun = test.local(Credential::Server, "company.init", input).await;
    assert_eq!(begun["blueprint"]["blueprint"], *id);
    test.admin = begun["token"].as_str().unwrap().to_owned();
    test
}

#[tokio::test]
async fn a_company_begins_with_every_blueprint_and_its_policies_stay() {
    for id in ["engineering", "regulated", "small-firm", "solo-founder"] {
        let test = begun(id).await;
        let applied = test.get("/policy/applied", &test.admin).await.json();
        assert_eq!(applied["version"], 2, "{id}");
        let test = test.reopened().await;
        assert_eq!(test.get("/policy/applied", &test.admin).await.json()["hash"], applied["hash"], "{id}");
        assert!(test.verdict().ok);
        let again = install(&test, json!({ "id": id })).await;
        if id == "regulated" {
            assert_eq!(again.status, 202, "{}", again.text());
            continue;
        }
        let again = again.json();
        assert_eq!((texts(&again, "created"), &again["change"]), (Vec::new(), &Value::Null), "{id}: {again}");
    }
}

#[tokio::test]
async fn a_founder_alone_decides_what_their_agents_ask_for() {
    let test = begun("solo-founder").await;
    let issued = test.post("/tokens", &test.admin, json!({ "for": "assistant" })).await.json();
    let token = issued["token"].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned();
    let asked = test.post("/tasks", &token, json!({ "title": "call the vendor" })).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    let id = asked.json()["approval"].as_str().unwrap().to_owned();
    let decided = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
}

#[tokio::test]
async fn four_eyes_leave_a_way_to_begin() {
    let test = begun("regulated").await;
    let newcomer = json!({ "id": "ben", "kind": "person", "role": "admin" });
    assert_eq!(test.post("/actors", &test.admin, newcomer.clone()).await.status, 202);
    // Whoever holds the state file adds the second admin.
    let added = test.local(Credential::Holder("ana".parse().unwrap()), "actor.add", newcomer).await;
    assert_eq!(added["role"], "admin");
}

const OWN: &str = "\
apiVersion: ok/v1
kind: Blueprint
metadata: {name: own}
spec:
  description: One of our own.
  ask:
    - {name: boss, type: person, title: Who leads?}
  teams:
    - {id: 'team:own', lead: '{{boss}}'}
  roles:
    - {team: 'team:own', people: 2, why: it takes two}
";

const POLICY: &str = "@id(\"own\")\n@reason(\"closed\")\nforbid (\n  principal in Ok::Role::\"lead\",\n  action == Ok::Action::\"policy.source\",\n  resource\n)\nunless { context.approvals.contains(Ok::ApprovalKind::\"board\") };\n";
const VIEW: &str = "apiVersion: ok/v1\nkind: View\nmetadata: {name: x}\nspec: {query: {collection: notes}}\n";
const KINDS: &str = "kinds:\n  # Who owns us.\n  board:\n    eligible:\n      - team: team:own\n  admin:\n    eligible:\n      - {role: steward}\n";

#[tokio::test]
async fn a_blueprint_of_ones_own_adds_its_kinds_and_leaves_what_was_changed() {
    let test = Test::new().await;
    let mut files = ok::policy::Bundle::built_in().files;
    files.get_mut("approvals.yaml").unwrap().push_str("  # Ours.\n  legal:\n    eligible:\n      - {role: lead}\n");
    let other = "@id(\"theirs\")\n@reason(\"r\")\nforbid (\n  principal in Ok::Role::\"lead\",\n  action == Ok::Action::\"policy.source\",\n  resource\n)\nunless { context.approvals.contains(Ok::ApprovalKind::\"legal\") };\n";
    files.insert("theirs.cedar".into(), other.into());
    let change = test.post("/policy/proposals", &test.admin, json!({ "files": files, "reason": "ours" })).await.json();
    for step in ["evals", "promote"] {
        let path = format!("/changes/{}/{step}", change["id"].as_str().unwrap());
        assert_eq!(test.post(&path, &test.admin, json!({})).await.status, 200);
    }
    super::brain::create(&test, "notes", json!({ "fields": { "text": { "type": "text" } } })).await;
    let own = json!({ "policies/own.cedar": POLICY, "policies/theirs.cedar": POLICY, "approvals.yaml": KINDS, "views/x.yaml": VIEW });
    let body = json!({ "file": OWN, "files": own, "values": { "boss": "ana" } });
    let answer = install(&test, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let done = answer.json();
    assert_eq!(texts(&done, "created"), ["team:own", "file approvals.yaml", "file own.cedar", "file views/x.yaml"]);
    assert_eq!(texts(&done, "skipped"), ["file theirs.cedar"]);
    assert_eq!(texts(&done, "needs"), ["2 people in team:own, 1 there: it takes two"]);
    let shown = test.get(&format!("/changes/{}/diff", done["change"].as_str().unwrap()), &test.admin).await;
    assert!(shown.text().contains("board"), "{}", shown.text());
    let kinds = proposed(&test, &done).await.remove("approvals.yaml").unwrap();
    assert!(kinds.starts_with(files["approvals.yaml"].as_str()), "{kinds}");
    assert!(kinds.ends_with("  board:\n    eligible:\n      - team: team:own\n"), "{kinds}");
}

/// The files of the change that came of an installation.
async fn proposed(test: &Test, done: &Value) -> BTreeMap<String, String> {
    let filter = "/events?type=change_proposed&limit=1";
    assert_eq!(test.get(filter, &test.admin).await.json()["events"][0]["event"]["id"], done["change"]);
    let text: String = test
        .file()
        .query_row("SELECT files FROM change WHERE id = ?", [done["change"].as_str().unwrap()], |row| row.get(0))
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn what_cannot_be_is_told_whole_and_nothing_is_done() {
    let test = Test::new().await;
    test.add("max", "person", json!({})).await;
    let before = test.last_seq().await;
    let own = |file: &str| json!({ "file": file, "values": { "boss": "max" } });
    let wrong = OWN
        .replace("lead: '{{boss}}'", "lead: nobody")
        .replace("roles:\n    - {team: 'team:own'", "roles:\n    - {team: 'team:nowhere'");
    let cases = [
        (json!({ "id": "nothing" }), "id: there is no blueprint `nothing`: use engineering, regulated, small-firm"),
        (json!({}), "id: name a blueprint, or send a file"),
        (json!({ "id": "engineering", "file": OWN }), "file: give either id or file"),
        (
            json!({ "id": "engineering", "values": { "boss": "x" } }),
            "values.boss: the blueprint does not ask for this; it asks for",
        ),
        (
            json!({ "id": "engineering", "values": { "platform_lead": "x" } }),
            "values.platform_lead: there is no such person as `x`",
        ),
        (json!({ "file": OWN }), "values.boss: is required: Who leads?"),
        (own(&OWN.replace("teams:", "temas:")), "file: line 8: spec: unknown field `temas`"),
        (own(&OWN.replace("{{boss}}", "{{bos}}")), "file: there is no question `bos`"),
        (own(&OWN.replace("kind: Blueprint", "kind: Agent")), "file: line 2: kind: unknown variant `Agent`"),
        (own(&OWN.replace("{name: own}", "{name: My own}")), "metadata.name: use a-z"),
        (own(&OWN.replace("'team:own', lead", "max, lead")), "spec: max is taken by somebody else"),
        (own(&format!("{OWN}  settings: {{colour: red}}\n")), "spec.settings.colour: there is no such setting"),
        (own(&format!("{OWN}  settings: {{timezone: Mars}}\n")), "spec.settings.timezone: must be an IANA time zone"),
        (own(&"a: &a [*a]\n".repeat(3)), "file: line"),
        (own(&" ".repeat(64 * 1024 + 1)), "file: is larger than 65536 bytes"),
        (
            json!({ "file": OWN, "values": { "boss": "max" }, "files": { "../x.cedar": "" } }),
            "files: `../x.cedar` must not",
        ),
        (
            json!({ "file": OWN, "values": { "boss": "max" }, "files": { "x.sh": "" } }),
            "files: `x.sh` is no policy file",
        ),
        (
            json!({ "file": OWN, "values": { "boss": "max" }, "files": { "collections/x.yaml": "" } }),
            "files: `collections/x.yaml`: collections are made by proposals",
        ),
        (
            json!({ "file": OWN, "values": { "boss": "max" }, "files": { "views/x.yaml": VIEW } }),
            "views/x.yaml:4: spec.query.collection: there is no collection `notes`",
        ),
        // Everything at once: a lead and a team that are not there, a kind that nobody gives.
        (
            json!({ "file": wrong, "values": { "boss": "max" }, "files": { "policies/own.cedar": POLICY } }),
            "spec.teams.team:own: lead: there is no such person; spec.roles: there is no such team as `team:nowhere`; own.cedar:8: ",
        ),
    ];
    for (body, told) in cases {
        let refused = install(&test, body.clone()).await;
        assert!(refused.error().starts_with(&format!("422 invalid {told}")), "{told}\n{}", refused.text());
    }
    assert_eq!(test.last_seq().await, before);
    assert_eq!(test.get("/actors/team:own", &test.admin).await.status, 404);
}
