//! What pages show beside commands: policies that stand beside the default ones, settings, data.

use ok::adapters::Systems;
use std::fs;

use serde_json::Value;

use super::Place;
use super::ci::put;
use super::guides::{blocks, follow, pages};

/// Blocks that name no file of theirs and are followed with no command.
fn others(page: &str) -> Vec<(String, String)> {
    let names_a_file = |body: &str| {
        let first = body.lines().next().unwrap_or_default();
        first.starts_with(['#', '/']) && !first.trim_start_matches(['#', '/', ' ']).contains(' ')
    };
    let is_typed = |kind: &str| matches!(kind, "sh" | "console" | "text");
    blocks(page).into_iter().filter(|(kind, body)| !is_typed(kind) && !names_a_file(body)).collect()
}

/// A folder with the default policies.
fn with_policies(place: Place) -> Place {
    assert_eq!(place.ana("policy export --dir both").code, 0);
    place
}

/// The errors of a folder.
fn errors(place: &Place) -> Vec<Value> {
    let ran = place.ok("policy check both --format json");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    let problems = told["problems"].as_array().unwrap_or_else(|| panic!("{ran}")).clone();
    let is_wrong = |one: &Value| one["severity"] == "error" || one["code"] == "policy_format";
    problems.into_iter().filter(is_wrong).collect()
}

fn assert_right(page: &str, place: &Place) {
    let found = errors(place);
    assert!(found.is_empty(), "{page}: {found:?}");
}

#[test]
fn every_policy_and_setting_that_a_page_shows_is_right() {
    let (mut policies, mut settings) = (0, 0);
    // One page is about a collection, which its commands make.
    let (of_data, of_others) = (with_policies(follow("data")), with_policies(Place::with_company()));
    for page in pages() {
        let place = if page == "data" { &of_data } else { &of_others };
        let is_right = || assert_right(&page, place);
        let others = others(&page);
        for (number, (kind, body)) in others.iter().enumerate() {
            match (kind.as_str(), body.lines().next().unwrap_or_default()) {
                ("cedar", _) => {
                    // One may show a default policy as it could be.
                    let body = body.replace("@id(\"", &format!("@id(\"{page}-"));
                    put(place, &format!("both/{page}-{number}.cedar"), &body);
                    policies += 1;
                }
                ("yaml", "rates:" | "teams:") => {
                    let both = format!("{}{body}", if body.starts_with("rates") { "" } else { "rates: {}\n" });
                    put(place, "both/limits.yaml", &both);
                    // The next one may take its place.
                    is_right();
                    settings += 1;
                }
                ("yaml", "kinds:") => {
                    put(place, "both/approvals.yaml", body);
                    is_right();
                    settings += 1;
                }
                ("yaml", "systems:") => {
                    put(place, "systems.yaml", body);
                    Systems::read(&place.path().join("systems.yaml"), &|_| Some("secret".to_owned().into())).unwrap();
                    fs::remove_file(place.path().join("systems.yaml")).unwrap();
                }
                // A workflow is read where it is tested, Python where something is signed.
                ("yaml", "name: policies") | ("python", _) => {}
                ("json", _) => drop(serde_json::from_str::<Value>(body).unwrap()),
                other => panic!("{page}: nothing tries {other:?}"),
            }
        }
    }
    assert_right("data", &of_data);
    assert_right("a page", &of_others);
    assert!(policies >= 7 && settings >= 3, "{policies} policies, {settings} settings");
}
