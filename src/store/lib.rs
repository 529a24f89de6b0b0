//! The tables: a fold of the log, and the only SQL besides `log`. A fold reads neither clock nor network, so folding
//! the log again gives the same tables. A noun's tables and events are in its folder, `src/nouns/<noun>/store`.

pub mod backup;
pub mod content;
pub mod decisions;
pub mod done;
pub mod event;
pub mod history;
pub mod list;
pub mod memory;
pub mod moment;
pub mod open;
pub mod outbox;
pub mod search;
pub mod settles;
pub mod shape;
mod subject;

// The nouns' tables and events.
#[path = "../nouns/actor/store/mod.rs"]
pub mod actors;
#[path = "../nouns/approval/store/mod.rs"]
pub mod approvals;
#[path = "../nouns/blueprint/store/mod.rs"]
pub mod blueprints;
#[path = "../nouns/brain/store/mod.rs"]
pub mod brain;
#[path = "../nouns/break_glass/store/mod.rs"]
pub mod break_glass;
#[path = "../nouns/change/store/mod.rs"]
pub mod changes;
#[path = "../nouns/company/store/mod.rs"]
pub mod company;
#[path = "../nouns/context/store/mod.rs"]
pub mod context;
#[path = "../nouns/delegation/store/mod.rs"]
pub mod delegations;
#[path = "../nouns/entity/store/mod.rs"]
pub mod entities;
#[path = "../nouns/inbox/store/mod.rs"]
pub mod inbox;
#[path = "../nouns/kill/store/mod.rs"]
pub mod kills;
#[path = "../nouns/knowledge/store/mod.rs"]
pub mod knowledge;
#[path = "../nouns/policy/store/mod.rs"]
pub mod policies;
#[path = "../nouns/run/store/mod.rs"]
pub mod runs;
#[path = "../nouns/task/store/mod.rs"]
pub mod tasks;
#[path = "../nouns/token/store/mod.rs"]
pub mod tokens;
#[path = "../nouns/webhook/store/mod.rs"]
pub mod webhooks;

use std::cmp::Ordering;

/// The events of every noun. What follows from each stands with its declaration.
pub const EVENTS: &[&[event::EventKind]] = &[
    company::events::ALL,
    policies::events::ALL,
    changes::events::ALL,
    actors::events::ALL,
    blueprints::events::ALL,
    tokens::events::ALL,
    kills::events::ALL,
    decisions::events::ALL,
    approvals::events::ALL,
    break_glass::events::ALL,
    delegations::events::ALL,
    webhooks::events::ALL,
    outbox::events::ALL,
    inbox::events::ALL,
    context::events::ALL,
    content::events::ALL,
    entities::events::ALL,
    tasks::events::ALL,
    runs::events::ALL,
    brain::events::ALL,
    knowledge::events::ALL,
];

/// The tables' migrations, oldest first. A new one goes to the end: there are files that have the others.
pub const SCHEMAS: &[&str] = &[
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
    include_str!("schema/005.sql"),
    include_str!("schema/006.sql"),
    include_str!("schema/007.sql"),
    include_str!("schema/008.sql"),
    include_str!("schema/009.sql"),
    include_str!("schema/010.sql"),
];

/// All of them: what an empty file becomes.
pub fn schema() -> String {
    SCHEMAS.concat()
}

/// A position in a list that is ordered newest first, then by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub at: i64,
    pub id: String,
}

/// As the list goes.
impl Ord for Position {
    fn cmp(&self, other: &Position) -> Ordering {
        other.at.cmp(&self.at).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Position) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Position {
    /// Before the first row.
    pub fn start() -> Position {
        Position { at: i64::MAX, id: String::new() }
    }

    /// After the last row.
    pub fn end() -> Position {
        Position { at: i64::MIN, id: String::new() }
    }

    pub fn parse(text: &str) -> Option<Position> {
        let (at, id) = text.split_once(' ')?;
        Some(Position { at: at.parse().ok()?, id: id.to_owned() })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.at, self.id)
    }
}

/// A stored text that this version cannot read.
fn unreadable(column: usize, what: impl std::fmt::Display) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, what.to_string().into())
}

/// A column whose text is parsed.
fn parsed<T: std::str::FromStr>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T::Err: std::fmt::Display,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| unreadable(column, error))
}

/// A column that may be NULL and whose text is parsed.
fn parsed_or_null<T: std::str::FromStr>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T::Err: std::fmt::Display,
{
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| text.parse().map_err(|error| unreadable(column, error))).transpose()
}

/// A column that holds JSON.
fn json<T: serde::de::DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(column, error))
}

/// A column that may be NULL and holds JSON.
fn json_or_null<T: serde::de::DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| serde_json::from_str(text).map_err(|error| unreadable(column, error))).transpose()
}

/// A value as the text of a JSON column: canonical, so that folding an event from the log again gives the same text.
fn to_json<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| rusqlite::Error::ToSqlConversionFailure(error);
    let bytes = types::canonical::to_vec(value).map_err(|error| failed(error.into()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.into()))
}
