//! The nouns that operations can be about. Each is declared once, beside its operations: its Cedar type, what of a thing
//! policies may look at, which read must be allowed before anything else is asked, how a thing is found, and what of it an
//! approval is bound to.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde_json::Value;

use crate::declare::noun::{Noun, Nouns};
use crate::reader::Reader;
use crate::reader::things::{Brief, Things};
use types::refusal::{Fault, Stop};
use types::target::Target;

/// A noun.
pub struct Resource {
    /// What policies know of it.
    pub noun: Noun,
    /// What people call a thing of this kind, where its id says nothing.
    pub title: Option<Title>,
    /// Returns what people should read about a thing before they decide on a call about it: its name and its state.
    pub brief: fn(&Target, &Reader<'_>) -> Result<Brief, Fault>,
    /// The thing of this id, as of the reader's time.
    pub find: fn(&str, &Reader<'_>) -> Result<Option<Target>, Stop>,
    /// The current version of a thing; 0 where it is not there yet. `None` of what has no versions.
    pub version: Option<Version>,
    /// Returns the state of the thing that a call is about; an approval is bound to that state.
    pub state: fn(&Target, &Reader<'_>) -> Result<Value, Fault>,
}

impl Deref for Resource {
    type Target = Noun;

    fn deref(&self) -> &Noun {
        &self.noun
    }
}

/// The current version of a thing.
pub type Version = fn(&Target, &Reader<'_>) -> Result<i64, Fault>;

/// What people call this thing, as far as the reader may know.
pub type Title = fn(&Target, &Reader<'_>) -> Result<Option<String>, Fault>;

impl Resource {
    /// A call says itself all that there is to know.
    pub fn says_nothing(_: &Target, _: &Reader<'_>) -> Result<Brief, Fault> {
        Ok(Brief::new())
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Resource) -> bool {
        self.noun.name == other.noun.name
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun.name)
    }
}

/// Every noun, by its name.
#[derive(Clone)]
pub(crate) struct Resources(BTreeMap<&'static str, &'static Resource>);

impl Resources {
    pub fn of(all: impl Iterator<Item = &'static Resource>) -> Resources {
        Resources(all.map(|one| (one.noun.name, one)).collect())
    }

    pub fn nouns(&self) -> Nouns {
        Nouns::of(self.0.values().map(|one| &one.noun))
    }
}

impl Things for Resources {
    fn find(&self, id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
        self.0.values().map(|one| (one.find)(id, read)).filter_map(Result::transpose).next().transpose()
    }

    fn state(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
        self.0.get(noun.name).map_or(Ok(Value::Null), |one| (one.state)(target, read))
    }

    fn version(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Option<i64>, Fault> {
        let version = self.0.get(noun.name).and_then(|one| one.version);
        version.map(|version| version(target, read)).transpose()
    }

    fn brief(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
        self.0.get(noun.name).map_or(Ok(Brief::new()), |one| (one.brief)(target, read))
    }
}
