//! POST /policy/diff: what policies would change, and what they would have changed.

use ok::policy::Bundle;
use ok::store::open::{Mode, connect};
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

/// No lead offboards anybody; nobody issues a token without an approval by finance.
const STRICT: &str = r#"@id("no-lead-offboards")
@reason("only admins offboard")
forbid (
  principal in Ok::Role::"lead",
  action == Ok::Action::"actor.offboard",
  resource
);

@id("tokens-with-approval")
@reason("a token needs an approval by finance")
forbid (
  principal is Ok::Actor,
  action == Ok::Action::"token.issue",
  resource
)
unless
{
  principal in Ok::Role::"admin" ||
  context.approvals.contains(Ok::ApprovalKind::"finance")
};
"#;

fn strict() -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.insert("strict.cedar".into(), STRICT.into());
    bundle
}

async fn diff(test: &Test, token: &str, input: Value) -> Answer {
    test.post("/policy/diff", token, input).await
}

/// The candidate compared by the admin, with more input.
async fn compared(test: &Test, bundle: &Bundle, more: Value) -> Value {
    let mut input = json!({ "files": bundle.files });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = diff(test, &test.admin, input).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn matrix(compared: &Value) -> [[u64; 3]; 3] {
    let cells = ["allow", "needs_approval", "deny"];
    cells.map(|before| cells.map(|after| compared["impact"]["matrix"][before][after].as_u64().unwrap()))
}

#[tokio::test]
async fn the_policies_in_force_are_the_same_as_themselves() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.post("/tick", &cast.mia, json!({})).await;
    let compared = compared(&test, &Bundle::built_in(), json!({ "max": { "newly_denied": 0 }, "base": 1 })).await;
    assert_eq!(compared["same"], true);
    assert_eq!(compared["hash"], compared["base"]["hash"]);
    assert_eq!(compared["text"], json!({ "policies": [], "files": [] }));
    assert_eq!(compared["semantic"]["summary"], "the policies for every operation are the same");
    assert_eq!((&compared["semantic"]["questions"], &compared["semantic"]["pairs"]), (&json!(0), &json!([])));
    let impact = &compared["impact"];
    let decisions = impact["denominator"]["decisions"].as_u64().unwrap();
    // Ana, eleven of the cast with nine tokens, and the refusal.
    assert!(decisions > 10, "{impact}");
    assert_eq!(impact["denominator"]["summary"], format!("{decisions} of {decisions} replayed, 0 not replayable"));
    let [[allowed, 0, 0], [0, 0, 0], [0, 0, 1]] = matrix(&compared) else { panic!("{impact}") };
    assert_eq!(allowed + 1, decisions);
    assert_eq!((&impact["recorded_otherwise"], &compared["over_budget"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn recorded_decisions_are_asked_again_and_held_against_budgets() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let since = test.last_seq().await + 1;
    // Allowed, waiting, refused.
    assert_eq!(test.post("/tokens", &cast.mia, json!({ "for": "mia" })).await.status, 201);
    assert_eq!(test.post("/actors/mia/offboard", &cast.lea, json!({ "reason": "left" })).await.status, 202);
    assert_eq!(test.post("/tokens", &cast.mia, json!({ "for": "max" })).await.status, 403);
    let budgets = json!({ "newly_allowed": 0, "newly_denied": 0, "newly_approval": 7 });
    let compared = compared(&test, &strict(), json!({ "since": since.to_string(), "max": budgets })).await;
    assert_eq!(compared["same"], false);
    // A token for another one is refused by a forbid that no approval releases; an approval would not help.
    assert_eq!(matrix(&compared), [[0, 1, 0], [0, 0, 1], [0, 0, 1]]);
    assert_eq!(compared["over_budget"], json!([{ "budget": "newly_denied", "max": 0, "found": 1 }]));
    let impact = &compared["impact"];
    assert_eq!(impact["denominator"]["summary"], "3 of 3 replayed, 0 not replayable");
    let names = |group: &str| -> Vec<String> {
        let rows = impact[group]["rows"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {} {}", row["name"].as_str().unwrap(), row["newly_denied"], row["newly_approval"]))
            .collect()
    };
    assert_eq!(names("by_operation"), ["actor.offboard 1 0", "token.issue 0 1"]);
    assert_eq!(names("by_actor"), ["lea 1 0", "mia 0 1"]);
    assert_eq!(names("by_policy"), ["no-lead-offboards 1 0", "tokens-with-approval 0 1"]);
    let samples: Vec<_> = impact["samples"].as_array().unwrap().iter().map(|sample| &sample["seq"]).collect();
    assert_eq!(samples, [&json!(since), &json!(since + 1)]);

    let since = json!({ "files": strict().files, "since": since.to_string() });
    let auditor = diff(&test, &cast.aud, since.clone()).await.json();
    assert_eq!(auditor["impact"]["samples"].as_array().unwrap().len(), 2);
    let scoped = test.token("ana", json!({ "scopes": ["policy"] })).await;
    let scoped = diff(&test, &scoped, since).await.json();
    assert_eq!((scoped["impact"].get("samples"), &scoped["impact"]["newly_denied"]), (None, &json!(1)));
    assert_eq!(scoped["impact"]["by_actor"]["rows"], json!([]));
    assert_eq!(diff(&test, &cast.bot, json!({ "files": {} })).await.status, 403);
}

#[tokio::test]
async fn each_decision_is_asked_in_the_directory_as_it_was() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let since = test.last_seq().await + 1;
    // While lea leads ops, her request waits; afterwards it would be refused.
    assert_eq!(test.post("/actors/mia/offboard", &cast.lea, json!({ "reason": "left" })).await.status, 202);
    test.post("/kill", &test.admin, json!({ "scope": "actor:mia" })).await;
    assert_eq!(test.post("/tokens", &cast.mia, json!({ "for": "mia" })).await.status, 403);
    test.post("/kill", &test.admin, json!({ "scope": "actor:mia", "off": true })).await;
    assert_eq!(test.post("/tokens", &cast.mia, json!({ "for": "mia" })).await.status, 201);
    test.post("/actors/lea/offboard", &test.admin, json!({ "reason": "left", "successor": "ana" })).await;
    let compared = compared(&test, &Bundle::built_in(), json!({ "since": since.to_string() })).await;
    assert_eq!(compared["impact"]["recorded_otherwise"], 0, "{compared}");
    let [[allowed, 0, 0], [0, 1, 0], [0, 0, 1]] = matrix(&compared) else { panic!("{compared}") };
    assert_eq!(allowed, 4);
}

#[tokio::test]
async fn decisions_of_an_older_version_are_held_against_the_one_in_force() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let test = test.upgraded(strict()).await;
    let since = test.last_seq().await + 1;
    assert_eq!(test.post("/tokens", &cast.mia, json!({ "for": "mia" })).await.status, 202);
    let test = test.upgraded(Bundle::built_in()).await;
    let more = json!({ "since": since.to_string() });
    let stays = compared(&test, &Bundle::built_in(), more.clone()).await;
    assert_eq!((&stays["base"]["version"], &stays["impact"]["recorded_otherwise"]), (&json!(3), &json!(1)));
    assert_eq!(matrix(&stays), [[1, 0, 0], [0, 0, 0], [0, 0, 0]]);
    let back = compared(&test, &strict(), more).await;
    assert_eq!(matrix(&back), [[0, 1, 0], [0, 0, 0], [0, 0, 0]]);
    let conflict = diff(&test, &test.admin, json!({ "files": {}, "base": 1 })).await;
    assert_eq!(conflict.error(), "409 conflict version 3 is in force, not 1");
}

#[tokio::test]
async fn what_cannot_be_asked_again_is_counted_with_the_reason() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for _ in 0..4 {
        test.post("/tick", &cast.mia, json!({})).await;
        // Equal refusals within a second share an entry.
        test.clock.advance(1_000);
    }
    let last = test.last_seq().await;
    let forgotten = json!({ "events": [last], "reason": "asked for" });
    let forgotten = test.post("/context/forget", &test.admin, forgotten).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    let gone =
        |body: String| body.replace("\"operation\":\"tick\",\"policies\"", "\"operation\":\"tock\",\"policies\"");
    edit(&test, last - 1, gone);
    edit(&test, last - 2, |body| body.replace("\"target\":\"company\"}", "\"target\":\"nothing\"}"));
    let since = json!({ "since": (last - 3).to_string() });
    let denominator = compared(&test, &Bundle::built_in(), since).await["impact"]["denominator"].clone();
    assert_eq!(
        denominator,
        json!({
            "decisions": 5, "replayed": 2, "not_replayable": 3,
            "summary": "2 of 5 replayed, 3 not replayable",
            "why": {
                "its content was erased": 1,
                "its operation no longer exists": 1,
                "its question is not understood": 1,
            }
        })
    );
    // A log that was begun before questions were kept.
    for seq in 1..=test.last_seq().await {
        edit(&test, seq, |body| match body.find("\"asked\":") {
            Some(at) => {
                let end = at + body[at..].find(",\"channel\"").unwrap();
                format!("{}{}", &body[..at], &body[end + 1..])
            }
            None => body,
        });
    }
    let old = compared(&test, &Bundle::built_in(), json!({})).await["impact"]["denominator"].clone();
    assert_eq!(old["replayed"], 0, "{old}");
    let why = old["why"].as_object().unwrap();
    assert_eq!(why.len(), 2, "{old}");
    assert!(why["recorded before questions were kept"].as_u64().unwrap() > 10, "{old}");
}

/// Writes the payload of an event anew, as another version of the program would have written it.
fn edit(test: &Test, seq: i64, change: impl Fn(String) -> String) {
    let conn = connect(&test.path(), Mode::Write).unwrap();
    let body: Option<Vec<u8>> =
        conn.query_row("SELECT body FROM log_entry WHERE seq = ?", [seq], |row| row.get(0)).unwrap();
    let Some(body) = body else { return };
    let body = change(String::from_utf8(body).unwrap());
    conn.execute("UPDATE log_entry SET body = ? WHERE seq = ?", (body.into_bytes(), seq)).unwrap();
}

#[tokio::test]
async fn texts_are_told_by_id_and_by_path() {
    let test = Test::new().await;
    let mut bundle = Bundle::built_in();
    bundle.files.insert("more.cedar".into(), STRICT.into());
    let trust = bundle.files.remove("base/trust.cedar").unwrap();
    bundle.files.insert("moved/trust.cedar".into(), trust);
    bundle.files.insert("approvals.yaml".into(), "kinds: {}\n".into());
    let leads = bundle.files.get_mut("base/leads.cedar").unwrap();
    *leads = leads.replace("offboarding by a lead needs", "whoever offboards needs");
    let auditors = bundle.files.get_mut("base/auditors.cedar").unwrap();
    *auditors = auditors.replace("// Auditors", "// They");
    let compared = compared(&test, &bundle, json!({ "impact": false, "semantic": false })).await;
    let (text, answers) = (&compared["text"], &compared["semantic"]);
    assert_eq!(
        (&answers["summary"], &answers["questions"], &compared["impact"]),
        (&json!("the answers were not compared, as asked"), &json!(0), &Value::Null)
    );
    let policies: Vec<String> = text["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["change"].as_str().unwrap(), row["id"].as_str().unwrap()))
        .filter(|told| !told.starts_with("moved"))
        .collect();
    assert_eq!(policies, ["added no-lead-offboards", "changed offboard-with-approval", "added tokens-with-approval"]);
    let moved = text["policies"].as_array().unwrap().iter().filter(|row| row["change"] == "moved");
    assert!(
        moved.clone().count() > 0 && moved.clone().all(|row| row["file"] == "moved/trust.cedar" && row["diff"] == "")
    );
    let changed = &text["policies"].as_array().unwrap().iter().find(|row| row["change"] == "changed").unwrap()["diff"];
    assert!(
        changed
            .as_str()
            .unwrap()
            .contains("\n-@reason(\"offboarding by a lead needs an admin's approval\")\n+@reason(\"whoever")
    );
    let files: Vec<_> = text["files"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["approvals.yaml", "base/auditors.cedar"]);
}

#[tokio::test]
async fn what_cannot_be_compared_is_refused_with_the_field() {
    let test = Test::new().await;
    let files = || json!({ "files": {} });
    let with = |field: &str, value: Value| {
        let mut input = files();
        input[field] = value;
        input
    };
    for (input, told) in [
        (json!({ "files": { "../a.cedar": "" } }), "files: `../a.cedar` must not contain `..`, hidden or empty parts"),
        (
            json!({ "files": { "a.cedar": "", "a.cedar/b.cedar": "" } }),
            "files: `a.cedar/b.cedar` is below `a.cedar`, which is a file",
        ),
        (json!({ "files": { "A/b.cedar": "", "a/c.cedar": "" } }), "differ only in case"),
        (json!({ "files": { "x".repeat(250) + ".cedar": "" } }), " has a part that is longer than 255 bytes"),
        (json!({ "files": { "a.cedar": "permit (" } }), "a.cedar:1: "),
        (
            json!({ "files": { "a.cedar": "@id(\"a\") permit (principal, action == Ok::Action::\"tock\", resource);" } }),
            "a.cedar:1: ",
        ),
        (with("since", json!("2026-11-21")), "since: `2026-11-21` is in the future"),
        (json!({ "files": {}, "change": "chg_00000000000000000000000000" }), "change: not together with `files`"),
        (with("since", json!("9999")), "since: there is no event 9999; the newest is "),
        (with("since", json!("0")), "since: there is no event 0; the newest is "),
        (with("since", json!("-1")), "since: there is no event -1; the newest is "),
        (with("since", json!("yesterday")), "since: `yesterday` is not a time, a date or an event number"),
        (with("since", json!("")), "since: `` is not a time, a date or an event number"),
        (with("max", json!({ "newly_refused": 1 })), "unknown field `newly_refused`"),
        (with("max", json!({ "newly_denied": -1 })), "invalid value: integer `-1`"),
        (with("more", json!(1)), "unknown field `more`"),
        (
            json!({ "files": {}, "impact": false, "max": { "newly_denied": 1 } }),
            "max: without the impact there is nothing to compare it with",
        ),
    ] {
        let answer = diff(&test, &test.admin, input.clone()).await;
        let error = format!("{} {}", answer.status.as_u16(), answer.text());
        assert!(error.contains(told) && answer.status == 422, "{input}: {error}");
    }
    // Without any policy, everything is denied: a candidate like any other.
    let actions = ["company.init", "token.issue", "policy.diff", "policy.export", "audit.head"]
        .map(|name| format!("Ok::Action::\"{name}\""))
        .join(", ");
    let few = format!("@id(\"few\")\npermit (principal, action in [{actions}], resource);\n");
    let test = Test::with_policies(Bundle::new([("few.cedar", few.as_str())])).await;
    assert_eq!(test.post("/tokens", &test.admin, json!({})).await.status, 201);
    let nothing = compared(&test, &Bundle::default(), json!({ "since": "2026-11-20" })).await;
    let replayed = &nothing["impact"]["denominator"]["replayed"];
    assert!(*replayed != json!(0) && nothing["impact"]["newly_denied"] == *replayed, "{nothing}");
}

#[tokio::test]
async fn nobody_is_told_by_a_comparison_what_they_may_not_read() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.post("/tick", &cast.mia, json!({})).await;
    let files = strict().files;
    // A member neither reads the policies nor learns of them by comparing with nothing.
    for input in
        [json!({ "files": files }), json!({ "files": {}, "impact": false }), json!({ "from": 1, "impact": false })]
    {
        assert_eq!(diff(&test, &cast.mia, input).await.status, 403);
    }
    // A steward reads them, and is told no counts of a log that is not theirs to read.
    let compared = diff(&test, &cast.sam, json!({ "files": files })).await.json();
    assert!(!compared["text"]["policies"].as_array().unwrap().is_empty());
    assert_eq!((&compared["impact"], &compared["over_budget"]), (&Value::Null, &json!([])));
    for asked in [json!({ "impact": true }), json!({ "since": "1" }), json!({ "max": { "newly_denied": 0 } })] {
        let mut input = json!({ "files": files });
        input.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
        let told = diff(&test, &cast.sam, input).await.error();
        assert_eq!(
            told,
            "403 denied policy denied audit.head: the impact counts the decisions of everybody; without it, the rest is compared"
        );
    }
}

/// Whatever the policies say of comparing and proposing, they make no reader of somebody who is none.
#[tokio::test]
async fn whoever_may_compare_or_propose_is_not_shown_what_they_may_not_export() {
    let mut open = Bundle::built_in();
    let action = |name: &str| format!("Ok::Action::\"{name}\"");
    let actions = ["policy.diff", "policy.drift", "change.propose"].map(action).join(", ");
    open.files.insert(
        "open.cedar".into(),
        format!("@id(\"open\")\npermit (principal is Ok::Actor, action in [{actions}], resource);\n"),
    );
    let test = Test::with_policies(open.clone()).await;
    let cast = test.cast().await;
    let told = diff(&test, &cast.mia, json!({ "files": {} })).await.error();
    assert_eq!(told, "403 denied policy denied policy.export: a comparison shows the policies in force");
    let mut less = open.files.clone();
    less.remove("base/webhooks.cedar").unwrap();
    let declared = json!({ "files": less, "reason": "from git", "commit": "4f2a" });
    assert_eq!(test.post("/policy/proposals", &test.admin, declared).await.status, 201);
    let drift = test.get("/policy/drift", &cast.mia).await.json();
    assert_eq!((&drift["drifted"], &drift["diff"], &drift["weaker"]), (&json!(true), &Value::Null, &json!([])));
    // What a change would remove is not shown to its author.
    let less = json!({ "target": "policy", "content": { "files": less }, "reason": "what is there?" });
    let change = test.post("/changes", &cast.mia, less).await.json();
    let path = format!("/changes/{}/diff", change["id"].as_str().unwrap_or_else(|| panic!("{change}")));
    let own = test.get(&path, &cast.mia).await.json();
    assert_eq!((&own["text"]["policies"], &own["semantic"]["pairs"]), (&json!([]), &json!([])), "{own}");
    let seen = test.get(&format!("{path}?semantic=false"), &test.admin).await.json();
    assert!(!seen["text"]["policies"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_witness_gives_what_the_operation_takes() {
    let test = Test::new().await;
    let mut bundle = Bundle::built_in();
    let rule = "@id(\"members-only\")\n@reason(\"members only\")\nforbid (principal is Ok::Actor, action == Ok::Action::\"actor.add\", resource)\n\
                when { context.input has role && context.input.role != \"member\" };\n";
    bundle.files.insert("members.cedar".into(), rule.into());
    let told = compared(&test, &bundle, json!({ "impact": false })).await.to_string();
    let roles: Vec<&str> =
        told.split("given {\\\"role\\\":\\\"").skip(1).filter_map(|rest| rest.split("\\\"").next()).collect();
    assert!(!roles.is_empty(), "{told}");
    assert!(roles.iter().all(|role| ["admin", "lead", "auditor", "steward", "agent"].contains(role)), "{roles:?}");
}
