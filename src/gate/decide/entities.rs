//! Cedar entities of recently used actors. An entity takes several times the memory of the card that it is made from,
//! and few actors of a large directory are active at a time, so the directory keeps cards, and this cache keeps as many
//! entities as fit.
//!
//! Always true: an entity belongs to exactly the card that it is found by, and to the line of teams that it was made with;
//! another card, even of the same actor, has another entity.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;

use crate::decide::card::Card;
use policy::Closed;
use types::id::ActorId;

/// How many entities are kept, in shelves that are made when they are wanted. Each has one place, and gives way to the next
/// that wants it.
const PLACES: usize = SHELVES * SHELF;
const SHELVES: usize = 256;
const SHELF: usize = 64;

/// Entities by the card that they were made from.
#[derive(Default)]
pub(crate) struct Entities(OnceLock<Box<[OnceLock<Shelf>]>>);

/// A place is made when it is wanted, too: to drop one takes longer than to have none.
type Shelf = Box<[OnceLock<ArcSwapOption<BuiltEntity>>]>;

struct BuiltEntity {
    card: Arc<Card>,
    teams: Option<Arc<[ActorId]>>,
    entity: Closed,
}

impl Entities {
    /// The entity of a card, whose actor is in this line of teams: kept, or made now.
    pub fn of(&self, card: &Arc<Card>, teams: Option<&Arc<[ActorId]>>) -> Closed {
        let built = || card.entity(teams.map(|teams| &**teams).unwrap_or_default());
        let Some(place) = self.place(card) else { return built() };
        if let Some(kept) = &*place.load()
            && Arc::ptr_eq(&kept.card, card)
            && kept.teams.as_ref().map(Arc::as_ptr) == teams.map(Arc::as_ptr)
        {
            return kept.entity.clone();
        }
        let entity = built();
        let kept = BuiltEntity { card: Arc::clone(card), teams: teams.cloned(), entity: entity.clone() };
        place.store(Some(Arc::new(kept)));
        entity
    }
}

impl Entities {
    fn place(&self, card: &Arc<Card>) -> Option<&ArcSwapOption<BuiltEntity>> {
        let (shelf, place) = (place_of(card) / SHELF, place_of(card) % SHELF);
        let shelves = self.0.get_or_init(|| (0..SHELVES).map(|_| OnceLock::new()).collect());
        let shelf = shelves.get(shelf)?.get_or_init(|| (0..SHELF).map(|_| OnceLock::new()).collect());
        Some(shelf.get(place)?.get_or_init(ArcSwapOption::empty))
    }
}

/// Cards stand far apart in memory: their addresses are spread by the golden ratio (Knuth, TAOCP 6.4).
fn place_of(card: &Arc<Card>) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let spread = (Arc::as_ptr(card) as u64 >> 4).wrapping_mul(GOLDEN);
    (spread >> (64 - PLACES.trailing_zeros())) as usize
}
