//! JSON from outside. Every text that somebody else wrote is parsed here.
//!
//! Always true of parsed JSON: no member occurs twice in one object (readers disagree about which of the two counts,
//! and an attacker could use that to get past a check that looked at the other one), and it has at most `MAX_VALUES`
//! values. Both are checked in one pass that keeps nothing but names.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Error as JsonError, Value};

/// The most values of one text.
pub const MAX_VALUES: usize = 200_000;
/// How deep arrays and objects of an input may nest. A log entry has more around it, and readers of JSON know an end: serde's
/// reads 127.
pub const MAX_DEPTH: usize = 64;
/// Up to here, comparing each name with each is quicker than a set.
const FEW: usize = 16;
/// The most characters of a name that are told.
const SHORT: usize = 80;

/// Reads a text.
pub fn read<'de, T: Deserialize<'de>>(text: &'de [u8]) -> Result<T, JsonError> {
    let text = std::str::from_utf8(text).map_err(JsonError::custom)?;
    let mut walk = serde_json::Deserializer::from_str(text);
    Walk { left: &mut { MAX_VALUES } }.deserialize(&mut walk)?;
    walk.end()?;
    serde_json::from_str(text)
}

/// Whether arrays and objects nest deeper than an input's may.
pub fn is_deep(value: &Value) -> bool {
    is_deeper(MAX_DEPTH, value)
}

/// Whether they nest deeper than so many.
pub fn is_deeper(most: usize, value: &Value) -> bool {
    let within = |value: &Value| most == 0 || is_deeper(most - 1, value);
    match value {
        Value::Array(items) => most == 0 || items.iter().any(within),
        Value::Object(members) => most == 0 || members.values().any(within),
        _ => false,
    }
}

/// Whether arrays and objects of a JSON text nest deeper than so many.
pub fn nests_beyond(most: usize, text: &[u8]) -> bool {
    let (mut depth, mut bytes) = (0_usize, text.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while bytes.next().is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || bytes.next().is_some())) {}
            }
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

/// Walks over a value and keeps nothing.
struct Walk<'a> {
    left: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let left = self.left.checked_sub(1);
        *self.left = left.ok_or_else(|| D::Error::custom(format!("more than {MAX_VALUES} values")))?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Walk { left: self.left })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = Names::default();
        while let Some(name) = members.next_key_seed(Name)? {
            if let Err(name) = names.add(name) {
                let name: String = name.chars().take(SHORT).collect();
                return Err(A::Error::custom(format!("`{}` is given twice", name.escape_debug())));
            }
            members.next_value_seed(Walk { left: self.left })?;
        }
        Ok(())
    }
}

/// The names of one object.
#[derive(Default)]
struct Names<'de> {
    few: smallvec::SmallVec<[Cow<'de, str>; FEW]>,
    many: BTreeSet<Cow<'de, str>>,
}

impl<'de> Names<'de> {
    /// Gives a name back that is there already.
    fn add(&mut self, name: Cow<'de, str>) -> Result<(), Cow<'de, str>> {
        if self.few.contains(&name) || self.many.contains(&name) {
            return Err(name);
        }
        if self.few.len() < FEW {
            self.few.push(name);
        } else {
            self.many.insert(name);
        }
        Ok(())
    }
}

/// A member's name, without its escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
