//! Agents at work when their server dies under them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use ok::types::models::ProviderKind;

use super::{company, request};
use crate::harness::fake::{Fake, Reply};
use crate::harness::mailbox::Mailbox;
use crate::harness::pages::{Pages, page};
use crate::harness::prove::proves;

/// Steps that each do something that can be counted.
const STEPS: usize = 40;

/// A run as soon as it is so; it is never to fail.
fn run_that((address, token): (&str, &str), run: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let (_, shown) = request(address, token, "GET", &format!("/runs/{run}"), "get", "").unwrap();
        if wanted(&shown) {
            return shown;
        }
        assert!(shown["status"] != "failed" && Instant::now() < until, "{shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_completed(shown: &Value) -> bool {
    shown["status"] == "completed"
}

#[test]
fn a_run_goes_on_where_it_was_however_often_its_server_is_killed_and_takes_no_step_twice() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let step = |number| json!({ "call": { "tool": "task.create", "with": { "title": format!("no. {number}") } } });
    let plan: Vec<Value> = (0..STEPS).map(step).collect();
    let ask = json!({ "agent": "clerk", "text": "do", "plan": { "steps": plan } }).to_string();
    let mut run = String::new();
    for cycle in 0..5 {
        let server = place.serve();
        if run.is_empty() {
            let (status, asked) = request(server.address(), &token, "POST", "/ask", "ask", &ask).unwrap();
            assert_eq!(status, 202, "{asked}");
            run = asked["run"].as_str().unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(5 + 11 * cycle));
        server.signal("-KILL");
    }
    let server = place.serve();
    let done = run_that((server.address(), &token), &run, &is_completed);
    assert_eq!(done["trace"].as_array().unwrap().len(), STEPS);
    let (_, tasks) = request(server.address(), &token, "GET", "/tasks?limit=1000", "get", "").unwrap();
    let titles = tasks.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap());
    let made: Vec<&str> = titles.filter(|title| title.starts_with("no. ")).collect();
    assert_eq!(made.len(), STEPS, "a step was taken twice, or not at all");
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), STEPS);
    server.stop();
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn a_server_that_is_killed_while_a_model_talks_asks_again_and_counts_what_may_have_been_paid_for() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let look = Reply::Call(&[("task_create", r#"{"title":"the only one"}"#)]);
    let fake = Fake::new(ProviderKind::Anthropic, vec![look, Reply::Hang, Reply::Say("It is there.")]);
    std::fs::write(place.path().join("models.yaml"), fake.config()).unwrap();
    let variables = [("OK_LLM_CONFIG", "models.yaml"), ("FAKE_KEY", "sk-right")];
    let server = place.serve_with(&variables);
    let ask = json!({ "agent": "clerk", "text": "make one" }).to_string();
    let (status, asked) = request(server.address(), &token, "POST", "/ask", "ask", &ask).unwrap();
    assert_eq!(status, 202, "{asked}");
    fake.wait_for(2);
    server.signal("-KILL");
    server.ended();
    // Somebody has forgotten the key: the run rests until it is there.
    let server = place.serve_with(&variables[..1]);
    let run = asked["run"].as_str().unwrap();
    let rests = run_that((server.address(), &token), run, &|shown| !shown["waiting"].is_null());
    let waiting = json!({ "kind": "model", "reason": "no model can be asked: there is no key for fake" });
    assert_eq!((&rests["status"], &rests["waiting"]), (&json!("running"), &waiting), "{rests}");
    server.stop();
    let server = place.serve_with(&variables);
    let done = run_that((server.address(), &token), run, &is_completed);
    let steps = done["trace"].as_array().unwrap();
    let stand: Vec<&str> = steps.iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(stand, ["completed", "completed", "unknown", "completed"], "{done}");
    assert_eq!(fake.got().len(), 3, "the answer that was there is not asked for again");
    let lost = steps[2]["cost_cents"].as_i64().unwrap();
    assert!(lost > 1, "as much as was set aside: {done}");
    assert_eq!(done["cost_cents"].as_i64().unwrap(), 1 + lost);
    let (_, tasks) = request(server.address(), &token, "GET", "/tasks?limit=1000", "get", "").unwrap();
    let made = tasks.as_array().unwrap().iter().filter(|task| task["title"] == "the only one");
    assert_eq!(made.count(), 1);
    server.stop();
    assert_eq!(place.ok("audit verify").code, 0);
    for file in std::fs::read_dir(place.path().join(".ok")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(8).any(|part| part == b"sk-right"), "a key is in a file");
    }
}

/// A run that had gone over to another model goes on with that one, also where the first cannot be asked any more.
#[test]
fn a_run_at_a_model_that_stands_in_goes_on_without_the_key_of_the_one_before() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let fake = Fake::new(ProviderKind::Anthropic, vec![Reply::Hang, Reply::Say("It is there.")]);
    let dead = "providers:\n  dead: {kind: openai, base_url: 'http://127.0.0.1:9/', key_variable: DEAD_KEY}\n";
    let first = "models:\n  first: {provider: dead, context: 100000, max_output: 1000, price: {input: 1, output: 1}, fallbacks: [m]}\n";
    let config = fake.config().replace("providers:\n", dead).replace("models:\n", first);
    let config = config.replace("default: m}", "default: first}").replace("attempts: 3", "attempts: 1");
    std::fs::write(place.path().join("models.yaml"), config).unwrap();
    let variables = [("OK_LLM_CONFIG", "models.yaml"), ("FAKE_KEY", "sk"), ("DEAD_KEY", "sk")];
    let server = place.serve_with(&variables);
    let ask = json!({ "agent": "clerk", "text": "look" }).to_string();
    let (status, asked) = request(server.address(), &token, "POST", "/ask", "ask", &ask).unwrap();
    assert_eq!(status, 202, "{asked}");
    fake.wait_for(1);
    server.signal("-KILL");
    server.ended();
    let server = place.serve_with(&variables[..2]);
    run_that((server.address(), &token), asked["run"].as_str().unwrap(), &is_completed);
    server.stop();
}

