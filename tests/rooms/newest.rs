//! The newest events of a long log, for somebody who sees few of them.

use std::cell::Cell;
use std::ops::ControlFlow;

use ok::log::read::{Filter, Logged, Order};
use ok::log::record::{Decision, PolicyStamp};
use ok::nouns::event::{Events, Scan, Which, collect};
use ok::types::time::Time;
use serde_json::{Value, json};

const ENTRIES: i64 = 1_000_000;

fn entry(seq: i64, actor: &str) -> Logged {
    Logged {
        seq,
        at: Time(0),
        actor: actor.to_owned(),
        kind: "task_created".to_owned(),
        decision: Decision::Allow,
        refs: Vec::new(),
        prev: String::new(),
        event: Some(json!({ "type": "task_created" })),
        token_id: None,
        on_behalf_of: Vec::new(),
        policy: PolicyStamp { hash: String::new(), seq: 1 },
        policies: Vec::new(),
        decided: None,
    }
}

/// What is seen after a number, up to where it was looked, and how many entries that took.
fn followed(since: i64, sees: impl Fn(&Logged) -> bool) -> (Vec<i64>, i64, usize) {
    let (found, read) = looked(json!({ "since": since }), sees);
    assert_eq!(found.is_partial, found.last_seq < ENTRIES);
    (numbers(&found), found.last_seq, read)
}

fn collected(which: Value, sees: impl Fn(&Logged) -> bool) -> (Vec<i64>, bool, usize) {
    let (found, read) = looked(which, sees);
    (numbers(&found), found.is_partial, read)
}

fn numbers(found: &Events) -> Vec<i64> {
    found.events.iter().map(|event| event.seq).collect()
}

/// A log in which `mia` did the first three things, which an index finds; how many entries it was read for.
fn looked(which: Value, sees: impl Fn(&Logged) -> bool) -> (Events, usize) {
    let read = Cell::new(0);
    let scan: Scan<'_> = &|order: Order, filter: &Filter, each| {
        let all: Box<dyn Iterator<Item = i64>> = match (&filter.actor, order) {
            (Some(_), _) => Box::new((1..=3).rev()),
            _ if !filter.refs.is_empty() => Box::new(std::iter::empty()),
            (None, Order::Newest) => Box::new((1..=ENTRIES).rev()),
            (None, Order::After(since)) => Box::new(since + 1..=ENTRIES),
            (None, Order::Between(since, to)) => Box::new(since + 1..=to.min(ENTRIES)),
        };
        for seq in all {
            read.set(read.get() + 1);
            if let ControlFlow::Break(()) = each(entry(seq, if seq <= 3 { "mia" } else { "till" }))? {
                break;
            }
        }
        Ok(())
    };
    let which: Which = serde_json::from_value(which).unwrap();
    let found = collect(&which, ENTRIES, (scan, &"mia".parse().unwrap()), |logged| Ok(sees(logged))).unwrap();
    (found, read.get())
}

#[test]
fn who_sees_few_of_a_long_log_has_their_own_at_once_and_is_told_that_there_may_be_more() {
    let own = |logged: &Logged| logged.actor == "mia";
    let (events, is_partial, read) = collected(json!({}), own);
    assert_eq!((events, is_partial), (vec![1, 2, 3], true));
    assert!(read < 100_000, "{read}");
    // A thing near the end is among them, in its place.
    let (events, ..) = collected(json!({ "limit": 2 }), |logged| own(logged) || logged.seq == ENTRIES - 5);
    assert_eq!(events, [3, ENTRIES - 5]);
    // Who sees enough is shown the newest, and nothing was left out.
    let (events, is_partial, read) = collected(json!({ "limit": 3 }), |_| true);
    assert_eq!((events, is_partial, read), (vec![ENTRIES - 2, ENTRIES - 1, ENTRIES], false, 3));
}

#[test]
fn whoever_goes_on_from_where_an_answer_ended_misses_nothing_and_waits_for_no_more_than_a_part() {
    let (mut since, mut found, mut answers) = (10, Vec::new(), 0);
    loop {
        let seen = |logged: &Logged| [11, 20_011, 500_000, ENTRIES].contains(&logged.seq);
        let (events, last_seq, read) = followed(since, seen);
        assert!(read <= 20_000, "{read}");
        assert!(last_seq > since, "{last_seq}");
        found.extend(events);
        answers += 1;
        since = last_seq;
        if since == ENTRIES {
            break;
        }
    }
    assert_eq!((found, answers), (vec![11, 20_011, 500_000, ENTRIES], 50));
}
