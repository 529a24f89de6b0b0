//! Reads collections and their records for operations.

use std::ops::Bound;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Reader;
use crate::declare::noun::Directory as _;
use crate::declare::target::{Fact, Target, Thing};
use crate::reader::veil::HIDDEN;
use policy::{Because, brain};
use store::brain::query::{self, After, Figures, Group, Measure, Sorted};
use store::brain::retention::{self, Overtaken};
use store::brain::{self as table, Flag, Proposal, Record, Version};
use store::content;
use store::search::{First, Words};
use types::brain::{Operation, ProposalStatus};
use types::collection::Collection;
use types::condition::{Condition, Order, Scalar};
use types::field::FieldKind;
use types::id::ActorId;
use types::refusal::{Fault, Refusal, Stop};
use types::time::Time;
use types::view::View;

impl Reader<'_> {
    /// Returns a collection in force by name.
    pub fn collection(&self, name: &str) -> Option<Arc<Collection>> {
        self.collections().get(name).cloned()
    }

    /// Returns every collection by name.
    pub fn all_collections(&self) -> impl Iterator<Item = &Arc<Collection>> {
        self.collections().values()
    }

    /// Checks whether a link resolves, as far as the caller may know: to a record of a collection, or to an address if the
    /// collection is `url`.
    pub fn leads_to(&self, collection: &str, thing: &str) -> Result<bool, Fault> {
        if collection == "url" {
            return Ok(true);
        }
        let Some(of) = self.collection(collection) else { return Ok(false) };
        if of.spec.source.is_some() {
            return Ok(self.sees(&self.collection_target(of.name())));
        }
        let record = self.record(&of, thing)?;
        Ok(record.is_some_and(|record| self.sees(&self.record_target(&of, &record))))
    }

    /// Returns a link as the caller may know it: one to something hidden and one to something gone look the same.
    pub fn shown_link<'l>(&self, (collection, thing): (&'l str, &'l str)) -> Result<(&'l str, &'l str), Fault> {
        if self.leads_to(collection, thing)? {
            return Ok((collection, thing));
        }
        let is_known = self.collection(collection).is_some_and(|of| self.sees(&self.collection_target(of.name())));
        Ok((if is_known { collection } else { HIDDEN }, HIDDEN))
    }

    /// Returns the version of a collection, which counts its changes; 0 if there is none.
    pub fn collection_version(&self, name: &str) -> Result<i64, Fault> {
        Ok(table::collection(self.conn()?, name)?.map_or(0, |(_, version)| version))
    }

    /// Returns a view in force by name.
    pub fn view(&self, name: &str) -> Option<Arc<View>> {
        self.world.policy.views().get(name).cloned()
    }

    /// Returns the views in force after a name, by name.
    pub fn views_after(&self, name: &str) -> impl Iterator<Item = &Arc<View>> {
        let after = (Bound::Excluded(name), Bound::Unbounded);
        self.world.policy.views().range::<str, _>(after).map(|(_, view)| view)
    }

    /// Returns a view as a target of the gate. One limited to a missing actor is visible to nobody, rather than to everybody.
    pub fn view_target(&self, view: &View) -> Target {
        let thing = Thing::new("View", view.name()).text("collection", &view.spec.query.collection);
        let Some(id) = &view.spec.visibility else { return thing.into() };
        let nobody = ActorId::system();
        let id = if self.card(id).is_some() { id } else { &nobody };
        thing.actor(if id.is_team() { "team" } else { "person" }, id).into()
    }

    pub fn record(&self, of: &Collection, id: &str) -> Result<Option<Record>, Fault> {
        Ok(table::get(self.conn()?, of, id)?)
    }

    /// Returns the record with this key.
    pub fn record_by_key(&self, of: &Collection, fields: &Map<String, Value>) -> Result<Option<Record>, Fault> {
        Ok(table::by_key(self.conn()?, of, fields)?)
    }

    /// Checks whether another record has this value.
    pub fn is_taken(&self, of: &Collection, field: &str, value: &Value, id: &str) -> Result<bool, Fault> {
        Ok(table::taken(self.conn()?, of, field, value, id)?)
    }

    /// Checks whether any record has a text in this field other than these.
    pub fn has_other_values(&self, of: &Collection, field: &str, texts: &[String]) -> Result<bool, Fault> {
        Ok(table::has_other(self.conn()?, of, field, texts)?)
    }

    /// Checks whether any record lacks a value of a field.
    pub fn any_lacks(&self, of: &Collection, field: &str) -> Result<bool, Fault> {
        Ok(table::any_lacks(self.conn()?, of, field)?)
    }

    /// Checks whether any record has a number outside these bounds, given in this type.
    pub fn any_beyond(
        &self,
        of: &Collection,
        field: (&str, FieldKind),
        bounds: (Option<i64>, Option<i64>),
    ) -> Result<bool, Fault> {
        Ok(table::any_beyond(self.conn()?, of, field, bounds)?)
    }

    /// Checks whether any record has different values in two fields.
    pub fn any_differ(&self, of: &Collection, one: &str, other: &str) -> Result<bool, Fault> {
        Ok(table::any_differ(self.conn()?, of, one, other)?)
    }

    pub fn count_records(&self, of: &Collection) -> Result<i64, Fault> {
        Ok(table::count(self.conn()?, of)?)
    }

    /// Checks whether a collection of this name has or had records.
    pub fn had_records(&self, of: &str) -> Result<bool, Fault> {
        Ok(!table::ids_after(self.conn()?, of, "", 1)?.is_empty())
    }

    /// Returns a record's versions, newest first.
    pub fn versions(&self, of: &str, id: &str, before: i64, limit: usize) -> Result<Vec<Version>, Fault> {
        Ok(table::versions(self.conn()?, of, id, before, limit)?)
    }

    /// Returns a record's version at a time.
    pub fn version_at(&self, of: &str, id: &str, at: Time) -> Result<Option<Version>, Fault> {
        Ok(table::as_of(self.conn()?, of, id, at)?)
    }

    /// Returns record ids after an id, including deleted records.
    pub fn record_ids(&self, of: &str, after: &str, limit: usize) -> Result<Vec<String>, Fault> {
        Ok(table::ids_after(self.conn()?, of, after, limit)?)
    }

    /// Returns up to `limit` versions of a collection's records superseded before a time.
    pub fn overtaken_versions(&self, of: &str, before: Time, limit: usize) -> Result<Vec<Overtaken>, Fault> {
        Ok(retention::overtaken(self.conn()?, of, before, limit)?)
    }

    /// Returns records unchanged since a time, with their versions.
    pub fn unchanged_records(&self, of: &Collection, since: Time, limit: usize) -> Result<Vec<(String, i64)>, Fault> {
        Ok(retention::unchanged(self.conn()?, of, since, limit)?)
    }

    /// Returns the erasable parts of something, each with the log entry that holds it.
    pub fn kept_parts(&self, id: &str) -> Result<Vec<(String, i64)>, Fault> {
        Ok(content::parts(self.conn()?, id)?)
    }

    /// Returns a record's first version: who created it, and when.
    pub fn origin(&self, of: &str, id: &str) -> Result<Option<Version>, Fault> {
        Ok(table::origin(self.conn()?, of, id)?)
    }

    pub fn flags_of(&self, of: &str, id: &str) -> Result<Vec<Flag>, Fault> {
        Ok(table::flags_of(self.conn()?, of, id)?)
    }

    pub fn proposal(&self, id: &str) -> Result<Option<Proposal>, Fault> {
        Ok(table::proposal(self.conn()?, id)?)
    }

    /// Returns the newest proposals for a collection.
    pub fn proposals_about(&self, collection: &str) -> Result<Vec<Proposal>, Fault> {
        Ok(table::proposals_about(self.conn()?, collection)?)
    }

    pub fn open_proposals_of(&self, proposer: &ActorId) -> Result<usize, Fault> {
        Ok(table::open_proposals_of(self.conn()?, proposer)?)
    }

    /// Returns the records on which the policies allow an operation, as a condition on their columns; `None` if each has to be
    /// judged.
    pub fn rows(&self, operation: &str, of: &Collection) -> Option<Condition> {
        let target = record_thing(of, &blank(&self.caller.actor())).into();
        self.asker(&target).rows(operation, of)
    }

    /// Same, per policy.
    pub fn rows_by_policy(&self, operation: &str, of: &Collection) -> Option<Vec<(Because, Condition)>> {
        let target = record_thing(of, &blank(&self.caller.actor())).into();
        self.asker(&target).rows_by_policy(operation, of)
    }

    /// Returns matching records in order after a position.
    pub fn records(
        &self,
        of: &Collection,
        condition: &Condition,
        sorted: &[Sorted],
        after: Option<&After>,
        limit: usize,
    ) -> Result<Vec<Record>, Stop> {
        let page = |conn: &_| Ok(query::page(conn, of, condition, sorted, after, limit).map_err(Fault::from)?);
        let Some(loaded) = self.rows_elsewhere(of, (condition, sorted), after)? else { return page(self.conn()?) };
        let records = page(&loaded.conn)?;
        if records.len() < limit {
            self.note_cut(&loaded);
        }
        Ok(records)
    }

    /// Returns a record kept in an external system.
    pub fn record_elsewhere(&self, of: &Collection, id: &str) -> Result<Option<Record>, Stop> {
        let is_it = Condition::Is("id".into(), Order::Equal, Scalar::Text(id.to_owned()));
        Ok(self.records(of, &is_it, &[], None, 1)?.pop())
    }

    /// Returns matching records that contain the words, at most so many.
    pub fn found(
        &self,
        of: &Collection,
        condition: &Condition,
        words: &Words,
        most: (First, usize),
    ) -> Result<Vec<Record>, Fault> {
        Ok(query::found(self.conn()?, of, condition, words, most)?)
    }

    /// Aggregates the matching records.
    pub fn figures(
        &self,
        of: &Collection,
        condition: &Condition,
        what: (&[Group], &[Measure]),
        bounds: (u32, usize),
    ) -> Result<Vec<Figures>, Stop> {
        let loaded = self.rows_elsewhere(of, (condition, &[]), None)?;
        let conn = match &loaded {
            Some(loaded) => {
                self.note_cut(loaded);
                &loaded.conn
            }
            None => self.conn()?,
        };
        Ok(query::figures(conn, of, condition, what, bounds)?)
    }

    /// Returns a collection as a target of the gate.
    pub fn collection_target(&self, name: &str) -> Target {
        Thing::new("Collection", name).into()
    }

    /// Returns a record as a target of the gate.
    pub fn record_target(&self, of: &Collection, record: &Record) -> Target {
        record_thing(of, record).into()
    }

    /// Returns a proposal as a target of the gate.
    pub fn proposal_target(&self, proposal: &Proposal) -> Target {
        let thing = Thing::new("SchemaProposal", &proposal.id).actor("proposer", &proposal.proposer);
        let thing = thing.text("collection", &proposal.collection).text("status", proposal.status.name());
        thing.flag("lifts_label", self.lifts_label(proposal)).into()
    }

    /// Checks whether a proposal would remove a label from a field. For a name that exists only within the proposal, it might.
    fn lifts_label(&self, proposal: &Proposal) -> bool {
        let of = self.collection(&proposal.collection).filter(|_| proposal.status == ProposalStatus::Proposed);
        of.is_some_and(|of| {
            proposal.ops.iter().any(|op| match op {
                Operation::AlterField { name, field } => match of.field(name) {
                    Some(before) => field.lifts(before.label),
                    None => field.label.is_some(),
                },
                _ => false,
            })
        })
    }

    /// Seals a position of a list into a cursor for the next page.
    pub fn sealed(&self, what: String, position: &str) -> Option<String> {
        self.sealer(what).seal(position)
    }

    /// Opens a sealed cursor.
    pub fn opened(&self, what: String, cursor: &str) -> Result<String, Refusal> {
        self.sealer(what).open(cursor)
    }
}

fn blank(by: &ActorId) -> Record {
    Record {
        id: "absent".into(),
        version: 0,
        fields: Map::new(),
        created_by: by.clone(),
        created_at: Time(0),
        updated_by: by.clone(),
        updated_at: Time(0),
    }
}

fn record_thing(of: &Collection, record: &Record) -> Thing {
    let thing = Thing::new(brain::kind_of(of.name()), &record.id)
        .text("collection", of.name())
        .actor("created_by", &record.created_by)
        .actor("updated_by", &record.updated_by)
        .with("version", Fact::Number(record.version));
    let facts = record.fields.iter().filter_map(|(name, value)| Some((name.clone(), of.field(name)?.fact(value)?)));
    facts.fold(thing, |thing, (name, fact)| thing.with(name, fact))
}
