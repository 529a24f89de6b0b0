//! Files that use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::nouns::modules;
use super::{code, crates, files};

/// The paths that a `use` names: `a::{b, c::{d, e}}` names `a::b`, `a::c::d` and `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let mut depth = 0;
    let parts = rest.strip_suffix('}').unwrap().split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(paths).map(|path| format!("{before}{path}")).collect()
}

/// The module that a path names in the module `own`: as much of it as there is a file for.
fn named(own: &str, path: &str, room: Option<&str>, all: &BTreeSet<String>) -> String {
    let mut base: Vec<&str> = own.split("::").collect();
    let mut parts = path.split("::").peekable();
    while let Some(first) = parts.next_if(|part| ["crate", "super", "self"].contains(part)) {
        match first {
            "crate" => base = room.into_iter().collect(),
            "super" => drop(base.pop()),
            _ => {}
        }
    }
    base.extend(parts);
    while !base.is_empty() && !all.contains(&base.join("::")) {
        base.pop();
    }
    base.join("::")
}

/// The modules of the crate that a file names, the longest of each path. What it hands on with `pub use`
/// does not count: a parent that does so for a child uses nothing of it.
fn uses(own: &str, text: &str, all: &BTreeSet<String>, crates: &BTreeMap<String, String>) -> BTreeSet<String> {
    let room = own.split("::").next().filter(|room| crates.contains_key(*room));
    let text = code(text);
    let starts = |line: &str| ["use crate::", "use super::", "use self::"].iter().any(|start| line.starts_with(start));
    let mut found = BTreeSet::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let Some(tree) = Some(rest.trim_start()).filter(|_| starts(line.trim_start())) else {
            rest = after;
            continue;
        };
        let (tree, after) = tree.split_once(';').unwrap();
        rest = after;
        found.extend(paths(tree.trim_start_matches("use ")).iter().map(|path| named(own, path, room, all)));
    }
    // What is named where it is used; there, a part may name what it is a part of.
    for (at, _) in text.match_indices("super::").chain(text.match_indices("crate::")) {
        let path = text[at..].split(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).next().unwrap();
        let module = named(own, path, room, all);
        if !own.starts_with(&format!("{module}::")) {
            found.insert(module);
        }
    }
    found.retain(|one| !one.is_empty() && one != own);
    found
}

/// All that a module uses, and what that uses, and so on.
fn reached<'a>(from: &String, used: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = used[from].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&used[next]);
        }
    }
    reached
}

/// What stands in a circle can only be understood as a whole, however small its files are; and what has once grown into one
/// is hard to get out of it.
#[test]
fn no_circle_of_files() {
    let (crates, modules) = (crates(), modules());
    let all: BTreeSet<String> = modules.values().cloned().collect();
    let used = files("src", "rs").into_iter().map(|(file, text)| {
        let module = &modules[&file];
        (module.clone(), uses(module, &text, &all, &crates))
    });
    let used: BTreeMap<String, BTreeSet<String>> = used.collect();
    assert!(used.values().map(BTreeSet::len).sum::<usize>() > 1_000, "this test has lost sight of the code");
    let reached: BTreeMap<&String, BTreeSet<&String>> = all.iter().map(|one| (one, reached(one, &used))).collect();
    let circle = |one: &String| -> BTreeSet<&str> {
        reached[one].iter().filter(|other| reached[*other].contains(one)).map(|other| other.as_str()).collect()
    };
    let found: BTreeSet<BTreeSet<&str>> = all.iter().map(circle).filter(|circle| !circle.is_empty()).collect();
    assert!(found.is_empty(), "files use each other in a circle: {found:#?}");
}
