//! The default policies are a model: clean, tested, covered.

use std::collections::BTreeSet;
use std::path::Path;

use ok::gate::explain::fixture;
use ok::policy::check::Options;
use ok::policy::{Bundle, Folder};

use crate::harness::prove::proves;

fn pack() -> Bundle {
    let folder = Folder::of_policies(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/policies"))).unwrap();
    assert_eq!(folder.unread, Vec::<String>::new());
    folder.bundle
}

#[test]
fn the_default_policies_are_clean_tested_and_covered() {
    let options = Options { min_coverage: Some(100), ..Options::default() };
    let report = fixture::check(&ok::operations::ALL, &pack(), &options);
    let told: Vec<String> = report.findings.iter().chain(report.tests()).map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(report.coverage.unwrap().percent(), 100);
    assert!(report.run.asked.len() >= 190);
}

/// Mistakes that change nothing. Each says again, for its reader, what another policy makes sure of: so neither rests on the
/// other alone.
const AGAIN: [(&str, &str); 7] = [
    ("approvers-decide", "`resource.approvers.contains(principal)` was dropped"),
    // Nobody reviews their own.
    (
        "grants-of-ones-own",
        "`action in [Ok::Action::\"break_glass.list\", Ok::Action::\"break_glass.end\"]` was dropped",
    ),
    // A switch can stop only an actor. Said, so that it asks nothing of the contexts that a company gives its own types.
    ("killed-actor", "`principal is Ok::Actor` was dropped"),
    ("killed-issuer", "`principal is Ok::Actor` was dropped"),
    ("killed-team", "`principal is Ok::Actor` was dropped"),
    ("leads-stop-their-team", "`resource.engage` was dropped"),
    ("requests-are-taken-back", "`resource.requester == principal` was dropped"),
];

/// Two of the files; all of them by `make prove`.
#[test]
fn every_mistake_in_them_is_noticed_but_one_that_makes_no_difference() {
    let files = BTreeSet::from(["base/approvals.cedar".to_owned(), "base/kill.cedar".to_owned()]);
    let mutated = (!proves()).then_some(&files);
    let options = Options { mutate: true, mutated, ..Options::default() };
    let report = fixture::check(&ok::operations::ALL, &pack(), &options);
    let mutation = report.mutation.unwrap();
    let survived: Vec<String> = mutation.survived.iter().map(|finding| finding.message.clone()).collect();
    let again = AGAIN.iter().filter(|(policy, _)| {
        let named = format!("@id(\"{policy}\")");
        mutated.is_none_or(|files| files.iter().any(|file| pack().files[file].contains(&named)))
    });
    let again: Vec<String> = again.map(|(policy, what)| format!("no test notices in `{policy}`: {what}")).collect();
    assert_eq!(survived, again);
    assert!(mutation.mutants > if proves() { 150 } else { 20 }, "{}", mutation.mutants);
}

#[test]
fn what_is_built_in_is_what_stands_in_the_folder() {
    assert_eq!(pack(), Bundle::built_in());
}
