//! What a place that holds a log (a state file, an export) hands to the walk. Values that are absent, of the wrong kind
//! or otherwise unusable come as a reason in words; judging them is the walk's business.

use super::note::Note;

/// A log as it lies stored.
pub struct Stored<'a, E, P> {
    pub vkey: Result<String, String>,
    pub head: Signed,
    /// In the order of their numbers. An error ends the entries.
    pub entries: E,
    /// In the order of their sizes.
    pub published: P,
    pub tiles: Option<&'a dyn Tiles>,
}

/// One entry.
pub struct Entry {
    pub seq: i64,
    pub leaf: Result<Vec<u8>, String>,
    pub payload: Result<Option<Payload>, String>,
}

/// A payload that is not erased.
pub struct Payload {
    pub salt: Vec<u8>,
    pub body: Vec<u8>,
}

/// A stored checkpoint, not yet verified.
pub struct Signed {
    /// The size under which it is stored.
    pub size: Option<u64>,
    pub note: Result<Note, String>,
    /// Where what is stored beside the note disagrees with it.
    pub flaw: Option<String>,
}

impl Signed {
    /// A checkpoint of which nothing can be told.
    pub fn unreadable(why: String) -> Signed {
        Signed { size: None, note: Err(why), flaw: None }
    }
}

/// Access to the stored tiles.
pub trait Tiles {
    /// The hashes of a tile, if it is stored.
    fn tile(&self, level: u32, index: u64) -> Result<Option<Vec<u8>>, String>;

    /// How many tiles are stored that a log of this size does not have.
    fn extra(&self, size: u64) -> Result<u64, String>;
}

/// What `read` gives, up to the end or the first error, which is the last item.
pub fn until_error<'a, T>(
    mut read: impl FnMut() -> Result<Option<T>, String> + 'a,
) -> impl Iterator<Item = Result<T, String>> + 'a {
    let mut ended = false;
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let item = read().transpose();
        ended = !matches!(item, Some(Ok(_)));
        item
    })
}
