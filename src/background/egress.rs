//! The only way out to the network. It connects only to public addresses: an address in a URL is checked beforehand,
//! and the addresses of a name are checked when the name is looked up, without a second look-up in between. It follows
//! no redirects, uses no proxy from the environment, and reads only the head of an answer, or at most a megabyte if a
//! page is requested.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Response;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;

use crate::types::egress::Egress;

/// For one request, from the look-up to the end of what is read of the answer.
const WHOLE: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(10);
/// The most bytes of a page.
const MOST_BYTES: usize = 1 << 20;
/// What is preferred of a page that comes in several forms.
const AS_TEXT: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1";

/// A client that can go nowhere else.
pub struct Client {
    http: reqwest::Client,
    egress: Egress,
}

/// What came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub status: Option<u16>,
    /// Why there is no status, or what is wrong with it.
    pub error: Option<String>,
    /// Seconds for which the other side wants nothing.
    pub retry_after: Option<u32>,
}

/// A page.
pub struct Got {
    pub url: String,
    /// The media type that the answer claims.
    pub kind: String,
    pub bytes: Vec<u8>,
}

/// Why there is no page.
pub enum Missed {
    /// It was refused, there or here: asked again, it would be again.
    Refused(String),
    /// There is no answer, or one that says that it cannot be given now.
    Silent(String),
}

impl Client {
    pub fn new(egress: Egress) -> Result<Client, String> {
        let http = reqwest::Client::builder()
            .dns_resolver(std::sync::Arc::new(Vetted(egress.clone())))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .timeout(WHOLE)
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(0)
            .user_agent(concat!("ok/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Client { http: http.map_err(|error| because(&error))?, egress })
    }

    /// Sends one JSON text. `now`, in seconds since 1970, is what a time in the answer is compared with.
    pub async fn post(&self, url: &str, headers: &[(&'static str, String)], body: String, now: i64) -> Answered {
        let failed = |error: String| Answered { error: Some(error), ..Answered::default() };
        // Judged again: what was fine when it was named need not be any more.
        let url = match self.egress.destination(url) {
            Ok(url) => url,
            Err(why) => return failed(format!("the address {why}")),
        };
        let request = self.http.post(url).header(CONTENT_TYPE, "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        match request.body(body).send().await {
            Ok(answer) => {
                let status = answer.status();
                let error = status.is_redirection().then(|| "it redirects, which is never followed".to_owned());
                Answered { status: Some(status.as_u16()), error, retry_after: retry_after(answer.headers(), now) }
            }
            Err(error) => failed(because(&error)),
        }
    }

    /// Reads a page: `at` is its address from the host on.
    pub async fn get(&self, at: &str) -> Result<Got, Missed> {
        let url = self.egress.page(at).map_err(|why| Missed::Refused(format!("the address {why}")))?;
        let asked = self.http.get(url.clone()).header(ACCEPT, AS_TEXT);
        let answer = asked.send().await.map_err(|error| Missed::Silent(because(&error)))?;
        let (status, named) =
            (answer.status(), |name| answer.headers().get(name).and_then(|value| value.to_str().ok()));
        if status.is_redirection() {
            let leads = named(LOCATION).and_then(|to| url.join(to).ok());
            let leads = leads.map_or_else(String::new, |to| format!(" to {to}"));
            return Err(Missed::Refused(format!(
                "it redirects{leads}, which is not followed: that is a page of its own"
            )));
        }
        match status {
            _ if status.is_server_error() => return Err(Missed::Silent(format!("it answers {status}"))),
            _ if !status.is_success() => return Err(Missed::Refused(format!("it answers {status}"))),
            _ => {}
        }
        let kind = named(CONTENT_TYPE).unwrap_or("text/plain").to_owned();
        Ok(Got { url: url.into(), kind, bytes: body(answer).await? })
    }
}

async fn body(answer: Response) -> Result<Vec<u8>, Missed> {
    whole(answer, MOST_BYTES).await.map_err(|cut| match cut {
        Cut::TooLong => Missed::Refused(format!("it answers more than {MOST_BYTES} bytes")),
        Cut::Broken(error) => Missed::Silent(because(&error)),
    })
}

/// Why an answer was not read to its end.
pub(super) enum Cut {
    TooLong,
    Broken(reqwest::Error),
}

/// Returns the body of an answer if it has at most `most` bytes.
pub(super) async fn whole(mut answer: Response, most: usize) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(Cut::Broken)? {
        if bytes.len() + piece.len() > most {
            return Err(Cut::TooLong);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Returns for how many seconds from `now` (Unix time) the server asks not to be called: `Retry-After`, given in
/// seconds or as a date (RFC 9110, 10.2.3).
pub fn retry_after(headers: &HeaderMap, now: i64) -> Option<u32> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let until = || jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_second().checked_sub(now);
    text.parse().ok().or_else(|| u32::try_from(until()?).ok())
}

/// The cause, without the address.
fn because(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} seconds", WHOLE.as_secs());
    }
    let mut cause = error.source();
    while let Some(next) = cause.and_then(Error::source) {
        cause = Some(next);
    }
    cause.map_or_else(|| "the request could not be sent".to_owned(), ToString::to_string)
}

/// Looks names up, and passes on only what may be connected to.
pub struct Vetted(pub Egress);

impl Resolve for Vetted {
    fn resolve(&self, name: Name) -> Resolving {
        let egress = self.0.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let fine: Vec<SocketAddr> = found.filter(|address| egress.admits(address.ip())).collect();
            if fine.is_empty() {
                let why = format!("`{}` leads to no public address", name.as_str());
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why).into());
            }
            Ok(Box::new(fine.into_iter()) as Addrs)
        })
    }
}
