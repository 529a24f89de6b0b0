//! The form of a payload: one JSON object in canonical form (RFC 8785) with `event` and `gate`, where the `type` in
//! `event` equals that of the leaf.
//!
//! Always true: the payload is read once, forward, and only positions are kept; brackets nest no deeper than a bound.
//! Numbers are checked for their grammar only: the commitment vouches for their bytes.

/// Deeper than any payload that a gate writes.
const MAX_DEPTH: usize = 128;

/// What is wrong with the bytes of a payload whose leaf is of this type.
pub fn problem(body: &[u8], kind: &str) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(body) else { return Some("it is not UTF-8") };
    let mut walk = Walk { rest: text, kind: None };
    if text.is_empty() {
        return Some("it is empty");
    }
    let walked = walk.payload();
    match walked {
        Err(why) => Some(why),
        Ok(()) if !walk.rest.is_empty() => Some("it is followed by something else"),
        Ok(()) if walk.kind != Some(kind) => Some("its event is of another type than its leaf says"),
        Ok(()) => None,
    }
}

struct Walk<'a> {
    rest: &'a str,
    /// The event's type.
    kind: Option<&'a str>,
}

type Walked = Result<(), &'static str>;

impl<'a> Walk<'a> {
    fn payload(&mut self) -> Walked {
        self.eat("{\"event\":", "it does not begin with its event")?;
        let kind = self.object(1, &mut |name, value| (name == "type").then_some(value))?;
        self.kind = kind.and_then(|kind| kind.strip_prefix('"')?.strip_suffix('"'));
        self.eat(",\"gate\":", "its gate's word is missing")?;
        self.object(1, &mut |_, _| None)?;
        self.eat("}", "it contains more than `event` and `gate`")
    }

    fn sees(&mut self, literal: &str) -> bool {
        self.rest.strip_prefix(literal).map(|rest| self.rest = rest).is_some()
    }

    fn eat(&mut self, literal: &str, why: &'static str) -> Walked {
        if self.sees(literal) { Ok(()) } else { Err(why) }
    }

    fn value(&mut self, depth: usize) -> Walked {
        match self.rest.as_bytes().first() {
            _ if depth > MAX_DEPTH => Err("it nests too deep"),
            Some(b'{') => self.object(depth, &mut |_, _| None).map(drop),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.eat("true", NO_JSON),
            Some(b'f') => self.eat("false", NO_JSON),
            Some(b'n') => self.eat("null", NO_JSON),
            _ => self.number(),
        }
    }

    /// Members in ascending order, each once. `look` picks one of them.
    fn object(
        &mut self,
        depth: usize,
        look: &mut dyn FnMut(&'a str, &'a str) -> Option<&'a str>,
    ) -> Result<Option<&'a str>, &'static str> {
        self.eat("{", NO_JSON)?;
        let (mut before, mut picked): (Option<&str>, _) = (None, None);
        if self.sees("}") {
            return Ok(None);
        }
        loop {
            let name = self.string()?;
            if before.is_some_and(|before| !before.encode_utf16().lt(name.encode_utf16())) {
                return Err("its members are doubled or out of order");
            }
            before = Some(name);
            self.eat(":", NO_JSON)?;
            let value = self.rest;
            self.value(depth + 1)?;
            let length = value.len() - self.rest.len();
            picked = picked.or(look(name, value.get(..length).unwrap_or_default()));
            if self.sees("}") {
                return Ok(picked);
            }
            self.eat(",", NO_JSON)?;
        }
    }

    fn array(&mut self, depth: usize) -> Walked {
        self.eat("[", NO_JSON)?;
        if self.sees("]") {
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            if self.sees("]") {
                return Ok(());
            }
            self.eat(",", NO_JSON)?;
        }
    }

    /// A string, without its quotes.
    fn string(&mut self) -> Result<&'a str, &'static str> {
        self.eat("\"", NO_JSON)?;
        let start = self.rest;
        loop {
            let stop =
                self.rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20).ok_or(NO_JSON)?;
            self.rest = self.rest.get(stop..).ok_or(NO_JSON)?;
            if self.sees("\"") {
                return start.get(..start.len() - self.rest.len() - 1).ok_or(NO_JSON);
            }
            if !["\\\"", "\\\\", "\\b", "\\f", "\\n", "\\r", "\\t"].iter().any(|short| self.sees(short)) {
                self.control()?;
            }
        }
    }

    /// `\u00xx`: a control character that has no shorter form.
    fn control(&mut self) -> Walked {
        self.eat("\\u00", NO_JSON)?;
        let (digits, rest) = self.rest.split_at_checked(2).ok_or(NO_JSON)?;
        let code = u8::from_str_radix(digits, 16).map_err(|_| NO_JSON)?;
        let is_shortest = code < 0x20 && !matches!(code, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d);
        self.rest = rest;
        if is_shortest && digits == format!("{code:02x}") { Ok(()) } else { Err(NO_JSON) }
    }

    fn number(&mut self) -> Walked {
        let digits = |walk: &mut Self| {
            let length = walk.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (taken, rest) = walk.rest.split_at_checked(length).unwrap_or_default();
            walk.rest = rest;
            if taken.is_empty() { Err(NO_JSON) } else { Ok(taken) }
        };
        self.sees("-");
        let whole = digits(self)?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(NO_JSON);
        }
        if self.sees(".") {
            digits(self)?;
        }
        if self.sees("e") {
            let _ = self.sees("+") || self.sees("-");
            digits(self)?;
        }
        Ok(())
    }
}

const NO_JSON: &str = "it is not canonical JSON";
