//! Which decisions for other programs go into the log.

use clap::builder::{ValueParser, ValueParserFactory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::parser;

/// Which decisions for other programs are recorded. What is recorded is durable before it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// Every decision.
    All,
    /// Those that are not yes.
    #[default]
    Refusals,
    None,
}

impl ValueParserFactory for Recording {
    type Parser = ValueParser;

    /// The names that it can have, as an argument of a command.
    fn value_parser() -> ValueParser {
        parser(["all", "refusals", "none"].into_iter(), |name| match name.as_str() {
            "all" => Ok(Recording::All),
            "none" => Ok(Recording::None),
            _ => Ok(Recording::Refusals),
        })
    }
}

impl Recording {
    pub fn named(name: &str) -> Option<Recording> {
        match name {
            "all" => Some(Recording::All),
            "refusals" => Some(Recording::Refusals),
            "none" => Some(Recording::None),
            _ => None,
        }
    }

    /// Whether the question is kept with the answer, so that other policies can be asked it later.
    pub fn keeps_questions(self) -> bool {
        self == Recording::All
    }

    pub fn wants(self, decision: bool) -> bool {
        match self {
            Recording::All => true,
            Recording::Refusals => !decision,
            Recording::None => false,
        }
    }
}
