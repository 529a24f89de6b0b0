//! A query asked as a part of another.

use serde_json::Value;

use crate::declare::operation::{Call, Entry};
use crate::declare::spec::Effect;
use crate::reader::Reader;
use crate::write::permit::Grant;
use policy::Ruling;
use types::refusal::{Refusal, Stop};

impl Entry {
    /// Returns the query's answer to the reader, in JSON. None if policies deny it, if there is nothing to answer, or
    /// if it would take long or ask another system.
    pub fn answer(&'static self, input: Value, read: &Reader<'_>) -> Result<Option<Value>, Stop> {
        match self.whole_answer(input, read) {
            Err(Stop::Refused(_)) => Ok(None),
            answer => answer,
        }
    }

    fn whole_answer(&'static self, input: Value, read: &Reader<'_>) -> Result<Option<Value>, Stop> {
        if self.effect != Effect::Query || self.spec.route.slow.is_some() {
            return Ok(None);
        }
        let prepared = self.prepare(input).map_err(|bad| Refusal::bad_request(bad.to_string()))?;
        let Call::Query(query) = prepared.call else { return Ok(None) };
        if query.is_elsewhere(read) {
            return Ok(None);
        }
        let ruling = read.ruling_on(read.caller(), self.spec.name, &query.target(read)?, &prepared.value);
        let Ruling::Allow { because } = ruling else { return Ok(None) };
        let grant = Grant { caller: read.caller().clone(), now: read.now(), because };
        Ok(Some(serde_json::from_slice(&query.run(grant, read)?.body)?))
    }
}
