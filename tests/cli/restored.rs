//! Folders, plans and exports from before a backup was restored, and locks that a merge left in two.

use super::Place;
use super::ci::put;

/// Puts a backup in the place of the state file.
fn restore(place: &Place, backup: &str) {
    for rest in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{rest}", place.state().display()));
    }
    std::fs::copy(place.path().join(backup), place.state()).unwrap();
}

const LOST: &str = "was made from a version 2 that this company does not have, as after a restored backup";

/// A company whose version 2 was lost with `more.cedar` in it, and has another version 2 since, with `hotfix.cedar`.
fn restored() -> Place {
    let place = Place::with_company();
    let ana = |line: &str| {
        let done = place.ana(line);
        assert_eq!(done.code, 0, "{line}: {done}");
        done
    };
    ana("backup before.db");
    ana("policy export --dir policies");
    put(&place, "policies/more.cedar", "// More.\n");
    ana("policy apply");
    put(&place, "exported.txt", &ana("policy export").stdout);
    put(&place, "exported.json", &ana("--format json policy export").stdout);
    put(&place, "policies/even-more.cedar", "// Even more.\n");
    place.ana("policy diff --save plan.json");
    restore(&place, "before.db");
    ana("policy export --dir now");
    put(&place, "now/hotfix.cedar", "// Hot.\n");
    ana("policy apply now --reason hotfix");
    place
}

#[test]
fn nothing_from_before_a_restored_backup_replaces_what_came_into_force_since_under_the_same_number() {
    let place = restored();
    for (from, way) in [
        ("plan.json", "Compare again: `ok policy diff --save`"),
        ("exported.txt", "Export again"),
        ("exported.json", "Export again"),
        ("policies", "remove policies/policy.lock first"),
    ] {
        let applied = place.ana(&format!("policy apply {from} --reason late"));
        let told = applied.stderr.contains(LOST) && applied.stderr.contains(way);
        assert!(applied.code == 1 && told, "{from}: {applied}");
    }
    assert!(place.ana("policy export").stdout.contains("==> hotfix.cedar <=="));
    // A plan for what is in force is applied.
    put(&place, "now/hotfix.cedar", "// Hotter.\n");
    let compared = place.ana("policy diff now --save new.json");
    assert!(compared.stderr.is_empty(), "{compared}");
    let applied = place.ana("policy apply new.json --reason new");
    assert_eq!(applied.code, 0, "{applied}");
}

#[test]
fn what_only_a_folder_has_of_a_lost_version_is_kept_in_it() {
    let place = restored();
    let refused = place.ana("policy export --dir policies");
    assert!(refused.code == 1 && refused.stderr.contains("keeps what is only here"), "{refused}");
    let forced = place.ana("policy export --dir policies --force");
    assert!(
        forced.code == 0 && forced.stderr.contains("more.cedar is not in force; remove it, or apply it"),
        "{forced}"
    );
    assert!(place.path().join("policies/hotfix.cedar").exists());
    // What was edited and is overwritten is named.
    put(&place, "policies/hotfix.cedar", "// Mine.\n");
    let forced = place.ana("policy export --dir policies --force");
    assert!(forced.stderr.contains("overwrote policies/hotfix.cedar, which was edited here"), "{forced}");
    // And is in force again with the next apply.
    assert_eq!(place.ana("policy apply").code, 0);
    let printed = place.ana("policy export").stdout;
    let lock = std::fs::read_to_string(place.path().join("policies/policy.lock")).unwrap();
    assert!(["more", "even-more", "hotfix"].iter().all(|name| printed.contains(&format!("==> {name}.cedar <=="))));
    // Another number for what is in force is no loss.
    put(&place, "policies/policy.lock", &lock.replace("version: 3", "version: 7"));
    put(&place, "policies/more.cedar", "// Even more.\n");
    let exported = place.ana("policy export --dir policies");
    assert!(exported.code == 0 && exported.stderr.contains("kept as edited here"), "{exported}");
}

#[test]
fn a_lock_that_a_merge_left_in_two_is_told_and_keeps_nothing_from_working_that_does_not_need_it() {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let lock = std::fs::read_to_string(place.path().join("policies/policy.lock")).unwrap();
    put(&place, "policies/policy.lock", &format!("<<<<<<< HEAD\n{lock}=======\n{lock}>>>>>>> other\n"));
    let told =
        "policies/policy.lock holds both sides of a merge: keep the side with the higher version, or remove the file";
    let checked = place.ok("policy check policies");
    assert!(checked.code == 0 && checked.stderr.contains(told), "{checked}");
    let run = place.ana("ci policies");
    assert!(run.code == 0 && !run.stderr.contains("PolicyLock"), "{run}");
    for line in ["policy apply", "policy export --dir policies"] {
        let refused = place.ana(line);
        assert!(refused.code == 1 && refused.stderr.contains(told), "{line}: {refused}");
    }
    let committed = place.ana(&format!("policy apply --commit {}", "c0ffee00"));
    assert!(!committed.stderr.contains("Error: policies/policy.lock"), "{committed}");
    let forced = place.ana("policy export --dir policies --force");
    assert!(forced.code == 0, "{forced}");
    assert_eq!(place.ana("policy apply").code, 0);
    put(&place, "policies/policy.lock", "");
    let empty = place.ana("policy apply");
    assert!(empty.stderr.contains("policies/policy.lock is damaged: remove it"), "{empty}");
}

#[test]
fn folders_that_only_capitals_tell_apart_are_found_before_a_server_refuses_them() {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    for name in ["one", "two"] {
        put(&place, &format!("policies/Base/{name}.cedar"), "// Some.\n");
    }
    for line in ["policy check policies", "policy apply", "ci policies"] {
        let refused = place.ana(line);
        let told = format!("{}{}", refused.stdout, refused.stderr);
        assert_eq!((refused.code, told.matches("differ only in case").count()), (1, 1), "{line}: {refused}");
    }
}
