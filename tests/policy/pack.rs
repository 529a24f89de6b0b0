//! The default policies are a model: clean, tested, covered.

use std::collections::BTreeSet;
use std::path::Path;

use ok::gate::explain::fixture;
use ok::policy::check::Options;
use ok::policy::{Bundle, Folder};
use ok::types::impact::grouped;

use crate::harness::prove::proves;
use crate::reference::says;

fn pack() -> Bundle {
    let folder = Folder::of_policies(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/policies"))).unwrap();
    assert_eq!(folder.unread, Vec::<String>::new());
    folder.bundle
}

#[test]
fn the_default_policies_are_clean_tested_and_covered() {
    let options = Options { min_coverage: Some(100), ..Options::default() };
    let report = fixture::check(&ok::nouns::OPERATIONS, &pack(), &options);
    let told: Vec<String> = report.findings.iter().chain(report.tests()).map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(report.coverage.unwrap().percent(), 100);
    assert!(report.run.asked.len() >= 190);
}

/// Mistakes that change nothing. Each says again, for its reader, what another policy makes sure of: so neither rests on the
/// other alone.
const AGAIN: [(&str, &str); 13] = [
    ("approvers-decide", "`resource.approvers.contains(principal)` was dropped"),
    // People are trusted.
    ("assistants-go-out-with-approval", "`principal.kind != \"person\"` was dropped"),
    ("assistants-go-out-with-approval", "`principal.kind != \"person\"`: \"person\" became \"\""),
    // Nobody reviews their own.
    (
        "grants-of-ones-own",
        "`action in [Ok::Action::\"break_glass.list\", Ok::Action::\"break_glass.end\"]` was dropped",
    ),
    // A switch can stop only an actor. Said, so that it asks nothing of the contexts that a company gives its own types.
    ("killed-actor", "`principal is Ok::Actor` was dropped"),
    ("killed-issuer", "`principal is Ok::Actor` was dropped"),
    ("killed-team", "`principal is Ok::Actor` was dropped"),
    // Everybody is in themselves.
    ("knowledge-of-ones-own-and-ones-team", "`resource == principal` was dropped"),
    ("leads-stop-their-team", "`resource.engage` was dropped"),
    // Nothing else of ours concerns one person. Said, so that it asks nothing of what a company calls so.
    ("personal-knowledge-stays-with-its-person", "`resource is Ok::Knowledge` was dropped"),
    ("requests-are-taken-back", "`resource.requester == principal` was dropped"),
    // A company is about nobody.
    ("vectors-are-made-of-what-is-accepted", "`resource is Ok::Company` was dropped"),
    // Nobody else answers.
    ("who-is-asked-answers", "`resource.asked.contains(principal)` was dropped"),
];

/// The hash of the pack of which every mistake was tried, and how many there are.
const TRIED: &str = "tests/policy/tried.txt";

/// Two of the files; all of them by `make prove`, and as long as it is not recorded that all of this pack were tried.
#[test]
fn every_mistake_in_them_is_noticed_but_one_that_makes_no_difference() {
    let files = BTreeSet::from(["base/approvals.cedar".to_owned(), "base/kill.cedar".to_owned()]);
    let hash = pack().hash().to_string();
    let recorded = text(TRIED);
    let known = recorded.trim_end().strip_prefix(&hash).map(str::trim);
    let all = proves() || known.is_none();
    let mutated = (!all).then_some(&files);
    let options = Options { mutate: true, mutated, ..Options::default() };
    let report = fixture::check(&ok::nouns::OPERATIONS, &pack(), &options);
    let mutation = report.mutation.unwrap();
    let survived: Vec<String> = mutation.survived.iter().map(|finding| finding.message.clone()).collect();
    let again = AGAIN.iter().filter(|(policy, _)| {
        let named = format!("@id(\"{policy}\")");
        mutated.is_none_or(|files| files.iter().any(|file| pack().files[file].contains(&named)))
    });
    let again: Vec<String> =
        again.map(|(policy, what)| format!("no test detects this mutant of `{policy}`: {what}")).collect();
    assert_eq!(survived, again);
    assert!(mutation.mutants > if all { 1_000 } else { 20 }, "{}", mutation.mutants);
    let number = if all { mutation.mutants.to_string() } else { known.unwrap_or_default().to_owned() };
    says(TRIED, &format!("{hash} {number}\n"));
    let told = format!("In the default policies {} of {} survive", AGAIN.len(), grouped(number.parse().unwrap()));
    assert!(text("docs/guides/policies.md").contains(&told), "the guide does not say: {told}");
}

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_default()
}

#[test]
fn what_is_built_in_is_what_stands_in_the_folder() {
    assert_eq!(pack(), Bundle::built_in());
}
