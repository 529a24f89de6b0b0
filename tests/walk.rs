//! «Add a noun in ten minutes» is true: `docs/add-a-noun.md` names places that there are, and its blocks, put there, build
//! and pass. The build takes minutes, so only `make prove` does it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::prove::proves;

const PAGE: &str = include_str!("../docs/add-a-noun.md");

/// A block of the page, and where it goes.
struct Step {
    file: String,
    at: At,
    block: String,
}

enum At {
    New,
    After(String),
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page's steps: each block stands below the line that says where it goes.
fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = PAGE.lines();
    let mut place = None;
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("**`") {
            let (file, rest) = rest.split_once("`**, ").expect("a place has a file");
            place = Some((file.to_owned(), at(rest)));
        }
        if line.starts_with("```") {
            let (file, at) = place.take().unwrap_or_else(|| panic!("nothing says where this block goes: {line}"));
            let block = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            steps.push(Step { file, at, block });
        }
    }
    assert!(place.is_none(), "a place without a block");
    steps
}

fn at(text: &str) -> At {
    if text.starts_with("a new file") {
        return At::New;
    }
    match text.strip_prefix("after `") {
        Some(rest) => At::After(rest.strip_suffix("`:").expect("a line to stand after").to_owned()),
        None => panic!("where is {text:?}?"),
    }
}

#[test]
fn each_place_that_the_page_names_is_there() {
    let steps = steps();
    assert!(steps.len() > 10, "this test has lost sight of the page");
    for Step { file, at, block } in steps {
        let path = root().join(&file);
        let text = std::fs::read_to_string(&path);
        match at {
            At::New => {
                assert!(text.is_err(), "{file} is there already");
                // The noun's own folder is the page's.
                let is_of_the_noun = file.starts_with("src/nouns/");
                assert!(is_of_the_noun || path.parent().unwrap().is_dir(), "{file} has no folder");
            }
            At::After(after) => {
                let text = text.unwrap_or_else(|_| panic!("{file} is not there"));
                let found = text.lines().filter(|line| *line == after).count();
                assert_eq!(found, 1, "{file} has the line {after:?} not once");
                assert!(!text.contains(&block), "{file} has {block:?} already");
            }
        }
    }
}

#[test]
fn the_sources_with_the_page_s_blocks_build_and_pass() {
    if !proves() {
        return;
    }
    // Kept between runs: what the sources depend on is built once.
    let place = root().join("target/walk");
    let copy = place.join("ok");
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir_all(&copy).unwrap();
    for part in ["src", "policies", "blueprints", "docs", "tests", "benches", "snapshots"] {
        copied(&root().join(part), &copy.join(part));
    }
    for file in ["Cargo.toml", "Cargo.lock", ".clippy.toml", "README.md", "CHANGELOG.md", "Makefile"] {
        std::fs::copy(root().join(file), copy.join(file)).unwrap();
    }
    steps().iter().for_each(|step| put(&copy, step));
    let tests = ["api::holidays", "policy::pack", "house::", "property::fold", "api::veil", "cli::steering"];
    // What the page's last section has written anew.
    let generated = ["--skip", "every_mistake_in_them_is_noticed"];
    let run = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--test", "main", "--"])
        .args(tests)
        .args(generated)
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env_remove("OK_PROVE")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}\n{err}");
    assert!(out.contains("admins_add_holidays_and_everybody_reads_them ... ok"), "{out}");
}

fn put(copy: &Path, Step { file, at, block }: &Step) {
    let path = copy.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let text = match at {
        At::New => block.clone(),
        At::After(after) => text.replacen(&format!("{after}\n"), &format!("{after}\n{block}"), 1),
    };
    std::fs::write(path, text).unwrap();
}

fn copied(from: &PathBuf, to: &PathBuf) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() && name != "node_modules" {
            copied(&path, &to.join(name));
        } else if path.is_file() {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