/// Each kind of effect, killed while a call of it is under way: what happens once is asked about, all else goes on.
#[test]
fn a_server_that_is_killed_while_a_tool_is_called_calls_it_again_only_where_that_does_no_harm() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let echo = [("OK_DEV_ECHO_TOOLS", "1")];
    let server = place.serve_with(&echo);
    let begin = |tool: &str| {
        let call = json!({ "call": { "tool": tool, "with": { "text": "hello", "seconds": 2 } } });
        let ask = json!({ "agent": "clerk", "text": "do", "plan": { "steps": [call] } }).to_string();
        let (status, asked) = request(server.address(), &token, "POST", "/ask", tool, &ask).unwrap();
        assert_eq!(status, 202, "{asked}");
        asked["run"].as_str().unwrap().to_owned()
    };
    let runs = ["echo.once", "echo.read", "echo.idempotent", "echo.reconcilable"].map(begin);
    let settled = |address: &str, run: &str, wanted: &dyn Fn(&Value) -> bool| run_that((address, &token), run, wanted);
    for run in &runs {
        settled(server.address(), run, &|shown| shown["trace"][0]["status"] == "dispatched");
    }
    server.signal("-KILL");
    server.ended();
    let server = place.serve_with(&echo);
    for run in &runs[1..] {
        let done = settled(server.address(), run, &|shown| shown["status"] == "completed");
        assert_eq!(done["trace"][0]["output"], "hello");
    }
    let waits = settled(server.address(), &runs[0], &|shown| shown["status"] == "waiting_input");
    assert_eq!((&waits["waiting"]["kind"], &waits["waiting"]["to"]), (&json!("outcome"), &json!(["ana"])));
    let answered = place.ana(&format!("answer {} yes", runs[0]));
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    settled(server.address(), &runs[0], &|shown| shown["status"] == "completed");
    server.stop();
    assert_eq!(place.ok("audit verify").code, 0);
}

