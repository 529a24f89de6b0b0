//! The moment that a question is about.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use gate::Reader;
use gate::past::moment::AsOf;
use types::refusal::{Refusal, Stop};
use types::time::Time;

/// A point of the log: after an event, or at a time.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    Event(i64),
    Time(Time),
}

impl Moment {
    /// Returns the company as of that moment.
    pub fn company(self, read: &Reader<'_>) -> Result<AsOf, Stop> {
        let time = match self {
            Moment::Event(seq) => return read.as_of(seq),
            Moment::Time(time) => time,
        };
        if time > read.now() {
            return Err(Refusal::field("at", format!("{time} is still to come")).into());
        }
        match read.newest_by(time)? {
            0 => Err(Refusal::field("at", format!("the company began after {time}")).into()),
            seq => Ok(read.as_of(seq)?.at(time)),
        }
    }
}

impl FromStr for Moment {
    type Err = <Time as FromStr>::Err;

    fn from_str(text: &str) -> Result<Moment, Self::Err> {
        text.parse().map_or_else(|_| time(text), |seq| Ok(Moment::Event(seq)))
    }
}

/// The length of a date: `2026-11-20`.
const DAY: usize = 10;

/// Parses a time, or a date, which stands for its start in UTC.
fn time(text: &str) -> Result<Moment, String> {
    let midnight = |day: Date| day.to_zoned(TimeZone::UTC).ok().map(|at| Time(at.timestamp().as_millisecond()));
    // `Date` would also parse a text with a time.
    let day = Some(text).filter(|text| text.len() == DAY).and_then(|text| Date::from_str(text).ok());
    day.and_then(midnight).map_or_else(|| text.parse(), Ok).map(Moment::Time)
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Moment::Event(seq) => seq.serialize(to),
            Moment::Time(time) => time.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Moment, D::Error> {
        let value = Value::deserialize(from)?;
        match (value.as_i64(), value.as_str()) {
            (Some(seq), _) => Ok(Moment::Event(seq)),
            (None, Some(text)) => time(text).map_err(D::Error::custom),
            (None, None) => Err(D::Error::custom("must be the number of an event, or an RFC 3339 time")),
        }
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "oneOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "format": "date-time" }] })
    }
}
