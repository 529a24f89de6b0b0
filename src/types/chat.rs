//! A conversation with a model of any provider: what the model is sent, what it answers, and what that cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that a model is told, and whom to ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// The model's id, as the company knows it.
    pub model: String,
    /// What it is and what it is to do.
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Offered>,
    /// The most tokens that it may answer with.
    pub most_output: u32,
    /// For how many milliseconds it is waited for, with all that is asked again.
    pub most_ms: u64,
    pub temperature: Option<f64>,
}

/// What was said, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Whoever asks.
    Asked(String),
    /// The model itself.
    Said { text: String, calls: Vec<Wanted> },
    /// What came of a call that it wanted.
    Came { call: String, tool: String, text: String },
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Its name as providers accept it.
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// A call that a model wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wanted {
    /// Given by the provider, so that the answer finds its call.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// A text where it is no JSON.
    pub arguments: Value,
    /// What the provider wants back with the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

/// What a model answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub text: String,
    pub calls: Vec<Wanted>,
    pub input_tokens: u32,
    pub output_tokens: u32,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failed {
    /// The provider did nothing.
    Refused(String),
    /// It may have answered, and that may have a price.
    Unknown(String),
    /// It answered, which has its price, and the answer is no use.
    Useless { why: String, input_tokens: u32, output_tokens: u32 },
}

impl Prompt {
    /// How many tokens it has at most, roughly: providers count each in their own way, and tell only afterwards.
    pub fn tokens(&self) -> u32 {
        let bytes = self.bytes();
        u32::try_from(bytes.div_ceil(BYTES_OF_TOKEN)).unwrap_or(u32::MAX)
    }

    /// How many bytes are left out of as many tokens; how many are too many, below zero.
    pub fn room(&self, tokens: u32) -> i64 {
        let room = u64::from(tokens).saturating_mul(BYTES_OF_TOKEN as u64);
        i64::try_from(room).unwrap_or(i64::MAX).saturating_sub(i64::try_from(self.bytes()).unwrap_or(i64::MAX))
    }

    fn bytes(&self) -> usize {
        let said = |message: &Message| match message {
            Message::Asked(text) => text.len(),
            Message::Said { text, calls } => {
                text.len() + calls.iter().map(|call| call.arguments.to_string().len() + 32).sum::<usize>()
            }
            Message::Came { text, .. } => text.len(),
        };
        let offered = |tool: &Offered| tool.name.len() + tool.description.len() + tool.schema.to_string().len();
        self.system.len()
            + self.messages.iter().map(|message| said(message) + OVERHEAD).sum::<usize>()
            + self.tools.iter().map(|tool| offered(tool) + OVERHEAD).sum::<usize>()
    }
}

/// A token has three bytes or more, nearly always: an estimate.
const BYTES_OF_TOKEN: usize = 3;
/// What a message takes besides its text.
const OVERHEAD: usize = 16;
