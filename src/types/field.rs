//! Fields of collections: their types, and the form in which a value of each is kept.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::actor::named;
use super::canonical;
use super::day;
use super::decimal::{decimal, shown_decimal};
use super::id::ActorId;
use super::problems::Problems;
use super::target::Fact;
use super::time::Time;
use super::visible;

/// The most characters of a text, and the most bytes of a long one or of JSON.
const LONGEST_TEXT: usize = 1_000;
const LONGEST_LONG: usize = 64 << 10;
/// The most choices of a field, and characters of one.
const MOST_CHOICES: usize = 200;
const LONGEST_CHOICE: usize = 100;
pub const MOST_INTEGER: i64 = (1 << 53) - 1; // what canonical JSON holds exactly (RFC 8785)

/// A field of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// The display name; by default its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Every record has it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// No two records have the same value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unique: bool,
    /// Records are found by it quickly.
    #[serde(default, skip_serializing_if = "is_false")]
    pub index: bool,
    /// The default for new records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What a choice can be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The collection that a reference leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The least and the most that a number can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// The unit of amounts, such as `EUR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The label by which policies decide who reads it (`field.read`). `personal` values can be erased, and policies
    /// about records do not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

named! {
    /// The type of a field.
    FieldKind, "type of field", {
        /// A text of at most 1,000 characters.
        Text = "text",
        /// A text of at most 64 KiB. Policies do not see it.
        LongText = "long_text",
        /// A whole number, exact up to 2^53.
        Integer = "integer",
        /// A number with at most four decimal places, as a text: `"12.5"`.
        Decimal = "decimal",
        /// An amount, as a text: `"12.50"`.
        Money = "money",
        /// A day: `"2026-01-31"`.
        Date = "date",
        /// An instant (RFC 3339): `"2026-01-31T12:00:00Z"`.
        Time = "time",
        /// true or false.
        Flag = "flag",
        /// One of its options.
        Choice = "choice",
        /// Some of its options.
        Choices = "choices",
        /// The id of a record of another collection.
        Ref = "ref",
        /// The id of a person or an agent.
        Actor = "actor",
        /// The id of a team.
        Team = "team",
        /// Anything, at most 64 KiB. Policies do not see it.
        Json = "json",
        /// The address of a file (https).
        Link = "link",
    }
}

named! {
    /// How sensitive a field is.
    Label, "label", {
        Confidential = "confidential",
        Personal = "personal",
        Untrusted = "untrusted",
    }
}

impl Field {
    /// Why it cannot be part of a key, if it cannot.
    pub fn no_key(&self) -> Option<String> {
        match self {
            Field { required: false, .. } => Some("must be required: a key is never empty".into()),
            Field { label: Some(label), .. } => Some(format!("is {label}: a key is for everybody to see")),
            Field { kind, .. } if !kind.is_comparable() => Some(format!("is of the type `{kind}`, which no key has")),
            _ => None,
        }
    }

    /// A field of this type, of which nothing else is said.
    pub const fn of(kind: FieldKind) -> Field {
        Field {
            kind,
            title: None,
            required: false,
            unique: false,
            index: false,
            default: None,
            options: Vec::new(),
            to: None,
            min: None,
            max: None,
            unit: None,
            label: None,
        }
    }

    pub(super) fn problems(&self, at: &str, problems: &mut Problems) {
        let title = self.title.as_ref().is_none_or(|title| visible::is_name(title));
        problems.check(title, visible::NO_NAME.replacen("name", &format!("{at}.title"), 1));
        let chooses = matches!(self.kind, FieldKind::Choice | FieldKind::Choices);
        let option =
            |one: &String| (1..=LONGEST_CHOICE).contains(&one.chars().count()) && !one.contains(char::is_control);
        let once: BTreeSet<&String> = self.options.iter().collect();
        problems.check(
            if chooses { (1..=MOST_CHOICES).contains(&self.options.len()) } else { self.options.is_empty() },
            format!("{at}.options: choices have 1 to {MOST_CHOICES}, other fields none"),
        );
        problems.check(
            self.options.iter().all(option) && once.len() == self.options.len(),
            format!("{at}.options: must be distinct, of 1 to {LONGEST_CHOICE} characters"),
        );
        problems.check(
            (self.kind == FieldKind::Ref) == self.to.is_some(),
            format!("{at}.to: a reference names its collection, other fields none"),
        );
        let indexed = !(self.unique || self.index) || self.kind.is_comparable();
        problems.check(indexed, format!("{at}: long texts, lists and JSON have no index"));
        let apart = self.label == Some(Label::Personal) && self.index || self.label.is_some() && self.unique;
        problems.check(!apart, format!("{at}: personal fields cannot be indexed, nor labelled ones unique"));
        for (name, bound) in [("min", &self.min), ("max", &self.max)] {
            if let Some(bound) = bound {
                let fits = self.kind.is_number() && Field { min: None, max: None, ..self.clone() }.value(bound).is_ok();
                problems.check(fits, format!("{at}.{name}: only numbers have bounds, in the field's own type"));
            }
        }
        problems.check(self.unit.is_none() || self.kind.is_number(), format!("{at}.unit: only numbers have a unit"));
        let bound = |bound: &Option<Value>| bound.as_ref().and_then(|bound| self.kind.number(bound));
        let none_fits = bound(&self.min).zip(bound(&self.max)).is_some_and(|(min, max)| min > max);
        problems.check(!none_fits, format!("{at}.min: must not be above max"));
        if let Some(default) = &self.default {
            let wrong = self.kind.no_default().or_else(|| self.value(default).err());
            problems.check(wrong.is_none(), format!("{at}.default: {}", wrong.unwrap_or_default()));
        }
    }

