//! The default policies are a model: clean, tested, covered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ok::gate::explain::fixture;
use ok::policy::bundle::is_policy;
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

/// For each file of policies, its hash when all of its mistakes were tried, and how many there are; and the hash of all that
/// is no policy. That a policy of another file now says the same, `make prove` notices.
const TRIED: &str = "tests/policy/tried.txt";
const REST: &str = "all others";

/// Tried however little has changed.
const ALWAYS: [&str; 2] = ["base/approvals.cedar", "base/kill.cedar"];

/// Mistakes in files that have changed; in all of them by `make prove`, and when tests or approvals have changed.
#[test]
fn every_mistake_in_them_is_noticed_but_one_that_makes_no_difference() {
    let (policies, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
        pack().files.into_iter().partition(|(path, _)| is_policy(path));
    let of = |path: &str| hash([(path.to_owned(), policies[path].clone())].into());
    let (recorded, rest) = (tried(), hash(rest));
    let all = proves() || recorded.get(REST).is_none_or(|(hash, _)| *hash != rest);
    let is_new = |path: &String| recorded.get(path).is_none_or(|(hash, _)| *hash != of(path));
    let is_tried = |path: &&String| all || ALWAYS.contains(&path.as_str()) || is_new(path);
    let mutated: BTreeSet<String> = policies.keys().filter(is_tried).cloned().collect();
    let options = Options { mutate: true, mutated: Some(&mutated), ..Options::default() };
    let mutation = fixture::check(&ok::nouns::OPERATIONS, &pack(), &options).mutation.unwrap();

    let survived: Vec<String> = mutation.survived.iter().map(|finding| finding.message.clone()).collect();
    let is_in = |policy: &str| mutated.iter().any(|path| policies[path].contains(&format!("@id(\"{policy}\")")));
    let again = AGAIN.iter().filter(|(policy, _)| is_in(policy));
    let again: Vec<String> =
        again.map(|(policy, what)| format!("no test detects this mutant of `{policy}`: {what}")).collect();
    assert_eq!(survived, again);
    assert!(ALWAYS.iter().all(|path| mutation.by_file[*path] > 10), "{:?}", mutation.by_file);

    let number = |path: &String| match mutated.contains(path) {
        true => mutation.by_file.get(path).copied().unwrap_or_default(),
        false => recorded[path].1,
    };
    let lines = policies.keys().map(|path| format!("{path} {} {}\n", of(path), number(path)));
    says(TRIED, &format!("{REST} {rest} 0\n{}", lines.collect::<String>()));
    let told = grouped(policies.keys().map(number).sum::<usize>() as u64);
    let told = format!("In the default policies {} of {told} survive", AGAIN.len());
    assert!(text("docs/guides/policies.md").contains(&told), "the guide does not say: {told}");
}

/// By the path of a file, its hash and the number of its mistakes.
fn tried() -> BTreeMap<String, (String, usize)> {
    let read = |line: &str| {
        let mut parts = line.rsplitn(3, ' ');
        let (number, hash) = (parts.next()?.parse().ok()?, parts.next()?.to_owned());
        Some((parts.next()?.to_owned(), (hash, number)))
    };
    text(TRIED).lines().filter_map(read).collect()
}

fn hash(files: BTreeMap<String, String>) -> String {
    Bundle { files }.hash().to_string()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_default()
}

#[test]
fn what_is_built_in_is_what_stands_in_the_folder() {
    assert_eq!(pack(), Bundle::built_in());
}
