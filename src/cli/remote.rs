//! A server on the network, asked over its HTTP API. Only `ok policy` speaks to one.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::call::{Answer, Ask, Refused};
use super::exit::Failure;
use crate::config;
use crate::gate::declare::operation::{Method as Verb, Route};
use crate::nouns;
use crate::types::json;
use crate::types::refusal::{Code, ErrorBody};

const CONNECT: Duration = Duration::from_secs(10);
/// Longer than a server may take: half a minute until there is a place for the work, and a minute for it.
const ANSWER: Duration = Duration::from_secs(120);

/// A server and the token for it.
pub struct Remote {
    base: Url,
    token: String,
    client: Client,
}

impl Remote {
    /// Creates a client. The token comes from the environment, because arguments are visible in the process list.
    pub fn new(address: &str) -> Result<Remote, Failure> {
        let base = base(address)?;
        let token = config::TOKEN.value();
        let missing = || Failure::Usage(format!("{} must contain an API token for {base}", config::TOKEN.variable));
        let token = token.ok_or_else(missing)?.trim().to_owned();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            let what = format!("{} holds characters that no API token has", config::TOKEN.variable);
            return Err(Failure::Usage(what));
        }
        // A redirect would carry the token somewhere else.
        let client = Client::builder().connect_timeout(CONNECT).timeout(ANSWER).redirect(Policy::none()).build();
        let client = client.map_err(|error| Failure::new(format!("cannot make a connection: {error}")))?;
        Ok(Remote { base, token, client })
    }

    /// Performs an operation as the token's holder.
    pub async fn ask(&self, ask: &Ask) -> Result<Answer, Failure> {
        let unknown = || Failure::new(format!("there is no operation `{}`", ask.op));
        let entry = nouns::OPERATIONS.iter().find(|entry| entry.spec.name == ask.op).ok_or_else(unknown)?;
        let request = self.request(&entry.spec.route, &ask.input)?;
        let failed = |error: reqwest::Error| {
            let why = if error.is_timeout() { "it took too long".to_owned() } else { causes(&error) };
            Failure::NoAnswer(format!("{} does not answer: {why}", self.base))
        };
        let request = request.bearer_auth(&self.token);
        let request = match &ask.under {
            Some(under) => request.header("ok-delegation", under),
            None => request,
        };
        let response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let next = response.headers().get("x-next-cursor").and_then(|value| Some(value.to_str().ok()?.to_owned()));
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_page = kind.is_some_and(|kind| kind.starts_with("text/html"));
        if is_page && (status < 400 || status == 404 || status == 405) {
            let message = format!(
                "{} answers with a web page and not as the API: is --server ({}) the address of an `ok` server, without a path?",
                self.base,
                config::SERVER.variable
            );
            return Err(Failure::new(message));
        }
        let text = response.text().await.map_err(failed)?;
        // A page of whatever stands between says no more than its status.
        let text = if is_page { String::new() } else { text };
        answer(status, (next, retry_after), text)
    }

    fn request(&self, route: &Route, input: &Value) -> Result<RequestBuilder, Failure> {
        let mut rest = input.as_object().cloned().unwrap_or_default();
        rest.retain(|_, value| !value.is_null());
        let broken = |_| Failure::new(format!("{} cannot be an address", self.base));
        let mut url = self.base.clone();
        let below = route.is_in_api().then_some("api");
        let mut path = url.path_segments_mut().map_err(broken)?;
        path.pop_if_empty().extend(below).extend(segments(route.path, &mut rest));
        drop(path);
        let (method, in_query) = match route.method {
            Verb::Get => (Method::GET, true),
            Verb::Delete => (Method::DELETE, true),
            Verb::Post => (Method::POST, false),
            Verb::Put => (Method::PUT, false),
            Verb::Patch => (Method::PATCH, false),
        };
        if in_query {
            for (name, value) in &rest {
                url.query_pairs_mut().append_pair(name, &plain(value));
            }
            return Ok(self.client.request(method, url));
        }
        Ok(self.client.request(method, url).json(&rest))
    }
}

