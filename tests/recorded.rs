//! What is in a log stays readable, byte for byte: `snapshots/log/events.jsonl` holds events as logs have them, of every
//! type and with every field that may be missing, `snapshots/log/histories.jsonl` whole logs with the tables that the version
//! of their time made of them. Their lines are never changed.

use std::collections::BTreeSet;

use ok::store::event::Event;
use ok::types::canonical;
use serde_json::Value;

use crate::harness::history::{self, History};

/// Each recorded event, with the ids that its entry names.
fn recorded() -> impl Iterator<Item = (Vec<String>, &'static str)> {
    include_str!("../snapshots/log/events.jsonl").lines().map(|line| {
        let (refs, event) = line.strip_prefix("{\"refs\":").unwrap().split_once(",\"event\":").unwrap();
        (serde_json::from_str(refs).unwrap(), event.strip_suffix('}').unwrap())
    })
}

#[test]
fn an_event_of_a_log_reads_and_writes_as_it_stands_there() {
    let mut types = BTreeSet::new();
    for (refs, text) in recorded() {
        let event = Event::read(serde_json::from_str::<Value>(text).unwrap()).unwrap();
        assert_eq!(String::from_utf8(canonical::to_vec(&event).unwrap()).unwrap(), text);
        assert_eq!(event.subjects(), refs, "{text}");
        types.insert(event.kind().name);
    }
    assert_eq!(types.len(), 84, "a type of event is gone");
}

#[test]
fn a_log_leads_to_the_tables_that_it_led_to_in_the_version_that_wrote_it() {
    let histories = include_str!("../snapshots/log/histories.jsonl");
    assert!(histories.lines().count() >= 38, "a history is gone");
    for line in histories.lines() {
        let History { name: test, entries, tables } = serde_json::from_str(line).unwrap();
        let now = history::folded(&entries);
        assert!(history::tables(&now).unwrap().keys().eq(tables.keys()), "{test}: other tables have rows");
        for (name, was) in tables {
            // Columns that came later are not compared.
            assert_eq!(history::table(&now, &name, &was.columns).unwrap(), was, "{test}: {name}");
        }
    }
}
