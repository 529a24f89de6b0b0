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

#[test]
fn the_workflow_of_the_guide_is_yaml_with_few_permissions() {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/ci.md")).unwrap();
    let block = guide.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let workflow: serde_yaml::Value = serde_yaml::from_str(block).unwrap();
    assert_eq!(serde_yaml::to_string(&workflow["permissions"]).unwrap(), "contents: read\n");
    assert!(workflow["jobs"]["apply"]["permissions"].is_null());
}

#[test]
fn the_example_about_an_input_stands_beside_the_default_policies() {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/policies.md")).unwrap();
    let mut blocks = guide.split("```").filter_map(|block| block.strip_prefix("cedar\n"));
    let rule = blocks.find(|block| block.contains("roles-with-approval")).unwrap();
    let place = Place::new();
    for (name, text) in ok::policy::Bundle::built_in().files {
        let path = place.path().join("both").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(place.path().join("both/roles.cedar"), rule).unwrap();
    let ran = place.ok("policy check both");
    assert_eq!(ran.code, 0, "{ran}");
}