/// The path's parts, with the parameters filled in and taken out of the input.
fn segments(path: &str, input: &mut Map<String, Value>) -> Vec<String> {
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some(name) => input.remove(name).map(|value| plain(&value)).unwrap_or_default(),
        None => part.to_owned(),
    };
    path.split('/').filter(|part| !part.is_empty()).map(part).collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// https, or http to this machine: a token never travels in the clear.
fn base(address: &str) -> Result<Url, Failure> {
    let wrong = || {
        let variable = config::SERVER.variable;
        Failure::Usage(format!(
            "--server ({variable}) must be https, or http to a loopback address; `{address}` is not"
        ))
    };
    let url = Url::parse(address).map_err(|_| wrong())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if url.path().trim_end_matches('/').ends_with("/api") {
        return Err(Failure::Usage(format!("--server is the server's address without `/api`; `{address}` has it")));
    }
    match url.scheme() {
        "https" if bare => Ok(url),
        "http" if bare && loopback => Ok(url),
        _ => Err(wrong()),
    }
}

fn answer(status: u16, (next, retry_after): (Option<String>, Option<u64>), text: String) -> Result<Answer, Failure> {
    let body: Value = json::read(text.as_bytes()).unwrap_or(Value::String(text));
    if (200..300).contains(&status) && status != Code::NeedsApproval.status() {
        return Ok(Answer { status, body, next, partial_from: None, error: None });
    }
    let ErrorBody { error, message, problems, evals, approval } = body_of(&body);
    let is_ours = |code: &String| Code::ALL.iter().any(|known| known.name() == code && known.status() == status);
    let error = match (error.filter(is_ours), in_words(status, &body)) {
        (Some(code), _) => Refused {
            code,
            message: message.unwrap_or_default(),
            approval,
            problems: problems.or(evals).unwrap_or_default(),
            retry_after,
        },
        (None, Some(code)) => {
            let message = body.as_str().unwrap_or_default().chars().take(MOST_WORDS).collect();
            Refused { message, ..Refused::new(code) }
        }
        // What others answer decides nothing here; whether a call had an effect before they did, nobody knows.
        (None, None) => return Err(foreign(status, &body)),
    };
    Ok(Answer { status, body: Value::Null, next: None, partial_from: None, error: Some(error) })
}

/// The most characters of such words.
const MOST_WORDS: usize = 4_000;

/// What is wrong with the form of an input, `ok` says in words alone.
fn in_words(status: u16, body: &Value) -> Option<Code> {
    body.as_str().filter(|text| !text.is_empty())?;
    match status {
        400 | 405 | 415 => Some(Code::BadRequest),
        422 => Some(Code::Invalid),
        _ => None,
    }
}

/// What stands in an error; nothing where it is none of ours.
fn body_of(body: &Value) -> ErrorBody {
    Some(body).filter(|body| body.is_object()).and_then(|body| ErrorBody::deserialize(body).ok()).unwrap_or_default()
}

/// Where a proxy says what is wrong: RFC 9457, RFC 6750 and habit.
const SAID: [&str; 6] = ["/message", "/detail", "/error_description", "/title", "/error/message", "/error"];
/// The most characters of such a text.
const MOST_SAID: usize = 500;

/// What somebody else than `ok` answers. The server may be there again later only where that says so.
fn foreign(status: u16, body: &Value) -> Failure {
    let fields = SAID.iter().filter_map(|field| body.pointer(field)?.as_str());
    let said = fields.chain(body.as_str()).find(|text| !text.trim().is_empty()).unwrap_or_default().trim();
    let is_long = said.chars().nth(MOST_SAID).is_some();
    let said: String = said.chars().take(MOST_SAID).chain(is_long.then_some('…')).collect();
    let colon = if said.is_empty() { "" } else { ": " };
    let message = format!("the server, or a proxy before it, answers {status}{colon}{said}");
    if status >= 500 || status == 429 { Failure::NoAnswer(message) } else { Failure::new(message) }
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
