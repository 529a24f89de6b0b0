//! Tasks through the router: who is given one, what is said of it, how it ends.

use ok::gate::state::refold;
use ok::types::time::{DAY, HOUR, SECOND};
use serde_json::{Value, json};

use super::runs::asked;
use crate::harness::Test;

async fn create(test: &Test, token: &str, new: Value) -> Value {
    let made = test.post("/tasks", token, new).await;
    assert_eq!((made.status.as_u16(), made.header("etag")), (201, "\"1\""), "{}", made.text());
    made.json()
}

#[tokio::test]
async fn a_task_goes_from_one_to_the_next_and_ends_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let task = create(&test, &cast.mia, json!({ "title": "call", "goal": "Acme is called" })).await;
    assert_eq!((&task["status"], &task["goal"]), (&json!("open"), &json!("Acme is called")));
    let path = format!("/tasks/{}", task["id"].as_str().unwrap());
    let assigned = test
        .post(&format!("{path}/assign"), &cast.mia, json!({ "to": "lea", "note": "you know them", "version": 1 }))
        .await
        .json();
    assert_eq!(
        (&assigned["status"], &assigned["owner"], &assigned["version"], &assigned["note"]),
        (&json!("assigned"), &json!("lea"), &json!(2), &json!("you know them"))
    );
    // Who may not be given a task is not given one that is there; it may go back to who created it.
    let assign = async |token: &str, to: &str| test.post(&format!("{path}/assign"), token, json!({ "to": to })).await;
    let refused = "403 denied policy denied task.create: no policy permits it";
    assert_eq!(assign(&cast.mia, "max").await.error(), refused);
    assert_eq!(assign(&cast.lea, "mia").await.status, 200);
    assert_eq!(assign(&cast.mia, "lea").await.status, 200);
    let inbox = test.get("/inbox", &cast.lea).await.text();
    assert!(inbox.contains("mia gave you a task: call"), "{inbox}");
    let about = json!({ "collection": "url", "thing": "https://example.com/1", "note": "the offer" });
    let told = test.post(&format!("{path}/refs"), &cast.lea, about).await.json();
    assert_eq!(told["refs"][0]["note"], "the offer");
    let done =
        test.post(&format!("{path}/complete"), &cast.lea, json!({ "outcome": "done", "result": "called" })).await;
    assert_eq!((&done.json()["status"], &done.json()["result"]), (&json!("completed"), &json!("called")));
    let again = test.post(&format!("{path}/complete"), &cast.lea, json!({ "outcome": "cancelled" })).await;
    assert!(again.error().starts_with("409 conflict tsk_"), "{}", again.text());
    assert_eq!(test.get(&path, &cast.max).await.error(), "404 not_found not found");
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn somebodys_own_tasks_are_found_at_once_behind_many_that_they_made_for_others() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let own = create(&test, &cast.mia, json!({ "title": "mine", "owner": "mia" })).await;
    for number in 0..520 {
        create(&test, &cast.mia, json!({ "title": format!("anybody's {number}") })).await;
    }
    let page = test.get("/tasks?owner=mia", &cast.mia).await;
    assert_eq!((page.json()[0]["id"].clone(), page.json().as_array().unwrap().len()), (own["id"].clone(), 1));
    assert_eq!(page.header("x-next-cursor"), "");
}

#[tokio::test]
async fn what_is_amiss_with_a_task_is_told_with_its_field() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let long = "x".repeat(201);
    for (new, told) in [
        (json!({ "title": " " }), "422 invalid title: must have 1 to 200 characters, in one line"),
        (json!({ "title": long }), "422 invalid title: must have 1 to 200 characters, in one line"),
        (
            json!({ "title": "t", "owner": "team:ops" }),
            "422 invalid owner: teams do not act; name a person or an agent",
        ),
        (json!({ "title": "t", "owner": "nobody" }), "422 invalid owner: there is no actor nobody"),
        (json!({ "title": "t", "parent": "tsk_x" }), "422 invalid parent: there is no task tsk_x"),
        (json!({ "title": "t", "due_at": "2020-01-01T00:00:00Z" }), "422 invalid due_at: must be in the future"),
    ] {
        assert_eq!(test.post("/tasks", &cast.mia, new).await.error(), told);
    }
    let task = create(&test, &cast.mia, json!({ "title": "t", "owner": "mia" })).await;
    let run = format!("/tasks/{}/run", task["id"].as_str().unwrap());
    let plan = json!({ "plan": { "steps": [{ "say": "x" }] } });
    let refused = test.post(&run, &test.admin, plan).await;
    assert!(refused.error().starts_with("409 conflict no agent has tsk_"), "{}", refused.text());
}

