//! Sends mail: the first external tool that reaches people outside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outside::Tool;
use gate::Impact;
use types::knowledge::Origin;
use types::mail::{Address, Subject};
use types::run::ToolEffect;

/// A message.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The recipient's address; exactly one.
    #[schemars(extend("x-erasable" = true))]
    pub to: Address,
    /// The subject, in one line: 1 to 200 characters.
    #[schemars(extend("x-erasable" = true))]
    pub subject: Subject,
    /// The message, as plain text; at most 32 KiB.
    #[schemars(length(max = 32_768), extend("x-erasable" = true))]
    pub text: String,
}

/// Send mail.
pub enum SendMail {}

impl Tool for SendMail {
    const NAME: &'static str = MAIL;
    const DOC: &'static str =
        "Send a plain-text message to one mail address, from the company's own address. It cannot be taken back.";
    const EFFECT: ToolEffect = ToolEffect::Once;
    const IMPACT: Impact = Impact::LetsOut;
    const ANSWERS: Origin = Origin::Trusted;
    const SAYS: &'static str = "sends mail[ to {to}][: «{subject}»]";
    type Input = Message;
}

/// The tool enabled by `OK_SMTP_URL`.
pub const MAIL: &str = "mail.send";
