//! One request to a provider, in the provider's own format. `genai` handles the formats; the conditions for accepting
//! an answer are ours: it ends where the provider itself ended it, and has no more bytes than allowed.

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::Stream as _;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, ContentPart, MessageContent, StopReason,
    StreamEnd, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint, ProviderConfig};
use genai::{Error, ModelIden, ServiceTarget};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use serde_json::{Map, Value};

use super::Hear;
use super::setup::Key;
use crate::background::egress::retry_after;
use crate::types::chat::{Answer, Message, Offered, Prompt, Wanted};
use crate::types::json::is_deep;
use crate::types::models::{Model, ProviderKind};
use crate::types::time::{Clock as _, SECOND, SystemClock};

const CONNECT: Duration = Duration::from_secs(10);
/// A text that is shorter is no key, and stands in words by chance.
const SHORTEST: usize = 6;
/// The most characters of what a provider says of an error.
const REASON: usize = 300;

/// Whom to ask.
pub(super) struct Target<'a> {
    pub kind: ProviderKind,
    pub base_url: &'a str,
    pub key: Option<&'a Key>,
}

/// Why a request came to nothing.
pub(super) enum Broke {
    /// It would come to nothing again.
    Refused(String),
    /// Nothing was done; later it may be.
    Busy { why: String, after: Option<Duration> },
    /// Something may have been done.
    Unknown(String),
    /// It was done, and is no use.
    Useless { why: String, input_tokens: u32, output_tokens: u32 },
}

pub(super) struct Wire {
    client: genai::Client,
    /// For what the library reads without a bound.
    pub(super) http: reqwest::Client,
}

