//! What a reader reports about a value that does not fit, in terms of the value's format and not of Rust: the author of
//! an input need not know what a `u32` is.

use std::borrow::Cow;

const EXPECTED: &str = ", expected ";

/// The format that a value stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

impl Format {
    /// Rewrites an error message of serde in plain words. The part that gives the position follows unchanged.
    pub fn plain(self, message: &str) -> String {
        let Some((found, wanted)) = message.rsplit_once(EXPECTED) else { return message.to_owned() };
        let found = match found.strip_prefix("invalid type: ") {
            Some("map") => Cow::from(format!("invalid type: {}", self.fields())),
            Some("sequence") => Cow::from(format!("invalid type: {}", self.list())),
            Some("unit value") => Cow::from("invalid type: null"),
            _ => Cow::from(found),
        };
        let (wanted, place) = wanted.split_at(wanted.find(" at line ").unwrap_or(wanted.len()));
        format!("{found}{EXPECTED}{}{place}", self.wanted(wanted))
    }

    fn wanted(self, wanted: &str) -> Cow<'_, str> {
        let up_to = |most: u64| Cow::from(format!("a whole number from 0 to {most}"));
        let one = |name: &str| format!("a{} {name}", if name.starts_with(['a', 'o']) { "n" } else { "" });
        match wanted {
            "u8" => up_to(u8::MAX.into()),
            "u16" => up_to(u16::MAX.into()),
            "u32" => up_to(u32::MAX.into()),
            "u64" | "usize" => "a whole number, 0 or more".into(),
            "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".into(),
            "f32" | "f64" => "a number".into(),
            "unit" => "null".into(),
            "a borrowed string" | "variant identifier" | "field identifier" => "a string".into(),
            "a map" | "map" => one(self.fields()).into(),
            "a sequence" | "sequence" => one(self.list()).into(),
            "string or map" => format!("a string or {}", one(self.fields())).into(),
            _ if is_of_fields(wanted) => one(self.fields()).into(),
            _ => wanted.to_owned().into(),
        }
    }

    fn fields(self) -> &'static str {
        if self == Format::Json { "object" } else { "map" }
    }

    fn list(self) -> &'static str {
        if self == Format::Json { "array" } else { "list" }
    }
}

/// Whether a type of ours is named that is written as fields with names.
fn is_of_fields(wanted: &str) -> bool {
    let tagged = ["internally tagged enum ", "adjacently tagged enum ", "enum ", "struct "];
    tagged.iter().any(|word| wanted.strip_prefix(word).is_some_and(|name| name.chars().all(char::is_alphanumeric)))
}
