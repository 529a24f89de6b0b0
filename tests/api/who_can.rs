//! Who can do something, as far as the asker may know.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::runs::asked;
use crate::harness::Test;

fn names(rows: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["actor"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn everybody_who_can_is_listed_with_what_they_need() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("gone", "person", json!({ "role": "admin" })).await;
    test.post("/actors/gone/offboard", &test.admin, json!({ "reason": "left" })).await;
    let rows = test.get("/policy/who-can?op=actor.add&target=team:ops", &cast.aud).await.json();
    assert_eq!(names(&rows), ["ana", "lea"]);
    let lea = rows.as_array().unwrap().iter().find(|row| row["actor"] == "lea").unwrap();
    assert_eq!((&lea["decision"], &lea["approvals"]), (&json!("needs_approval"), &json!(["admin"])));
    assert_eq!(lea["because"][0]["id"], "add-with-approval");
    for actor in names(&rows) {
        let question = json!({ "op": "actor.add", "target": "team:ops", "actor": actor });
        let explained = test.post("/policy/explain", &test.admin, question).await.json();
        let row = rows.as_array().unwrap().iter().find(|row| row["actor"] == actor).unwrap();
        assert_eq!(explained["decision"], row["decision"]);
    }
}

#[tokio::test]
async fn a_lead_is_told_of_the_own_team_alone() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let all = test.get("/policy/who-can?op=company.read", &test.admin).await.json();
    assert_eq!(names(&all), ["ana", "aud", "bot", "lea", "liv", "max", "mia", "sam"]);
    let of_ops = test.get("/policy/who-can?op=company.read", &cast.lea).await.json();
    assert_eq!(names(&of_ops), ["bot", "lea", "mia"]);
    assert_eq!(test.get("/policy/who-can?op=company.read", &cast.mia).await.status, 403);
}

#[tokio::test]
async fn the_list_comes_in_pages() {
    let test = Test::new().await;
    test.cast().await;
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = test.get(&format!("/policy/who-can?op=company.read&limit=3{cursor}"), &test.admin).await;
        let rows = page.json();
        assert!(rows.as_array().unwrap().len() <= 3);
        found.extend(names(&rows).into_iter().map(str::to_owned));
        match page.header("x-next-cursor") {
            "" => break,
            next => cursor = format!("&cursor={next}"),
        }
        let elsewhere = test.get(&format!("/policy/who-can?op=tick{cursor}"), &test.admin).await;
        assert_eq!(elsewhere.error(), "400 bad_request invalid cursor");
    }
    found.sort();
    assert_eq!(found, ["ana", "aud", "bot", "lea", "liv", "max", "mia", "sam"]);
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for (query, said) in [
        ("op=fly", "422 invalid op: there is no operation `fly`"),
        ("op=actor.trust", "422 invalid target: actor.trust needs a target"),
        (
            "op=tick&target=mars",
            "422 invalid target: tick is about Company: there is none with the id `mars` that you may see",
        ),
        ("op=actor.trust&target=bto", "404 not_found not found"),
        ("op=tick&limit=0", "400 bad_request limit: must be 1 to 1000, not 0"),
    ] {
        assert_eq!(test.get(&format!("/policy/who-can?{query}"), &test.admin).await.error(), said);
    }
    let nothing = test.get("/policy/who-can", &test.admin).await;
    assert_eq!(nothing.error(), "400 bad_request missing field `op`");
    let issued = test.post("/tokens", &test.admin, json!({ "for": "max" })).await.json();
    let hidden = format!("/policy/who-can?op=token.revoke&target={}", issued["id"].as_str().unwrap());
    // What is hidden reads as what is absent.
    assert_eq!(test.get(&hidden, &cast.lea).await.status, 422);
}

