//! Determines where each request of a connection ends, from its bytes, in parallel with hyper. If a length is given
//! twice, or in two ways, hyper silently settles it; a proxy in front may settle it differently, and the two then
//! disagree about where the next request begins. Such a request is refused, and its connection closed. The same goes
//! for a request that names no host or two hosts, or shows two credentials.
//!
//! Always true: anything that this does not understand is refused too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first request of the connection that is to be refused, counted from 0; shared with whoever answers.
#[derive(Clone)]
pub struct Crooked(Arc<AtomicU64>);

impl Default for Crooked {
    fn default() -> Crooked {
        Crooked(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Crooked {
    pub fn is(&self, request: u64) -> bool {
        request >= self.0.load(Ordering::Acquire)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// The lines of a head.
    Head,
    /// So many bytes are left of a body, or of a chunk of one.
    Body(u64),
    Chunk(u64),
    /// The line that says how long the next chunk is.
    Size,
    /// The lines behind the last chunk.
    Trailer,
    Lost,
}

/// What a head said so far.
#[derive(Default)]
struct Head {
    begun: bool,
    lengths: u32,
    length: u64,
    codings: u32,
    hosts: u32,
    credentials: u32,
    /// HTTP/1.1 names its host (RFC 9112, 3.2).
    needs_host: bool,
    wrong: bool,
}

pub struct Framing {
    at: At,
    head: Head,
    line: Vec<u8>,
    /// The most bytes of a line.
    most: usize,
    /// How many heads were read to their end.
    pub requests: u64,
    crooked: Crooked,
}

impl Framing {
    pub fn new(most: usize, crooked: Crooked) -> Framing {
        Framing { at: At::Head, head: Head::default(), line: Vec::new(), most, requests: 0, crooked }
    }

    /// Looks at what has arrived.
    pub fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.at {
                At::Lost => return,
                At::Body(left) => self.skip(left, bytes, At::Body, At::Head),
                At::Chunk(left) => self.skip(left, bytes, At::Chunk, At::Size),
                At::Head | At::Size | At::Trailer => self.lines(bytes),
            };
        }
    }

    fn skip<'a>(&mut self, left: u64, bytes: &'a [u8], more: fn(u64) -> At, then: At) -> &'a [u8] {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - here as u64;
        self.at = if left == 0 { then } else { more(left) };
        bytes.get(here..).unwrap_or_default()
    }

    /// Takes one line, if it ends here.
    fn lines<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.line.extend_from_slice(part);
        if self.line.len() > self.most {
            self.lose();
        } else if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.line(line.trim_ascii_end());
        }
        rest
    }

    fn line(&mut self, line: &[u8]) {
        match self.at {
            At::Head if !line.is_empty() => self.head.line(line),
            At::Head if self.head.begun => self.end_of_head(),
            At::Size => self.chunk(line),
            At::Trailer if line.is_empty() => self.at = At::Head,
            _ => {}
        }
    }

    fn end_of_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        if head.is_crooked() {
            return self.lose();
        }
        self.requests += 1;
        self.at = match (head.codings, head.length) {
            (0, 0) => At::Head,
            (0, length) => At::Body(length),
            _ => At::Size,
        };
    }

    fn chunk(&mut self, line: &[u8]) {
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
        self.at = match size {
            Some(0) => At::Trailer,
            // The line end behind the chunk is counted with it, as hyper does: it takes nothing else there.
            Some(size) if size < u64::MAX - 2 && !digits.starts_with(b"+") => At::Chunk(size + 2),
            _ => return self.lose(),
        };
    }

    /// From here on nothing is answered.
    fn lose(&mut self) {
        self.at = At::Lost;
        self.line = Vec::new();
        self.crooked.0.fetch_min(self.requests, Ordering::AcqRel);
    }
}

impl Head {
    fn line(&mut self, line: &[u8]) {
        if !std::mem::replace(&mut self.begun, true) {
            self.needs_host = line.trim_ascii_end().ends_with(b" HTTP/1.1");
            return;
        }
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(at);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            match digits.and_then(|digits| digits.parse().ok()) {
                Some(length) => self.length = length,
                None => self.wrong = true,
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.codings += 1;
            self.wrong |= !value.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"host") {
            self.hosts += 1;
        } else if name.eq_ignore_ascii_case(b"authorization") {
            self.credentials += 1;
        }
    }

    fn is_crooked(&self) -> bool {
        let hosts = u32::from(self.needs_host)..=1;
        self.wrong || self.lengths + self.codings > 1 || !hosts.contains(&self.hosts) || self.credentials > 1
    }
}
