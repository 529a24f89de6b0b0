//! Lists, page by page.

use std::collections::BTreeSet;

use super::Reader;
use super::page::{PATIENCE, Place, Rows};
use crate::decide::index::Group;
use store::Position;
use store::list::List;
use types::id::ActorId;
use types::page::{Page, PageQuery, Sealer};
use types::refusal::{Fault, Refusal, Stop};

/// The most others whose rows are looked for beside the caller's own.
const LOOKED_AFTER: usize = 64;

impl Reader<'_> {
    /// One page of a list: rows are read in chunks until enough of them are visible.
    pub fn page<T>(
        &self,
        query: &PageQuery,
        what: String,
        fetch: impl Fn(&Position, usize) -> Result<Vec<T>, Fault>,
        visible: impl Fn(&T) -> bool,
        position: impl Fn(&T) -> Position,
    ) -> Result<Page<T>, Stop> {
        self.walk(query, what, &Rows { after: &fetch, own: None, visible: &visible, position: &position })
    }

    /// Lists a table that knows the owner of each row. The rows of the caller, and of those whom the caller looks
    /// after, are found however long the list is.
    pub fn list<T>(
        &self,
        list: &List<T>,
        query: &PageQuery,
        what: String,
        visible: impl Fn(&T) -> bool,
    ) -> Result<Page<T>, Stop> {
        let me = self.caller.actor();
        let others = self.looked_after(&me);
        let after = |from: &Position, limit| Ok(list.after(self.conn()?, from, limit)?);
        let own = |from: &Position, limit| Ok(list.own_after(self.conn()?, (me.as_str(), &others), from, limit)?);
        // Two callers of one list have different rows of their own.
        let what = format!("{what} for {me}");
        self.walk(query, what, &Rows { after: &after, own: Some(&own), visible: &visible, position: &list.position })
    }

    /// Lists only the rows that belong to one actor.
    pub fn list_of<T>(
        &self,
        list: &List<T>,
        whose: &str,
        query: &PageQuery,
        what: String,
        visible: impl Fn(&T) -> bool,
    ) -> Result<Page<T>, Stop> {
        let fetch = |from: &Position, limit| Ok(list.own_after(self.conn()?, (whose, &[]), from, limit)?);
        self.page(query, format!("{what} of {whose}"), fetch, visible, list.position)
    }

    fn walk<T>(&self, query: &PageQuery, what: String, rows: &Rows<'_, T>) -> Result<Page<T>, Stop> {
        let limit = query.limit()?;
        let sealer = self.sealer(what);
        let invalid = || Refusal::bad_request("invalid cursor");
        let from = match &query.cursor {
            None => Place::start(),
            Some(cursor) => Place::parse(&sealer.open(cursor)?).ok_or_else(invalid)?,
        };
        let (rows, next) = rows.page(from, limit, PATIENCE)?;
        Ok(Page { rows, next: next.and_then(|place| sealer.seal(&place.to_string())) })
    }

    pub(crate) fn sealer(&self, what: String) -> Sealer<'_> {
        Sealer { key: &self.world.instance.sealing, what }
    }

    /// The agents that somebody owns, and whoever is in the teams that they lead, as far as these are few.
    fn looked_after<'a>(&'a self, me: &'a ActorId) -> Vec<&'a str> {
        let people = &self.world.people;
        let owned = people.of(&Group::Owned(me.clone()));
        let led = people.of(&Group::Led(me.clone())).flat_map(|team| people.below(team));
        let others = owned.chain(led).take(LOOKED_AFTER).filter(|other| *other != me);
        others.map(ActorId::as_str).collect::<BTreeSet<&str>>().into_iter().collect()
    }
}
