//! What recording refusals costs: answers a second at 64 connections where every other request is refused, beside the same
//! where all are allowed. Once the refusals are of one person about one thing, as a loop makes them, and once of 64 people.
//!
//! `cargo bench -- refusals [<seconds per line>]`
use std::time::Duration;

use crate::support;
use crate::support::load;
use ok::types::caller::Credential;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 64;
const TURNS: u32 = 4;

pub fn main() {
    let length = Duration::from_secs_f64(support::argument(4.0)) / TURNS;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company(dir.path()));
    let ana = || Credential::Holder("ana".parse().unwrap());
    let perform = |operation, input| runtime.block_on(support::perform(&company.gate, ana(), operation, input));
    // Members read themselves, and not the policies.
    let people: Vec<(String, String)> = (0..CONNECTIONS)
        .map(|number| {
            let id = format!("p{number}");
            perform("actor.add", json!({ "id": id, "kind": "person" }));
            let token = perform("token.issue", json!({ "for": id }))["token"].as_str().unwrap().to_owned();
            let of =
                |path: &str| format!("GET /api/{path} HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\r\n");
            (of("me"), of("policy"))
        })
        .collect();
    let stop = CancellationToken::new();
    let at = load::serve(&runtime, &company, &stop);
    assert!(load::one(at, &people[0].0).contains("p0"));
    let (allowed, refused) = &people[0];
    let by_one = [allowed.as_str(), refused.as_str()];
    let by_all: Vec<&str> = people.iter().flat_map(|(allowed, refused)| [allowed.as_str(), refused.as_str()]).collect();
    let all_allowed: Vec<&str> = people.iter().map(|(allowed, _)| allowed.as_str()).collect();
    // Turn about, so that none has the quieter part of the run.
    let mut rates = [0.0; 3];
    for _ in 0..TURNS {
        for (rate, requests) in rates.iter_mut().zip([&all_allowed[..], &by_one, &by_all]) {
            *rate += load::answers(at, requests, CONNECTIONS, length) / f64::from(TURNS);
        }
    }
    let [allowed, by_one, by_all] = rates;
    println!("all allowed, answers/s                    {allowed:>10.0}");
    println!("half refused, one person, answers/s       {by_one:>10.0}   of allowed {:>5.2}", by_one / allowed);
    println!(
        "half refused, {CONNECTIONS} people, answers/s        {by_all:>10.0}   of allowed {:>5.2}",
        by_all / allowed
    );
    stop.cancel();
    runtime.block_on(company.close());
    support::conditions();
}