impl Wire {
    pub fn new() -> Result<Wire, String> {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT)
            .user_agent(concat!("ok/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())?;
        let client = genai::Client::builder().with_reqwest(http.clone()).build();
        Ok(Wire { client: client.map_err(|error| error.to_string())?, http })
    }

    /// How many models a provider offers whoever has this key.
    pub async fn offered(&self, target: &Target<'_>) -> Result<usize, Broke> {
        let place = ProviderConfig::from_endpoint(target.endpoint()).with_auth(target.auth());
        let names = self.client.all_model_names(target.adapter(), place).await;
        names.map(|names| names.len()).map_err(|error| target.broke(&error, false))
    }

    pub async fn ask(
        &self,
        target: &Target<'_>,
        model: &Model,
        prompt: &Prompt,
        (most, hear): (usize, &Hear<'_>),
    ) -> Result<Answer, Broke> {
        let whom = target.model(&model.name);
        let heard = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&heard);
        let options = ChatOptions {
            temperature: prompt.temperature,
            max_tokens: Some(prompt.most_output),
            capture_usage: Some(true),
            capture_content: Some(true),
            capture_tool_calls: Some(true),
            // Asking Gemini for its thoughts is a setting of its own, which models that cannot think refuse.
            capture_reasoning_content: Some(target.kind != ProviderKind::Gemini),
            ..ChatOptions::default()
        };
        let options = options.with_raw_frame_fn(move |_, frame| {
            counted.fetch_add(frame.data.len(), Ordering::Relaxed);
        });
        let started = self.client.exec_chat_stream(whom, request(prompt, target.kind), Some(&options)).await;
        let mut stream = started.map_err(|error| target.broke(&error, false))?.stream;
        let mut said = 0;
        loop {
            let event = next(&mut stream).await;
            // What frames a piece takes many times its bytes; an answer is counted by what it says, frames by more.
            if said > most || heard.load(Ordering::Relaxed) > most.saturating_mul(FRAMING) {
                return Err(Broke::Unknown(format!("its answer has more than {most} bytes")));
            }
            match event {
                Some(Ok(ChatStreamEvent::Chunk(chunk))) => {
                    said += chunk.content.len();
                    hear(&chunk.content);
                }
                Some(Ok(ChatStreamEvent::End(end))) => return answer(end, prompt, most),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(target.broke(&error, heard.load(Ordering::Relaxed) > 0)),
                None => return Err(Broke::Unknown(CUT.into())),
            }
        }
    }
}

pub(super) const CUT: &str = "its answer broke off";
pub(super) const NO_FORM: &str = "its answer is not what such a provider answers";
/// How many bytes a provider may frame one byte of an answer with.
const FRAMING: usize = 256;

async fn next(stream: &mut ChatStream) -> Option<genai::Result<ChatStreamEvent>> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

/// What an answer says. Without a reason of its own to stop, it was cut off on the way.
fn answer(end: StreamEnd, prompt: &Prompt, most: usize) -> Result<Answer, Broke> {
    let Some(stopped) = end.captured_stop_reason else { return Err(Broke::Unknown(CUT.into())) };
    let content = end.captured_content.unwrap_or_default();
    let text = content.joined_texts().unwrap_or_default();
    let calls: Vec<Wanted> = content.into_tool_calls().into_iter().map(wanted).collect();
    let bytes = text.len() + calls.iter().map(|call| call.arguments.to_string().len()).sum::<usize>();
    // Half an answer is none.
    let why = match stopped {
        _ if bytes > most => Some(format!("its answer has more than {most} bytes")),
        _ if !calls.is_empty() => None,
        StopReason::MaxTokens(_) => Some(format!("it needs more than {} tokens for its answer", prompt.most_output)),
        StopReason::ContentFilter(_) => Some("its provider's filter stopped its answer".into()),
        _ => text.trim().is_empty().then(|| "its answer says nothing".into()),
    };
    let usage = end.captured_usage.unwrap_or_default();
    let whole = |tokens: Option<i32>| tokens.and_then(|tokens| u32::try_from(tokens).ok());
    let (read, written) = (whole(usage.prompt_tokens), whole(usage.completion_tokens));
    if let Some(why) = why {
        return Err(match read.zip(written) {
            Some((input_tokens, output_tokens)) => Broke::Useless { why, input_tokens, output_tokens },
            None => Broke::Unknown(why),
        });
    }
    // Who does not say what it took is taken to have taken as much as was thought.
    let input_tokens = read.unwrap_or_else(|| prompt.tokens());
    let output_tokens = written.unwrap_or_else(|| u32::try_from(bytes.div_ceil(3)).unwrap_or(u32::MAX));
    Ok(Answer { text, calls, input_tokens, output_tokens })
}

fn wanted(call: ToolCall) -> Wanted {
    let arguments = match call.fn_arguments {
        // Who calls without arguments means none.
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        arguments if is_deep(&arguments) => Value::String(arguments.to_string()),
        arguments => arguments,
    };
    let signatures = call.thought_signatures.unwrap_or_default();
    Wanted { id: call.call_id, tool: call.fn_name, arguments, signatures }
}

fn request(prompt: &Prompt, kind: ProviderKind) -> ChatRequest {
    let mut messages: Vec<ChatMessage> = Vec::new();
    // What came of calls that were wanted at once is told at once; but Ollama is told of one after the other.
    let mut came: Vec<ToolResponse> = Vec::new();
    for message in &prompt.messages {
        if let Message::Came { call, tool, text } = message {
            if kind == ProviderKind::Ollama {
                flush(&mut came, &mut messages);
            }
            came.push(ToolResponse::new(call.clone(), text.clone()).with_fn_name(tool.clone()));
            continue;
        }
        flush(&mut came, &mut messages);
        match message {
            Message::Asked(text) => messages.push(ChatMessage::user(text.clone())),
            Message::Said { text, calls } => {
                let said = (!text.is_empty()).then(|| ContentPart::Text(text.clone()));
                let calls = calls.iter().map(|call| ContentPart::ToolCall(tool_call(call)));
                messages.push(ChatMessage::assistant(MessageContent::from_parts(
                    said.into_iter().chain(calls).collect::<Vec<_>>(),
                )));
            }
            Message::Came { .. } => {}
        }
    }
    flush(&mut came, &mut messages);
    let request = ChatRequest::new(messages).with_system(prompt.system.clone());
    if prompt.tools.is_empty() { request } else { request.with_tools(prompt.tools.iter().map(tool)) }
}

fn flush(came: &mut Vec<ToolResponse>, messages: &mut Vec<ChatMessage>) {
    if !came.is_empty() {
        messages.push(ChatMessage::from(std::mem::take(came)));
    }
}

fn tool(offered: &Offered) -> Tool {
    Tool::new(offered.name.clone()).with_description(offered.description.clone()).with_schema(offered.schema.clone())
}

fn tool_call(call: &Wanted) -> ToolCall {
    // Providers take objects back only.
    let arguments = if call.arguments.is_object() { call.arguments.clone() } else { Value::Object(Map::new()) };
    let signatures = (!call.signatures.is_empty()).then(|| call.signatures.clone());
    ToolCall {
        call_id: call.id.clone(),
        fn_name: call.tool.clone(),
        fn_arguments: arguments,
        thought_signatures: signatures,
    }
}

impl Target<'_> {
    fn model(&self, name: &str) -> ServiceTarget {
        let model = ModelIden::new(self.adapter(), name.to_owned());
        ServiceTarget { endpoint: self.endpoint(), auth: self.auth(), model }
    }

