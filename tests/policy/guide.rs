//! The guide's example is run as it stands.

use std::fs;

use crate::cli::Place;

/// The fenced blocks of the guide that name a file on their first line: `// policies/...` or `# policies/...`.
fn files() -> Vec<(String, String)> {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/policies.md")).unwrap();
    let blocks = guide.split("```").skip(1).step_by(2);
    let file = |block: &str| {
        let (_, body) = block.split_once('\n')?;
        let (first, rest) = body.split_once('\n')?;
        let name = first.trim_start_matches(['/', '#', ' ']);
        name.starts_with("example/").then(|| (name.to_owned(), rest.trim_start_matches('\n').to_owned()))
    };
    blocks.filter_map(file).collect()
}

#[test]
fn the_example_of_the_guide_checks_clean_and_is_covered() {
    let place = Place::new();
    let files = files();
    assert!(files.len() >= 3, "{files:?}");
    for (name, text) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let ran = place.ok("policy check example --min-coverage 100 --mutate");
    assert_eq!(ran.code, 0, "{ran}");
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/policies.md")).unwrap();
    assert!(guide.contains(ran.stdout.lines().last().unwrap()), "{ran}");
}
