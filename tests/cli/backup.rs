//! Backups: whole, also while a server works, and companies of their own.

use std::os::unix::fs::PermissionsExt as _;

use super::{Place, assert_snapshot, session};

#[test]
fn a_backup_opens_as_a_company() {
    let place = Place::with_company();
    let runs = [
        place.ok("backup copy.db"),
        place.ok("--state copy.db audit verify"),
        place.ok("--state copy.db --as ana actor add-human bob --role member"),
        place.ok("--state copy.db audit verify"),
        place.ok("backup copy.db"),
        place.ok("backup absent/copy.db"),
    ];
    assert_snapshot("a_backup_opens_as_a_company", session(runs));
    let mode = |name: &str| std::fs::metadata(place.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("copy.db"), mode("copy.db.key"), mode("copy.db.secrets")), (0o600, 0o600, 0o600));
    let secrets = |state: &str| std::fs::read(place.path().join(format!("{state}.secrets"))).unwrap();
    assert_eq!(secrets("copy.db"), secrets(".ok/state.db"));
}

#[test]
fn a_backup_tells_its_sha256() {
    use sha2::Digest as _;
    let place = Place::with_company();
    let told: serde_json::Value = serde_json::from_str(&place.ok("--format json backup copy.db").stdout).unwrap();
    let bytes = std::fs::read(place.path().join("copy.db")).unwrap();
    assert_eq!(told["bytes"], bytes.len());
    assert_eq!(told["sha256"], hex::encode(sha2::Sha256::digest(&bytes)));
}

#[test]
fn nothing_is_overwritten_and_nothing_half_done_is_left() {
    let place = Place::with_company();
    std::fs::write(place.path().join("copy.db.key"), "precious").unwrap();
    assert_eq!(place.ok("backup copy.db").code, 1);
    assert!(!place.path().join("copy.db").exists());
    assert_eq!(std::fs::read(place.path().join("copy.db.key")).unwrap(), b"precious");
}

#[test]
fn a_backup_is_whole_while_a_server_works() {
    let place = Place::with_company();
    let server = place.serve();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for number in 0..10 {
                assert_eq!(place.ana(&format!("actor add-human p{number} --role member")).code, 0);
            }
        });
        for number in 0..4 {
            assert_eq!(place.ok(&format!("backup b{number}.db")).code, 0);
            assert_eq!(place.ok(&format!("--state b{number}.db audit verify")).code, 0);
        }
        busy.join().unwrap();
    });
    assert_eq!(server.stop().code, 0);
    assert_eq!(place.ok("audit verify").code, 0);
    assert_eq!(place.ok("--state b3.db --as ana tick").code, 0);
}

#[test]
fn a_backup_that_is_killed_leaves_nothing_that_looks_like_one() {
    let place = Place::with_company();
    for number in 0..12 {
        let mut child = place.command(&["backup", &format!("b{number}.db")]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3 * number));
        let _ = child.kill();
        child.wait().unwrap();
        let whole = !place.path().join(format!("b{number}.db")).exists()
            || place.ok(&format!("--state b{number}.db audit verify")).code == 0;
        assert!(whole, "killed after {} ms", 3 * number);
        for name in ["key", "secrets"] {
            let key = |state: &str| std::fs::read(place.path().join(format!("{state}.{name}")));
            assert!(
                key(&format!("b{number}.db")).is_err()
                    || key(&format!("b{number}.db")).unwrap() == key(".ok/state.db").unwrap()
            );
        }
    }
    // What one left behind is in nobody's way.
    std::fs::write(place.path().join("copy.db.part"), "half").unwrap();
    std::fs::write(place.path().join("copy.db.secrets.part"), "half").unwrap();
    std::fs::copy(place.path().join(".ok/state.db.key"), place.path().join("copy.db.key")).unwrap();
    assert_eq!(place.ok("backup copy.db").code, 0);
    assert_eq!(place.ok("--state copy.db --as ana tick").code, 0);
    let left = std::fs::read_dir(place.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("copy.db") && name.ends_with("part")).collect();
    assert_eq!(left, Vec::<String>::new());
}
