//! A large directory, and as many tasks: its memory, how long a server takes to start with it, and what a decision, a list and
//! a read of one actor take in it, beside the same in a directory of a hundred.
//!
//! `cargo bench -- directory [<actors>]`
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::support;
use ok::gate::Gate;
use ok::gate::state::open::open;
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const ROUNDS: u32 = 200;

pub fn main() {
    let actors = support::argument(1_000_000.0) as u64;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("{:<44}{:>14}{:>14}", "", 100, actors);
    let columns = [100, actors].map(|actors| measured(&runtime, actors));
    let [few, many] = columns;
    for ((what, few), (_, many)) in few.into_iter().zip(many) {
        println!("{what:<44}{few:>14.0}{many:>14.0}");
    }
    support::conditions();
}

/// Each figure with its name.
fn measured(runtime: &Runtime, actors: u64) -> Vec<(&'static str, f64)> {
    let dir = support::folder();
    runtime.block_on(async { support::company_of_one(dir.path()).await.close().await });
    fill(dir.path(), actors);
    let before = resident();
    let start = Instant::now();
    let company = open(&support::options(dir.path())).unwrap();
    let started = start.elapsed();
    let bytes = resident().saturating_sub(before) as f64 / actors as f64;
    let gate = &company.gate;
    let timed = |by: &str, operation: &str, input: Value| micros(runtime, gate, by, operation, &input);
    let figures = vec![
        ("start, milliseconds", started.as_secs_f64() * 1e3),
        ("memory, bytes an actor", bytes),
        ("decision (me.read), us", timed("p7", "me.read", json!({}))),
        ("one team (actor.read), us", timed("ana", "actor.read", json!({ "id": "team:t0" }))),
        ("kill.list, us", timed("ana", "kill.list", json!({}))),
        ("task.list, the 20 of all that one sees, us", timed("p7", "task.list", json!({ "limit": 20 }))),
        ("actor.list, 20 rows, us", timed("p7", "actor.list", json!({ "limit": 20 }))),
        ("directory.find by name, us", timed("ana", "directory.find", json!({ "text": "p7", "limit": 20 }))),
    ];
    let moved = ("a team with all below it moves (actor.update), ms", moved(runtime, gate));
    runtime.block_on(company.close());
    figures.into_iter().chain([moved]).collect()
}

/// Milliseconds to put the team that all others are in into another, and out of it again.
fn moved(runtime: &Runtime, gate: &Arc<Gate>) -> f64 {
    let start = Instant::now();
    for input in [json!({ "id": "team:all", "team": "team:top" }), json!({ "id": "team:all", "no_team": true })] {
        runtime.block_on(support::perform(gate, Credential::Holder("ana".parse().unwrap()), "actor.update", input));
    }
    start.elapsed().as_secs_f64() * 1e3 / 2.0
}

/// Microseconds for one call, by the holder of the state file.
fn micros(runtime: &Runtime, gate: &Arc<Gate>, by: &str, operation: &str, input: &Value) -> f64 {
    let once = || support::perform(gate, Credential::Holder(by.parse().unwrap()), operation, input.clone());
    runtime.block_on(async {
        once().await;
        let start = Instant::now();
        for _ in 0..ROUNDS {
            once().await;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
    })
}

/// A team for each hundred: one person who leads it, nine who are in it, and their agents; and one team that all of these are
/// in. Straight into the table: what is
/// measured is the directory, not its log.
fn fill(dir: &Path, actors: u64) {
    let conn = connect(&dir.join("state.db"), Mode::Write).unwrap();
    let row = "INSERT INTO actor (id, kind, name, role, team, lead, owner, skills, trust, status, created_at)
               WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)";
    let people = "SELECT CASE WHEN n % 100 < 10 THEN 'p' ELSE 'a' END || n,
                         CASE WHEN n % 100 < 10 THEN 'person' ELSE 'agent' END,
                         'Number ' || n, 'member', 'team:t' || (n / 100), NULL,
                         CASE WHEN n % 100 < 10 THEN NULL ELSE 'p' || (n / 100 * 100 + n % 10) END,
                         '[]', 'standard', 'active', n FROM number";
    let teams = "SELECT 'team:t' || n, 'team', 'Team ' || n, 'member', 'team:all', 'p' || (n * 100), NULL,
                        '[]', 'standard', 'active', n FROM number";
    conn.execute(&format!("{row} {people}"), [actors as i64]).unwrap();
    conn.execute(&format!("{row} {teams}"), [actors.div_ceil(100) as i64]).unwrap();
    let above = "SELECT CASE n WHEN 0 THEN 'team:all' ELSE 'team:top' END, 'team', 'Above', 'member', NULL, NULL, NULL,
                        '[]', 'standard', 'active', n FROM number";
    conn.execute(&format!("{row} {above}"), [2]).unwrap();
    // As many tasks, of which the oldest twenty are those that `p7` may see.
    let tasks = "INSERT INTO task (id, title, creator, owner, status, priority, version, created_at, updated_at)
                 WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
                 SELECT printf('tsk_%026d', n), 'Task ' || n, CASE WHEN n < 20 THEN 'p7' ELSE 'ana' END,
                        CASE WHEN n < 20 THEN 'p7' ELSE 'ana' END, 'open', 'normal', 1, n, n FROM number";
    conn.execute(tasks, [actors as i64]).unwrap();
}

/// The memory that this process has, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
