//! Giving, handing on, revoking, and what cannot be given.

use axum::http::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, Cast, START, Test};
use ok::types::time::{DAY, SECOND, Time};

/// The cast, with the second admin `ben` and the agent `sub` of mia's.
pub struct Given {
    pub test: Test,
    pub cast: Cast,
    pub ben: String,
    pub sub: String,
}

impl Given {
    pub async fn new() -> Given {
        let test = Test::new().await;
        let cast = test.cast().await;
        let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
        let sub = test.add("sub", "agent", json!({ "team": "team:ops", "owner": "mia" })).await;
        Given { test, cast, ben, sub }
    }

    /// A call under a delegation.
    pub async fn under(&self, id: &str, token: &str, method: &str, path: &str, body: Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("/api{path}"))
            .header("authorization", format!("Bearer {token}"))
            .header("ok-delegation", id)
            .header("content-type", "application/json");
        let body = if matches!(method, "GET" | "DELETE") { String::new() } else { body.to_string() };
        self.test.send(request.body(body.into()).unwrap()).await
    }

    pub async fn grant(&self, token: &str, new: Value) -> String {
        id(&self.test.post("/delegations", token, new).await)
    }

    pub async fn hand_on(&self, under: &str, token: &str, new: Value) -> Answer {
        self.under(under, token, "POST", "/delegations", new).await
    }

    pub async fn revoke(&self, token: &str, id: &str) -> Answer {
        self.test.call("DELETE", &format!("/delegations/{id}"), token, None).await
    }

    pub async fn shown(&self, id: &str) -> Value {
        self.test.get(&format!("/delegations/{id}"), &self.test.admin).await.json()
    }
}

pub fn id(granted: &Answer) -> String {
    assert_eq!(granted.status, 201, "{}", granted.text());
    granted.json()["id"].as_str().unwrap().to_owned()
}

pub fn all(to: &str) -> Value {
    json!({ "to": to, "authority": "act" })
}

#[tokio::test]
async fn a_delegation_says_what_was_given() {
    let given = Given::new().await;
    let new = json!({ "to": "bot", "scope": ["query", "actor.*"], "authority": "act", "tools": ["mail.send"],
        "budget_cents": 500 });
    let granted = given.test.post("/delegations", &given.cast.lea, new).await;
    let row = granted.json();
    assert_eq!((row["from"].clone(), row["to"].clone(), row["depth"].clone()), (json!("lea"), json!("bot"), json!(1)));
    assert_eq!(row["scope"], json!(["actor.*", "query"]));
    assert_eq!((row["status"].clone(), row["left_cents"].clone()), (json!("active"), json!(500)));
    assert_eq!(row["on_behalf_of"], json!(["lea"]));
    assert_eq!(given.test.newest(1).await, ["delegation_granted"]);
    // Those concerned see it, and nobody else.
    let rows = |answer: Answer| answer.json().as_array().unwrap().len();
    assert_eq!(rows(given.test.get("/delegations?mine=true", &given.cast.lea).await), 1);
    assert_eq!(rows(given.test.get("/delegations", &given.cast.bot).await), 1);
    assert_eq!(rows(given.test.get("/delegations", &given.cast.aud).await), 1);
    assert_eq!(rows(given.test.get("/delegations", &given.cast.max).await), 0);
    let path = format!("/delegations/{}", id(&granted));
    assert_eq!(given.test.get(&path, &given.cast.max).await.error(), "404 not_found not found");
}

