//! The web: hosts and paths that are well formed, each in one spelling alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// The most bytes of a host, with its port.
const LONGEST_HOST: usize = 260;
/// The most bytes of a path: policies read texts up to this length.
const LONGEST_PATH: usize = 1_024;

/// A host such as `docs.example.com`, with a port where it is not 443: as a browser writes it (WHATWG URL, «host serializer»), so
/// that a policy compares it as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("maxLength" = 260))]
pub struct WebHost(String);

/// What follows the host in an address: the path from its `/` on, and the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("maxLength" = 1024))]
pub struct WebPath(String);

impl WebHost {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl WebPath {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<WebHost> for String {
    fn from(host: WebHost) -> String {
        host.0
    }
}

impl From<WebPath> for String {
    fn from(path: WebPath) -> String {
        path.0
    }
}

impl TryFrom<String> for WebHost {
    type Error = String;

    fn try_from(text: String) -> Result<WebHost, String> {
        let like = "write one such as docs.example.com, in small letters, with a port where it is not 443";
        if text.len() > LONGEST_HOST {
            return Err(format!("must have at most {LONGEST_HOST} bytes: {like}"));
        }
        let wrong = || format!("`{}` is no host: {like}", shown(&text));
        let url = Url::parse(&format!("https://{text}/")).map_err(|_| wrong())?;
        let right = written(&url);
        if right == text {
            return Ok(WebHost(text));
        }
        match url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty() {
            true if right != text => Err(format!("`{}` is written `{right}`", shown(&text))),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for WebPath {
    type Error = String;

    fn try_from(text: String) -> Result<WebPath, String> {
        let like = "must be what follows the host in an address, such as /guides/start?page=2";
        if text.len() > LONGEST_PATH {
            return Err(format!("must have at most {LONGEST_PATH} bytes"));
        }
        // What begins otherwise would belong to the host.
        let url = Url::parse(&format!("https://a.example{text}")).map_err(|_| like.to_owned())?;
        if !text.starts_with('/') || url.host_str() != Some("a.example") || url.fragment().is_some() {
            return Err(format!("{like}, not `{}`", shown(&text)));
        }
        let right = plain(url.as_str().trim_start_matches("https://a.example"));
        match ambiguous(right.split('?').next().unwrap_or_default()) {
            Some(what) => Err(format!("`{}` contains {what}, which servers read in more than one way", shown(&text))),
            None if right != text => Err(format!("`{}` is written `{}`", shown(&text), shown(&right))),
            None => Ok(WebPath(text)),
        }
    }
}

/// With no character encoded that need not be, and the others in capitals (RFC 3986, 6.2.2).
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let code = after.get(1..3).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.map(char::from) {
            Some(c) if c.is_ascii_alphanumeric() || "-._~".contains(c) => plain.push(c),
            _ => plain.push_str(&after.get(..3).unwrap_or("%25").to_ascii_uppercase()),
        }
        rest = after.get(3..).unwrap_or_default();
    }
    plain + rest
}

/// What some servers take for something else than it is: for a step up, for another slash, or for what it says once it is decoded
/// a second time.
fn ambiguous(path: &str) -> Option<&'static str> {
    let has = |what: &str| path.contains(what);
    let is_step = |part: &str| {
        part.split_once([';', '%']).is_some_and(|(before, _)| !before.is_empty() && before.bytes().all(|c| c == b'.'))
    };
    let steps = path.split('/').any(is_step);
    match () {
        () if has("%2F") || has("%5C") => Some("an encoded slash"),
        () if has("%25") => Some("an encoded %"),
        () if has("%0") || has("%1") || has("%7F") => Some("an encoded control character"),
        () if has("//") => Some("two slashes in a row"),
        () if steps => Some("dots with something behind them"),
        () => None,
    }
}

/// The host of an address, with its port if that is not the usual one, and without the dots behind it: the root is no label.
fn written(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default().trim_end_matches('.'))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Result<String, String> {
        WebHost::try_from(text.to_owned()).map(String::from)
    }

    fn path(text: &str) -> Result<String, String> {
        WebPath::try_from(text.to_owned()).map(String::from)
    }

    #[test]
    fn a_host_has_one_spelling() {
        for fine in ["docs.example.com", "docs.example.com:8443", "127.0.0.1:8080", "[::1]:80", "xn--strae-oqa.example"]
        {
            assert_eq!(host(fine).as_deref(), Ok(fine));
        }
        let corrected = |text: &str, right: &str| {
            assert_eq!(host(text), Err(format!("`{text}` is written `{right}`")));
        };
        corrected("Docs.Example.com", "docs.example.com");
        corrected("docs.example.com:443", "docs.example.com");
        corrected("docs%2Eexample.com", "docs.example.com");
        corrected("docs.example.com.", "docs.example.com");
        corrected("docs.example.com.:8443", "docs.example.com:8443");
        corrected("straße.example", "xn--strae-oqa.example");
        corrected("0x7f.1", "127.0.0.1");
        for none in
            ["", "a/b", "user@a.example", "a.example?x", "a.example#x", "a b", "https://a.example", "a:b", "a\\b"]
        {
            assert!(host(none).is_err_and(|why| why.contains("no host")), "{none}: {:?}", host(none));
        }
        assert!(host(&"a".repeat(261)).is_err());
    }

    #[test]
    fn a_path_has_one_spelling_and_leads_to_no_other_host() {
        for fine in ["/", "/a/b.html", "/a?b=c&d=%20", "/%C3%A9", "/a;v=1/b..c", "/?u=%2Fx%25"] {
            assert_eq!(path(fine).as_deref(), Ok(fine));
        }
        assert_eq!(path("/public/../private"), Err("`/public/../private` is written `/private`".into()));
        assert_eq!(path("/public/%2e%2E/private"), Err("`/public/%2e%2E/private` is written `/private`".into()));
        assert_eq!(path("/a\\..\\b"), Err("`/a\\\\..\\\\b` is written `/b`".into()));
        assert_eq!(path("/a b"), Err("`/a b` is written `/a%20b`".into()));
        for none in ["", "a", ".evil.org/", ":8080/", "@evil.org/", "?x", "/a#b"] {
            assert!(path(none).is_err(), "{none}");
        }
        assert!(path(&format!("/{}", "a".repeat(1024))).is_err());
        assert_eq!(path("/%70ublic?a=%7e"), Err("`/%70ublic?a=%7e` is written `/public?a=~`".into()));
        assert_eq!(path("/%c3%a9"), Err("`/%c3%a9` is written `/%C3%A9`".into()));
        for (many, what) in [
            ("//evil.org/", "two slashes in a row"),
            ("/public//private", "two slashes in a row"),
            ("/public/..%2Fprivate", "an encoded slash"),
            ("/public/..%2fprivate", "an encoded slash"),
            ("/public/..%20/private", "dots with something behind them"),
            ("/public/..%5Cprivate", "an encoded slash"),
            ("/public/%252e%252e/private", "an encoded %"),
            ("/public/..;/private", "dots with something behind them"),
            ("/public/..;a=b/private", "dots with something behind them"),
            ("/public%00", "an encoded control character"),
        ] {
            assert_eq!(path(many), Err(format!("`{many}` contains {what}, which servers read in more than one way")));
        }
    }
}
