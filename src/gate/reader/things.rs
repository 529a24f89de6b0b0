//! How things are found and described, kind by kind, by the declarations of their nouns.

use serde_json::Value;

use super::Reader;
use crate::declare::noun::Noun;
use crate::declare::route::Route;
use types::refusal::{Fault, Stop};
use types::target::Target;

/// What there is to read about a thing, line by line.
pub type Brief = Vec<(&'static str, String)>;

/// What the nouns declare of things.
pub trait Things: Send + Sync {
    /// The thing of this id, as of the reader's time, of whatever kind it is.
    fn find(&self, id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop>;
    /// The current version of a thing; `None` of what has no versions.
    fn version(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Option<i64>, Fault>;
    /// How a thing stands that a call is about.
    fn state(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Value, Fault>;
    /// What people should read of a thing before they decide about a call on it.
    fn brief(&self, noun: &Noun, target: &Target, read: &Reader<'_>) -> Result<Brief, Fault>;
}

impl Reader<'_> {
    /// Returns the current version of a thing, if its kind has versions: 0 if the thing does not exist yet.
    pub(crate) fn version_of(&self, target: &Target) -> Result<Option<i64>, Fault> {
        self.noun(target).map_or(Ok(None), |noun| self.things.version(noun, target, self))
    }

    /// Returns the state of the thing that a call is about; an approval is bound to it. It includes the current version
    /// if the call says on which version it is based.
    pub fn state_for(&self, route: &Route, target: &Target, input: &Value) -> Result<Value, Fault> {
        let mut state = self.noun(target).map_or(Ok(Value::Null), |noun| self.things.state(noun, target, self))?;
        if let Some(fields) = state.as_object_mut().filter(|_| route.current_version(input).is_some())
            && let Some(version) = self.version_of(target)?
        {
            fields.insert("version".to_owned(), version.into());
        }
        Ok(state)
    }

    /// What people should read of the thing that a call is about.
    pub fn brief_of(&self, target: &Target) -> Result<Brief, Fault> {
        self.noun(target).map_or(Ok(Brief::new()), |noun| self.things.brief(noun, target, self))
    }
}