#[tokio::test]
async fn what_cannot_be_given_is_refused_by_field() {
    let given = Given::new().await;
    let test = &given.test;
    test.add("gone", "person", json!({})).await;
    test.post("/actors/gone/offboard", &test.admin, json!({ "reason": "left" })).await;
    let late = Time(START + 367 * DAY).to_string();
    let soon = Time(START + 30 * SECOND).to_string();
    let many: Vec<String> = (0..51).map(|n| format!("t{n}")).collect();
    for (new, told) in [
        (all("lea"), "to: you cannot delegate to yourself"),
        (all("team:ops"), "to: teams do not act"),
        (all("gone"), "to: gone has left"),
        (json!({ "to": "bot", "authority": "act", "scope": [] }), "scope: name at least one"),
        (json!({ "to": "bot", "authority": "act", "scope": ["token.steal"] }), "there are token.*, token.issue"),
        (json!({ "to": "bot", "authority": "act", "scope": ["nothing"] }), "there are *, access.*"),
        (json!({ "to": "bot", "authority": "act", "tools": many }), "tools: must have at most 50"),
        (
            json!({ "to": "bot", "authority": "act", "tools": ["mail.sent"] }),
            "tools: there is no tool `mail.sent`; did you mean `mail.send`?",
        ),
        (json!({ "to": "bot", "authority": "act", "budget_cents": -1 }), "budget_cents: must be 0 to"),
        (json!({ "to": "bot", "authority": "act", "budget_cents": i64::MAX }), "budget_cents: must be 0 to"),
        (json!({ "to": "bot", "authority": "act", "expires_at": late }), "expires_at: must be"),
        (json!({ "to": "bot", "authority": "act", "expires_at": soon }), "expires_at: must be"),
        (json!({ "to": "bot", "authority": "act", "ttl": "eternity" }), "ttl: `eternity`"),
        // What the giver may not do at all would be a delegation of nothing.
        (
            json!({ "to": "bot", "authority": "act", "scope": ["company.update", "tick"] }),
            "scope: you may do nothing in",
        ),
        (
            json!({ "to": "bot", "authority": "inform", "scope": ["actor.read", "token.issue"] }),
            "authority: `inform` allows nothing in `token.issue`: that needs `act`",
        ),
        (
            json!({ "to": "bot", "authority": "inform", "scope": ["change.propose"] }),
            "authority: `inform` allows nothing in `change.propose`: that needs `propose`",
        ),
    ] {
        let answer = test.post("/delegations", &given.cast.lea, new.clone()).await;
        let error = answer.error();
        assert!(error.starts_with("422 invalid") && error.contains(told), "{new}: {error}");
    }
    let nobody = test.post("/delegations", &given.cast.lea, all("nobody")).await;
    assert_eq!(nobody.error(), "404 not_found not found, or not yours to see: to `nobody`");
    let unsaid = test.post("/delegations", &given.cast.lea, json!({ "to": "bot" })).await;
    assert_eq!((unsaid.status.as_u16(), unsaid.text().contains("authority")), (422, true));
    let agent = test.post("/delegations", &given.cast.bot, all("sub")).await;
    assert_eq!(agent.error(), "403 denied policy denied delegation.grant: no policy permits it");
    assert!(test.get("/delegations", &test.admin).await.json().as_array().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_handed_on_is_never_wider() {
    let given = Given::new().await;
    let new = json!({ "to": "bot", "scope": ["actor.*", "delegation.grant"], "authority": "act", "tools": ["mail.send"],
        "budget_cents": 100, "ttl": "2d" });
    let first = given.grant(&given.cast.lea, new).await;
    let ok = json!({ "to": "sub", "authority": "act", "budget_cents": 60 });
    let with = |more: Value| {
        let mut new = ok.clone();
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    for (more, told) in [
        (json!({ "scope": ["actor.read", "token.list"] }), "scope: you were not given `token.list`"),
        (json!({ "scope": ["*"] }), "scope: you were not given"),
        (json!({ "tools": ["echo.once"] }), "tools: you were not given `echo.once`"),
        (json!({ "ttl": "3d" }), "expires_at: must not be after"),
        (json!({ "budget_cents": 101 }), "budget_cents: must be at most 100"),
        (json!({ "budget_cents": null }), "budget_cents: must be given, at most 100"),
        (json!({ "to": "lea" }), "to: lea is already in the chain"),
        (json!({ "to": "bot" }), "to: you cannot delegate to yourself"),
    ] {
        let error = given.hand_on(&first, &given.cast.bot, with(more)).await.error();
        assert!(error.starts_with("422 invalid") && error.contains(told), "{error}");
    }
    let second = id(&given.hand_on(&first, &given.cast.bot, ok.clone()).await);
    let row = given.shown(&second).await;
    // Unless said, what was given is handed on as far as it goes.
    assert_eq!(row["scope"], json!(["actor.*", "delegation.grant"]));
    assert_eq!(row["expires_at"], given.shown(&first).await["expires_at"]);
    assert_eq!((row["depth"].clone(), row["on_behalf_of"].clone()), (json!(2), json!(["bot", "lea"])));
    assert_eq!(given.shown(&first).await["left_cents"], 40);
    // Two may be left out, and so may one less of authority; a fourth link may not be added.
    let third = json!({ "to": "mia", "authority": "act", "budget_cents": 1 });
    let third = id(&given.hand_on(&second, &given.sub, third).await);
    let fourth = given.hand_on(&third, &given.cast.mia, json!({ "to": "max", "authority": "act", "budget_cents": 0 }));
    assert_eq!(fourth.await.error(), "422 invalid to: delegations are handed on at most 2 times");
    let propose = json!({ "to": "bot", "authority": "propose" });
    let propose = given.grant(&given.cast.lea, propose).await;
    let error = given.hand_on(&propose, &given.cast.bot, all("sub")).await.error();
    assert!(error.contains("the delegation") && error.contains("does not cover it"), "{error}");
}

#[tokio::test]
async fn revoking_one_ends_all_that_rests_on_it_at_once() {
    let given = Given::new().await;
    let first = given.grant(&given.cast.lea, json!({ "to": "bot", "authority": "act", "budget_cents": 100 })).await;
    let second = json!({ "to": "sub", "authority": "act", "budget_cents": 60 });
    let second = id(&given.hand_on(&first, &given.cast.bot, second).await);
    let third = json!({ "to": "mia", "authority": "act", "budget_cents": 20 });
    let third = id(&given.hand_on(&second, &given.sub, third).await);
    // Whoever is not concerned: hidden, or seen and not theirs.
    assert_eq!(given.revoke(&given.cast.max, &first).await.error(), "404 not_found not found");
    let auditor = given.revoke(&given.cast.aud, &first).await.error();
    assert_eq!(auditor, "403 not_owner policy denied delegation.revoke: no policy permits it");
    assert_eq!(given.under(&third, &given.cast.mia, "GET", "/me", json!({})).await.status, 200);
    let revoked = given.revoke(&given.cast.lea, &second).await;
    assert_eq!(revoked.json(), json!({ "revoked": [third, second] }));
    assert_eq!(given.test.newest(2).await, ["delegation_revoked", "delegation_revoked"]);
    for (id, token) in [(&second, &given.sub), (&third, &given.cast.mia)] {
        assert_eq!(given.under(id, token, "GET", "/me", json!({})).await.status, 403);
        assert_eq!(given.shown(id).await["status"], "revoked");
    }
    assert_eq!(given.shown(&first).await["left_cents"], 100, "what nobody holds any more is free again");
    assert_eq!(given.under(&first, &given.cast.bot, "GET", "/me", json!({})).await.status, 200);
    assert_eq!(given.revoke(&given.cast.lea, &second).await.json(), json!({ "revoked": [] }));
    // Its taker may give it back.
    assert_eq!(given.revoke(&given.cast.bot, &first).await.json(), json!({ "revoked": [first] }));
}

#[tokio::test]
async fn whoever_leaves_takes_their_delegations_with_them() {
    let given = Given::new().await;
    let from_max = given.grant(&given.cast.max, all("bot")).await;
    let handed_on = id(&given.hand_on(&from_max, &given.cast.bot, all("sub")).await);
    let to_max = given.grant(&given.cast.lea, all("max")).await;
    let other = given.grant(&given.cast.lea, all("mia")).await;
    let left = given.test.post("/actors/max/offboard", &given.test.admin, json!({ "reason": "leaves" })).await.json();
    assert_eq!(left["delegations_revoked"], 3);
    for id in [&from_max, &handed_on, &to_max] {
        assert_eq!(given.shown(id).await["status"], "revoked");
    }
    assert_eq!(given.shown(&other).await["status"], "active");
    assert_eq!(given.under(&handed_on, &given.sub, "GET", "/me", json!({})).await.status, 403);
    assert!(given.test.verdict().ok);
}

#[tokio::test]
async fn a_delegation_ends_by_itself_and_the_tick_notes_it_once() {
    let given = Given::new().await;
    let id = given.grant(&given.cast.lea, json!({ "to": "bot", "authority": "act", "ttl": "1h" })).await;
    given.test.clock.advance(3_600 * SECOND - 1);
    assert_eq!(given.under(&id, &given.cast.bot, "GET", "/me", json!({})).await.status, 200);
    given.test.clock.advance(1);
    let refused = given.under(&id, &given.cast.bot, "GET", "/me", json!({})).await.error();
    assert_eq!(refused, format!("403 denied you do not act under `{id}`: it has ended, or was never given to you"));
    assert_eq!(given.shown(&id).await["status"], "expired");
    let ticked = given.test.post("/tick", &given.test.admin, json!({})).await.json();
    assert_eq!(ticked["expired"], json!([id]));
    assert_eq!(given.test.newest(1).await, ["delegation_expired"]);
    let again = given.test.post("/tick", &given.test.admin, json!({})).await.json();
    assert_eq!(again["expired"], json!([]));
}

#[tokio::test]
async fn a_budget_is_set_aside_before_and_settled_after() {
    let given = Given::new().await;
    let (test, bot) = (&given.test, &given.cast.bot);
    let first = given.grant(&given.cast.lea, json!({ "to": "bot", "authority": "act", "budget_cents": 100 })).await;
    let path = format!("/delegations/{first}/reservations");
    let reserve = async |cents: i64| test.post(&path, bot, json!({ "cents": cents, "purpose": "a run" })).await;
    let settle = async |id: &Value, cents: i64| {
        let path = format!("{path}/{}/settle", id.as_str().unwrap());
        test.post(&path, bot, json!({ "cents": cents })).await
    };
    for (cents, purpose) in [(0, "a"), (-5, "a"), (1, ""), (i64::MAX, "a")] {
        let bad = test.post(&path, bot, json!({ "cents": cents, "purpose": purpose })).await;
        assert_eq!(bad.status, 422, "{}", bad.text());
    }
    let one = reserve(70).await.json();
    assert_eq!(one["left_cents"], 30);
    assert_eq!(reserve(31).await.error(), "409 conflict 30 cents are left of its budget");
    // Less than was set aside: the rest is free again. Twice: no.
    let settled = settle(&one["id"], 20).await.json();
    assert_eq!((settled["left_cents"].clone(), settled["over_cents"].clone()), (json!(80), json!(0)));
    assert_eq!(settle(&one["id"], 20).await.error(), "409 conflict it was settled already, at 20 cents");
    assert_eq!(settle(&json!("rsv_none"), 20).await.error(), "404 not_found not found");
    // More than was set aside is taken as it happened, and ends the spending.
    let two = reserve(80).await.json();
    let over = settle(&two["id"], 95).await.json();
    assert_eq!((over["over_cents"].clone(), over["status"].clone()), (json!(15), json!("exhausted")));
    assert_eq!(given.shown(&first).await["spent_cents"], 115);
    assert_eq!(reserve(1).await.error(), "409 conflict 0 cents are left of its budget");
    // Nothing can be changed under it any more, but read.
    assert_eq!(given.under(&first, bot, "GET", "/me", json!({})).await.status, 200);
    let refused = given.hand_on(&first, bot, json!({ "to": "sub", "authority": "act", "budget_cents": 0 })).await;
    let why = "the budget of the delegation is used up";
    assert_eq!(refused.error(), format!("403 denied policy denied delegation.grant: {why}"));
    // A stranger's reservations are no business of others.
    let stranger = test.post(&path, &given.cast.max, json!({ "cents": 1, "purpose": "a" })).await;
    assert_eq!(stranger.error(), "404 not_found not found");
}

#[tokio::test]
async fn what_was_under_way_when_a_delegation_ended_is_settled_above_it() {
    let given = Given::new().await;
    let first = given.grant(&given.cast.lea, json!({ "to": "bot", "authority": "act", "budget_cents": 100 })).await;
    let second = json!({ "to": "sub", "authority": "act", "budget_cents": 60 });
    let second = id(&given.hand_on(&first, &given.cast.bot, second).await);
    let path = format!("/delegations/{second}/reservations");
    let kept = given.test.post(&path, &given.sub, json!({ "cents": 50, "purpose": "a run" })).await.json();
    assert_eq!(given.revoke(&given.cast.lea, &second).await.status, 200);
    let row = given.shown(&first).await;
    assert_eq!((row["reserved_cents"].clone(), row["left_cents"].clone()), (json!(50), json!(50)));
    let late = given.test.post(&path, &given.sub, json!({ "cents": 1, "purpose": "more" })).await;
    assert_eq!(late.error(), "409 conflict the delegation has ended");
    let settle = format!("{path}/{}/settle", kept["id"].as_str().unwrap());
    assert_eq!(given.test.post(&settle, &given.sub, json!({ "cents": 55 })).await.status, 200);
    let row = given.shown(&first).await;
    assert_eq!((row["spent_cents"].clone(), row["reserved_cents"].clone()), (json!(55), json!(0)));
    assert!(given.test.verdict().ok);
}
