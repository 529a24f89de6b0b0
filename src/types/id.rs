//! Identifiers. An id that exists is well formed; whether the thing exists is another question.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of a person, an agent or a team: `ana`, `team:ops`. Lower-case letters, digits, `.`, `_` and `-`, at most 63
/// characters after an optional `team:`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^(team:)?[a-z0-9][a-z0-9._-]{0,62}$", "x-names" = "reference"))]
pub struct ActorId(Arc<str>);

const TEAM: &str = "team:";

impl ActorId {
    /// The server itself, where it acts by its own clock.
    pub fn system() -> ActorId {
        ActorId(Arc::from("ok"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the name of something that is no actor: the server, the company, the global kill switch,
    /// somebody who is not shown, a route.
    pub fn is_reserved(&self) -> bool {
        matches!(&*self.0, "ok" | "company" | "global" | "hidden" | "hire" | "server" | "visitor")
    }

    pub fn is_team(&self) -> bool {
        self.0.starts_with(TEAM)
    }
}

/// Why a text is not an id.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "`{0}` is not an actor id: use a-z, 0-9, `.`, `_`, `-`, at most 63 characters, beginning with a letter or digit; a team's id begins with `team:`"
)]
pub struct BadId(String);

fn is_slug(text: &str) -> bool {
    let tail = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'.' | b'_' | b'-');
    let head = text.bytes().next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    head && text.len() <= 63 && text.bytes().all(tail)
}

impl FromStr for ActorId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        if is_slug(text.strip_prefix(TEAM).unwrap_or(text)) {
            Ok(ActorId(Arc::from(text)))
        } else {
            // A token that was pasted here is not told on.
            let shown = if text.starts_with("ok_") { "ok_…".into() } else { text.chars().take(80).collect() };
            Err(BadId(shown))
        }
    }
}

impl TryFrom<String> for ActorId {
    type Error = BadId;
    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl From<ActorId> for String {
    fn from(id: ActorId) -> String {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! kinds {
    ($($kind:ident = $prefix:literal $(listed by $list:literal)?;)+) => {
        /// What a generated id names. The prefix tells the kinds apart wherever an id turns up.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($kind,)+
        }

        impl Kind {
            const ALL: &[Kind] = &[$(Kind::$kind,)+];

            pub const fn prefix(self) -> &'static str {
                match self {
                    $(Kind::$kind => $prefix,)+
                }
            }

            /// The operation that lists them, of those kinds of which the beginning of an id is enough on the command line.
            const fn list(self) -> Option<&'static str> {
                const fn first(list: &[&'static str]) -> Option<&'static str> {
                    match list {
                        [one, ..] => Some(one),
                        [] => None,
                    }
                }
                match self {
                    $(Kind::$kind => first(&[$($list)?]),)+
                }
            }
        }
    };
}

kinds! {
    Token = "tok_" listed by "token.list";
    Approval = "apr_" listed by "approval.list";
    Change = "chg_" listed by "change.list";
    Delegation = "dlg_" listed by "delegation.list";
    Reservation = "rsv_";
    BreakGlass = "bgl_" listed by "break_glass.list";
    Webhook = "whk_";
    Message = "msg_";
    Task = "tsk_" listed by "task.list";
    Run = "run_" listed by "run.list";
    Record = "rec_";
    Flag = "flg_";
    Proposal = "scp_";
    Entity = "ent_";
    Knowledge = "kno_";
}

/// A generated id: type prefix and a ULID (time-ordered, 26 characters of Crockford's base 32).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// A new id from a time in milliseconds and 80 random bits.
    pub fn new(kind: Kind, ms: i64, random: u128) -> Id {
        let ulid = ulid::Ulid::from_parts(u64::try_from(ms).unwrap_or(0), random);
        Id(format!("{}{ulid}", kind.prefix()))
    }

    /// Whether a text has the form of a generated id.
    pub fn is_generated(text: &str) -> bool {
        text.split_once('_').is_some_and(|(_, ulid)| ulid::Ulid::from_string(ulid).is_ok())
    }

    /// The 16 bytes after the prefix, by which many of one kind are held in memory; none of an id that was not generated.
    pub fn ulid(&self) -> Option<[u8; 16]> {
        let (_, ulid) = self.0.split_once('_')?;
        ulid::Ulid::from_string(ulid).ok().map(|ulid| ulid.to_bytes())
    }

    pub fn of_ulid(kind: Kind, ulid: [u8; 16]) -> Id {
        Id(format!("{}{}", kind.prefix(), ulid::Ulid::from_bytes(ulid)))
    }

    /// An id that comes from our own tables.
    pub fn stored(text: &str) -> Id {
        Id(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The least characters of such a beginning: up to here, an id tells its millisecond.
pub const SHORT: usize = 14;
const ULID: usize = 26;

/// How much of the ULID there is, where a text is an id of a kind that may be shortened or the beginning of one; and the
/// operation that lists them.
fn shortened(text: &str) -> Option<(usize, &'static str)> {
    let of = |kind: &Kind| Some((text.strip_prefix(kind.prefix())?, kind.list()?));
    let (rest, list) = Kind::ALL.iter().find_map(of)?;
    let fits = rest.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    (fits && rest.len() <= ULID).then_some((rest.len(), list))
}

/// Whether a text is an id that may be shown by its beginning.
pub fn is_whole(text: &str) -> bool {
    shortened(text).is_some_and(|(length, _)| length == ULID)
}

/// The operation that lists what a text is the beginning of an id of.
pub fn beginning(text: &str) -> Option<&'static str> {
    shortened(text).filter(|(length, _)| (4..ULID).contains(length)).map(|(_, list)| list)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
