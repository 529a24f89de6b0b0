//! The default policies are a model: clean, tested, covered.

use std::path::Path;

use ok::gate::fixture;
use ok::policy::check::Options;
use ok::policy::{Bundle, Folder};

fn pack() -> Bundle {
    let folder = Folder::of_policies(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/policies"))).unwrap();
    assert_eq!(folder.unread, Vec::<String>::new());
    folder.bundle
}

#[test]
fn the_default_policies_are_clean_tested_and_covered() {
    let options = Options { min_coverage: Some(100), mutate: true, ..Options::default() };
    let report = fixture::check(&ok::operations::ALL, &pack(), &options);
    let told: Vec<String> = report.findings.iter().chain(report.tests()).map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(report.coverage.unwrap().percent(), 100);
    assert!(report.run.asked.len() >= 190);
}

/// A survivor changes nothing: `release-by-admins` refuses what `leads-stop-their-team` would then permit. It stays,
/// so that neither policy rests on the other alone.
#[test]
fn every_mistake_in_them_is_noticed_but_one_that_makes_no_difference() {
    let options = Options { mutate: true, ..Options::default() };
    let mutation = fixture::check(&ok::operations::ALL, &pack(), &options).mutation.unwrap();
    let survived: Vec<&str> = mutation.survived.iter().map(|finding| finding.message.as_str()).collect();
    // Each of these says again, for its reader, what another policy makes sure of.
    let again = [
        "no test notices in `approvers-decide`: `resource.approvers.contains(principal)` was dropped",
        // Nobody reviews their own.
        "no test notices in `grants-of-ones-own`: `action in [Ok::Action::\"break_glass.list\", Ok::Action::\"break_glass.end\"]` was dropped",
        // A switch can stop only an actor. Said, so that it asks nothing of the contexts that a company gives its own types.
        "no test notices in `killed-actor`: `principal is Ok::Actor` was dropped",
        "no test notices in `killed-team`: `principal is Ok::Actor` was dropped",
        "no test notices in `leads-stop-their-team`: `resource.engage` was dropped",
        "no test notices in `requests-are-taken-back`: `resource.requester == principal` was dropped",
    ];
    assert_eq!(survived, again);
    assert!(mutation.mutants > 150, "{}", mutation.mutants);
}

#[test]
fn what_is_built_in_is_what_stands_in_the_folder() {
    assert_eq!(pack(), Bundle::built_in());
}