    fn adapter(&self) -> AdapterKind {
        match self.kind {
            ProviderKind::Anthropic => AdapterKind::Anthropic,
            ProviderKind::OpenAi => AdapterKind::OpenAI,
            ProviderKind::Gemini => AdapterKind::Gemini,
            ProviderKind::Ollama => AdapterKind::Ollama,
        }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::from_owned(self.base_url)
    }

    /// Never a key of the environment: only what the settings say.
    fn auth(&self) -> AuthData {
        AuthData::from_single(self.key.map_or("none", Key::reveal))
    }

    /// What an error means. `heard`: whether some of the answer had come.
    fn broke(&self, error: &Error, heard: bool) -> Broke {
        // Within a stream the answer's own error is inside another.
        let inner = match error {
            Error::WebStream { error, .. } => error.downcast_ref::<Error>(),
            _ => None,
        };
        let error = inner.unwrap_or(error);
        match (error.status(), error) {
            (Some(status), _) => self.said(status, body_of(error), error.headers()),
            (None, _) if heard => Broke::Unknown(CUT.into()),
            (None, Error::WebStream { error, .. }) => match error.downcast_ref::<reqwest::Error>() {
                Some(error) if error.is_connect() => self.away(error),
                _ => Broke::Unknown(CUT.into()),
            },
            (None, Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. }) => {
                match webc_error {
                    genai::webc::Error::Reqwest(error) if error.is_connect() => self.away(error),
                    _ => Broke::Refused(NO_FORM.into()),
                }
            }
            (None, Error::ChatResponse { body, .. }) => Broke::Busy {
                why: self.scrubbed(&message(body).unwrap_or_else(|| "it reports an error".into())),
                after: None,
            },
            (None, _) => Broke::Refused(NO_FORM.into()),
        }
    }

    pub(super) fn away(&self, error: &reqwest::Error) -> Broke {
        let mut cause = error.source();
        while let Some(next) = cause.and_then(std::error::Error::source) {
            cause = Some(next);
        }
        let why = cause.map_or_else(String::new, |cause| format!(": {cause}"));
        Broke::Busy { why: self.scrubbed(&format!("it cannot be reached{why}")), after: None }
    }

    /// An answer with an error status.
    pub(super) fn said(&self, status: StatusCode, body: &str, headers: Option<&HeaderMap>) -> Broke {
        if status.is_redirection() {
            return Broke::Refused(format!("it redirects ({}), which is never followed", status.as_u16()));
        }
        let said = crate::types::json::read::<Value>(body.as_bytes()).ok().as_ref().and_then(message);
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        let why = self.scrubbed(&format!("it answered {}{said}", status.as_u16()));
        let later = matches!(status.as_u16(), 408 | 429) || status.is_server_error();
        if later { Broke::Busy { why, after: headers.and_then(patience) } } else { Broke::Refused(why) }
    }

    /// What may be shown: not the key, should a provider repeat it, and not too much.
    fn scrubbed(&self, text: &str) -> String {
        let text = match self.key.map(Key::reveal).filter(|key| key.len() >= SHORTEST) {
            Some(key) => text.replace(key, "[key]"),
            None => text.to_owned(),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(REASON).collect()
    }
}

/// The body of an answer with an error status.
fn body_of(error: &Error) -> &str {
    match error {
        Error::HttpError { body, .. } => body,
        Error::WebModelCall { webc_error: genai::webc::Error::ResponseFailedStatus { body, .. }, .. }
        | Error::WebAdapterCall { webc_error: genai::webc::Error::ResponseFailedStatus { body, .. }, .. } => body,
        _ => "",
    }
}

/// What a provider says of an error: `{"error": {"message": …}}` with most of them, `{"error": …}` with Ollama.
fn message(body: &Value) -> Option<String> {
    let error = body.get("error")?;
    let text = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(text.to_owned())
}

/// How long a provider wants to be left alone.
fn patience(headers: &HeaderMap) -> Option<Duration> {
    let seconds = retry_after(headers, SystemClock.now().0 / SECOND)?;
    Some(Duration::from_secs(seconds.into()))
}
