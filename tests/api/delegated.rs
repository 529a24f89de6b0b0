//! Acting under a delegation: what both may do, and nothing else.

use serde_json::{Value, json};

use super::delegations::{Given, all, id};
use crate::harness::Answer;
use ok::types::time::HOUR;

const OLD: &str = "  principal in Ok::Role::\"admin\" ||\n  context.approvals";
const NEW: &str = "  principal in Ok::Role::\"admin\" ||\n  principal in Ok::Role::\"member\" ||\n  context.approvals";
const ELSEWHERE: &str = "it has ended, or was never given to you";

/// `bot` acts for the member max, `ben` for the lead lea.
async fn add(given: &Given, under: &str, token: &str, who: &str) -> Answer {
    let new = json!({ "id": who, "kind": "person", "team": "team:ops" });
    given.under(under, token, "POST", "/actors", new).await
}

#[tokio::test]
async fn only_what_both_may_do_is_allowed() {
    let given = Given::new().await;
    let Given { test, cast, ben, .. } = &given;
    // An admin for a member: the member may not.
    let for_max = given.grant(&cast.max, all("ben")).await;
    let refused = add(&given, &for_max, ben, "new").await.error();
    assert_eq!(refused, "403 denied policy denied actor.add: not on behalf of max: no policy permits it");
    // An agent for an admin: the agent may not.
    let for_ana = given.grant(&test.admin, all("bot")).await;
    assert_eq!(
        add(&given, &for_ana, &cast.bot, "new").await.error(),
        "403 denied policy denied actor.add: no policy permits it"
    );
    // Both may.
    let for_ben = given.grant(&test.admin, all("ben")).await;
    assert_eq!(add(&given, &for_ben, ben, "new").await.status, 201);
    let event = test.event().await;
    assert_eq!((event["actor"].clone(), event["on_behalf_of"].clone()), (json!("ben"), json!(["ana"])));
    // What was not handed on.
    let reads = given.grant(&test.admin, json!({ "to": "ben", "authority": "inform" })).await;
    let refused = add(&given, &reads, ben, "newer").await.error();
    assert_eq!(
        refused,
        format!(
            "403 denied policy denied actor.add: the delegation {reads} from ana does not cover it: its authority is `inform`"
        )
    );
    let refusal = test.event().await;
    assert_eq!((refusal["event"]["type"].clone(), refusal["on_behalf_of"].clone()), (json!("denied"), json!(["ana"])));
    // To see what it is about goes with what was handed on; to look at it on its own does not.
    let offboards = json!({ "to": "ben", "authority": "act", "scope": ["actor.offboard"] });
    let offboards = given.grant(&test.admin, offboards).await;
    assert_eq!(given.under(&offboards, ben, "GET", "/actors/max", json!({})).await.status, 403);
    let left = given.under(&offboards, ben, "POST", "/actors/max/offboard", json!({ "reason": "leaves" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
}

#[tokio::test]
async fn anothers_delegation_reads_as_none() {
    let given = Given::new().await;
    let of_max = given.grant(&given.cast.max, all("bot")).await;
    let huge = "x".repeat(500);
    for under in [of_max.as_str(), "dlg_00000000000000000000000000", "", "é", huge.as_str()] {
        let refused = given.under(under, &given.ben, "GET", "/me", json!({})).await.error();
        let shown: String = under.chars().take(80).collect();
        assert_eq!(refused, format!("403 denied you do not act under `{shown}`: {ELSEWHERE}"));
    }
    // Its giver does not act under it either.
    assert_eq!(given.under(&of_max, &given.cast.max, "GET", "/me", json!({})).await.status, 403);
    // A stranger learns nothing, and nobody in particular acts in nobody's name.
    assert_eq!(given.under(&of_max, "ok_bad", "GET", "/me", json!({})).await.status, 401);
    assert_eq!(given.under(&of_max, &given.ben, "GET", "/health", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_kill_switch_of_anybody_in_the_chain_stops_it() {
    let given = Given::new().await;
    let Given { test, cast, .. } = &given;
    let first = given.grant(&cast.mia, all("bot")).await;
    let second = id(&given.hand_on(&first, &cast.bot, all("sub")).await);
    for scope in ["actor:mia", "actor:bot", "actor:sub"] {
        assert_eq!(given.under(&second, &given.sub, "GET", "/actors/sub", json!({})).await.status, 200);
        assert_eq!(test.post("/kill", &test.admin, json!({ "scope": scope })).await.status, 200);
        let refused = given.under(&second, &given.sub, "GET", "/actors/sub", json!({})).await.error();
        assert!(refused.starts_with("403 denied") && refused.contains("a kill switch stops this actor"), "{refused}");
        test.post("/kill", &test.admin, json!({ "scope": scope, "off": true })).await;
    }
}

#[tokio::test]
async fn nobody_on_whose_behalf_it_is_approves_it() {
    let given = Given::new().await;
    let Given { test, cast, ben, .. } = &given;
    // ben, an admin, for the lead lea: what she needs approval for, he does too; and neither of them gives it.
    let under = given.grant(&cast.lea, all("ben")).await;
    let waits = add(&given, &under, ben, "new").await;
    let told = "202 needs_approval actor.add needs approval (admin): adding to a team needs an admin's approval";
    assert_eq!(waits.error(), told);
    let approval = waits.json()["approval"].as_str().unwrap().to_owned();
    let path = format!("/approvals/{approval}");
    let shown = test.get(&path, &cast.lea).await.json();
    assert_eq!((shown["actor"].clone(), shown["on_behalf_of"].clone()), (json!("ben"), json!(["lea"])));
    assert_eq!(shown["approvers"][0]["any_of"], json!(["ana"]));
    let decide = json!({ "decision": "approve" });
    assert_eq!(test.post(&path, ben, decide.clone()).await.status, 403);
    assert_eq!(test.post(&path, &cast.lea, decide.clone()).await.status, 403);
    // Nor by the delegate of one who may: ana lets ben decide for her.
    let for_ana = given.grant(&test.admin, all("ben")).await;
    assert_eq!(given.under(&for_ana, ben, "POST", &path, decide.clone()).await.status, 403);
    // The same for the requester's own delegate, who may decide by himself.
    let own = test.post("/actors", &cast.lea, json!({ "id": "own", "kind": "person", "team": "team:ops" })).await;
    let own = format!("/approvals/{}", own.json()["approval"].as_str().unwrap());
    let refused = given.under(&under, ben, "POST", &own, decide.clone()).await.error();
    assert!(refused.starts_with("403 not_approver") && refused.contains("not on behalf of lea"), "{refused}");
    // While a switch stops her, nothing of hers is approved; then it is carried out in both their names.
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea" })).await;
    assert_eq!(test.post(&path, &test.admin, decide.clone()).await.status, 409);
    test.post("/kill", &test.admin, json!({ "scope": "actor:lea", "off": true })).await;
    assert_eq!(test.post(&path, &test.admin, decide).await.json()["status"], "used");
    let events = test.get("/events?limit=3&type=actor_added", &test.admin).await.json();
    let added = events["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((added["actor"].clone(), added["on_behalf_of"].clone()), (json!("ben"), json!(["lea"])));
}

#[tokio::test]
async fn a_break_glass_grant_is_good_for_its_holder_alone() {
    let given = Given::new().await;
    let under = given.grant(&given.cast.liv, all("lea")).await;
    let open = json!({ "scope": ["actor.add"], "reason": "an emergency" });
    let opened = given.test.post("/policy/break-glass", &given.cast.lea, open).await;
    assert_eq!(opened.status, 201, "{}", opened.text());
    let new = |id: &str, team: &str| json!({ "id": id, "kind": "agent", "team": team });
    assert_eq!(given.test.post("/actors", &given.cast.lea, new("own", "team:ops")).await.status, 201);
    let for_liv = given.under(&under, &given.cast.lea, "POST", "/actors", new("hers", "team:dev")).await;
    assert_eq!(for_liv.status, 403, "lea may not add to liv's team, nor for her: {}", for_liv.text());
    let both = given.grant(&given.test.admin, all("lea")).await;
    let waits = given.under(&both, &given.cast.lea, "POST", "/actors", new("theirs", "team:ops")).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
}

#[tokio::test]
async fn what_was_approved_is_not_done_under_a_delegation_that_has_ended() {
    let given = Given::new().await;
    let short = json!({ "to": "ben", "authority": "act", "scope": ["*"], "ttl": "1h" });
    for (terms, why) in [(all("ben"), "was revoked"), (short.clone(), "has expired"), (short, ELSEWHERE)] {
        let under = given.grant(&given.cast.lea, terms).await;
        let waits = add(&given, &under, &given.ben, "new").await.json();
        let path = format!("/approvals/{}", waits["approval"].as_str().unwrap());
        if why == "was revoked" {
            given.revoke(&given.cast.lea, &under).await;
        } else {
            given.test.clock.advance(2 * HOUR);
        }
        // Until the tick has recorded that it has expired, whoever decides learns it.
        let ended = match why {
            ELSEWHERE => given.test.post(&path, &given.test.admin, json!({ "decision": "approve" })).await.json(),
            _ => {
                given.test.post("/tick", &given.test.admin, json!({})).await;
                given.test.get(&path, &given.test.admin).await.json()
            }
        };
        assert_eq!(ended["status"], "stale", "{why}: {ended}");
        assert!(ended["stale"].as_str().unwrap().ends_with(why), "{why}: {ended}");
        let inbox = given.test.get("/inbox?limit=100", &given.test.admin).await.text();
        assert!(!inbox.contains("approval_requested"), "{why}: {inbox}");
    }
    assert_eq!(given.test.get("/actors/new", &given.test.admin).await.status, 404);
}

#[tokio::test]
async fn nobody_reviews_what_was_proposed_on_their_behalf() {
    let given = Given::new().await;
    let Given { test, ben, .. } = &given;
    let under = given.grant(&test.admin, json!({ "to": "ben", "authority": "propose" })).await;
    let mut files = ok::policy::Bundle::built_in().files;
    files.insert("note.cedar".into(), "// One more file.\n".into());
    let new = json!({ "target": "policy", "content": { "files": files }, "reason": "a note" });
    let change = given.under(&under, ben, "POST", "/changes", new).await;
    assert_eq!(change.json()["on_behalf_of"], json!(["ana"]), "{}", change.text());
    let path = format!("/changes/{}", change.json()["id"].as_str().unwrap());
    let verdict = json!({ "verdict": "approve" });
    let reviewed = test.post(&format!("{path}/review"), &test.admin, verdict).await.error();
    assert!(reviewed.ends_with("nobody reviews their own change"), "{reviewed}");
    // Nor does it go on as if there were no other admin.
    let tested = test.post(&format!("{path}/evals"), ben, json!({})).await;
    assert_eq!(tested.status, 200, "{}", tested.text());
    let promoted = test.post(&format!("{path}/promote"), ben, json!({})).await;
    assert_eq!(promoted.json()["error"], "needs_approval", "{}", promoted.text());
}

#[tokio::test]
async fn explain_says_who_is_in_the_way() {
    let given = Given::new().await;
    let Given { test, cast, ben, .. } = &given;
    let under = given.grant(&cast.max, json!({ "to": "ben", "authority": "act", "scope": ["actor.*"] })).await;
    let ask = async |token: &str, more: Value| {
        let mut question = json!({ "actor": "ben", "under": under });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        test.post("/policy/explain", token, question).await
    };
    let told = ask(&test.admin, json!({ "op": "actor.add", "target": "team:ops" })).await.json();
    assert_eq!(told["decision"], "deny");
    assert_eq!(told["reason"], "not on behalf of max: no policy permits it");
    assert_eq!(told["on_behalf_of"][0]["from"], "max");
    assert_eq!(told["on_behalf_of"][0]["decision"], "deny");
    assert_eq!(told["what_would_change"][0][0]["text"], "the role of max is admin");
    let told = ask(&test.admin, json!({ "op": "tick" })).await.json();
    assert_eq!(told["reason"], format!("the delegation {under} from max does not cover it"));
    let told = ask(&test.admin, json!({ "op": "actor.read", "target": "mia" })).await.json();
    assert_eq!(
        (told["decision"].clone(), told["on_behalf_of"][0]["decision"].clone()),
        (json!("allow"), json!("allow"))
    );
    // Everything at once; and as it was before it was given.
    let rows = ask(&test.admin, json!({})).await.json();
    let row = |op: &str| rows["operations"].as_array().unwrap().iter().find(|row| row["operation"] == op).cloned();
    assert_eq!(row("tick").unwrap()["decision"], "deny");
    assert_eq!(row("actor.list").unwrap()["decision"], "allow");
    let before = json!({ "op": "actor.list", "at": test.last_seq().await - 1 });
    assert_eq!(ask(&test.admin, before).await.json()["reason"], "the delegation has ended");
    // Nobody asks about what they may not see.
    let hidden = test.post("/policy/explain", &cast.max, json!({ "op": "me.read", "under": "dlg_none" })).await;
    assert_eq!(hidden.error(), "422 invalid under: max was given no delegation `dlg_none`");
    let ours = given.under(&under, ben, "GET", "/actors", json!({})).await;
    assert_eq!(ours.status, 200);
}

#[tokio::test]
async fn decisions_under_a_delegation_are_replayed_as_they_were() {
    let given = Given::new().await;
    let Given { test, cast, ben, .. } = &given;
    let since = test.last_seq().await;
    let under = given.grant(&cast.max, all("ben")).await;
    for who in ["one", "two"] {
        assert_eq!(add(&given, &under, ben, who).await.status, 403);
    }
    let for_ana = given.grant(&test.admin, all("ben")).await;
    assert_eq!(add(&given, &for_ana, ben, "three").await.status, 201);
    given.revoke(&test.admin, &for_ana).await;
    // Members may add: then what was refused on behalf of one would be allowed, and so would nothing else.
    let mut files = ok::policy::Bundle::built_in().files;
    files.retain(|path, _| !path.starts_with("tests/"));
    let more = "@id(\"members-add\") permit (principal in Ok::Role::\"member\", action == Ok::Action::\"actor.add\", resource);";
    files.insert("more.cedar".into(), more.into());
    let approved = files.get("base/leads.cedar").unwrap().replace(OLD, NEW);
    files.insert("base/leads.cedar".into(), approved);
    let diff = test.post("/policy/diff", &test.admin, json!({ "files": files, "since": since.to_string() })).await;
    assert_eq!(diff.status, 200, "{}", diff.text());
    let impact = diff.json()["impact"].clone();
    assert!(impact["denominator"]["summary"].as_str().unwrap().ends_with(" 0 not replayable"), "{impact}");
    assert_eq!(impact["matrix"]["deny"]["allow"], 2, "{impact}");
    assert_eq!((&impact["matrix"]["allow"]["deny"], &impact["recorded_otherwise"]), (&json!(0), &json!(0)), "{impact}");
}

#[tokio::test]
async fn the_same_key_under_another_delegation_is_another_request() {
    let given = Given::new().await;
    let Given { test, ben, .. } = &given;
    let under = given.grant(&test.admin, all("ben")).await;
    let send = async |under: Option<&str>| {
        let bearer = format!("Bearer {ben}");
        let mut headers =
            vec![("authorization", bearer.as_str()), ("content-type", "application/json"), ("idempotency-key", "k")];
        headers.extend(under.map(|under| ("ok-delegation", under)));
        test.raw("POST", "/kill", &headers, json!({ "scope": "tool:mail.send" }).to_string()).await
    };
    assert_eq!(send(Some(&under)).await.status, 200);
    let before = test.last_seq().await;
    assert_eq!(send(Some(&under)).await.status, 200);
    assert_eq!(test.last_seq().await, before, "the same answer, and no second effect");
    assert_eq!(send(None).await.status, 200);
    assert_eq!(test.last_seq().await, before + 1);
    given.revoke(&test.admin, &under).await;
    assert_eq!(send(Some(&under)).await.status, 403);
}

#[tokio::test]
async fn delegations_hold_after_a_restart() {
    let given = Given::new().await;
    let under = given.grant(&given.cast.lea, all("bot")).await;
    let Given { test, cast, ben, sub } = given;
    let given = Given { test: test.reopened().await, cast, ben, sub };
    assert_eq!(given.under(&under, &given.cast.bot, "GET", "/me", json!({})).await.status, 200);
    given.revoke(&given.cast.lea, &under).await;
    let Given { test, cast, ben, sub } = given;
    let given = Given { test: test.reopened().await, cast, ben, sub };
    assert_eq!(given.under(&under, &given.cast.bot, "GET", "/me", json!({})).await.status, 403);
}

#[tokio::test]
async fn a_retry_under_a_delegation_gets_the_first_answer() {
    let given = Given::new().await;
    let under = given.grant(&given.cast.lea, all("max")).await;
    let bearer = format!("Bearer {}", given.cast.max);
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("ok-delegation", &*under),
        ("idempotency-key", "once"),
    ];
    let asks = async || given.test.raw("POST", "/tasks", &headers, json!({ "title": "for lea" }).to_string()).await;
    let (first, again) = (asks().await, asks().await);
    assert_eq!((first.status, again.status), (201.try_into().unwrap(), 201.try_into().unwrap()), "{}", again.text());
    assert_eq!((first.json()["id"].clone(), again.header("idempotent-replayed")), (again.json()["id"].clone(), "true"));
}
