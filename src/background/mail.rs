//! Mail that agents send: handed to one mail server by SMTP (RFC 5321), which delivers it.
//!
//! Always true: until the server has the whole message, it counts as not sent; from then until the server's answer, the
//! outcome is unknown.

use std::fmt;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::{ContentType, MIME_VERSION_1_0};
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as From, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::{Host, Url};
use zeroize::Zeroizing;

use crate::nouns::run::{Came, Message};
use crate::types::mail::Address;

/// How long the server may take to be reached, and for each answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The ports of submission (RFC 8314) and, on this machine, of whatever listens.
const SMTPS: u16 = 465;
const SUBMISSION: u16 = 587;
/// The bytes of a call's digest by which its message is known.
const KNOWN_BY: usize = 16;

/// A mail server, and whom its mail is from.
#[derive(Clone)]
pub struct Mail {
    host: String,
    port: u16,
    tls: Tls,
    login: Option<(String, Zeroizing<String>)>,
    from: Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tls {
    /// From the first byte.
    Implicit,
    /// By STARTTLS, before anything is said.
    Starts,
    /// None: what is sent stays on this machine.
    Off,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Why a message is not known to have arrived.
enum Stopped {
    /// It was not sent.
    Before(String),
    /// The server has it, perhaps.
    Within(String),
}

impl Mail {
    /// Parses the address of a server, such as `smtps://user:password@mail.example.com`. Errors never contain the
    /// password.
    pub fn read(url: &str, from: Address) -> Result<Mail, String> {
        let form = "must be like smtps://user:password@mail.example.com or smtp://mail.example.com:587";
        let url = Url::parse(url).map_err(|error| format!("{form}: {error}"))?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(form)?.trim_matches(['[', ']']).to_owned();
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let tls = match url.scheme() {
            "smtps" => Tls::Implicit,
            "smtp" if is_here(&host) => Tls::Off,
            "smtp" => Tls::Starts,
            _ => return Err(form.into()),
        };
        if !is_bare {
            return Err(format!("{form}: it takes no path, query or fragment"));
        }
        let port = url.port().unwrap_or(if tls == Tls::Implicit { SMTPS } else { SUBMISSION });
        let plain = |text: &str| percent_decode_str(text).decode_utf8().map(|text| text.into_owned()).map_err(|_| form);
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() => Some((plain(user)?, Zeroizing::new(plain(password)?))),
            _ => return Err("must have both a user and a password, or neither".into()),
        };
        Ok(Mail { host, port, tls, login, from })
    }

    /// Checks whether the server would take mail, and returns how it is reached.
    pub async fn check(&self) -> Result<String, String> {
        let mut connection = self.connect().await?;
        let _ = connection.quit().await;
        let how = match self.tls {
            Tls::Off => "without TLS, on this machine",
            Tls::Implicit | Tls::Starts => "over TLS",
        };
        Ok(format!("{}:{} takes mail from {}, {how}", self.host, self.port, self.from.as_str()))
    }

    /// Sends a message; `key` is the same for the same call.
    pub(super) async fn send(&self, message: &Message, key: &str) -> Came {
        let id = self.id(key);
        match self.deliver(message, &id).await {
            Ok(()) => Came::Done(json!({ "message_id": id, "to": message.to.as_str() })),
            Err(Stopped::Before(why)) => Came::Failed(why),
            Err(Stopped::Within(why)) => Came::Unknown(why),
        }
    }

    /// The `Message-ID` of the message that a call sends.
    pub(super) fn id(&self, key: &str) -> String {
        format!("<{}@{}>", known_by(key), self.from.domain())
    }

    async fn deliver(&self, message: &Message, id: &str) -> Result<(), Stopped> {
        let formed = self.formed(message, id).map_err(Stopped::Before)?;
        let mut connection = self.connect().await.map_err(Stopped::Before)?;
        let before = |error: SmtpError| Stopped::Before(describe(&error));
        let (from, to) = (address(&self.from), address(&message.to));
        let (from, to) = (from.map_err(Stopped::Before)?, to.map_err(Stopped::Before)?);
        connection.command(From::new(Some(from), Vec::new())).await.map_err(before)?;
        connection.command(Rcpt::new(to, Vec::new())).await.map_err(before)?;
        connection.command(Data).await.map_err(before)?;
        let taken = connection.message(&formed).await;
        taken.map_err(|error| match error.is_permanent() || error.is_transient() {
            true => Stopped::Before(describe(&error)),
            false => Stopped::Within(describe(&error)),
        })?;
        // It has been taken: a farewell that fails changes nothing.
        let _ = connection.quit().await;
        Ok(())
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, String> {
        let hello = ClientId::Domain(self.from.domain().to_owned());
        let tls = || TlsParameters::new(self.host.clone()).map_err(|error| describe(&error));
        let implicit = (self.tls == Tls::Implicit).then(tls).transpose()?;
        let place = (self.host.as_str(), self.port);
        let connected = AsyncSmtpConnection::connect_tokio1(place, Some(PATIENCE), &hello, implicit, None);
        let late = |_| format!("{}:{} does not answer within {} seconds", self.host, self.port, PATIENCE.as_secs());
        let begun = async {
            let mut connection = connected.await?;
            if self.tls == Tls::Starts {
                connection.starttls(TlsParameters::new(self.host.clone())?, &hello).await?;
            }
            if let Some((user, password)) = &self.login {
                let login = Credentials::new(user.clone(), String::clone(password));
                connection.auth(&[Mechanism::Plain, Mechanism::Login], &login).await?;
            }
            Ok::<_, SmtpError>(connection)
        };
        tokio::time::timeout(PATIENCE, begun).await.map_err(late)?.map_err(|error| describe(&error))
    }

    fn formed(&self, message: &Message, id: &str) -> Result<Vec<u8>, String> {
        let mailbox = |one: &Address| address(one).map(|address| Mailbox::new(None, address));
        let formed = lettre::Message::builder()
            .from(mailbox(&self.from)?)
            .to(mailbox(&message.to)?)
            .subject(message.subject.as_str())
            .message_id(Some(id.to_owned()))
            .header(MIME_VERSION_1_0)
            .header(ContentType::TEXT_PLAIN)
            .body(message.text.clone());
        formed.map(|formed| formed.formatted()).map_err(|error| error.to_string())
    }
}

fn address(of: &Address) -> Result<lettre::Address, String> {
    of.as_str().parse().map_err(|error| format!("`{}` cannot be written to: {error}", of.as_str()))
}

/// What went wrong, with its causes.
fn describe(error: &SmtpError) -> String {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause {
        let deeper_message = deeper.to_string();
        if !message.contains(&deeper_message) {
            message = format!("{message}: {deeper_message}");
        }
        cause = deeper.source();
    }
    message
}

/// What a call's message is known by, wherever it is found.
fn known_by(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    digest.iter().take(KNOWN_BY).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether what is sent there stays on this machine.
fn is_here(host: &str) -> bool {
    match Host::parse(host) {
        Ok(Host::Ipv4(ip)) => ip.is_loopback(),
        Ok(Host::Domain(name)) => name == "localhost",
        Ok(Host::Ipv6(ip)) => ip.is_loopback(),
        Err(_) => host.parse().is_ok_and(|ip: std::net::Ipv6Addr| ip.is_loopback()),
    }
}
