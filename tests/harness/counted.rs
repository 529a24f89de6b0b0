//! Tables, and what actors have done, counted again from the log.

use std::collections::BTreeMap;

use ok::gate::decide::usage::Recount;
use ok::gate::state::refold;
use ok::log::read;
use ok::store::{actors, done};
use ok::types::actor::ActorKind;
use ok::types::history::Done;
use rusqlite::Connection;

/// The tables are what the log says; and what one actor has done, counted from what is about them alone, is what the table of
/// all holds.
pub fn are_as_logged(file: &Connection) {
    assert_eq!(refold::compare(file).unwrap(), []);
    let (last, now) = (read::last_seq(file).unwrap(), read::one(file, read::last_seq(file).unwrap()).unwrap().at);
    let seen = |of: done::Of| -> BTreeMap<String, Done> {
        let counts = of.into_iter().map(|(operation, counts)| (operation, counts.at(now)));
        counts.filter(|(_, done)| *done != Done::default()).collect()
    };
    for actor in actors::all(file).unwrap().into_iter().filter(|actor| !actor.id.is_team()) {
        let is_agent = actor.kind != ActorKind::Person;
        let alone = Recount::of(file, last, &actor.id, is_agent).unwrap();
        assert_eq!(seen(alone), seen(done::of(file, &actor.id).unwrap()), "{}", actor.id);
    }
}
