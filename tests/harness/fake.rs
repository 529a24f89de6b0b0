//! Somebody who answers as a model provider does, in the wire forms that Anthropic, OpenAI, Gemini and Ollama publish.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ok::types::models::ProviderKind;
use serde_json::{Value, json};

/// What is answered. Each request gets the next one, and the last one again and again.
#[derive(Clone)]
pub enum Reply {
    /// It says this.
    Say(&'static str),
    /// It wants these calls: name and arguments, as text.
    Call(&'static [(&'static str, &'static str)]),
    /// Another status, with a header and a body.
    Status(u16, &'static str, &'static str),
    /// It says this, and then has said as much as it may.
    Limited(&'static str),
    /// It says this, and hangs up in the middle.
    Cut(&'static str),
    /// It talks without end.
    Endless,
    /// It says a word, and then nothing more.
    Hang,
}

/// A request as it came.
#[derive(Clone)]
pub struct Got {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

pub struct Fake {
    kind: ProviderKind,
    pub url: String,
    heard: Arc<Heard>,
}

/// What it has heard so far.
#[derive(Default)]
struct State {
    got: Vec<Got>,
    /// How many of those whom it lets wait have hung up.
    left: usize,
    /// How often it was asked for its models.
    listed: usize,
}

#[derive(Default)]
struct Heard {
    got: Mutex<State>,
    more: Condvar,
}

impl Fake {
    pub fn new(kind: ProviderKind, replies: Vec<Reply>) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let heard: Arc<Heard> = Arc::default();
        let kept = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, replies) = (Arc::clone(&kept), replies.clone());
                std::thread::spawn(move || serve(kind, stream.unwrap(), &kept, &replies));
            }
        });
        Fake { kind, url, heard }
    }

    /// The prompts that came.
    pub fn got(&self) -> Vec<Got> {
        self.heard.got.lock().unwrap().got.clone()
    }

    /// Waits until so many prompts have come.
    pub fn wait_for(&self, count: usize) {
        self.wait(|state| state.got.len() < count);
    }

    /// Waits until so many of those whom it lets wait have hung up.
    pub fn wait_until_left(&self, count: usize) {
        self.wait(|state| state.left < count);
    }

    /// How often it was asked for its models.
    pub fn listed(&self) -> usize {
        self.heard.got.lock().unwrap().listed
    }

    fn wait(&self, while_so: impl Fn(&State) -> bool) {
        let got = self.heard.got.lock().unwrap();
        let waited = self.heard.more.wait_timeout_while(got, Duration::from_secs(30), |got| while_so(got));
        assert!(!waited.unwrap().1.timed_out(), "it never came to that");
    }

    /// An `OK_LLM_CONFIG` in which it provides the model `m`, with a price of 1000 and 2000 cents for a million tokens.
    pub fn config(&self) -> String {
        let (kind, url) = (self.kind, &self.url);
        format!(
            "providers:\n  fake: {{kind: {kind}, base_url: '{url}', key_variable: FAKE_KEY}}\n\
             models:\n  m: {{provider: fake, context: 100000, max_output: 1000, capabilities: [tools], price: {{input: 1000, output: 2000}}}}\n\
             defaults: {{default: m}}\nlimits: {{pause_ms: 1, attempts: 3, timeout_seconds: 30, answer_bytes: 65536}}\n"
        )
    }
}

fn serve(kind: ProviderKind, stream: TcpStream, heard: &Heard, replies: &[Reply]) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    let mut out = stream.into_inner();
    if line.starts_with("GET ") {
        let _ = out.write_all(list(kind, &headers).as_bytes());
        heard.got.lock().unwrap().listed += 1;
        heard.more.notify_all();
        return;
    }
    let reply = {
        let mut held = heard.got.lock().unwrap();
        let got = &mut held.got;
        let reply = replies.get(got.len()).or(replies.last()).unwrap().clone();
        got.push(Got { line: line.trim_end().to_owned(), headers, body: serde_json::from_slice(&body).unwrap() });
        heard.more.notify_all();
        reply
    };
    answer(kind, &mut out, &reply);
    if matches!(reply, Reply::Hang) {
        // Until whoever asked hangs up.
        let _ = out.read(&mut [0]);
        heard.got.lock().unwrap().left += 1;
        heard.more.notify_all();
    }
}

