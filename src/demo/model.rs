//! The demo's model: it understands nothing, and follows the plan selected by keywords in the question (`story/replies.yaml`).
//! It speaks Ollama's protocol (`POST /api/chat`), so runs do everything that they do with a real model.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::listen;
use super::script::{self, Call, Reply, Step};

/// The default port.
const PORT: u16 = 8099;
/// The delay per word.
const WORD: Duration = Duration::from_millis(25);
/// Its models with input and output prices; agents' definitions name them.
const MODELS: [(&str, u32, u32); 3] = [("small", 20, 80), ("medium", 100, 400), ("large", 300, 1_500)];

pub struct Model {
    listener: TcpListener,
    pub address: SocketAddr,
    replies: Vec<Reply>,
}

impl Model {
    /// Listens on the default port, or on any free one.
    pub async fn listen() -> std::io::Result<Model> {
        let replies = script::replies().map_err(std::io::Error::other)?;
        let (listener, address) = listen((Ipv4Addr::LOCALHOST, PORT)).await?;
        Ok(Model { listener, address, replies })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the settings for using it, as `OK_LLM_CONFIG` expects them.
    pub fn config(&self) -> String {
        let url = self.url();
        let model = |(name, input, output): (&str, u32, u32)| {
            format!(
                "  {name}: {{provider: demo, context: 32000, max_output: 1000, capabilities: [tools], price: {{input: {input}, output: {output}}}}}\n"
            )
        };
        let models: String = MODELS.into_iter().map(model).collect();
        format!(
            "providers:\n  demo: {{kind: ollama, base_url: '{url}'}}\nmodels:\n{models}defaults: {{default: small}}\n"
        )
    }

    /// Serves requests until `stop`.
    pub async fn serve(self, stop: CancellationToken) {
        let models = json!({ "models": MODELS.map(|(name, ..)| json!({ "name": name, "model": name })) }).to_string();
        let list = || async { ([(CONTENT_TYPE, "application/json")], models) };
        let app = Router::new().route("/api/tags", get(list)).route("/api/chat", post(chat));
        let app = app.with_state(Arc::new(self.replies));
        let served = axum::serve(self.listener, app).with_graceful_shutdown(stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::warn!("the demo's model ended: {error}");
        }
    }
}

#[derive(Deserialize)]
struct ChatRequest {
    model: String,
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: String,
}

async fn chat(State(replies): State<Arc<Vec<Reply>>>, body: Bytes) -> axum::response::Response {
    let asked: ChatRequest = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(error) => {
            return (StatusCode::BAD_REQUEST, json!({ "error": error.to_string() }).to_string()).into_response();
        }
    };
    let step = next(&replies, &asked);
    let (lines, words) = mpsc::channel(16);
    tokio::spawn(say(lines, asked.model, step, body.len()));
    Body::from_stream(Words(words)).into_response()
}

/// Returns the next step: each answer given so far is one completed step of the plan.
fn next(replies: &[Reply], asked: &ChatRequest) -> Step {
    let first = |role: &str| asked.messages.iter().find(|message| message.role == role);
    let system = first("system").map(|message| message.content.as_str()).unwrap_or_default();
    let text = first("user").map(|message| message.content.to_lowercase()).unwrap_or_default();
    let answers = asked.messages.iter().filter(|message| message.role == "assistant").count();
    let mut own = replies.iter().filter(|reply| system.contains(&format!("the agent `{}`", reply.agent)));
    let leads_here = |reply: &&Reply| reply.when.is_empty() || reply.when.iter().any(|word| text.contains(word));
    let found = own.find(leads_here).and_then(|reply| reply.steps.get(answers));
    let say = |text: String| Step::Say { say: text };
    match found {
        Some(Step::Call { call }) if is_offered(asked, &call.tool) => Step::Call { call: call.clone() },
        Some(Step::Call { call }) => say(format!("I am not offered `{}`, so I cannot do this.", call.tool)),
        Some(Step::Say { say: text }) => say(text.clone()),
        None => say("I am the demo's model and only follow plans; for this I have none.".into()),
    }
}

fn is_offered(asked: &ChatRequest, tool: &str) -> bool {
    let name = tool.replace('.', "_");
    asked.tools.iter().any(|offered| offered.pointer("/function/name").is_some_and(|one| *one == name))
}

/// Streams a step, word by word.
async fn say(lines: mpsc::Sender<Bytes>, model: String, step: Step, read: usize) {
    let line = |message: Value, more: Value| {
        let mut line = json!({ "model": model, "message": message, "done": false });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        Bytes::from(format!("{line}\n"))
    };
    let mut written = 1;
    match step {
        Step::Call { call: Call { tool, with } } => {
            let calls = json!([{ "function": { "name": tool.replace('.', "_"), "arguments": with } }]);
            let message = json!({ "role": "assistant", "content": "", "tool_calls": calls });
            let _ = lines.send(line(message, Value::Null)).await;
        }
        Step::Say { say } => {
            for word in say.split_inclusive(' ') {
                written += 1;
                tokio::time::sleep(WORD).await;
                if lines.send(line(json!({ "role": "assistant", "content": word }), Value::Null)).await.is_err() {
                    return;
                }
            }
        }
    }
    // About four bytes per token.
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": read / 4, "eval_count": written });
    let _ = lines.send(line(json!({ "role": "assistant", "content": "" }), end)).await;
}

/// A stream of response lines.
struct Words(mpsc::Receiver<Bytes>);

impl Stream for Words {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
