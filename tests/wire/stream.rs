//! `GET /api/events/stream` and `GET /api/runs/{id}/stream`.

use ok::http::Front;
use ok::types::models::ProviderKind;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{FOREVER, Wire};
use crate::api::thinking::{company_with, serve};
use crate::api::together::ASK_FIRST;
use crate::harness::fake::{Fake, Reply};
use crate::harness::{Test, together};

/// A stream of server-sent events.
struct Stream {
    response: Response,
    text: String,
}

#[derive(Debug, PartialEq)]
struct Message {
    id: i64,
    event: String,
    data: Value,
}

impl Wire {
    async fn follow(&self, query: &str, token: &str) -> Stream {
        self.open(&format!("/events/stream{query}"), token).await
    }

    async fn open(&self, path: &str, token: &str) -> Stream {
        let url = format!("http://{}/api{path}", self.address);
        let request = reqwest::Client::new().get(url).header("last-event-id", "1");
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { response, text: String::new() }
    }

    async fn kill(&self, scope: &str) {
        let done = self.test.post("/kill", &self.test.admin, json!({ "scope": scope })).await;
        assert_eq!(done.status, 200);
    }
}

impl Stream {
    /// The next message, or nothing if the stream is over.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                if !block.starts_with(':') {
                    return Some(message(&block));
                }
                continue;
            }
            let chunk = timeout(FOREVER, self.response.chunk()).await.expect("nothing more came").unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn id(&mut self) -> i64 {
        self.next().await.expect("the stream is over").id
    }
}

/// Exactly `id`, `event` and `data`.
fn message(block: &str) -> Message {
    let fields: Vec<(&str, &str)> = block.lines().map(|line| line.split_once(": ").unwrap()).collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["id", "event", "data"], "{block}");
    Message {
        id: fields[0].1.parse().unwrap(),
        event: fields[1].1.to_owned(),
        data: serde_json::from_str(fields[2].1).unwrap(),
    }
}

#[tokio::test]
async fn a_stream_starts_at_the_newest_event_whatever_last_event_id_says() {
    let wire = Wire::new(|_| {}).await;
    let mut stream = wire.follow("", &wire.test.admin).await;
    wire.kill("tool:mail.send").await;
    let record = wire.test.event().await;
    let expected = Message { id: record["seq"].as_i64().unwrap(), event: "kill_switch".into(), data: record };
    assert_eq!(stream.next().await, Some(expected), "the same record as in the list");
}

#[tokio::test]
async fn since_resumes_after_the_last_received_event_without_gap_or_repeat() {
    let wire = Wire::new(|_| {}).await;
    let mut stream = wire.follow("?since=0", &wire.test.admin).await;
    let last = wire.test.last_seq().await;
    for seq in 1..=last {
        assert_eq!(stream.id().await, seq);
    }
    wire.kill("tool:mail.send").await;
    assert_eq!(stream.id().await, last + 1);
    drop(stream);
    wire.kill("tool:mail.send").await;
    wire.kill("tool:mail.send").await;
    let mut resumed = wire.follow(&format!("?since={}", last + 1), &wire.test.admin).await;
    assert_eq!((resumed.id().await, resumed.id().await), (last + 2, last + 3));
}

#[tokio::test]
async fn a_stream_of_more_events_than_a_page_shows_all_of_them() {
    let wire = Wire::new(|_| {}).await;
    for _ in 0..11 {
        together((0..100).map(|_| wire.kill("tool:mail.send"))).await;
    }
    let mut stream = wire.follow("?since=0", &wire.test.admin).await;
    for seq in 1..=wire.test.last_seq().await {
        assert_eq!(stream.id().await, seq);
    }
}

#[tokio::test]
async fn filters_narrow_a_stream_as_they_do_the_list() {
    let wire = Wire::new(|_| {}).await;
    let mia = wire.test.add("mia", "person", json!({})).await;
    let mut kills = wire.follow("?type=kill_switch,denied&since=0", &wire.test.admin).await;
    let mut hers = wire.follow("?actor=mia", &wire.test.admin).await;
    wire.kill("tool:mail.send").await;
    assert_eq!(wire.test.post("/tick", &mia, json!({})).await.status, 403);
    let last = wire.test.last_seq().await;
    assert_eq!((kills.id().await, kills.id().await), (last - 1, last));
    assert_eq!(hers.id().await, last);
}

