//! Parses filters for one caller: only fields that they may read, and no actors whom they may not see.

use serde_json::Value;

use super::judged::Withheld;
use super::shown::veiled;
use gate::Reader;
use types::collection::Collection;
use types::condition::Condition;
use types::field::Field;
use types::filter::Reading;
use types::refusal::Refusal;

/// Parses the filters of one caller.
pub struct Filters<'a> {
    pub of: &'a Collection,
    pub withheld: &'a Withheld,
    pub read: &'a Reader<'a>,
    /// Whether the query is about past versions of records.
    pub bygone: bool,
}

impl Filters<'_> {
    pub fn read(&self, filter: Option<&Value>) -> Result<Condition, Refusal> {
        let read = filter.map(|filter| self.read_at(filter, "filter"));
        read.unwrap_or(Ok(Condition::Always)).map_err(|(at, what)| Refusal::field(&at, what))
    }

    /// Same; an error includes its position.
    pub fn read_at(&self, filter: &Value, at: &str) -> Result<Condition, (String, String)> {
        // Actors whom the caller may not see match nothing.
        let kept = |kind, value| veiled(Some(kind), value, self.read);
        Reading::new(&|name| self.field(name), &kept, self.bygone || self.of.spec.source.is_some()).read(filter, at)
    }

    /// Returns a field that the caller may filter by.
    pub fn field(&self, name: &str) -> Result<Field, String> {
        let field = self.of.findable(name)?;
        match field.label {
            Some(label) if self.withheld.is(self.of, name) => {
                Err(format!("`{name}` is {label}, and you may not read it"))
            }
            label => {
                label.iter().for_each(|label| self.read.mark(*label));
                Ok(field)
            }
        }
    }
}