/// What only a step of a run can do, its agent can and nobody else: whatever the policies say of the operation itself.
#[tokio::test]
async fn what_only_agents_at_work_do_is_explained_of_the_agent_of_the_run() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let run = asked(&test, &cast.mia, json!([{ "ask": { "text": "which?" } }])).await;
    for op in ["run.ask", "model.call"] {
        let rows = test.get(&format!("/policy/who-can?op={op}&target={run}"), &test.admin).await.json();
        assert_eq!(names(&rows), ["bot"], "{op}");
        for (actor, decision) in [("bot", "allow"), ("ana", "deny"), ("mia", "deny")] {
            let question = json!({ "op": op, "target": run, "actor": actor });
            let explained = test.post("/policy/explain", &test.admin, question).await.json();
            assert_eq!(explained["decision"], decision, "{op} {actor}: {}", explained["reason"]);
        }
    }
    // Neither of another run, nor once it is over.
    let other = asked(&test, &cast.mia, json!([{ "ask": { "text": "which?" } }])).await;
    let elsewhere = json!({ "op": "run.ask", "target": run, "actor": "bot", "run": other });
    assert_eq!(test.post("/policy/explain", &test.admin, elsewhere).await.json()["decision"], "deny");
    test.post(&format!("/runs/{other}/cancel"), &test.admin, json!({})).await;
    let over = test.get(&format!("/policy/who-can?op=run.ask&target={other}"), &test.admin).await.json();
    assert_eq!(names(&over), Vec::<&str>::new());
    let step = json!({ "op": "me.read", "actor": "bot", "run": other });
    let refused = test.post("/policy/explain", &test.admin, step).await;
    assert_eq!(refused.error(), format!("422 invalid run: {other} is over: it has no steps left"));
    let ana = json!({ "op": "run.ask", "target": run, "actor": "ana" });
    let reason = test.post("/policy/explain", &test.admin, ana).await.json()["reason"].clone();
    assert_eq!(reason, "only the agent of a run can do this, as a step of the run, until the run ends");
}

/// What an agent may is another thing in a run: of which it is asked decides.
#[tokio::test]
async fn a_call_is_explained_as_a_step_of_a_run() {
    let mut policies = Bundle::built_in();
    let rule = r#"@id("later") @reason("not after so many steps")
        forbid (principal is Ok::Actor, action == Ok::Action::"actor.read", resource)
        when { context has run && context.run.steps >= 2 };"#;
    policies.files.insert("later.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let early = asked(&test, &cast.mia, json!([{ "ask": { "text": "which?" } }])).await;
    let late =
        asked(&test, &cast.mia, json!([{ "say": "one" }, { "say": "two" }, { "ask": { "text": "which?" } }])).await;
    let explained = async |actor: &str, run: &Value| {
        let question = json!({ "op": "actor.read", "target": "mia", "actor": actor, "run": run });
        test.post("/policy/explain", &test.admin, question).await
    };
    for (run, decision) in [(json!(null), "allow"), (json!(early), "allow"), (json!(late), "deny")] {
        let answer = explained("bot", &run).await.json();
        assert_eq!(answer["decision"], decision, "{run}: {answer}");
    }
    assert_eq!(explained("bot", &json!(late)).await.json()["because"][0]["id"], "later");
    for (actor, run) in [("mia", &late), ("bot", &"run_01M0000000000000000000000A".to_owned())] {
        let refused = explained(actor, &json!(run)).await;
        let message = format!("422 invalid run: {actor} has no run `{run}`");
        assert_eq!(refused.error(), message);
    }
    let at = test.event().await["seq"].clone();
    for past in [
        json!({ "op": "actor.read", "target": "mia", "actor": "bot", "run": late, "at": at }),
        json!({ "op": "run.ask", "target": late, "actor": "bot", "at": at }),
    ] {
        let refused = test.post("/policy/explain", &test.admin, past).await;
        let why = "steps of a run can be explained only as of now: omit `at`";
        assert_eq!(refused.error(), format!("422 invalid at: {why}"));
    }
    let under = json!({ "op": "actor.read", "target": "mia", "actor": "bot", "run": late, "under": "dlg_1" });
    let refused = test.post("/policy/explain", &test.admin, under).await;
    assert_eq!(
        refused.error(),
        "422 invalid under: a run's step is done under the run's own delegation, if any: omit this or `run`"
    );
}