/// What was under way is seen to also where the model that wanted it cannot be asked.
#[test]
fn people_are_asked_what_became_of_a_call_also_where_the_key_of_its_model_is_forgotten() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let call = Reply::Call(&[("echo_once", r#"{"text":"hello","seconds":20}"#)]);
    let fake = Fake::new(ProviderKind::Anthropic, vec![call, Reply::Say("It has.")]);
    std::fs::write(place.path().join("models.yaml"), fake.config()).unwrap();
    let variables = [("OK_LLM_CONFIG", "models.yaml"), ("OK_DEV_ECHO_TOOLS", "1"), ("FAKE_KEY", "sk")];
    let server = place.serve_with(&variables);
    let ask = json!({ "agent": "clerk", "text": "do" }).to_string();
    let (status, asked) = request(server.address(), &token, "POST", "/ask", "ask", &ask).unwrap();
    assert_eq!(status, 202, "{asked}");
    let run = asked["run"].as_str().unwrap();
    run_that((server.address(), &token), run, &|shown| shown["trace"][1]["status"] == "dispatched");
    server.signal("-KILL");
    server.ended();
    let server = place.serve_with(&variables[..2]);
    let waits = run_that((server.address(), &token), run, &|shown| shown["status"] == "waiting_input");
    assert_eq!(waits["waiting"]["kind"], "outcome", "{waits}");
    let answered = place.ana(&format!("answer {run} yes"));
    assert_eq!(answered.code, 4, "answered, and it is not over: {}", answered.stderr);
    let rests = run_that((server.address(), &token), run, &|shown| shown["status"] == "running");
    assert_eq!(rests["waiting"]["kind"], "model", "{rests}");
    server.stop();
    let server = place.serve_with(&variables);
    run_that((server.address(), &token), run, &is_completed);
    server.stop();
}

/// A page that is being read when the server dies is asked for again, and read once as far as the run knows.
#[test]
fn a_server_that_is_killed_while_an_agent_reads_a_page_over_http_reads_it_again() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let pages = Pages::new(|_, nth| if nth == 0 { None } else { page("text/plain", "It is open.") });
    let variables = [("OK_WEB_READ", "1"), ("OK_DEV_AUTH", "1")];
    let server = place.serve_with(&variables);
    let read =
        json!({ "call": { "tool": "web.read", "with": { "host": pages.address.to_string(), "path": "/hours" } } });
    let ask = json!({ "agent": "clerk", "text": "do", "plan": { "steps": [read, { "say": "read" }] } }).to_string();
    let (status, asked) = request(server.address(), &token, "POST", "/ask", "ask", &ask).unwrap();
    assert_eq!(status, 202, "{asked}");
    pages.wait_for(1);
    server.signal("-KILL");
    server.ended();
    let server = place.serve_with(&variables);
    let done = run_that((server.address(), &token), asked["run"].as_str().unwrap(), &is_completed);
    assert_eq!((done["trace"].as_array().unwrap().len(), &done["labels"]), (2, &json!(["untrusted"])), "{done}");
    assert_eq!(done["trace"][0]["output"]["text"], "It is open.");
    assert_eq!(pages.asked(), ["/hours"; 2]);
    server.stop();
    assert_eq!(place.ok("audit verify").code, 0);
}

/// What happens once happens once at the most: a letter under way when the server dies is asked about, never sent again.
#[test]
fn no_letter_goes_out_twice_however_often_the_server_is_killed() {
    let (place, token) = company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust trusted");
    let mailbox = Mailbox::new();
    let url = format!("smtp://{}", mailbox.address);
    let variables = [("OK_SMTP_URL", url.as_str()), ("OK_MAIL_FROM", "clerk@ok.example")];
    let kills = if proves() { 200 } else { 8 };
    let (mut open, mut unknown) = (Vec::new(), 0);
    for cycle in 0..kills {
        let server = place.serve_with(&variables);
        let letter = |number: usize| {
            let with = json!({ "to": "eva@example.com", "subject": format!("no. {cycle}/{number}"), "text": "Hello" });
            json!({ "call": { "tool": "mail.send", "with": with } })
        };
        let steps: Vec<Value> = (0..6).map(letter).collect();
        let ask = json!({ "agent": "clerk", "text": "write", "plan": { "steps": steps } }).to_string();
        let (status, asked) = request(server.address(), &token, "POST", "/ask", &format!("ask {cycle}"), &ask).unwrap();
        assert_eq!(status, 202, "{asked}");
        open.push(asked["run"].as_str().unwrap().to_owned());
        unknown += settle(server.address(), &token, &mut open);
        std::thread::sleep(Duration::from_millis(cycle * 7 % 60));
        server.signal("-KILL");
        server.ended();
    }
    let server = place.serve_with(&variables);
    let until = Instant::now() + Duration::from_secs(120);
    while !open.is_empty() {
        unknown += settle(server.address(), &token, &mut open);
        assert!(Instant::now() < until, "{open:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.stop();
    let taken = mailbox.taken();
    let subjects = taken.iter().filter_map(|letter| letter.lines().find(|line| line.starts_with("Subject: ")));
    let mut sent: Vec<&str> = subjects.collect();
    let all = sent.len();
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), all, "a letter went out twice");
    // All were sent but for some of those of which nobody knows.
    let missing = kills as usize * 6 - all;
    assert!(missing <= unknown && unknown > 0, "{missing} were not sent, {unknown} were asked about");
    assert_eq!(place.ok("audit verify").code, 0);
}

/// Says of each letter of which nobody knows that it was not sent; how many there were. Runs that are over are open no longer.
fn settle(address: &str, token: &str, open: &mut Vec<String>) -> usize {
    let mut unknown = 0;
    open.retain(|run| {
        let (_, shown) = request(address, token, "GET", &format!("/runs/{run}"), "get", "").unwrap();
        if shown["waiting"]["kind"] == "outcome" {
            let step = shown["trace"].as_array().unwrap().iter().find(|step| step["status"] == "waiting").unwrap();
            let answer = json!({ "text": "no", "question": step["seq"] }).to_string();
            let key = format!("{run} {}", step["seq"]);
            let (status, answered) =
                request(address, token, "POST", &format!("/runs/{run}/answer"), &key, &answer).unwrap();
            assert_eq!(status, 200, "{answered}");
            unknown += 1;
        }
        shown["status"] != "completed"
    });
    unknown
}
