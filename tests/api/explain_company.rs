//! What would change an answer where it hangs on the time, on teams, on those on whose behalf it is, or on a break-glass
//! grant: each change that is told was made for real, or could be.

use ok::policy::Bundle;
use ok::types::time::{DAY, HOUR, Time};
use serde_json::{Value, json};

use super::delegations::{Given, all};
use super::explain_changes::{sets, with};
use crate::harness::{START, Test};

const REFUSED: &str = r#"@reason("r") forbid (principal is Ok::Actor, action == Ok::Action::"company.read", resource)"#;

async fn what_would_change(test: &Test, question: Value) -> Vec<String> {
    sets(&test.why(&test.admin, question).await)
}

#[tokio::test]
async fn a_moment_is_a_change_and_the_gate_says_so_when_it_comes() {
    let opens = Time(START + 3 * HOUR);
    let test = Test::with_policies(with(&format!(
        r#"@id("later") {REFUSED} unless {{ context.now >= datetime("{opens}") }};
@id("too-late") @reason("r") forbid (principal is Ok::Actor, action == Ok::Action::"actor.list", resource) when {{ context.now >= datetime("{}") }};"#,
        Time(START - DAY)
    )))
    .await;
    let cast = test.cast().await;
    let question = json!({ "op": "company.read", "actor": "mia" });
    let why = test.why(&test.admin, question).await;
    let text = format!("the call comes at {opens}");
    let change = json!({ "change": "time", "of": null, "from": Time(START), "to": opens, "text": text });
    assert_eq!(why["what_would_change"], json!([[change]]));
    let late = what_would_change(&test, json!({ "op": "actor.list", "actor": "mia" })).await;
    assert_eq!(late, [format!("the call had come before {}", Time(START - DAY))]);
    for (more, status) in [(3 * HOUR - 1, 403), (1, 200)] {
        test.clock.advance(more);
        assert_eq!(test.get("/company", &cast.mia).await.status, status);
    }
}

/// `team:ops` below `team:firm` below `team:group`; `team:dev` stands alone.
async fn nested(policies: &str) -> Test {
    let test = Test::with_policies(with(policies)).await;
    test.add("team:group", "team", json!({})).await;
    test.add("team:firm", "team", json!({ "team": "team:group" })).await;
    test.add("team:ops", "team", json!({ "team": "team:firm" })).await;
    test.add("team:dev", "team", json!({})).await;
    test.add("mia", "person", json!({ "team": "team:ops" })).await;
    test.add("max", "person", json!({ "team": "team:dev" })).await;
    test
}

#[tokio::test]
async fn one_joins_a_team_by_oneself_or_with_ones_team() {
    for condition in
        ["principal in Ok::Team::\"team:group\"", "principal has team && principal.team in Ok::Team::\"team:group\""]
    {
        let test = nested(&format!("@id(\"t\") {REFUSED} unless {{ {condition} }};")).await;
        let question = json!({ "op": "company.read", "actor": "max" });
        assert_eq!(what_would_change(&test, question).await, ["max is in team:group", "team:dev is in team:group"]);
        // Whoever is made so is allowed.
        for (id, team) in [("new", "team:group"), ("low", "team:ops")] {
            let token = test.add(id, "person", json!({ "team": team })).await;
            assert_eq!(test.get("/company", &token).await.status, 200);
        }
    }
}

#[tokio::test]
async fn one_leaves_a_team_by_oneself_or_with_a_team_on_the_way() {
    let test = nested(&format!("@id(\"t\") {REFUSED} when {{ principal in Ok::Team::\"team:firm\" }};")).await;
    let ways =
        ["mia is in no team", "mia is in team:group", "team:ops is in no other team", "team:ops is in team:group"];
    assert_eq!(what_would_change(&test, json!({ "op": "company.read", "actor": "mia" })).await, ways);
    // A team cannot be put below itself.
    let test = nested(&format!("@id(\"t\") {REFUSED} unless {{ principal in Ok::Team::\"team:ops\" }};")).await;
    test.add("fay", "person", json!({ "team": "team:firm" })).await;
    assert_eq!(what_would_change(&test, json!({ "op": "company.read", "actor": "fay" })).await, ["fay is in team:ops"]);
}

#[tokio::test]
async fn a_lead_is_found_by_another_team_too() {
    let test = Test::new().await;
    test.cast().await;
    let why = what_would_change(&test, json!({ "op": "actor.trust", "target": "bot", "actor": "liv" })).await;
    assert_eq!(why[..3], ["liv leads team:ops", "bot is in team:dev", "the role of liv is admin"]);
}

