//! Words and symbols of a policy text, as far as they are needed before Cedar parses it. Cedar's parser and everything
//! after it recurse as deep as the text does, so whatever nests or runs on too far is refused here, without recursion.

/// One word, number, string or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Bytes from the beginning.
    pub at: usize,
}

/// The tokens of a text, without blanks and comments.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment = match rest.get(blank..) {
                // As Cedar has it: a carriage return ends a comment too.
                Some(after) if after.starts_with("//") => after.find(['\n', '\r']).unwrap_or(after.len()),
                _ => 0,
            };
            self.at += blank + comment;
            if comment == 0 {
                return;
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '"' => string(rest),
            _ if word(first) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let token = Token { text: rest.get(..length)?, at: self.at };
        self.at += length;
        Some(token)
    }
}

/// The length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The most words and signs that one policy may have.
const MAX_TOKENS: usize = 4_000;
/// The most bytes of one policy without its comments, and of a pattern in it: matching takes as long as pattern and text together make.
pub const MAX_BYTES: usize = 64 << 10;
pub const MAX_PATTERN: usize = 1 << 10;
/// How deep brackets may nest.
const MAX_NESTING: usize = 64;

/// Where a text goes beyond the bounds, and how.
pub fn out_of_bounds(text: &str) -> Option<(usize, String)> {
    let (mut count, mut depth, mut begun, mut bytes, mut before) = (0_usize, 0_usize, 0_usize, 0_usize, "");
    for token in Tokens::new(text) {
        if count == 0 {
            (begun, bytes) = (token.at, 0);
        }
        count += 1;
        bytes += token.text.len();
        // The parser would go on to tell of each.
        if token.text == ";" && count == 1 {
            return Some((token.at, "a semicolon that ends nothing".to_owned()));
        }
        if bytes > MAX_BYTES {
            return Some((begun, format!("a policy of more than {MAX_BYTES} bytes")));
        }
        if std::mem::replace(&mut before, token.text) == "like" && token.text.len() > MAX_PATTERN {
            return Some((token.at, format!("a pattern of more than {MAX_PATTERN} bytes")));
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ";" => count = 0,
            _ => {}
        }
        if count > MAX_TOKENS {
            return Some((begun, format!("a policy of more than {MAX_TOKENS} words and signs")));
        }
        if depth > MAX_NESTING {
            return Some((token.at, format!("brackets nest deeper than {MAX_NESTING}")));
        }
    }
    None
}

/// Where principal, action and resource stand in the text of one policy: offset and length of each.
pub fn scope(text: &str) -> Vec<(usize, usize)> {
    let (mut spans, mut depth, mut inside) = (Vec::new(), 0_usize, false);
    let mut before = "";
    let mut clause: Option<(usize, usize)> = None;
    let mut last_word = "";
    for token in Tokens::new(text) {
        let begins =
            !inside && token.text == "(" && depth == 0 && matches!(before, "permit" | "forbid") && last_word != "@";
        if begins {
            inside = true;
        } else if inside && depth == 1 && matches!(token.text, "," | ")") {
            spans.extend(clause.take().map(|(from, to)| (from, to - from)));
            if token.text == ")" {
                return spans;
            }
        } else if inside {
            let end = token.at + token.text.len();
            clause = Some(clause.map_or((token.at, end), |(from, _)| (from, end)));
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        last_word = before;
        before = token.text;
    }
    spans
}