#[tokio::test]
async fn what_has_ended_leaves_the_lists_after_as_long_as_the_company_says() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let task = create(&test, &cast.mia, json!({ "title": "old" })).await;
    let close = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
    test.post(&close, &cast.mia, json!({ "outcome": "done" })).await;
    create(&test, &cast.mia, json!({ "title": "open" })).await;
    test.clock.advance(8 * DAY);
    let listed =
        async |query: &str| test.get(&format!("/tasks{query}"), &cast.mia).await.json().as_array().unwrap().len();
    assert_eq!(archived(&test).await, json!([]), "for good, unless the company says otherwise");
    let keep = async |days: u32| {
        let set = json!({ "retention_days": days });
        assert_eq!(test.call("PATCH", "/company", &test.admin, Some(set)).await.status, 200);
    };
    keep(8).await;
    assert_eq!((archived(&test).await, listed("").await), (json!([]), 2), "it closed eight days ago, not longer");
    keep(7).await;
    assert_eq!(listed("").await, 2, "the tick has not come by");
    assert_eq!((archived(&test).await, archived(&test).await), (json!([task["id"]]), json!([])), "once");
    assert_eq!((listed("").await, listed("?archived=true").await), (1, 2));
    assert_eq!((listed("?owner=mia").await, listed("?owner=mia&archived=true").await), (0, 0));
    let path = format!("/tasks/{}", task["id"].as_str().unwrap());
    let shown = test.get(&path, &cast.mia).await.json();
    assert_eq!((&shown["archived_at"], &shown["version"]), (&json!("2026-11-28T09:00:00Z"), &json!(3)));
    // What is out of the lists stays out, whatever the company says later.
    keep(0).await;
    assert_eq!((listed("").await, listed("?archived=true").await), (1, 2));
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn a_task_is_created_with_what_it_is_about() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let refs = json!([
        { "collection": "url", "thing": "https://example.com/a", "note": "first" },
        { "collection": "url", "thing": "https://example.com/b" },
        { "collection": "url", "thing": "https://example.com/a", "note": "once" },
    ]);
    let made = test.post("/tasks", &cast.mia, json!({ "title": "look", "refs": refs })).await;
    assert_eq!((made.status.as_u16(), made.header("etag")), (201, "\"3\""), "{}", made.text());
    let made = made.json();
    let path = format!("/tasks/{}", made["id"].as_str().unwrap());
    assert_eq!(test.get(&path, &cast.mia).await.json(), made);
    let about: Vec<(&Value, &Value)> =
        made["refs"].as_array().unwrap().iter().map(|one| (&one["id"], &one["note"])).collect();
    let [a, b] = [json!("https://example.com/a"), json!("https://example.com/b")];
    assert_eq!(about, [(&a, &json!("once")), (&b, &json!(""))]);
    for (wrong, problem) in [
        (
            json!([{ "collection": "url", "thing": "ftp://a" }]),
            "refs[0].thing: must be an address that begins with https:// or http://",
        ),
        (json!([{ "collection": "none", "thing": "x" }]), "refs[0].thing: there is no such record that you may see"),
        (json!(vec![json!({ "collection": "url", "thing": "https://a.b" }); 101]), "refs: must be at most 100"),
    ] {
        let refused = test.post("/tasks", &cast.mia, json!({ "title": "look", "refs": wrong })).await;
        assert_eq!(refused.error(), format!("422 invalid {problem}"));
    }
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
}

/// What failed and nobody touched since has ended, too; whoever takes it up again finds it in the lists.
#[tokio::test]
async fn a_task_that_failed_leaves_the_lists_until_somebody_takes_it_up_again() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let run = asked(&test, &cast.mia, json!([{ "fail": "no luck" }])).await;
    let task = test.get(&format!("/runs/{run}"), &cast.mia).await.json()["task"].clone();
    let path = format!("/tasks/{}", task.as_str().unwrap());
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(json!({ "retention_days": 1 }))).await.status, 200);
    let listed = async || test.get("/tasks", &cast.mia).await.json().as_array().unwrap().len();
    test.clock.advance(DAY);
    assert_eq!((archived(&test).await, listed().await), (json!([]), 1));
    test.clock.advance(SECOND);
    assert_eq!((archived(&test).await, archived(&test).await), (json!([task, run]), json!([])), "once");
    let shown = test.get(&path, &cast.mia).await.json();
    assert_eq!((&shown["status"], listed().await), (&json!("failed"), 0));
    let plan = json!({ "plan": { "steps": [{ "ask": { "text": "what now?" } }] } });
    assert_eq!(test.post(&format!("{path}/run"), &cast.mia, plan).await.status, 202);
    assert_eq!(listed().await, 1);
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
}