fn answer(kind: ProviderKind, out: &mut TcpStream, reply: &Reply) {
    let media = if kind == ProviderKind::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    let mut stream = |text: String| out.write_all(text.as_bytes());
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nconnection: close\r\n\r\n");
    let _ = match reply {
        Reply::Status(status, header, body) => stream(format!(
            "HTTP/1.1 {status} So\r\n{header}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )),
        Reply::Say(text) => stream(head + &begin(kind) + &said(kind, text) + &end(kind, "stop")),
        Reply::Limited(text) => stream(head + &begin(kind) + &said(kind, text) + &end(kind, "limit")),
        Reply::Call(calls) => stream(head + &begin(kind) + &called(kind, calls) + &end(kind, "tools")),
        Reply::Cut(text) => stream(head + &begin(kind) + &said(kind, text)),
        Reply::Endless => stream(head + &begin(kind)).and_then(|()| {
            loop {
                stream(said(kind, &"and so on ".repeat(500)))?;
            }
        }),
        Reply::Hang => stream(head + &begin(kind) + &said(kind, "wait")),
    };
}

/// The models that it offers whoever has the right key.
fn list(kind: ProviderKind, headers: &BTreeMap<String, String>) -> String {
    let is_right = headers.values().any(|value| value.ends_with("sk-right")) || kind == ProviderKind::Ollama;
    let (status, body) = match kind {
        _ if !is_right => ("401 No", json!({ "error": { "message": "invalid key sk-wrong" } })),
        ProviderKind::Anthropic | ProviderKind::OpenAi => ("200 OK", json!({ "data": [{ "id": "m" }, { "id": "n" }] })),
        ProviderKind::Gemini => ("200 OK", json!({ "models": [{ "name": "models/m" }] })),
        ProviderKind::Ollama => ("200 OK", json!({ "models": [{ "name": "m:latest" }] })),
    };
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn begin(kind: ProviderKind) -> String {
    match kind {
        ProviderKind::Anthropic => {
            let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": null, "usage": { "input_tokens": 12, "output_tokens": 1 } });
            event("message_start", &json!({ "type": "message_start", "message": message }))
                + &event("ping", &json!({ "type": "ping" }))
        }
        _ => String::new(),
    }
}

fn block(block: &Value, deltas: impl Iterator<Item = Value>) -> String {
    let start =
        event("content_block_start", &json!({ "type": "content_block_start", "index": 0, "content_block": block }));
    let deltas: String = deltas
        .map(|delta| {
            event("content_block_delta", &json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
        })
        .collect();
    start + &deltas + &event("content_block_stop", &json!({ "type": "content_block_stop", "index": 0 }))
}

/// A text in two halves, as it comes.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = (text.len() / 2..).find(|at| text.is_char_boundary(*at)).unwrap();
    [&text[..middle], &text[middle..]].into_iter()
}

fn said(kind: ProviderKind, text: &str) -> String {
    let pieces = halves(text);
    match kind {
        ProviderKind::Anthropic => block(&json!({ "type": "text", "text": "" }), pieces.map(|text| json!({ "type": "text_delta", "text": text }))),
        ProviderKind::OpenAi => pieces.map(|text| data(&json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] }))).collect(),
        ProviderKind::Gemini => pieces.map(|text| data(&json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }] }))).collect(),
        ProviderKind::Ollama => pieces.map(|text| format!("{}\n", json!({ "model": "m", "message": { "role": "assistant", "content": text }, "done": false }))).collect(),
    }
}

fn called(kind: ProviderKind, calls: &[(&str, &str)]) -> String {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    match kind {
        ProviderKind::Anthropic => calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                let tool = json!({ "type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {} });
                block(&tool, halves(arguments).map(|piece| json!({ "type": "input_json_delta", "partial_json": piece })))
            })
            .collect(),
        ProviderKind::OpenAi => calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                let delta = |call: Value| data(&json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": null }] }));
                let first = json!({ "index": at, "id": format!("call_{at}"), "type": "function", "function": { "name": name, "arguments": "" } });
                let rest = halves(arguments).map(|piece| delta(json!({ "index": at, "function": { "arguments": piece } })));
                delta(first) + &rest.collect::<String>()
            })
            .collect(),
        ProviderKind::Gemini => {
            let parts: Vec<Value> = calls.iter().map(|(name, arguments)| json!({ "functionCall": { "name": name, "args": value(arguments) } })).collect();
            data(&json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] }))
        }
        ProviderKind::Ollama => {
            let calls: Vec<Value> = calls.iter().map(|(name, arguments)| json!({ "function": { "name": name, "arguments": value(arguments) } })).collect();
            format!("{}\n", json!({ "model": "m", "message": { "role": "assistant", "content": "", "tool_calls": calls }, "done": false }))
        }
    }
}

/// The end, with 12 tokens read and 7 written.
fn end(kind: ProviderKind, why: &str) -> String {
    match kind {
        ProviderKind::Anthropic => {
            let reason = match why {
                "tools" => "tool_use",
                "limit" => "max_tokens",
                _ => "end_turn",
            };
            event(
                "message_delta",
                &json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } }),
            ) + &event("message_stop", &json!({ "type": "message_stop" }))
        }
        ProviderKind::OpenAi => {
            let reason = match why {
                "tools" => "tool_calls",
                "limit" => "length",
                _ => "stop",
            };
            data(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }))
                + &data(
                    &json!({ "choices": [], "usage": { "prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19 } }),
                )
                + "data: [DONE]\n\n"
        }
        ProviderKind::Gemini => data(&json!({
            "candidates": [{ "content": { "role": "model", "parts": [] }, "finishReason": if why == "limit" { "MAX_TOKENS" } else { "STOP" } }],
            "usageMetadata": { "promptTokenCount": 12, "candidatesTokenCount": 7, "totalTokenCount": 19 }
        })),
        ProviderKind::Ollama => format!(
            "{}\n",
            json!({
                "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": if why == "limit" { "length" } else { "stop" },
                "prompt_eval_count": 12, "eval_count": 7
            })
        ),
    }
}
