//! YAML in a bundle: bounded before it is parsed, and with the line of every error.

use std::collections::BTreeSet;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use types::expected::Format;

/// The most bytes of one file.
pub const MAX_BYTES: usize = 1 << 20;
/// The most values that one file may come to, with aliases written out.
const MAX_VALUES: usize = 200_000;
/// How deep values may nest.
const MAX_DEPTH: usize = 32;

/// The most that the parser may have to do: for each sign of a text it looks at every bracket that is open.
pub const MAX_WORK: usize = 1 << 27;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

impl YamlError {
    pub fn at(line: usize, message: impl Into<String>) -> YamlError {
        YamlError { line, message: message.into() }
    }
}

/// Reads a file. What would grow beyond the bounds is refused before anything is kept of it.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    read_within(MAX_WORK, text)
}

/// Reads a text where it comes in: others wait meanwhile.
pub fn read_at_once<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    read_within(MAX_WORK / 8, text)
}

/// Whether a text has too many brackets, or something else that keeps it from being read at once, before anything is read of it.
pub fn is_too_much(text: &str) -> bool {
    measure(MAX_WORK / 8, text).is_err()
}

fn read_within<T: DeserializeOwned>(work: usize, text: &str) -> Result<T, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError::at(1, format!("the file is larger than {MAX_BYTES} bytes")));
    }
    // A byte order mark is none of the text (the parser would take it for a document of its own).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_empty(text) {
        return Err(YamlError::at(1, "the file is empty: complete it, or remove it"));
    }
    measure(work, text)?;
    let to_error = |error: serde_yaml::Error| {
        let message = error.to_string();
        let line = error.location().map_or(1, |at| at.line());
        let place = message.find(" at line ").filter(|_| error.location().is_some());
        YamlError::at(line, Format::Yaml.plain(place.and_then(|at| message.get(..at)).unwrap_or(&message)))
    };
    let mut left = MAX_VALUES;
    Count { left: &mut left, depth: 0 }.deserialize(serde_yaml::Deserializer::from_str(text)).map_err(to_error)?;
    T::deserialize(serde_yaml::Deserializer::from_str(text)).map_err(to_error)
}

/// Whether there is nothing but comments and the marks around a document.
fn is_empty(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| matches!(line, "" | "---" | "...") || line.starts_with('#'))
}

/// One look at the signs, before the parser sees any: it takes its time before it finds what `Count` would refuse.
fn measure(work: usize, text: &str) -> Result<(), YamlError> {
    let brackets = brackets(text);
    if brackets.saturating_mul(text.len()) > work.max(MAX_DEPTH * text.len()) {
        let most = (work / text.len().max(1)).max(MAX_DEPTH);
        let message =
            format!("{brackets} brackets are too many for a file of {} bytes: the most is {most}", text.len());
        return Err(YamlError::at(1, format!("{message}; write some of it in block style, or in another file")));
    }
    // It compares each directive with all before it.
    match text.lines().position(|line| line.starts_with('%')) {
        Some(at) => Err(YamlError::at(at + 1, "directives (`%`) are not read")),
        None => Ok(()),
    }
}

/// Returns an upper bound on the number of brackets that are open at once. Only the parser knows which brackets really
/// open; but on a line without quotes, comments and tags, whatever follows a bracket that does open is closed by the
/// brackets that seem to close it. On all other lines, every bracket counts as one that stays open.
pub fn brackets(text: &str) -> usize {
    let (mut left_open, mut deepest) = (0, 0);
    for line in text.split('\n') {
        let (mut opened, mut depth, mut most, mut is_plain) = (0_usize, 0_usize, 0_usize, true);
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => (opened, depth) = (opened + 1, depth + 1),
                b']' | b'}' => depth = depth.saturating_sub(1),
                b'"' | b'\'' | b'#' | b'!' => is_plain = false,
                _ => {}
            }
            most = most.max(depth);
        }
        if is_plain && depth == 0 {
            deepest = deepest.max(most);
        } else {
            left_open += opened;
        }
    }
    left_open + deepest
}

/// Walks over a value, keeps nothing, and stops at the bounds.
struct Count<'a> {
    left: &'a mut usize,
    depth: usize,
}

impl Count<'_> {
    fn one<E: serde::de::Error>(&mut self) -> Result<(), E> {
        let left = self.left.checked_sub(1);
        *self.left = left.ok_or_else(|| E::custom(format!("more than {MAX_VALUES} values, aliases written out")))?;
        if self.depth > MAX_DEPTH { Err(E::custom(format!("values nest deeper than {MAX_DEPTH}"))) } else { Ok(()) }
    }

    fn inner(&mut self) -> Count<'_> {
        Count { left: self.left, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(mut self, from: D) -> Result<(), D::Error> {
        self.one::<D::Error>()?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("plain YAML")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut pairs: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = pairs.next_key_seed(Key(self.inner()))? {
            if let Some(twice) = keys.replace(key) {
                let short: String = twice.chars().take(80).collect();
                return Err(A::Error::custom(format!("`{}` is given twice", short.escape_debug())));
            }
            pairs.next_value_seed(self.inner())?;
        }
        Ok(())
    }
    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom("tags are not read"))
    }
}

/// A key of a mapping, which counts as a value does.
struct Key<'a>(Count<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(mut self, from: D) -> Result<String, D::Error> {
        self.0.one::<D::Error>()?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a plain key")
    }
    fn visit_bool<E>(self, key: bool) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_i64<E>(self, key: i64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_u64<E>(self, key: u64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_f64<E>(self, key: f64) -> Result<String, E> {
        Ok(key.to_string())
    }
    fn visit_str<E>(self, key: &str) -> Result<String, E> {
        Ok(key.to_owned())
    }
    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}

/// The line of a key below other keys, as block style writes them; of the nearest one that is found.
pub fn line_of(text: &str, path: &[&str]) -> usize {
    let (mut found, mut path, mut least) = (1, path, 0);
    for (number, line) in (1..).zip(text.lines()) {
        let Some((key, rest)) = path.split_first() else { break };
        let inside = line.trim_start();
        let indent = line.len() - inside.len();
        let name = inside.split(':').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        if indent >= least && inside.contains(':') && name == *key {
            (found, path, least) = (number, rest, indent + 1);
        } else if !inside.is_empty() && !inside.starts_with('#') && indent < least {
            break;
        }
    }
    found
}

/// The lines of the items of a list at the top level, as block style writes them; the list's own line where it does not.
pub fn item_lines(text: &str, key: &str, count: usize) -> Vec<usize> {
    let head = line_of(text, &[key]);
    let mut indent = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).skip(head) {
        let inside = line.trim_start();
        if inside.is_empty() || inside.starts_with('#') {
            continue;
        }
        let at = line.len() - inside.len();
        let item = inside == "-" || inside.starts_with("- ");
        if at == 0 && !item {
            break;
        }
        if item && *indent.get_or_insert(at) == at {
            lines.push(number);
        }
    }
    if lines.len() == count { lines } else { vec![head; count] }
}