#[tokio::test]
async fn a_giver_who_is_in_the_way_is_told_with_what_would_change_them() {
    let given = Given::new().await;
    let Given { test, cast, .. } = &given;
    let under = given.grant(&cast.mia, all("ben")).await;
    let question = json!({ "op": "actor.add", "target": "team:ops", "actor": "ben", "under": under });
    let why = test.why(&test.admin, question.clone()).await;
    let by_role =
        json!({ "change": "role", "of": "mia", "from": "member", "to": "admin", "text": "the role of mia is admin" });
    assert_eq!(why["what_would_change"][0], json!([by_role]));
    assert!(
        sets(&why).contains(
            &"there is an approval of the kind `admin` + mia leads team:ops + the role of mia is lead".to_owned()
        ),
        "{why}"
    );
    // Both in the way: neither's change does alone.
    let under = given.grant(&cast.mia, all("max")).await;
    let question = json!({ "op": "company.update", "actor": "max", "under": under });
    assert_eq!(what_would_change(test, question).await, ["the role of max is admin + the role of mia is admin"]);
    // A giver's kill switch.
    let under = given.grant(&cast.lea, all("ben")).await;
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea" })).await;
    let question = json!({ "op": "company.read", "actor": "ben", "under": under });
    assert_eq!(what_would_change(test, question).await, ["the kill switch actor:lea is released"]);
    // What was not handed on is no change of the company.
    let under = given.grant(&cast.mia, json!({ "to": "ben", "authority": "inform" })).await;
    let question = json!({ "op": "company.update", "actor": "ben", "under": under });
    assert_eq!(what_would_change(test, question).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_grant_and_the_answer_with_it_are_told_to_whoever_may_see_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let question = json!({ "op": "actor.offboard", "target": "mia", "actor": "lea" });
    let break_glass = async |token: &str| test.why(token, question.clone()).await["break_glass"].clone();
    let possible = json!({ "state": "possible", "id": null, "expires_at": null, "decision": "allow", "reason": null });
    assert_eq!(break_glass(&cast.lea).await, possible);
    let before = test.last_seq().await;
    let grant = json!({ "scope": ["actor.offboard"], "reason": "the key is stolen", "minutes": 10 });
    let grant = test.post("/policy/break-glass", &cast.lea, grant).await.json();
    let why = test.why(&cast.lea, question.clone()).await;
    let active = json!({ "state": "active", "id": grant["id"], "expires_at": grant["expires_at"], "decision": "allow",
        "reason": null });
    assert_eq!((&why["decision"], &why["break_glass"]), (&json!("needs_approval"), &active));
    assert_eq!(break_glass(&cast.aud).await, active);
    // Not for other operations, and in the past as it was then.
    let other = test.why(&cast.lea, json!({ "op": "actor.add", "target": "team:ops" })).await;
    assert_eq!(other.get("break_glass"), None, "one that is open keeps from another");
    let mut then = question.clone();
    then["at"] = json!(before);
    assert_eq!(test.why(&cast.lea, then.clone()).await["break_glass"], possible);
    then["at"] = json!(before + 1);
    assert_eq!(test.why(&cast.lea, then).await["break_glass"], active);
    // What the gate then does.
    let done = test.post("/actors/mia/offboard", &cast.lea, json!({ "reason": "stolen" })).await;
    assert_eq!(done.status, 200, "{}", done.text());
}

#[tokio::test]
async fn a_grant_that_does_not_help_says_why() {
    let mut policies = Bundle::built_in();
    let mine = r#"@id("not-so") @reason("never by break-glass") forbid (principal, action == Ok::Action::"actor.offboard", resource) when { context.break_glass };"#;
    policies.files.insert("extra.cedar".into(), mine.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let question = json!({ "op": "actor.offboard", "target": "mia", "actor": "lea" });
    assert_eq!(test.why(&cast.lea, question.clone()).await.get("break_glass"), None);
    let grant = json!({ "scope": ["actor.*"], "reason": "the key is stolen" });
    test.post("/policy/break-glass", &cast.lea, grant).await;
    let why = test.why(&cast.lea, question).await;
    assert_eq!(
        (&why["break_glass"]["decision"], &why["break_glass"]["reason"]),
        (&json!("needs_approval"), &json!("never by break-glass"))
    );
    let done = test.post("/actors/mia/offboard", &cast.lea, json!({ "reason": "stolen" })).await;
    assert_eq!(done.status, 202, "{}", done.text());
}

#[tokio::test]
async fn grants_are_not_told_to_whoever_may_not_see_them() {
    let test = Test::with_policies(with(
        r#"@id("explains") permit (principal == Ok::Actor::"liv", action == Ok::Action::"policy.explain", resource);"#,
    ))
    .await;
    let cast = test.cast().await;
    let question = json!({ "op": "actor.offboard", "target": "mia", "actor": "lea" });
    assert_eq!(test.why(&cast.liv, question.clone()).await.get("break_glass"), None);
    test.post("/policy/break-glass", &cast.lea, json!({ "scope": ["actor.*"], "reason": "stolen" })).await;
    assert_eq!(test.why(&cast.liv, question).await.get("break_glass"), None);
}

#[tokio::test]
async fn anything_can_be_what_it_is_about() {
    let given = Given::new().await;
    let Given { test, cast, .. } = &given;
    let under = given.grant(&cast.mia, all("bot")).await;
    let seq = test.last_seq().await;
    for (target, op, actor, decision) in [
        (json!(under), "delegation.revoke", "mia", "allow"),
        (json!(under), "delegation.settle", "bot", "allow"),
        (json!(under), "delegation.settle", "mia", "deny"),
        (json!(seq.to_string()), "event.list", "mia", "allow"),
        (json!(format!("event:{seq}")), "event.list", "max", "deny"),
    ] {
        let why = test.why(&test.admin, json!({ "op": op, "target": target, "actor": actor })).await;
        assert_eq!(why["decision"], decision, "{why}");
    }
    for target in [(seq + 1).to_string(), "event:".into(), "-1".into(), format!("{}", u64::MAX)] {
        let none = test.post("/policy/explain", &test.admin, json!({ "op": "event.list", "target": target })).await;
        let message = format!(
            "422 invalid target: event.list is about Company or Event: there is none with the id `{target}` that you may see"
        );
        assert_eq!(none.error(), message);
    }
    let unseen = json!({ "op": "event.list", "target": seq.to_string() });
    let message = format!(
        "422 invalid target: event.list is about Company or Event: there is none with the id `{seq}` that you may see"
    );
    assert_eq!(test.post("/policy/explain", &cast.max, unseen).await.error(), message);
}