/// What a tick takes out of the lists.
async fn archived(test: &Test) -> Value {
    let ticked = test.post("/tick", &test.admin, json!({})).await.json();
    assert_eq!(ticked["more"], false);
    ticked["archived"].clone()
}

#[tokio::test]
async fn a_run_leaves_the_lists_some_time_after_it_has_ended_and_one_that_waits_stays() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let done = asked(&test, &cast.mia, json!([{ "say": "so" }])).await;
    let waits = asked(&test, &cast.mia, json!([{ "ask": { "text": "so?" } }])).await;
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(json!({ "retention_days": 1 }))).await.status, 200);
    let runs = async |query: &str| {
        let listed = test.get(&format!("/runs{query}"), &cast.mia).await.json();
        listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let later = json!({ "now": "2026-11-22T09:00:00Z" });
    let ticked = test.post("/tick", &test.admin, later).await.json();
    let task = test.get(&format!("/runs/{done}"), &cast.mia).await.json()["task"].clone();
    assert_eq!(ticked["archived"], json!([task, done]), "by the time that the tick is given");
    assert_eq!(test.newest(2).await, ["task_archived", "run_archived"]);
    assert_eq!(runs("").await, [waits.as_str()]);
    assert_eq!(runs(&format!("?task={}", task.as_str().unwrap())).await, Vec::<String>::new());
    assert_eq!(runs(&format!("?task={}&archived=true", task.as_str().unwrap())).await, [done.as_str()]);
    assert_eq!(runs("?archived=true").await.len(), 2);
    assert_eq!((runs("?agent=bot").await.len(), runs("?agent=bot&archived=true").await.len()), (1, 2));
    let far = test.post("/tick", &test.admin, json!({ "now": "2099-01-01T00:00:00Z" })).await;
    assert_eq!(far.status, 422, "a mistyped year archives nothing");
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn a_tick_archives_so_many_and_says_that_more_is_left() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let set = json!({ "retention_days": 1 });
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(set)).await.status, 200);
    let many = 1_001;
    for number in 0..many {
        if number % 25 == 0 {
            test.clock.advance(61_000);
        }
        let task = create(&test, &cast.mia, json!({ "title": "old" })).await;
        let close = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
        assert_eq!(test.post(&close, &cast.mia, json!({ "outcome": "done" })).await.status, 200);
    }
    test.clock.advance(2 * DAY);
    let tick = async || {
        let ticked = test.post("/tick", &test.admin, json!({})).await.json();
        (ticked["archived"].as_array().unwrap().len(), ticked["more"].as_bool().unwrap())
    };
    assert_eq!((tick().await, tick().await, tick().await), ((1_000, true), (1, false), (0, false)));
    assert_eq!(test.get("/tasks", &cast.mia).await.json(), json!([]));
}

#[tokio::test]
async fn an_sla_says_something_or_is_left_out() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let asked = async |sla: Value| test.post("/tasks", &cast.mia, json!({ "title": "call", "sla": sla })).await;
    assert_eq!(
        asked(json!({})).await.error(),
        "422 invalid sla: must have respond_h, resolve_h or both; leave it out for none"
    );
    assert_eq!(asked(json!({ "respond_h": 0 })).await.error(), "422 invalid sla.respond_h: must be 1 to 10000");
    let hours = json!({ "hours": { "from": "09:00", "to": "09:01" } });
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(hours)).await.status, 200);
    assert_eq!(
        asked(json!({ "respond_h": 1, "resolve_h": 1_000 })).await.error(),
        "422 invalid sla.resolve_h: 1000 of the company's working hours take more than 10 years"
    );
    let none = asked(Value::Null).await;
    assert_eq!((none.status.as_u16(), &none.json()["sla"]), (201, &Value::Null), "{}", none.text());
}

