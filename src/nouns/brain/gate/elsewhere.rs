//! Reads records kept in external systems: for each answer, candidate rows are loaded into an in-memory table with the same
//! schema as for records kept here, and queried there, in the same language, under the same policies.
//!
//! Always true: no external system is queried on the writer's thread, or where others wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rusqlite::Connection;

use super::Reader;
use adapters::{Unread, Wanted, kept};
use store::brain::query::{After, Sorted};
use store::brain::{Record, sum, table};
use types::collection::{Collection, Source};
use types::condition::{Condition, Order, Scalar};
use types::id::ActorId;
use types::refusal::{Code, Fault, Refusal, Stop};

/// What one answer has read from external systems.
#[derive(Default)]
pub(super) struct Elsewhere {
    /// Whether external systems may be queried.
    reaches: bool,
    tables: RefCell<Vec<Rc<Loaded>>>,
    /// The adapter whose rows were not all read.
    cut: Cell<Option<&'static str>>,
}

/// The rows loaded for one query.
pub(super) struct Loaded {
    collection: String,
    condition: Condition,
    sorted: Vec<Sorted>,
    pub conn: Connection,
    /// The adapter, if some rows were not read or do not fit.
    cut: Option<&'static str>,
}

impl Reader<'_> {
    /// Returns the same reader, allowed to query external systems.
    pub(crate) fn reaching(mut self) -> Self {
        self.elsewhere.reaches = true;
        self
    }

    /// Returns whether external systems may be queried.
    pub(super) fn reaches(&self) -> bool {
        self.elsewhere.reaches
    }

    /// Returns the adapter whose rows are incomplete in the answer.
    pub(crate) fn cut_at(&self) -> Option<&'static str> {
        self.elsewhere.cut.get()
    }

    /// Checks that a collection's external system and table are configured here.
    pub fn is_readable(&self, source: &Source) -> Result<(), String> {
        self.world.outside.systems.adapter(source).map(drop).map_err(|Unread(why)| why)
    }

    /// Loads the candidate rows of an external collection after a position; `None` for a collection kept here.
    pub(super) fn rows_elsewhere(
        &self,
        of: &Collection,
        (condition, sorted): (&Condition, &[Sorted]),
        after: Option<&After>,
    ) -> Result<Option<Rc<Loaded>>, Stop> {
        let Some(source) = &of.spec.source else { return Ok(None) };
        let is_same =
            |one: &&Rc<Loaded>| one.collection == of.name() && one.condition == *condition && one.sorted == sorted;
        if let Some(loaded) = self.elsewhere.tables.borrow().iter().find(is_same) {
            return Ok(Some(Rc::clone(loaded)));
        }
        let loaded = Rc::new(self.load(of, source, (condition, sorted), after)?);
        self.elsewhere.tables.borrow_mut().push(Rc::clone(&loaded));
        Ok(Some(loaded))
    }

    /// Notes that an answer used all rows that were read, and that there may be more.
    pub(super) fn note_cut(&self, loaded: &Loaded) {
        if loaded.cut.is_some() {
            self.elsewhere.cut.set(loaded.cut);
        }
    }

    fn load(
        &self,
        of: &Collection,
        source: &Source,
        (condition, sorted): (&Condition, &[Sorted]),
        after: Option<&After>,
    ) -> Result<Loaded, Stop> {
        let unread = |Unread(why): Unread| {
            Refusal::new(
                Code::Unavailable,
                format!("{} is kept in {}, which cannot be read: {why}", of.name(), source.system),
            )
        };
        if !self.elsewhere.reaches {
            return Err(unread(Unread("only queries can read it".into())).into());
        }
        let adapter = self.world.outside.systems.adapter(source).map_err(unread)?;
        let later = Condition::all([condition.clone(), later(sorted, after)]);
        let order = sorted.iter().map(|by| (by.column.as_str(), by.descending)).collect();
        let read = adapter.rows(&Wanted { of, source, condition: &later, sorted: order }).map_err(unread)?;
        let (conn, misfits) = self.table_of(of, read.rows)?;
        let cut = (read.is_cut || misfits > 0).then(|| adapter.name());
        let (collection, condition, sorted) = (of.name().to_owned(), condition.clone(), sorted.to_vec());
        Ok(Loaded { collection, condition, sorted, conn, cut })
    }

    /// Loads rows into a table for their collection, and counts those that do not fit.
    fn table_of(&self, of: &Collection, rows: Vec<Vec<Option<String>>>) -> Result<(Connection, usize), Fault> {
        let mut conn = Connection::open_in_memory()?;
        sum::teach(&conn)?;
        let moment = conn.transaction()?;
        table::made_by(of).iter().try_for_each(|statement| moment.execute_batch(statement))?;
        let (mut misfits, mut first) = (0, None);
        for row in rows {
            let put = kept(of, row).and_then(|row| {
                let (id, by, at) = (row.id, ActorId::system(), self.now);
                let (created_by, updated_by) = (by.clone(), by);
                let (version, fields) = (1, row.fields);
                let record = Record { id, version, fields, created_by, created_at: at, updated_by, updated_at: at };
                table::insert(&moment, of, &record).map_err(|_| "another row has its key".to_owned())
            });
            if let Err(why) = put {
                misfits += 1;
                first.get_or_insert(why);
            }
        }
        moment.commit()?;
        if let Some(why) = first {
            tracing::warn!(collection = of.name(), rows = misfits, %why, "rows of another system do not fit the definition");
        }
        Ok((conn, misfits))
    }
}

/// Returns a condition that rows after a position satisfy. Missing values come last.
fn later(sorted: &[Sorted], after: Option<&After>) -> Condition {
    match (sorted.first(), after.and_then(|after| after.values.first())) {
        (Some(by), Some(Some(value))) => later_than(by, value),
        (Some(by), Some(None)) => Condition::Has(by.column.clone()).negated(),
        _ => Condition::Always,
    }
}

fn later_than(by: &Sorted, value: &Scalar) -> Condition {
    let order = if by.descending { Order::LessOrEqual } else { Order::GreaterOrEqual };
    let is_later = Condition::Is(by.column.clone(), order, value.clone());
    Condition::any([is_later, Condition::Has(by.column.clone()).negated()])
}
