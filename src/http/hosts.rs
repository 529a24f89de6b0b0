//! By which names the server may be asked, and from which pages. A browser can be led here under a name that somebody else
//! owns (DNS rebinding), or by a page of theirs; it says so in `Host` and `Origin`.
//!
//! Always true: an IP address cannot be made to mean another machine, so it needs no permission, and neither does `localhost`.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::reply;
use crate::types::refusal::{Code, Refusal};

/// The names that a server answers to.
#[derive(Clone, Debug, Default)]
pub enum Hosts {
    /// Whatever it is called.
    #[default]
    Any,
    /// These, besides addresses and `localhost`.
    Named(Arc<[String]>),
}

/// Why a request is refused, in its extensions.
#[derive(Clone)]
pub(super) struct Refused(pub Refusal);

/// What the company is called that is served, in a request's extensions.
#[derive(Clone, Default)]
pub(super) struct Served(pub Option<Arc<str>>);

/// The header that names a company, where a server has several. This one has one: what is meant for another is not done here.
const TENANT: &str = "x-ok-tenant";

/// Refuses a request that is meant for another company.
pub(super) fn is_served(parts: &Parts) -> Result<(), Refusal> {
    let served = parts.extensions.get::<Served>().and_then(|served| served.0.as_deref());
    match parts.headers.get_all(TENANT).iter().find(|named| served.map(str::as_bytes) != Some(named.as_bytes())) {
        None => Ok(()),
        Some(named) => {
            let named = String::from_utf8_lossy(named.as_bytes());
            let message = format!("{TENANT}: no company `{named}` is served at this address");
            Err(Refusal::new(Code::NotFound, message))
        }
    }
}

/// Refuses what was not admitted.
pub(super) async fn guard(mut request: Request, next: Next) -> Response {
    match request.extensions_mut().remove::<Refused>() {
        Some(Refused(refusal)) => reply::refusal(&refusal),
        None => next.run(request).await,
    }
}

impl FromStr for Hosts {
    type Err = String;

    /// `ok.example.com, ok.internal`; `any` for any.
    fn from_str(text: &str) -> Result<Hosts, String> {
        if text.trim() == "any" {
            return Ok(Hosts::Any);
        }
        let name = |one: &str| {
            let is_name = !one.is_empty() && one.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'.');
            is_name.then(|| one.to_ascii_lowercase()).ok_or_else(|| one.to_owned())
        };
        text.split(',').map(|one| name(one.trim())).collect::<Result<_, _>>().map(Hosts::Named)
    }
}

impl Hosts {
    /// Returns the default: a server that only this machine can reach answers only to names of this machine.
    pub fn usual(address: IpAddr) -> Hosts {
        if address.is_loopback() { Hosts::Named(Arc::default()) } else { Hosts::Any }
    }

    /// Refuses a request under a name that is not the server's, or from a page of another origin. If no names are set,
    /// a trusted proxy may use a name of its own.
    pub fn admit(&self, uri: &Uri, headers: &HeaderMap, by_proxy: bool) -> Result<(), Refusal> {
        let host = authority(uri, headers)?;
        if let Some(host) = host.as_ref().filter(|host| !self.answers_to(host.host(), by_proxy)) {
            let message = format!("host: `{}` is not a name of this server; OK_HOSTS lists its names", host.host());
            return Err(Refusal::bad_request(message));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let page = origin.to_str().ok().and_then(authority_of);
        let forwarded = headers.get("x-forwarded-host").filter(|_| by_proxy);
        // A proxy may hand on whatever name it was asked under.
        let forwarded = forwarded.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let forwarded = forwarded.filter(|host| self.answers_to(host.host(), by_proxy));
        let is_ours = page.is_some_and(|page| {
            [&host, &forwarded].into_iter().flatten().any(|ours| is_same(ours, &page)) || self.lists(page.host())
        });
        let message =
            "the request comes from a page of another site (`Origin`); OK_HOSTS lists the names of this server";
        if is_ours { Ok(()) } else { Err(Refusal::new(Code::Denied, message)) }
    }

    fn answers_to(&self, host: &str, by_proxy: bool) -> bool {
        let is_here = || {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let name = host.trim_end_matches('.').to_ascii_lowercase();
            host.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost")
        };
        match self {
            Hosts::Any => true,
            Hosts::Named(names) => (names.is_empty() && by_proxy) || self.lists(host) || is_here(),
        }
    }

    fn lists(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        matches!(self, Hosts::Named(names) if names.iter().any(|name| name.eq_ignore_ascii_case(host)))
    }
}

/// Returns the name under which a request was made: that of its target if it has one, whatever `Host` says (RFC 9112,
/// 3.2.2).
pub(super) fn authority(uri: &Uri, headers: &HeaderMap) -> Result<Option<Authority>, Refusal> {
    let named = match (uri.authority(), headers.get(HOST)) {
        (Some(target), _) => Some(target.clone()),
        (None, None) => None,
        (None, Some(host)) => {
            let host = host.to_str().ok().and_then(|host| host.parse().ok());
            Some(
                host.ok_or_else(|| Refusal::bad_request("host: must be a name or an address, and a port at the most"))?,
            )
        }
    };
    match named {
        Some(named) if named.as_str().contains('@') => Err(Refusal::bad_request("host: must not name a user")),
        Some(named) if !has_port_at_most(&named) => {
            Err(Refusal::bad_request("host: after the name comes a port, 0 to 65535, or nothing"))
        }
        named => Ok(named),
    }
}

/// Whether nothing follows the name but a port, or a colon (RFC 3986, 3.2.3).
fn has_port_at_most(named: &Authority) -> bool {
    let rest = named.as_str().strip_prefix(named.host()).unwrap_or_default();
    matches!(rest, "" | ":") || named.port_u16().is_some()
}

/// `https://ok.example:8443`
fn authority_of(origin: &str) -> Option<Authority> {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"))?;
    rest.parse().ok()
}

/// The same host and port. What a proxy in front serves has the usual port, which neither names.
fn is_same(ours: &Authority, page: &Authority) -> bool {
    let port = |authority: &Authority| authority.port_u16().filter(|port| !matches!(port, 80 | 443));
    ours.host().eq_ignore_ascii_case(page.host()) && port(ours) == port(page)
}