#[tokio::test]
async fn a_task_that_is_not_seen_to_within_the_companys_hours_is_stalled_and_told_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let hours = json!({ "timezone": "America/New_York", "hours": { "from": "09:00", "to": "17:00" } });
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(hours)).await.status, 200);
    // It is four in the morning of a Friday there.
    let new = json!({ "title": "call back", "sla": { "respond_h": 8, "resolve_h": 10 } });
    let task = test.post("/tasks", &cast.mia, new).await.json();
    let sla = json!({ "respond_h": 8, "resolve_h": 10, "respond_by": "2026-11-20T22:00:00Z", "resolve_by": "2026-11-23T16:00:00Z" });
    assert_eq!((&task["sla"], &task["stalled"]), (&sla, &json!(false)));
    let id = task["id"].as_str().unwrap();
    let tick = async || test.post("/tick", &test.admin, json!({})).await.json()["stalled"].clone();
    test.clock.advance(13 * HOUR - 1);
    assert_eq!(tick().await, json!([]));
    test.clock.advance(1);
    assert_eq!((tick().await, tick().await), (json!([id]), json!([])), "once");
    let inbox = test.get("/inbox", &cast.mia).await.json();
    assert_eq!(inbox[0]["title"], "a task is stalled: call back: nobody took it in time");
    // Whoever gets it now is told in their turn.
    let path = format!("/tasks/{id}");
    assert_eq!(test.post(&format!("{path}/assign"), &test.admin, json!({ "to": "max" })).await.status, 200);
    assert_eq!(test.get(&path, &cast.mia).await.json()["stalled"], false);
    test.clock.advance(66 * HOUR);
    assert_eq!(tick().await, json!([id]));
    assert_eq!(test.event().await["event"]["reason"], "it was not closed in time");
    let wrong = json!({ "title": "x", "sla": { "respond_h": 0 } });
    assert_eq!(test.post("/tasks", &cast.mia, wrong).await.error(), "422 invalid sla.respond_h: must be 1 to 10000");
}

#[tokio::test]
async fn traces_show_runs_with_their_steps_since_a_time_or_a_day() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let first = asked(&test, &cast.mia, json!([{ "say": "one" }])).await;
    test.clock.advance(2 * DAY);
    let second =
        asked(&test, &cast.mia, json!([{ "say": "two" }, { "model": { "text": "so", "cost_cents": 3 } }])).await;
    let runs = async |query: &str| {
        let traces = test.get(&format!("/traces{query}"), &cast.mia).await;
        assert_eq!(traces.status, 200, "{query}: {}", traces.text());
        traces
            .json()
            .as_array()
            .unwrap()
            .iter()
            .map(|trace| trace["run"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(runs("").await, [second.clone(), first.clone()], "newest first");
    for since in ["2026-11-21", "2026-11-21T00:00:00Z", "2026-11-21T02:00:00%2B02:00"] {
        assert_eq!(runs(&format!("?since={since}")).await, std::slice::from_ref(&second), "{since}");
    }
    let newest = test.get("/traces?limit=1", &cast.mia).await;
    let trace = newest.json()[0].clone();
    assert_eq!((&trace["cost_cents"], trace["steps"].as_array().unwrap().len()), (&json!(3), 2), "{trace}");
    let next = newest.header("x-next-cursor");
    assert_eq!(runs(&format!("?limit=1&cursor={next}")).await, [first]);
    // The first of them is archived after a day, and a page says that it leaves it out.
    let partial = async |query: &str| test.get(query, &cast.mia).await.header("x-ok-partial").to_owned();
    assert_eq!(partial("/traces?limit=1").await, "");
    assert_eq!(test.call("PATCH", "/company", &test.admin, Some(json!({ "retention_days": 1 }))).await.status, 200);
    assert_eq!(partial("/traces?limit=1").await, "", "nothing is archived before the tick");
    assert_eq!(archived(&test).await.as_array().unwrap().len(), 2, "the task and its run");
    assert_eq!(partial("/traces?limit=1").await, "true");
    assert_eq!(partial("/traces").await, "");
    assert_eq!(partial("/traces?limit=1&since=2026-11-21").await, "");
    assert_eq!(runs("?limit=200").await.len(), 2);
    for wrong in [
        "",
        "now",
        "2026-13-01",
        "2026-11-31",
        "2026-11-20T25:00:00Z",
        "1700000000",
        "2026-11-20T09:00",
        "2026-11-20T09:00Z",
        "20261120",
    ] {
        let refused = test.get(&format!("/traces?since={wrong}"), &cast.mia).await;
        assert_eq!(refused.status, 422, "{wrong}: {}", refused.text());
        assert!(refused.error().starts_with("422 invalid since: must be"), "{wrong}: {}", refused.text());
    }
    assert_eq!(test.get("/traces?limit=201", &cast.mia).await.status, 400);
    assert_eq!(test.get("/traces", &cast.max).await.json(), json!([]), "another team sees none of them");
}