#[tokio::test]
async fn only_events_that_the_caller_may_see_are_sent() {
    let wire = Wire::new(|_| {}).await;
    let mia = wire.test.add("mia", "person", json!({})).await;
    let max = wire.test.add("max", "person", json!({})).await;
    let mut stream = wire.follow("", &mia).await;
    wire.kill("tool:mail.send").await;
    assert_eq!(wire.test.post("/tick", &max, json!({})).await.status, 403);
    assert_eq!(wire.test.post("/tick", &mia, json!({})).await.status, 403);
    assert_eq!(stream.id().await, wire.test.last_seq().await, "what others did is left out");
}

#[tokio::test]
async fn the_stream_alone_takes_its_token_from_the_address() {
    let wire = Wire::new(|_| {}).await;
    let mut stream = wire.follow(&format!("?since=0&token={}", wire.test.admin), "").await;
    assert_eq!(stream.id().await, 1);
    let url = format!("http://{}/api/events/stream?token=nonsense", wire.address);
    assert_eq!(reqwest::get(url).await.unwrap().status(), 401);
    let url = format!("http://{}/api/events?token={}", wire.address, wire.test.admin);
    assert_eq!(reqwest::get(url).await.unwrap().status(), 401);
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked_or_its_actor_stopped() {
    let wire = Wire::new(|_| {}).await;
    let mia = wire.test.add("mia", "person", json!({})).await;
    let max = wire.test.add("max", "person", json!({})).await;
    let (mut revoked, mut killed) = (wire.follow("", &mia).await, wire.follow("", &max).await);
    wire.test.call("DELETE", "/tokens/mia", &wire.test.admin, None).await;
    // The revocation itself may still arrive: whoever was asking at that moment was let in before it.
    while let Some(last) = revoked.next().await {
        assert!(format!("{last:?}").contains("token_revoked"), "{last:?}");
    }
    wire.kill("actor:max").await;
    while let Some(last) = killed.next().await {
        assert!(format!("{last:?}").contains("kill_switch"), "{last:?}");
    }
}

#[tokio::test]
async fn a_stream_is_refused_for_what_a_list_is_refused() {
    let wire = Wire::new(|_| {}).await;
    for query in ["since=-1", "since=x", "type=nothing", "sinse=1", "limit=0", "before=0"] {
        let list = wire.test.get(&format!("/events?{query}"), &wire.test.admin).await;
        let stream = wire.test.get(&format!("/events/stream?{query}"), &wire.test.admin).await;
        assert_eq!((stream.status, list.status.as_u16()), (list.status, 400), "{query}");
    }
    let limited = wire.test.get("/events/stream?limit=5", &wire.test.admin).await;
    assert_eq!(limited.status, 400, "a stream has no end");
}

#[tokio::test]
async fn a_stream_goes_on_whatever_its_reader_s_limit_of_calls() {
    let mut bundle = ok::policy::Bundle::built_in();
    let limits = "rates:\n  reads:\n    roles: [member]\n    operations: [query]\n    most: 1\n    seconds: 3600\n";
    bundle.files.insert("limits.yaml".into(), limits.into());
    let wire = Wire::of(Test::with_policies(bundle).await, ok::http::Front::default(), |_| {}).await;
    let mia = wire.test.add("mia", "person", json!({})).await;
    let mut stream = wire.follow("", &mia).await;
    for _ in 0..3 {
        let made = wire.test.post("/tokens", &mia, json!({})).await;
        assert_eq!(made.status, 201);
        assert_eq!(stream.next().await.expect("it goes on").event, "token_issued");
    }
    assert_eq!(wire.test.get("/me", &mia).await.status, 429, "the stream was the one call");
}

#[tokio::test]
async fn one_actor_has_so_many_streams_and_others_have_theirs() {
    let wire = Wire::new(|_| {}).await;
    let (mia, max) = (wire.test.add("mia", "person", json!({})).await, wire.test.add("max", "person", json!({})).await);
    let mut open = together((0..50).map(|_| wire.follow("", &mia))).await;
    let refused = wire.test.get("/events/stream", &mia).await;
    assert_eq!(
        refused.error(),
        "429 rate_limited this actor already has 50 open streams, or all actors 1000; close one"
    );
    wire.follow("", &max).await;
    open.pop();
    while wire.test.get("/events/stream?type=denied", &mia).await.status == 429 {
        tokio::task::yield_now().await;
    }
}

/// What a run's stream tells until a message of this name, but that steps began which are told to be over later.
async fn until(stream: &mut Stream, last: &str) -> Vec<(i64, String, Value)> {
    let mut told = Vec::new();
    while told.last().is_none_or(|(_, event, _): &(i64, String, Value)| event != last) {
        let Message { id, event, data } = stream.next().await.expect("the stream is over");
        told.push((id, event, data));
    }
    told.retain(|(_, event, data)| event != "step.started" || data["seq"] == 4);
    told
}

fn names(told: &[(i64, String, Value)]) -> Vec<String> {
    let of = |data: &Value| data.get("seq").or(data.get("step")).filter(|step| step.is_u64()).cloned();
    told.iter()
        .map(|(id, event, data)| format!("{id} {event} {}", of(data).map_or(String::new(), |step| step.to_string())))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_as_it_happens_and_from_any_step() {
    let calls: &[(&str, &str)] = &[("task_create", r#"{"title":"one"}"#), ("run_ask", r#"{"text":"which?"}"#)];
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(calls), Reply::Hang]);
    let (test, cast) = company_with(&fake.config(), &[ASK_FIRST]).await;
    let wire = Wire::of(test, Front::default(), |_| {}).await;
    let test = &wire.test;
    let wish = json!({ "agent": "bot", "text": "make one" });
    let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
    let path = format!("/runs/{id}/stream");
    let mut stream = wire.open(&path, &cast.mia).await;
    let _server = serve(test);
    let told = until(&mut stream, "input.required").await;
    assert_eq!(names(&told), ["0 run.started ", "1 step.completed 1", "1 gate.pending 2", "1 input.required 3"]);
    assert_eq!((&told[2].2["name"], &told[3].2["question"]), (&json!("task.create"), &json!("which?")));
    // Answered, the later one is over, and whoever comes back now is told of both.
    let answer = json!({ "text": "this", "question": 3 });
    assert_eq!(test.post(&format!("/runs/{id}/answer"), &cast.mia, answer).await.status, 200);
    assert_eq!(names(&until(&mut stream, "step.completed").await), ["1 step.completed 3"]);
    let approval = told[2].2["waiting"]["approval"].as_str().unwrap();
    let decided = test.post(&format!("/approvals/{approval}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    let told = until(&mut stream, "output.delta").await;
    assert_eq!(names(&told), ["3 step.completed 2", "3 step.started 4", "3 output.delta 4"]);
    fake.wait_for(2);
    let mut later = wire.open(&format!("{path}?since=1"), &cast.lea).await;
    let told = until(&mut later, "output.delta").await;
    assert_eq!(names(&told[..3]), ["2 step.completed 2", "3 step.completed 3", "3 step.started 4"]);
    assert!("wait".starts_with(told[3].2["text"].as_str().unwrap()), "what was said so far: {told:?}");
    test.post(&format!("/runs/{id}/cancel"), &cast.mia, json!({})).await;
    let told = names(&until(&mut later, "run.cancelled").await);
    assert_eq!(told[told.len() - 2..], ["4 step.completed 4", "4 run.cancelled "].map(String::from));
    assert_eq!(later.next().await, None, "one end, and then nothing");
    let mut over = wire.open(&format!("{path}?since=4"), &cast.mia).await;
    assert_eq!(names(&until(&mut over, "run.cancelled").await), ["4 run.cancelled "]);
    let elsewhere = test.get(&path, &cast.max).await;
    assert_eq!(elsewhere.status, 404);
}
