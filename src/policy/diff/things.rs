//! Things of the made-up company: the samples of each list, as policies look for them, and those that policies name.

use std::collections::{BTreeMap, BTreeSet};

use super::people::{self, Fill};
use crate::brain::{Collections, collection_of};
use crate::engine::{Goal, Named};
use crate::testing::{Cast, Fixture, Member, Row, Sample, Stage};
use types::id::ActorId;

/// As many of the actors, of the teams and of the texts that policies name are added.
pub(super) const MOST: usize = 8;

/// What there is in a made-up company besides its actors.
#[derive(Default)]
pub(super) struct Things {
    /// What is tried as policies look for it, too; of a thing of its owner's whom alone it is asked of then, the owner.
    models: Vec<(Row, Option<ActorId>)>,
    /// Of what only one actor is asked about, by its id: that actor.
    pub only: BTreeMap<String, ActorId>,
}

/// Adds what each of these lists has.
pub(super) fn furnish(
    fixture: &mut Fixture,
    lists: &BTreeSet<&str>,
    collections: &Collections,
    named: &Named,
    stage: &dyn Stage,
) -> Things {
    let ids = |rows: &mut dyn Iterator<Item = &Member>| rows.map(|row| row.id.clone()).collect::<Vec<ActorId>>();
    let everybody = ids(&mut fixture.actors.iter().filter(|row| !row.offboarded));
    let agents = ids(&mut fixture.actors.iter().filter(|row| row.kind.is_agent()));
    let texts: Vec<&str> = named.texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let cast = Cast { everybody: &everybody, agents: &agents, collections, texts: &texts };
    let (mut things, mut seen) = (Things::default(), BTreeSet::new());
    for Sample { row, owner, only, is_model } in stage.samples(lists, &cast) {
        things.only.extend(only.map(|only| (row.id.clone(), only)));
        // Of everybody else the first of their own.
        let owner = owner.filter(|owner| !is_model && seen.insert((row.list.clone(), owner.clone())));
        if is_model || owner.is_some() {
            things.models.push((row.clone(), owner));
        }
        fixture.rows.push(row);
    }
    things
}

/// Things as policies look for them, and what policies name. Records were made so.
pub(super) fn aim(
    fixture: &mut Fixture,
    things: &mut Things,
    goals: &[Goal],
    named: &BTreeSet<String>,
    stage: &dyn Stage,
) {
    let mut seen = BTreeSet::new();
    for goal in goals {
        let fills = people::fills(fixture, goal);
        if fills.is_empty() || !seen.insert(format!("{fills:?}")) {
            continue;
        }
        let number = seen.len();
        let mut copies = Vec::new();
        for (count, (model, owner)) in things.models.iter().enumerate() {
            let row = filled(copy(model, number, count), &fills, stage);
            things.only.extend(owner.iter().map(|owner| (row.id.clone(), owner.clone())));
            copies.push(row);
        }
        let named_rows = fixture.rows.iter_mut().filter(|row| row.list != "brain" && named.contains(&row.id));
        named_rows.for_each(|row| *row = filled(row.clone(), &fills, stage));
        fixture.rows.extend(copies);
    }
}

/// Another like it, under an id of its own: a number where that of the model is one.
fn copy(model: &Row, number: usize, count: usize) -> Row {
    let id = match model.id.split_once('.') {
        _ if model.id.starts_with("event:") => format!("event:{}", number * 1000 + count),
        Some((what, of)) => format!("{what}_aim{number}.{of}"),
        None => format!("{}_aim{number}", model.id),
    };
    Row { id, ..model.clone() }
}

/// A thing as a goal wants it.
fn filled(row: Row, fills: &[(String, Fill)], stage: &dyn Stage) -> Row {
    let kind = stage.kind(&row.list).unwrap_or_default();
    fills.iter().fold(row, |row, (field, fill)| {
        match (fill, fill.value(&row, (&kind, field), field == "team", stage)) {
            (_, Some(value)) => row.with(field, value),
            (Fill::Nothing, None) => row.without(field),
            (_, None) => row,
        }
    })
}

/// Adds the things that policies name by their ids, modelled on one that belongs to max, and returns all their ids.
pub(super) fn name(fixture: &mut Fixture, named: &Named, stage: &dyn Stage) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for (kind, id) in &named.entities {
        let Some(list) = stage.list(kind) else { continue };
        let is_alike = |row: &&Row| {
            row.list == list
                && collection_of(kind).is_none_or(|name| row.fields.get("collection").is_some_and(|of| of == name))
        };
        let is_there = fixture.rows.iter().any(|row| row.list == list && row.id == *id);
        let like = fixture.rows.iter().filter(is_alike).find(|row| row.id.contains("max"));
        let like = like.or_else(|| fixture.rows.iter().find(is_alike)).filter(|_| !is_there && ids.len() < MOST);
        let row = like.map(|like| Row { id: id.clone(), ..like.clone() });
        fixture.rows.extend(row);
        ids.insert(id.clone());
    }
    ids
}
