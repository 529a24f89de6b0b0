//! Cedar entities of the actors that were asked about of late. An entity takes several times the room of the card that it is
//! made from, and few of a large directory act at a time: so the directory keeps cards, and this as many entities as fit.
//!
//! Always true: an entity is of the very card that it is found by; another card, though of the same actor, has another.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::world::Card;
use crate::policy::Closed;

/// How many entities are kept. Each has one place, and gives way to the next that wants it.
const PLACES: usize = 1 << 14;

/// Entities by the card that they were made from.
pub(super) struct Entities(Box<[ArcSwapOption<Kept>]>);

struct Kept {
    card: Arc<Card>,
    entity: Closed,
}

impl Default for Entities {
    fn default() -> Entities {
        Entities((0..PLACES).map(|_| ArcSwapOption::empty()).collect())
    }
}

impl Entities {
    /// The entity of a card: kept, or made now.
    pub fn of(&self, card: &Arc<Card>) -> Closed {
        let Some(place) = self.0.get(place_of(card)) else { return card.entity() };
        if let Some(kept) = &*place.load()
            && Arc::ptr_eq(&kept.card, card)
        {
            return kept.entity.clone();
        }
        let entity = card.entity();
        place.store(Some(Arc::new(Kept { card: Arc::clone(card), entity: entity.clone() })));
        entity
    }
}

/// Cards stand far apart in memory: their addresses are spread by the golden ratio (Knuth, TAOCP 6.4).
fn place_of(card: &Arc<Card>) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let spread = (Arc::as_ptr(card) as u64 >> 4).wrapping_mul(GOLDEN);
    (spread >> (64 - PLACES.trailing_zeros())) as usize
}
