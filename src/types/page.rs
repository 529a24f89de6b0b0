//! Pages of a list. A cursor is a position in the order of the list, sealed to the route and its filter, so that nobody
//! can make one up and none works elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::refusal::Refusal;

pub const DEFAULT_LIMIT: u32 = 200;
pub const MAX_LIMIT: u32 = 1000;

/// Which page of a list is wanted. A command reads page after page.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct PageQuery {
    /// How many entries at most: 1 to 1000, 200 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    #[arg(skip)]
    pub limit: Option<u32>,
    /// The previous page's `x-next-cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65_536))]
    #[arg(skip)]
    pub cursor: Option<String>,
}

impl PageQuery {
    pub fn limit(&self) -> Result<usize, Refusal> {
        match self.limit {
            None => Ok(DEFAULT_LIMIT as usize),
            Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit as usize),
            Some(limit) => Err(Refusal::bad_request(format!("limit: must be 1 to {MAX_LIMIT}, not {limit}"))),
        }
    }
}

/// Seals and opens cursors of one list. `what` names the route and every parameter that shapes the list.
pub struct Sealer<'a> {
    pub key: &'a [u8; 32],
    pub what: String,
}

const MAC: usize = 16;
/// The most bytes of a cursor.
const MOST_CURSOR: usize = 65_536;

impl Sealer<'_> {
    fn mac(&self, position: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key).ok()?;
        mac.update(b"ok/cursor/v1\0");
        mac.update(&(self.what.len() as u64).to_be_bytes());
        mac.update(self.what.as_bytes());
        mac.update(position);
        Some(mac)
    }

    /// Seals a position. It may be that of a row which its reader may not see, so it must not be readable: it is masked
    /// with a stream derived from key and tag, and the tag is derived from the position (a synthetic IV, as in RFC
    /// 5297, made of HMAC-SHA-256 alone).
    pub fn seal(&self, position: &str) -> Option<String> {
        let tag = self.mac(position.as_bytes())?.finalize().into_bytes();
        let tag = tag.get(..MAC)?;
        let mut bytes = self.masked(position.as_bytes(), tag)?;
        bytes.extend_from_slice(tag);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Masks and unmasks.
    fn masked(&self, bytes: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
        let mut masked = Vec::with_capacity(bytes.len() + MAC);
        for (number, block) in (0_u64..).zip(bytes.chunks(32)) {
            let mut mask = Hmac::<Sha256>::new_from_slice(self.key).ok()?;
            mask.update(b"ok/cursor/mask/v1\0");
            mask.update(&number.to_be_bytes());
            mask.update(tag);
            masked.extend(block.iter().zip(mask.finalize().into_bytes()).map(|(byte, mask)| byte ^ mask));
        }
        Some(masked)
    }

    /// The position in a cursor that this server issued for this list.
    pub fn open(&self, cursor: &str) -> Result<String, Refusal> {
        self.try_open(cursor).ok_or_else(|| Refusal::bad_request("invalid cursor"))
    }

    fn try_open(&self, cursor: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok().filter(|_| cursor.len() <= MOST_CURSOR)?;
        let (position, tag) = bytes.split_at_checked(bytes.len().checked_sub(MAC)?)?;
        let position = self.masked(position, tag)?;
        self.mac(&position)?.verify_truncated_left(tag).ok()?;
        String::from_utf8(position).ok()
    }
}

/// One page: a bare array in the body, the cursor of the next page in a header.
#[derive(Debug)]
pub struct Page<T> {
    pub rows: Vec<T>,
    pub next: Option<String>,
}

impl<T: Serialize> Serialize for Page<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(to)
    }
}

/// The rows of one page, or of several that were put together.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Page<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Page<T>, D::Error> {
        Vec::deserialize(from).map(|rows| Page { rows, next: None })
    }
}

impl<T: JsonSchema> JsonSchema for Page<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("PageOf{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<T>::json_schema(generator)
    }
}

/// Which page of a list under `/v1` is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct ListQuery {
    /// How many entries at most: 1 to 100, 20 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    #[arg(skip)]
    pub limit: Option<u32>,
    /// The previous page's `next_cursor`.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    #[arg(skip)]
    pub cursor: Option<String>,
}

/// Most entries of a page under `/v1`.
pub const MAX_LISTED: u32 = 100;

impl ListQuery {
    pub fn page(&self) -> Result<PageQuery, Refusal> {
        match self.limit.unwrap_or(20) {
            limit @ 1..=MAX_LISTED => Ok(PageQuery { limit: Some(limit), cursor: self.cursor.clone() }),
            limit => Err(Refusal::bad_request(format!("limit: must be 1 to {MAX_LISTED}, not {limit}"))),
        }
    }
}

/// One page of a list under `/v1`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed<T> {
    pub data: Vec<T>,
    pub has_more: bool,
    /// What to ask the next page with.
    pub next_cursor: Option<String>,
}

impl<T> From<Page<T>> for Listed<T> {
    fn from(page: Page<T>) -> Listed<T> {
        Listed { data: page.rows, has_more: page.next.is_some(), next_cursor: page.next }
    }
}
