//! A web server that answers as a test says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What it answers to a path that it is asked for the `nth` time, from 0: head and body. With none, it says nothing.
pub type Answers = fn(path: &str, nth: usize) -> Option<String>;

pub struct Pages {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Pages {
    pub fn new(answers: Answers) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pages = Pages { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let asked = Arc::clone(&pages.asked);
        thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                let nth = {
                    let mut asked = asked.lock().unwrap();
                    asked.push(path.clone());
                    asked.iter().filter(|one| **one == path).count() - 1
                };
                match answers(&path, nth) {
                    Some(answer) => (&stream).write_all(format!("HTTP/1.1 {answer}").as_bytes()).unwrap_or_default(),
                    None => silent.push(stream),
                }
            }
        });
        pages
    }

    /// The paths that it was asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub fn wait_for(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.asked().len() < count {
            assert!(Instant::now() < until, "{:?}", self.asked());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A page that is there.
pub fn page(kind: &str, body: &str) -> Option<String> {
    Some(format!("200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()))
}
