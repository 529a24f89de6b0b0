//! Mail: addresses and subjects that are well formed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most bytes of an address (RFC 5321, 4.5.3.1.3, less its brackets), and of what is before its `@`.
const LONGEST: usize = 254;
const LONGEST_NAME: usize = 64;
/// The most characters of a subject.
const LONGEST_SUBJECT: usize = 200;

/// A mail address such as `mia@example.com`: the form that web pages take (HTML, «valid e-mail address»), with its domain in
/// small letters, so that a policy compares it as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("maxLength" = 254, "format" = "email"))]
pub struct Address(String);

impl Address {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn domain(&self) -> &str {
        self.0.split_once('@').map_or("", |(_, domain)| domain)
    }
}

impl From<Address> for String {
    fn from(address: Address) -> String {
        address.0
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        let is_one = text.len() <= LONGEST
            && text.split_once('@').is_some_and(|(name, domain)| is_name(name) && is_domain(domain));
        if is_one {
            return Ok(Address(text));
        }
        let shown: String = text.chars().take(80).collect();
        Err(format!(
            "`{}` is no mail address: write one, such as mia@example.com, without a name or brackets, its domain in small letters",
            shown.escape_debug()
        ))
    }
}

fn is_name(name: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&c);
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits)
}

fn is_domain(domain: &str) -> bool {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(fits) && !label.starts_with('-') && !label.ends_with('-')
    };
    domain.split('.').all(is_label)
}

/// What a mail is about, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("minLength" = 1, "maxLength" = 200))]
pub struct Subject(String);

impl Subject {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> String {
        subject.0
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Subject, String> {
        let is_one = (1..=LONGEST_SUBJECT).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        let wrong = || format!("must be one line of 1 to {LONGEST_SUBJECT} characters, without control characters");
        if is_one { Ok(Subject(text)) } else { Err(wrong()) }
    }
}
