//! What a test of policies, an explanation and a comparison say is what the gate does, also of what is out of sight.

use ok::policy::Bundle;
use serde_json::json;

use super::check;
use crate::harness::Test;

/// Without the policies that stop whom a switch touches: what a switch stops is for the company to say.
fn bundle(sees: bool, answer: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.retain(|path, _| path != "base/kill.cedar" && !path.starts_with("tests/"));
    let trust = r#"(principal == Ok::Actor::"max", action == Ok::Action::"actor.trust", resource)"#;
    let reads = r#"(principal == Ok::Actor::"max", action == Ok::Action::"actor.read", resource == Ok::Actor::"bot")"#;
    let mut mine = String::new();
    if !sees {
        mine.push_str(&format!("@id(\"unseen\") @reason(\"r\") forbid {reads};\n"));
    }
    if answer != "deny" {
        mine.push_str(&format!("@id(\"max\") permit {trust};\n"));
    }
    if answer == "needs_approval" {
        let kind = r#"context.approvals.contains(Ok::ApprovalKind::"admin")"#;
        mine.push_str(&format!("@id(\"waits\") @reason(\"r\") forbid {trust} unless {{ {kind} }};\n"));
    }
    bundle.files.insert("mine.cedar".into(), mine);
    bundle
}

#[tokio::test]
async fn tests_explanations_and_the_gate_agree_about_what_is_out_of_sight() {
    for (sees, answer, killed) in [true, false].into_iter().flat_map(|sees| {
        let answers = ["allow", "needs_approval", "deny"];
        answers.into_iter().flat_map(move |answer| [false, true].map(|killed| (sees, answer, killed)))
    }) {
        let mut policies = bundle(sees, answer);
        let test = Test::with_policies(policies.clone()).await;
        let cast = test.cast().await;
        if killed {
            test.post("/kill", &test.admin, json!({ "scope": "actor:max" })).await;
        }
        let question = json!({ "op": "actor.trust", "target": "bot", "actor": "max" });
        let explained = test.post("/policy/explain", &test.admin, question).await.json()["decision"].clone();
        let done = test.post("/actors/bot/trust", &cast.max, json!({ "tier": "assist", "reason": "r" })).await;
        let decision = match done.status.as_u16() {
            200 => "allow",
            202 => "needs_approval",
            403 | 404 => "deny",
            _ => panic!("{}", done.text()),
        };
        let at = format!("sees: {sees}, policies: {answer}, killed: {killed}");
        assert_eq!(decision, if sees { answer } else { "deny" }, "{at}");
        assert_eq!(explained, decision, "{at}");
        let kill = if killed { "[actor:max]" } else { "[]" };
        let case = format!("{{actor: max, op: actor.trust, target: bot, kill: {kill}, expect: {decision}}}");
        let company = "actors: [{id: max}, {id: mia}, {id: bot, kind: agent, owner: mia}]";
        policies.files.insert("tests/mine.yaml".into(), format!("{company}\ncases:\n  - {case}\n"));
        let told: Vec<String> = check(&policies).tests().map(|finding| finding.message.clone()).collect();
        assert_eq!(told, Vec::<String>::new(), "{at}");
        // Whom a switch stops is told of a denial; to everybody else, what they may not see is not there.
        let shown = if sees || (killed && answer == "deny") { "denied" } else { "not_found" };
        if decision == "deny" {
            assert_eq!(done.json()["error"], shown, "{at}");
        }
    }
}