    /// A value of it in the form in which it is kept, or what it must be.
    pub fn value(&self, value: &Value) -> Result<Value, String> {
        let text = || value.as_str().ok_or_else(|| "must be a text".to_owned());
        let value = match self.kind {
            FieldKind::Text => bounded(text()?, text()?.chars().count() <= LONGEST_TEXT, "1000 characters")?,
            FieldKind::LongText => bounded(text()?, text()?.len() <= LONGEST_LONG, "64 KiB")?,
            FieldKind::Integer => {
                let number = value.as_i64().filter(|number| (-MOST_INTEGER..=MOST_INTEGER).contains(number));
                Value::from(number.ok_or("must be a whole number of at most 9007199254740991 (2^53 - 1) in size")?)
            }
            FieldKind::Decimal => Value::from(shown_decimal(decimal(value)?, 1)),
            FieldKind::Money => Value::from(shown_decimal(decimal(value)?, 2)),
            FieldKind::Date => Value::from(day::shown(day::date(text()?).ok_or("must be a day such as 2026-01-31")?)),
            FieldKind::Time => {
                let time = Time::from_str(text()?).map_err(|_| "must be a time such as 2026-01-31T12:00:00Z")?;
                Value::from(time.to_string())
            }
            FieldKind::Flag => Value::from(value.as_bool().ok_or("must be true or false")?),
            FieldKind::Choice => Value::from(self.option(value)?),
            FieldKind::Choices => {
                let chosen = value.as_array().ok_or("must be a list")?;
                let chosen = chosen.iter().map(|one| self.option(one)).collect::<Result<BTreeSet<_>, _>>()?;
                Value::from_iter(chosen)
            }
            FieldKind::Ref => {
                let fits = |id: &&str| (1..=200).contains(&id.len()) && !id.contains(char::is_control);
                Value::from(text().ok().filter(fits).ok_or("must be the id of a record")?)
            }
            FieldKind::Actor => {
                Value::from(actor(value).filter(|id| !id.is_team()).ok_or("must be an actor's id")?.as_str())
            }
            FieldKind::Team => Value::from(
                actor(value).filter(ActorId::is_team).ok_or("must be a team's id, such as team:ops")?.as_str(),
            ),
            FieldKind::Json => {
                if value.to_string().len() > LONGEST_LONG {
                    return Err("must be at most 64 KiB".into());
                }
                if !canonical::is_exact(value) {
                    return Err(format!("must not contain a whole number beyond {MOST_INTEGER}: give it as a text"));
                }
                canonical::of(value).map_err(|error| error.to_string())?
            }
            FieldKind::Link => {
                let address = text()?;
                let fits =
                    address.starts_with("https://") && address.len() <= 2_000 && !address.contains(char::is_control);
                if fits { Value::from(address) } else { return Err("must be an https address".into()) }
            }
        };
        self.within(&value)?;
        Ok(value)
    }

    fn option(&self, value: &Value) -> Result<&str, String> {
        let chosen = value.as_str().and_then(|one| self.options.iter().find(|option| *option == one));
        chosen.map(String::as_str).ok_or_else(|| format!("must be one of {}", self.options.join(", ")))
    }

    /// Whether a number is within its bounds.
    fn within(&self, value: &Value) -> Result<(), String> {
        let (kind, number) = (self.kind, self.kind.number(value));
        let is_beyond = |bound: &Option<Value>, order: Ordering| {
            let limit = bound.as_ref().and_then(|bound| kind.number(bound));
            number.zip(limit).is_some_and(|(number, limit)| number.cmp(&limit) == order)
        };
        let beyond = |word: &str, bound: &Option<Value>| {
            let bound = bound.as_ref().map(|bound| bound.as_str().map_or_else(|| bound.to_string(), str::to_owned));
            Err(format!("must be at {word} {}", bound.unwrap_or_default()))
        };
        if is_beyond(&self.min, Ordering::Less) {
            return beyond("least", &self.min);
        }
        if is_beyond(&self.max, Ordering::Greater) { beyond("most", &self.max) } else { Ok(()) }
    }

