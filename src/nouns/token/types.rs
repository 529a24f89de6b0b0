//! Bearer tokens: `ok_<secret><checksum>`. The secret is 256 random bits as 43 characters of base 62, the checksum the
//! CRC-32 of what stands before it as 6 more, so that a secret scanner can tell a token from noise without asking us.
//! Only the SHA-256 of a token is ever stored.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::entropy::Entropy;
use super::id::ActorId;

/// The kind of a token, by its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `ok_`: a person's or an agent's API token.
    Api,
    /// `ok_ag_`: an outside agent's token; reaches only the agent-facing gateway.
    Agent,
    /// `ok_op_`: an operator's token; reaches only the operator API.
    Operator,
}

impl TokenKind {
    pub const fn prefix(self) -> &'static str {
        match self {
            TokenKind::Api => "ok_",
            TokenKind::Agent => "ok_ag_",
            TokenKind::Operator => "ok_op_",
        }
    }
}

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET: usize = 43;
const CHECKSUM: usize = 6;

/// SHA-256 of a whole token: what is stored and looked up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenHash(pub [u8; 32]);

/// A plaintext token. It has no `Debug`, is wiped when dropped, and is only exposed by [`Plain::reveal`].
pub struct Plain(Zeroizing<String>);

impl Plain {
    pub fn new(kind: TokenKind, entropy: &dyn Entropy) -> Plain {
        let mut text = String::from(kind.prefix());
        text.push_str(&base62(&entropy.bytes32(), SECRET));
        let sum = crc32fast::hash(text.as_bytes());
        text.push_str(&base62(&sum.to_be_bytes(), CHECKSUM));
        Plain(Zeroizing::new(text))
    }

    /// Returns the text, to be shown once to the requester.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

/// Parses a presented token: returns its kind and hash if prefix, length, alphabet and checksum are valid.
pub fn parse(text: &str) -> Option<(TokenKind, TokenHash)> {
    let kind = [TokenKind::Agent, TokenKind::Operator, TokenKind::Api]
        .into_iter()
        .find(|kind| text.len() == kind.prefix().len() + SECRET + CHECKSUM && text.starts_with(kind.prefix()))?;
    let (body, sum) = text.split_at_checked(text.len() - CHECKSUM)?;
    let secret = body.get(kind.prefix().len()..)?;
    let well_formed = secret.bytes().all(|c| c.is_ascii_alphanumeric())
        && base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECKSUM) == sum;
    well_formed.then(|| (kind, TokenHash(Sha256::digest(text.as_bytes()).into())))
}

/// Finds token values anywhere in a text, and returns their hashes.
pub fn found(text: &[u8]) -> impl Iterator<Item = TokenHash> {
    let start = TokenKind::Api.prefix().as_bytes();
    let starts = text.windows(start.len()).enumerate().filter(move |(_, window)| *window == start);
    let value = |at: usize, kind: TokenKind| {
        let whole = text.get(at..at + kind.prefix().len() + SECRET + CHECKSUM)?;
        std::str::from_utf8(whole).ok().and_then(parse).map(|(_, hash)| hash)
    };
    let kinds = [TokenKind::Agent, TokenKind::Operator, TokenKind::Api];
    starts.flat_map(move |(at, _)| kinds.into_iter().filter_map(move |kind| value(at, kind)))
}

/// Checks whether a text is a token's value, whole or in part, rather than an id: no id starts like that.
pub fn is_value(text: &str) -> bool {
    text.starts_with(TokenKind::Api.prefix()) && text.parse::<ActorId>().is_err()
}

/// Returns the id of a token as typed: a value pasted instead must not be sent anywhere.
///
/// # Errors
/// If it is a value, says what to do instead.
pub fn id(text: &str) -> Result<String, String> {
    let value =
        "takes a token's id (tok_…), and this is its value: `ok token find` reads it from stdin and says its id";
    if is_value(text) { Err(value.into()) } else { Ok(text.to_owned()) }
}

/// Masks token values in a text, whole or in good part: somebody may have pasted one.
pub fn masked(text: &str) -> Cow<'_, str> {
    /// Fewer characters than this reveal nothing, and may be a name.
    const TELLING: usize = 12;
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(TokenKind::Api.prefix()) {
        let (before, found) = rest.split_at(at);
        let prefixes = [TokenKind::Agent, TokenKind::Operator, TokenKind::Api].map(TokenKind::prefix);
        let prefix = prefixes.iter().find(|prefix| found.starts_with(**prefix)).map_or(0, |prefix| prefix.len());
        let (prefix, value) = found.split_at(prefix);
        let (value, after) = value.split_at(value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len()));
        // The prefix of an id ends like that of a value: `tok_` and a ULID.
        let is_id =
            before.ends_with('t') && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_told = is_id || value.len() < TELLING || !value.bytes().any(|byte| byte.is_ascii_uppercase());
        shown.extend([before, prefix, if is_told { value } else { "…" }]);
        rest = after;
    }
    if shown.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(shown + rest) }
}

/// Encodes big-endian bytes as exactly `width` digits of base 62.
fn base62(bytes: &[u8], width: usize) -> String {
    let mut digits = vec![0_u8; width];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in digits.iter_mut().rev() {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 62) as u8;
            carry /= 62;
        }
    }
    digits.iter().filter_map(|digit| ALPHABET.get(usize::from(*digit)).map(|c| char::from(*c))).collect()
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
