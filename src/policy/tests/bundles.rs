//! Bundles: what is read from a folder, and what its hash depends on.

use std::fs;

use crate::policy::{Bundle, BundleError};

#[test]
fn a_folder_gives_its_policy_files_by_relative_path() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("base")).expect("a folder");
    for (path, text) in [("base/tokens.cedar", "// t"), ("a.cedar", "// a"), ("readme.md", "no"), (".b.cedar", "no")] {
        fs::write(folder.path().join(path), text).expect("a file");
    }
    let bundle = Bundle::from_dir(folder.path()).expect("a bundle");
    assert_eq!(bundle, Bundle::new([("a.cedar", "// a"), ("base/tokens.cedar", "// t")]));
}

#[test]
fn links_and_large_files_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.cedar");
    fs::write(&file, vec![b' '; (1 << 20) + 1]).expect("a file");
    let error = Bundle::from_dir(folder.path()).expect_err("too large");
    assert!(matches!(&error, BundleError::TooLarge(_)) && error.to_string().contains("a.cedar"));
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("/etc/hostname", &file).expect("a link");
    assert!(matches!(Bundle::from_dir(folder.path()), Err(BundleError::NotPlain(path)) if path == file));
    assert!(matches!(Bundle::from_dir(&folder.path().join("none")), Err(BundleError::Read { .. })));
}

#[test]
fn the_hash_tells_bundles_apart() {
    let hash = |files: &[(&str, &str)]| Bundle::new(files.iter().copied()).hash().as_str().to_owned();
    assert_eq!(hash(&[("a", "1"), ("b", "2")]), hash(&[("b", "2"), ("a", "1")]));
    assert_ne!(hash(&[("a", "1"), ("b", "2")]), hash(&[("a", "2"), ("b", "1")]));
    assert_ne!(hash(&[("a", "1")]), hash(&[("a", "1"), ("b", "")]));
    assert_eq!(hash(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
