//! A mail server that goes as a test says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How it takes the next message; it takes it well after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    Well,
    /// It knows nobody of that name.
    NotTheRecipient,
    /// It does not like what it reads.
    NotTheText,
    /// It hangs up when it is greeted.
    Nothing,
    /// It hangs up once it has the message, and says nothing.
    Silently,
}

pub struct Mailbox {
    pub address: SocketAddr,
    taken: Arc<Mutex<Vec<String>>>,
    next: Arc<Mutex<Vec<Takes>>>,
}

impl Mailbox {
    pub fn new() -> Mailbox {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mailbox = Mailbox { address, taken: Arc::default(), next: Arc::default() };
        let (to, goes) = (Arc::clone(&mailbox.taken), Arc::clone(&mailbox.next));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let takes = goes.lock().unwrap().pop().unwrap_or(Takes::Well);
                to.lock().unwrap().extend(converse(stream.unwrap(), takes));
            }
        });
        mailbox
    }

    pub fn goes(&self, takes: Takes) {
        self.next.lock().unwrap().push(takes);
    }

    /// The messages that it has, each with whom it was for.
    pub fn taken(&self) -> Vec<String> {
        self.taken.lock().unwrap().clone()
    }
}

fn converse(stream: TcpStream, takes: Takes) -> Option<String> {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let says = |line: &str| (&stream).write_all(format!("{line}\r\n").as_bytes()).ok();
    says("220 here")?;
    let mut to = String::new();
    while let Some(line) = lines.next() {
        match line.get(..4).unwrap_or_default() {
            _ if takes == Takes::Nothing => return None,
            "RCPT" if takes == Takes::NotTheRecipient => says("550 no such user")?,
            "RCPT" => {
                to = line;
                says("250 ok")?
            }
            "DATA" => {
                says("354 go on")?;
                let message: Vec<String> = lines.by_ref().take_while(|line| line != ".").collect();
                let message = format!("{to}\n{}", message.join("\n"));
                match takes {
                    Takes::NotTheText => says("554 spam")?,
                    Takes::Silently => return Some(message),
                    _ => {
                        says("250 taken")?;
                        return Some(message);
                    }
                }
            }
            "QUIT" => return None,
            _ => says("250 ok")?,
        }
    }
    None
}
