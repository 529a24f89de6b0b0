//! What is in a log stays readable, byte for byte: `snapshots/log/events.jsonl` holds events as logs have them, of every
//! type and with every field that may be missing. Its lines are never changed.

use std::collections::BTreeSet;

use ok::store::event::Event;
use ok::types::canonical;
use serde_json::Value;

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
