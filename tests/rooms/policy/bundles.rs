//! Bundles: what is read from a folder, and what its hash depends on.

use std::fs;

use ok::policy::{Bundle, Folder, FolderError};

fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for path in files {
        let at = folder.path().join(path);
        fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        fs::write(at, format!("// {path}")).expect("a file");
    }
    folder
}

#[test]
fn a_folder_gives_its_policy_files_by_relative_path() {
    let folder =
        folder(&["base/tokens.cedar", "a.cedar", "schema.cedarschema", "readme.md", ".b.cedar", ".git/c.cedar"]);
    let read = Folder::of_policies(folder.path()).expect("a bundle");
    let files = ["a.cedar", "base/tokens.cedar", "schema.cedarschema"].map(|path| (path, format!("// {path}")));
    assert_eq!(read, Folder { bundle: Bundle::new(files), unread: Vec::new() });
}

#[test]
fn every_file_is_read_known_or_told() {
    let beside = ["ok.cedarschema", "policy.lock", "proposals/chg_1.yaml", "docs/why.md"];
    let unread = [
        "a.Cedar",
        "a.cedar~",
        "approvals.yml",
        "limit.yaml",
        "notes.txt",
        "proposals/a.yml",
        "sub/approvals.yaml",
        "sub/limits.yaml",
        "sub/ok.cedarschema",
        "sub/policy.lock",
        "sub/schema.cedarschema",
        "sub/tests/a.yaml",
        "tests/deep/a.yml",
        "tests/notes",
    ];
    let read = ["a.cedar", "approvals.yaml", "limits.yaml", "sub/b.cedar", "tests/a.yaml", "tests/deep/a.yaml"];
    let folder = folder(&[beside.as_slice(), &unread, &read].concat());
    let found = Folder::read(folder.path()).expect("a bundle");
    assert_eq!(found.unread, unread);
    assert_eq!(found.bundle.files.keys().collect::<Vec<_>>(), read);
}

#[test]
fn a_folder_without_policies_is_no_folder_of_policies() {
    for files in [&[][..], &["tests/a.yaml", "approvals.yaml", "a.Cedar"][..]] {
        let folder = folder(files);
        let error = Folder::of_policies(folder.path()).expect_err("no policies");
        assert!(error.to_string().ends_with("contains no policies: no file in it ends with .cedar"), "{error}");
    }
}

#[test]
fn links_and_large_files_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.cedar");
    fs::write(&file, vec![b' '; (1 << 20) + 1]).expect("a file");
    let error = Folder::read(folder.path()).expect_err("too large");
    assert!(matches!(&error, FolderError::TooLarge(_)) && error.to_string().contains("a.cedar"));
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("/etc/hostname", &file).expect("a link");
    assert!(matches!(Folder::read(folder.path()), Err(FolderError::NotPlain(path)) if path == file));
    assert!(matches!(Folder::read(&folder.path().join("none")), Err(FolderError::Read { .. })));
}

#[test]
fn the_hash_tells_bundles_apart() {
    let hash = |files: &[(&str, &str)]| Bundle::new(files.iter().copied()).hash().as_str().to_owned();
    assert_eq!(hash(&[("a", "1"), ("b", "2")]), hash(&[("b", "2"), ("a", "1")]));
    assert_ne!(hash(&[("a", "1"), ("b", "2")]), hash(&[("a", "2"), ("b", "1")]));
    assert_ne!(hash(&[("a", "1")]), hash(&[("a", "1"), ("b", "")]));
    assert_eq!(hash(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