    /// A kept value as policies see it.
    pub fn fact(&self, value: &Value) -> Option<Fact> {
        if !self.is_seen() {
            return None;
        }
        let number = || self.kind.number(value);
        Some(match self.kind {
            FieldKind::Integer => Fact::Number(number()?),
            FieldKind::Decimal | FieldKind::Money => Fact::Decimal(number()?),
            FieldKind::Date | FieldKind::Time => Fact::Time(Time(number()?)),
            FieldKind::Flag => Fact::Flag(value.as_bool()?),
            FieldKind::Actor | FieldKind::Team => Fact::Actor(actor(value)?),
            FieldKind::Choices => {
                Fact::Texts(value.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            _ => Fact::Text(value.as_str()?.to_owned()),
        })
    }

    /// Whether policies about records see it: what they look at stands in the log for good.
    pub fn is_seen(&self) -> bool {
        self.label != Some(Label::Personal) && !matches!(self.kind, FieldKind::LongText | FieldKind::Json)
    }
}

impl FieldKind {
    /// Why a field of this type has no default: somebody may leave, and not everybody may see them; a record may be deleted.
    fn no_default(self) -> Option<String> {
        let refers = matches!(self, FieldKind::Actor | FieldKind::Team | FieldKind::Ref);
        refers.then(|| format!("a field of the type `{self}` has none"))
    }

    /// Whether its values are ordered, and found by an index.
    pub const fn is_comparable(self) -> bool {
        !matches!(self, FieldKind::LongText | FieldKind::Json | FieldKind::Choices)
    }

    /// Whether records can be sorted by a field of this name and type.
    pub fn sorts(self, name: &str) -> Result<(), String> {
        let why = || format!("records cannot be sorted by `{name}`: it is of the type `{self}`");
        if self.is_comparable() { Ok(()) } else { Err(why()) }
    }

    /// Whether its values are words that a search finds.
    pub const fn is_searched(self) -> bool {
        matches!(self, FieldKind::Text | FieldKind::LongText | FieldKind::Choice | FieldKind::Choices | FieldKind::Link)
    }

    /// Whether its values are numbers that can be added up.
    pub const fn is_number(self) -> bool {
        matches!(self, FieldKind::Integer | FieldKind::Decimal | FieldKind::Money)
    }

    /// Whether its columns hold numbers.
    pub const fn is_counted(self) -> bool {
        self.is_number() || matches!(self, FieldKind::Date | FieldKind::Time | FieldKind::Flag)
    }

    /// A kept value as a number that orders it: whole, scaled by 10,000, or milliseconds since 1970.
    pub fn number(self, value: &Value) -> Option<i64> {
        match self {
            FieldKind::Integer => value.as_i64().or_else(|| value.as_str()?.parse().ok()),
            FieldKind::Decimal | FieldKind::Money => decimal(value).ok(),
            FieldKind::Date => day::date(value.as_str()?),
            FieldKind::Time => Time::from_str(value.as_str()?).ok().map(|time| time.0),
            FieldKind::Flag => value.as_bool().map(i64::from),
            _ => None,
        }
    }

    /// The kept value of such a number.
    pub fn of_number(self, number: i64) -> Value {
        match self {
            FieldKind::Decimal => shown_decimal(number, 1).into(),
            FieldKind::Money => shown_decimal(number, 2).into(),
            FieldKind::Date => day::shown(number).into(),
            FieldKind::Time => Time(number).to_string().into(),
            FieldKind::Flag => (number != 0).into(),
            _ => number.into(),
        }
    }

    /// Its type in Cedar's schema language.
    pub const fn cedar(self) -> &'static str {
        match self {
            FieldKind::Text | FieldKind::LongText | FieldKind::Choice | FieldKind::Ref => "String",
            FieldKind::Link | FieldKind::Json => "String",
            FieldKind::Integer => "Long",
            FieldKind::Decimal | FieldKind::Money => "decimal",
            FieldKind::Date | FieldKind::Time => "datetime",
            FieldKind::Flag => "Bool",
            FieldKind::Choices => "Set<String>",
            FieldKind::Actor => "Ok::Actor",
            FieldKind::Team => "Ok::Team",
        }
    }
}

fn bounded(text: &str, fits: bool, most: &str) -> Result<Value, String> {
    match (fits, visible::has_control(text)) {
        (false, _) => Err(format!("must have at most {most}")),
        (true, true) => Err("must not contain control characters".into()),
        (true, false) => Ok(text.into()),
    }
}

fn actor(value: &Value) -> Option<ActorId> {
    value.as_str()?.parse().ok()
}
