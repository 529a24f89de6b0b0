//! The leaf of an entry, read strictly.
//!
//! A leaf has one form only (RFC 8785: keys in order, no spaces, one way to escape), so the reader walks along that form
//! and stops at the first byte that departs from it: unknown, double or misplaced keys, floats and spaces all do. Texts
//! are kept as written; where there is one way to write a value, equal texts are equal values.

use super::merkle::Hash;
use super::note;

const MAX_LEAF: usize = 65_535;
/// The largest integer that every reader of JSON holds exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    #[error("the leaf has more than 65,535 bytes")]
    TooLong,
    #[error("the leaf is not UTF-8")]
    NotUtf8,
    #[error("the leaf is not in canonical form: {expected} expected at byte {at}")]
    Form { expected: &'static str, at: usize },
    #[error("the leaf's `{0}` has no valid value")]
    Value(&'static str),
}

use LeafError::Value;

/// What the walk needs of a leaf; all other fields are checked and left.
#[derive(Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    pub origin: &'a str,
    pub seq: u64,
    pub prev: Hash,
    pub ts: u64,
    pub kind: &'a str,
    pub refs: Vec<&'a str>,
    pub commitment: Hash,
}

impl<'a> Leaf<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Leaf<'a>, LeafError> {
        if bytes.len() > MAX_LEAF {
            return Err(LeafError::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| LeafError::NotUtf8)?;
        let mut read = Cursor { rest: text, len: text.len() };
        read.eat("{\"actor\":")?;
        read.string()?;
        read.eat(",\"c\":")?;
        let commitment = read.hash("c")?;
        read.eat(",\"decision\":")?;
        if !["allow", "deny", "needs_approval", "system"].contains(&read.string()?) {
            return Err(Value("decision"));
        }
        if read.sees(",\"idem\":") {
            read.hash("idem")?;
        }
        read.eat(",\"origin\":")?;
        let origin = read.string()?;
        read.policy()?;
        read.eat(",\"prev\":")?;
        let prev = read.hash("prev")?;
        read.eat(",\"refs\":")?;
        let refs = read.refs()?;
        read.eat(",\"seq\":")?;
        let seq = read.number()?;
        read.eat(",\"ts\":")?;
        let ts = read.number()?;
        read.eat(",\"type\":")?;
        let kind = read.string()?;
        read.eat(",\"v\":1}")?;
        read.end()?;
        Ok(Leaf { origin, seq, prev, ts, kind, refs, commitment })
    }

    /// The event numbers that this entry declares forgotten.
    pub fn forgets(&self) -> impl Iterator<Item = u64> {
        let refs = if self.kind == "context_forgotten" { self.refs.as_slice() } else { &[] };
        refs.iter().filter_map(|reference| reference.strip_prefix("event:").and_then(note::number))
    }
}

struct Cursor<'a> {
    rest: &'a str,
    len: usize,
}

impl<'a> Cursor<'a> {
    fn wrong(&self, expected: &'static str) -> LeafError {
        LeafError::Form { expected, at: self.len - self.rest.len() }
    }

    /// Steps over the literal if it comes next.
    fn sees(&mut self, literal: &str) -> bool {
        self.rest.strip_prefix(literal).map(|rest| self.rest = rest).is_some()
    }

    fn eat(&mut self, literal: &'static str) -> Result<(), LeafError> {
        if self.sees(literal) { Ok(()) } else { Err(self.wrong(literal)) }
    }

    fn end(&self) -> Result<(), LeafError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong("the end")) }
    }

    fn take(&mut self, len: usize) -> Result<&'a str, LeafError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(self.wrong("a character"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A string, without its quotes.
    fn string(&mut self) -> Result<&'a str, LeafError> {
        self.eat("\"")?;
        let start = self.rest;
        loop {
            let stop = self.rest.bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20);
            self.take(stop.unwrap_or(self.rest.len()))?;
            if self.rest.starts_with('\\') {
                self.escape()?;
            } else {
                let len = start.len() - self.rest.len();
                self.eat("\"")?;
                return start.get(..len).ok_or(self.wrong("a string"));
            }
        }
    }

    /// An escape of RFC 8785 §3.2.2.2: the short ones, and `\u00xx` for the other control characters.
    fn escape(&mut self) -> Result<(), LeafError> {
        if ["\\\"", "\\\\", "\\b", "\\f", "\\n", "\\r", "\\t"].iter().any(|short| self.sees(short)) {
            return Ok(());
        }
        self.eat("\\u00")?;
        let digits = self.take(2)?;
        let code = u8::from_str_radix(digits, 16).map_err(|_| self.wrong("two hex digits"))?;
        let has_short_form = matches!(code, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d);
        if code >= 0x20 || has_short_form || digits != format!("{code:02x}") {
            return Err(self.wrong("the shortest escape"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, LeafError> {
        let len = self.rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = note::number(self.take(len)?).filter(|number| *number <= MAX_NUMBER);
        number.ok_or(self.wrong("a whole number"))
    }

    fn hash(&mut self, field: &'static str) -> Result<Hash, LeafError> {
        note::hash(self.string()?).ok_or(Value(field))
    }

    fn policy(&mut self) -> Result<(), LeafError> {
        self.eat(",\"policy\":{\"hash\":")?;
        let hash = self.string()?;
        self.eat(",\"seq\":")?;
        let seq = self.number()?;
        self.eat("}")?;
        let is_digest = hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let fits = if seq == 0 { hash.is_empty() } else { is_digest };
        if fits { Ok(()) } else { Err(Value("policy")) }
    }

    /// Strings in ascending order, each once.
    fn refs(&mut self) -> Result<Vec<&'a str>, LeafError> {
        self.eat("[")?;
        let mut refs = Vec::new();
        if self.sees("]") {
            return Ok(refs);
        }
        loop {
            refs.push(self.string()?);
            if self.sees("]") {
                break;
            }
            self.eat(",")?;
        }
        if refs.is_sorted_by(|a, b| a < b) { Ok(refs) } else { Err(Value("refs")) }
    }
}
