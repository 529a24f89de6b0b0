//! Merges a blueprint's policies with those in force.

use std::collections::BTreeMap;

use policy::Bundle;
use policy::approvals::{ApprovalRules, FILE};

/// The folder of policies in a blueprint; the prefix is dropped in the bundle.
const POLICIES: &str = "policies/";
/// Files of a blueprint's folder that do not belong in a bundle.
const OTHERS: [&str; 2] = ["blueprint.yaml", "README.md"];

/// Returns a blueprint's files by their paths in a bundle.
pub fn of_bundle(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own = files.iter().filter(|(path, _)| !OTHERS.contains(&path.as_str()));
    own.map(|(path, text)| (path.strip_prefix(POLICIES).unwrap_or(path).to_owned(), text.clone())).collect()
}

/// Merges a blueprint's files into a bundle, and returns the paths left as they were. A file unchanged since the company was
/// created is replaced; a changed one stays, and approvals.yaml gets the kinds that it lacks.
pub fn onto(in_force: &Bundle, blueprint: &BTreeMap<String, String>) -> (Bundle, Vec<String>) {
    let (begun, mut bundle, mut skipped) = (Bundle::built_in(), in_force.clone(), Vec::new());
    for (path, text) in of_bundle(blueprint) {
        match in_force.files.get(&path) {
            Some(theirs) if *theirs == text => skipped.push(path),
            Some(theirs) if begun.files.get(&path) != Some(theirs) => {
                match (path == FILE).then(|| with_kinds(theirs, &text)).flatten() {
                    Some(both) => drop(bundle.files.insert(path, both)),
                    None => skipped.push(path),
                }
            }
            Some(_) | None => drop(bundle.files.insert(path, text)),
        }
    }
    (bundle, skipped)
}

/// Adds the approval kinds that only the blueprint has to a company's; `None` if there are none.
fn with_kinds(theirs: &str, ours: &str) -> Option<String> {
    let (mut rules, more) = (ApprovalRules::parse(theirs).ok()?, ApprovalRules::parse(ours).ok()?);
    let missing: Vec<_> = more.kinds.into_iter().filter(|(kind, _)| !rules.kinds.contains_key(kind)).collect();
    if missing.is_empty() {
        return None;
    }
    let blocks: String = missing.iter().map(|(kind, _)| block(ours, kind)).collect();
    rules.kinds.extend(missing);
    let appended = format!("{}\n{blocks}", theirs.trim_end());
    // Comments are kept if both files have the same layout.
    if ApprovalRules::parse(&appended).as_ref() == Ok(&rules) {
        Some(appended)
    } else {
        serde_yaml::to_string(&rules).ok()
    }
}

/// Returns the lines of one kind in YAML block style.
fn block(text: &str, kind: &str) -> String {
    let head = format!("  {kind}:");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&head));
    let first = lines.next().unwrap_or_default();
    let inside = lines.take_while(|line| line.starts_with("   "));
    std::iter::once(first).chain(inside).map(|line| format!("{line}\n")).collect()
}
