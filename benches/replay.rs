//! Recorded decisions replayed a second by `policy diff`, and the memory that it takes, from 10^4 to 10^6 decisions.
//!
//! The company has 300 people and agents in 10 teams. *Usual*: eight operations by everybody about everybody, half of them
//! about a token or an event that no other decision is about, and every thousandth event changes the directory. *All new*:
//! all of them are about such a token or event. The candidate has one more policy: for one operation, so that the others are
//! asked once for both sides; for every operation, so that all are asked twice; for every operation and looking at the time,
//! so that no answer is remembered.
//!
//! `cargo bench -- replay [<the largest number of decisions>]`
use std::path::Path;
use std::time::Instant;

use crate::support;
use ok::gate::state::open::{Company, open};
use ok::gate::write::record::{By, Entry, GateRecord, RecordedQuestion};
use ok::log::record::Decision;
use ok::policy::Bundle;
use ok::store::actors::events::TrustChanged;
use ok::store::decisions::events::Denied;
use ok::store::open::{Mode, connect};
use ok::types::actor::Trust;
use ok::types::caller::Credential;
use ok::types::id::{ActorId, Id};
use ok::types::target::{Target, Thing};
use serde_json::{Value, json};

const PEOPLE: u64 = 200;
const AGENTS: u64 = 100;
const TEAMS: u64 = 10;

pub fn main() {
    let largest = support::argument(1_000_000.0) as u64;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("questions  changed policies  decisions  decisions/s  CPU us each  peak MiB");
    for new in [false, true] {
        let dir = support::folder();
        runtime.block_on(people(dir.path()));
        for size in [10_000, 100_000, 1_000_000].into_iter().filter(|size| *size <= largest) {
            grow(dir.path(), size, new);
            let company = open(&support::options(dir.path())).unwrap();
            for change in [Change::One, Change::Every, Change::Timed] {
                runtime.block_on(measure(&company, new, change));
            }
            runtime.block_on(company.close());
        }
    }
    support::conditions();
}

async fn people(dir: &Path) {
    let company = support::company(dir).await;
    let ana = || Credential::Holder("ana".parse().unwrap());
    let add = |input: Value| support::perform(&company.gate, ana(), "actor.add", input);
    for team in 0..TEAMS {
        add(json!({ "id": format!("lead{team}"), "kind": "person", "role": "lead" })).await;
        add(json!({ "id": format!("team:t{team}"), "kind": "team", "lead": format!("lead{team}") })).await;
    }
    for number in 0..PEOPLE {
        let team = format!("team:t{}", number % TEAMS);
        add(json!({ "id": format!("p{number}"), "kind": "person", "team": team })).await;
    }
    for number in 0..AGENTS {
        let team = format!("team:t{}", number % TEAMS);
        add(json!({ "id": format!("a{number}"), "kind": "agent", "owner": format!("p{number}"), "team": team })).await;
    }
    company.close().await;
}

fn grow(dir: &Path, size: u64, new: bool) {
    let conn = connect(&dir.join("state.db"), Mode::Write).unwrap();
    let mut log = support::Log::open(&conn, dir);
    while log.size() < size {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        log.append_each(&conn, 10_000.min((size - log.size()) as usize), |seq, entry| decision(seq, entry, new));
        conn.execute_batch("COMMIT").unwrap();
    }
}

fn id(text: &str) -> ActorId {
    text.parse().unwrap()
}

