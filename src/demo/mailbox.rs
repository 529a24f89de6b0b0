//! The demo's mail server: accepts every message on this machine, delivers none, and reports what arrives. Implements as much
//! of SMTP (RFC 5321) as a sender needs.

use std::net::{Ipv4Addr, SocketAddr};

use mail_parser::MessageParser;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::listen;
use crate::types::visible::visible;

/// The default port.
const PORT: u16 = 8025;
/// The maximum bytes of a line; below, of a message.
const LINE: u64 = 4 << 10;
const MESSAGE: usize = 256 << 10;
/// The maximum characters of a message that are reported.
const MOST: usize = 300;
/// The sender of the demo's mail.
pub const SENDER: &str = "hello@fernhill.example";

pub struct Mailbox {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl Mailbox {
    /// Listens on the default port, or on any free one.
    pub async fn listen() -> std::io::Result<Mailbox> {
        let (listener, address) = listen((Ipv4Addr::LOCALHOST, PORT)).await?;
        Ok(Mailbox { listener, address })
    }

    /// Returns the address as `OK_SMTP_URL` expects it.
    pub fn url(address: Option<SocketAddr>) -> String {
        format!("smtp://{}", address.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, PORT).into()))
    }

    /// Accepts messages until `stop`, and reports each.
    pub async fn serve(self, report: fn(&str), stop: CancellationToken) {
        let taking = async {
            while let Ok((stream, _)) = self.listener.accept().await {
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, report).await {
                        tracing::debug!("a conversation with the demo's mail box broke off: {error}");
                    }
                });
            }
        };
        tokio::select! {
            () = taking => {}
            () = stop.cancelled() => {}
        }
    }
}

async fn converse(mut stream: TcpStream, report: fn(&str)) -> std::io::Result<()> {
    let (reads, mut writes) = stream.split();
    let mut reads = BufReader::new(reads);
    writes.write_all(b"220 demo mail box\r\n").await?;
    loop {
        let mut line = Vec::new();
        if (&mut reads).take(LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let verb = String::from_utf8_lossy(line.get(..4).unwrap_or_default()).to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-demo\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
            "HELO" | "MAIL" | "RCPT" | "RSET" | "NOOP" => "250 fine\r\n",
            "DATA" => {
                writes.write_all(b"354 end with a dot\r\n").await?;
                match message(&mut reads).await? {
                    Some(message) => {
                        report(&in_words(&message));
                        "250 taken\r\n"
                    }
                    None => "552 too long\r\n",
                }
            }
            "QUIT" => {
                writes.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "502 not known here\r\n",
        };
        writes.write_all(answer.as_bytes()).await?;
    }
}

/// Reads a message up to the dot that ends it (RFC 5321, 4.5.2); `None` if it is too long.
async fn message(reads: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> std::io::Result<Option<Vec<u8>>> {
    let (mut message, mut is_long) = (Vec::new(), false);
    loop {
        let mut line = Vec::new();
        let count = (&mut *reads).take(LINE).read_until(b'\n', &mut line).await?;
        match line.as_slice() {
            b".\r\n" | b".\n" => return Ok((!is_long).then_some(message)),
            _ if count == 0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            [b'.', rest @ ..] => message.extend_from_slice(rest),
            _ => message.extend_from_slice(&line),
        }
        is_long |= message.len() > MESSAGE;
        message.truncate(MESSAGE);
    }
}

fn in_words(message: &[u8]) -> String {
    let read = MessageParser::default().parse(message);
    let read = read.as_ref();
    let to = read.and_then(|read| read.to()?.first()?.address()).unwrap_or("nobody");
    let subject = read.and_then(|read| read.subject()).unwrap_or("no subject");
    let text: String = read.and_then(|read| read.body_text(0)).unwrap_or_default().chars().take(MOST).collect();
    // The sender decides what a message contains: nothing in it may control the terminal.
    let text: Vec<&str> = text.lines().collect();
    visible(&format!("mail: to {to}, «{subject}»\n  {}", text.join("\n  ").trim_end()))
}
