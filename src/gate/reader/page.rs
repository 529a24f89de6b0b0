//! Walks a list row by row and asks for each row whether the caller may see it.
//!
//! Always true: a page costs a bounded number of looks at rows that the caller may not see. If that is not enough to
//! fill the page, it is filled from the caller's own rows, which an index finds, and the next page continues where the
//! walk stopped; the cursor records up to where the caller's own rows were already shown. So a row that remains the
//! caller's own, or remains another's, is shown once.

use std::collections::BTreeSet;
use std::fmt;

use store::Position;
use types::refusal::Fault;

/// How many rows that the caller may not see are looked at for one page.
pub(super) const PATIENCE: usize = 500;

/// The fewest rows that are read at once.
const CHUNK: usize = 64;

/// Rows after a position.
pub(super) type Fetch<'a, T> = &'a dyn Fn(&Position, usize) -> Result<Vec<T>, Fault>;

/// A list, as one caller sees it.
pub(super) struct Rows<'a, T> {
    pub after: Fetch<'a, T>,
    /// The caller's own rows, where an index finds them.
    pub own: Option<Fetch<'a, T>>,
    pub visible: &'a dyn Fn(&T) -> bool,
    pub position: &'a dyn Fn(&T) -> Position,
}

/// Where a list is gone on with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    walked: Position,
    /// The caller's own rows until here were shown ahead of the walk.
    ahead: Option<Position>,
}

impl Place {
    pub fn start() -> Place {
        Place { walked: Position::start(), ahead: None }
    }

    pub fn parse(text: &str) -> Option<Place> {
        let (walked, ahead) = text.split_once('\n').map_or((text, None), |(walked, ahead)| (walked, Some(ahead)));
        let ahead = ahead.map(|ahead| Position::parse(ahead).ok_or(())).transpose().ok()?;
        Some(Place { walked: Position::parse(walked)?, ahead })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.walked)?;
        self.ahead.iter().try_for_each(|ahead| write!(f, "\n{ahead}"))
    }
}