/// Makes a decision of an entry: seven operations by everybody, about everybody.
fn decision(seq: u64, entry: &mut Entry, new: bool) {
    // Spread without a pattern: a step that has no factor in common with the numbers of people and operations.
    let (person, other) = (seq.wrapping_mul(7_919) % PEOPLE, seq.wrapping_mul(104_729) % PEOPLE);
    let (actor, operation, target, decision) = match if new { 5 + seq % 3 } else { seq % 9 } {
        0 => (format!("p{person}"), "tick", Target::Company, Decision::Deny),
        1 => (format!("p{person}"), "token.issue", Target::Actor(id(&format!("p{person}"))), Decision::Allow),
        2 => (
            format!("lead{}", person % TEAMS),
            "actor.offboard",
            Target::Actor(id(&format!("p{other}"))),
            Decision::Deny,
        ),
        3 => {
            let agent = id(&format!("a{}", other % AGENTS));
            let engage = Thing::new("KillSwitch", format!("actor:{agent}")).text("scope", "actor").flag("engage", true);
            (format!("lead{}", person % TEAMS), "kill", engage.actor("actor", &agent).into(), Decision::Deny)
        }
        // These are all different from each other.
        4 | 5 => {
            let token = Thing::new("Token", format!("tok_{seq:026}")).actor("holder", &id(&format!("p{person}")));
            (format!("p{person}"), "token.revoke", token.into(), Decision::Allow)
        }
        6 => {
            let other = id(&format!("p{other}"));
            let event = Thing::new("Event", format!("event:{seq}")).text("kind", "token_issued").actor("actor", &other);
            let event = event.actors("subjects", [other]).actors("leads", []);
            (format!("p{person}"), "context.forget", event.into(), Decision::Deny)
        }
        _ => {
            let token = Thing::new("Token", format!("tok_{seq:026}")).actor("holder", &id(&format!("p{other}")));
            (format!("p{person}"), "token.narrow", token.into(), Decision::Deny)
        }
    };
    entry.event = Denied {
        operation: operation.into(),
        target: target.id(),
        reason: "no policy permits it".into(),
        fault: None,
        count: None,
        first_at: None,
        last_at: None,
    }
    .into();
    if seq.is_multiple_of(1_000) && !new {
        let agent = id(&format!("a{}", other % AGENTS));
        entry.event =
            TrustChanged { id: agent, from: Trust::Assist, to: Trust::Standard, reason: "measured".into() }.into();
    }
    let (by, scopes) = (By::Actor, Default::default());
    let asked = Some(RecordedQuestion {
        by,
        scopes,
        issuer: None,
        target,
        input: None,
        granted: Vec::new(),
        under: None,
        break_glass: None,
        run: None,
    });
    entry.actor = id(&actor);
    entry.decision = decision;
    entry.gate = GateRecord {
        operation: operation.into(),
        channel: "http".into(),
        policies: vec!["p".into()],
        token_id: Some(Id::stored("tok_01M7W2Y7M0PW0JKFV7R48HR6ZK")),
        on_behalf_of: Vec::new(),
        answer: None,
        asked,
    };
}

/// For which operations the candidate differs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    One,
    Every,
    Timed,
}

async fn measure(company: &Company, new: bool, change: Change) {
    let mut bundle = Bundle::built_in();
    let (action, when) = match change {
        Change::One => ("action == Ok::Action::\"token.issue\"", ""),
        Change::Every => ("action", ""),
        Change::Timed => ("action", "\nwhen { context.now > datetime(\"2020-01-01\") }"),
    };
    let scope = format!("principal in Ok::Team::\"team:t3\",\n  {action},\n  resource");
    let more = format!("@id(\"measured\")\n@reason(\"measured\")\nforbid (\n  {scope}\n){when};\n");
    bundle.files.insert("more.cedar".into(), more);
    let ask = async |impact: bool| {
        let (start, busy) = (Instant::now(), cpu());
        let ana = Credential::Holder(id("ana"));
        let input = json!({ "files": bundle.files, "impact": impact });
        let answer = support::perform(&company.gate, ana, "policy.diff", input).await;
        (start.elapsed().as_secs_f64(), cpu() - busy, answer)
    };
    let (without, busy_without, _) = ask(false).await;
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (with, busy_with, answer) = ask(true).await;
    let replayed = answer.pointer("/impact/denominator/replayed").and_then(Value::as_u64).unwrap();
    // What the rest of a comparison takes is taken off; where that is most of it, nothing is left to tell.
    let of_replay = |with: f64, without: f64| (with > 1.5 * without).then_some(with - without);
    let rate = of_replay(with, without).map_or_else(|| "-".to_owned(), |took| format!("{:.0}", replayed as f64 / took));
    let busy = of_replay(busy_with, busy_without);
    let busy = busy.map_or_else(|| "-".to_owned(), |busy| format!("{:.2}", busy * 1e6 / replayed as f64));
    println!(
        "{:>9}  {:>16}  {replayed:>9}  {rate:>11}  {busy:>11}  {:>8.0}",
        if new { "all new" } else { "usual" },
        match change {
            Change::One => "one",
            Change::Every => "every operation",
            Change::Timed => "every, timed",
        },
        peak()
    );
    let denied = answer.pointer("/impact/newly_denied").and_then(Value::as_u64).unwrap();
    assert!(denied > 0 || (new && change == Change::One));
}

/// The most memory that this process has had since it was last cleared, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Seconds that all threads of this process have worked, which does not depend on what else the machine does.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}