impl<T> Rows<'_, T> {
    /// One page, and where the next one begins.
    pub fn page(&self, mut place: Place, limit: usize, patience: usize) -> Result<(Vec<T>, Option<Place>), Fault> {
        let (mut rows, mut left, size) = (Vec::new(), patience, CHUNK.max(limit + 1));
        loop {
            let chunk = (self.after)(&place.walked, size)?;
            let last = chunk.len() < size;
            let shown = self.shown_ahead(&place, chunk.len())?;
            for row in chunk {
                let at = (self.position)(&row);
                if shown.contains(&at) {
                    place.walked = at;
                    continue;
                }
                let visible = (self.visible)(&row);
                if visible && rows.len() == limit {
                    return Ok((rows, Some(place)));
                }
                place.walked = at;
                if visible {
                    rows.push(row);
                    continue;
                }
                left = left.saturating_sub(1);
                if left == 0 {
                    return self.filled(place, rows, limit, patience);
                }
            }
            if last {
                return Ok((rows, None));
            }
        }
    }

    /// The page with the caller's own rows further down the list.
    fn filled(
        &self,
        mut place: Place,
        mut rows: Vec<T>,
        limit: usize,
        patience: usize,
    ) -> Result<(Vec<T>, Option<Place>), Fault> {
        let Some(own) = self.own else { return Ok((rows, Some(place))) };
        let mut ahead = place.ahead.take().into_iter().fold(place.walked.clone(), Position::max);
        let (mut left, size) = (patience, CHUNK.max(limit + 1));
        'page: while rows.len() < limit {
            let chunk = own(&ahead, size)?;
            let last = chunk.len() < size;
            for row in chunk {
                if rows.len() == limit || left == 0 {
                    break 'page;
                }
                ahead = (self.position)(&row);
                match (self.visible)(&row) {
                    true => rows.push(row),
                    false => left -= 1,
                }
            }
            if last {
                ahead = Position::end();
                break;
            }
        }
        place.ahead = Some(ahead);
        Ok((rows, Some(place)))
    }

    /// Which of the next rows were shown before.
    fn shown_ahead(&self, place: &Place, count: usize) -> Result<BTreeSet<Position>, Fault> {
        let (Some(own), Some(ahead)) = (self.own, &place.ahead) else { return Ok(BTreeSet::new()) };
        let positions = own(&place.walked, count)?.iter().map(self.position).collect::<BTreeSet<Position>>();
        Ok(positions.into_iter().take_while(|at| at <= ahead).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A row: when it was made, whether it is the caller's own, and whether they see it.
    type Made = (i64, bool, bool);

    fn after(rows: &[(Position, bool, bool)], from: &Position, limit: usize) -> Vec<(Position, bool, bool)> {
        rows.iter().filter(|(at, ..)| at > from).take(limit).cloned().collect()
    }

    /// All pages, as somebody goes through them while rows are added.
    fn paged(mut rows: Vec<(Position, bool, bool)>, more: Vec<Made>, limit: usize, patience: usize) -> Vec<Position> {
        let (mut seen, mut place, mut more) = (Vec::new(), Some(Place::start()), more.into_iter());
        let mut pages = 0;
        while let Some(from) = place.take() {
            let own: Vec<_> = rows.iter().filter(|(_, own, _)| *own).cloned().collect();
            let list = Rows {
                after: &|from, limit| Ok(after(&rows, from, limit)),
                own: Some(&|from, limit| Ok(after(&own, from, limit))),
                visible: &|(_, _, visible)| *visible,
                position: &|(at, ..)| at.clone(),
            };
            let (page, next) = list.page(from, limit, patience).unwrap();
            assert!(page.len() <= limit);
            seen.extend(page.into_iter().map(|(at, ..)| at));
            place = next.map(|next| Place::parse(&next.to_string()).unwrap());
            pages += 1;
            assert!(pages < 1_000, "the pages do not end");
            if let Some(made) = more.next() {
                rows.push(row(1_000 + pages, made));
                rows.sort();
            }
        }
        seen
    }

    fn row(number: i64, (at, own, visible): Made) -> (Position, bool, bool) {
        // What is added later is never older.
        let at = if number > 1_000 { number } else { at };
        (Position { at, id: format!("{number:04}") }, own, visible)
    }

    proptest! {
        #[test]
        fn no_page_skips_or_repeats_a_row(
            made in prop::collection::vec((0..20_i64, any::<bool>(), prop::bool::weighted(0.3)), 0..60),
            more in prop::collection::vec((0..1_i64, any::<bool>(), any::<bool>()), 0..8),
            limit in 1..6_usize,
            patience in 1..9_usize,
        ) {
            let mut rows: Vec<_> = (0..).zip(made).map(|(number, made)| row(number, made)).collect();
            rows.sort();
            let wanted: BTreeSet<Position> =
                rows.iter().filter(|(.., visible)| *visible).map(|(at, ..)| at.clone()).collect();
            let seen = paged(rows, more, limit, patience);
            let once: BTreeSet<Position> = seen.iter().cloned().collect();
            prop_assert_eq!(once.len(), seen.len(), "repeated");
            prop_assert!(wanted.is_subset(&once), "skipped");
        }
    }

    #[test]
    fn ones_own_rows_come_before_a_long_walk() {
        let at = |number: i64| Position { at: -number, id: String::new() };
        let rows: Vec<_> = (0..2_000).map(|number| (at(number), number >= 1_990, number >= 1_990)).collect();
        let list = Rows {
            after: &|from, limit| Ok(after(&rows, from, limit)),
            own: Some(&|from, limit| {
                let own: Vec<_> = rows.iter().filter(|(_, own, _)| *own).cloned().collect();
                Ok(after(&own, from, limit))
            }),
            visible: &|(_, _, visible)| *visible,
            position: &|(at, ..)| at.clone(),
        };
        let (page, next) = list.page(Place::start(), 20, 100).unwrap();
        assert_eq!((page.len(), next.is_some()), (10, true));
    }
}
