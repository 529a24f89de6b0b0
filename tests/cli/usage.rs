//! Help, the version, and what is not understood.

use super::{Place, assert_snapshot, session};

#[test]
fn usage_errors_end_with_64() {
    let place = Place::new();
    let lines = [
        "",
        "nonsense",
        "log --nonsense",
        "actor",
        "actor add-human bob",
        "actor add-human Bob --role member",
        "actor add-human bob --role king",
        "kill everything",
        "replay",
        "replay --run a --task b",
        "token scope tok_x write",
        "context forget --reason x",
        "audit verify --from 3 --to 2",
        "audit proof 0",
        "token -V",
        "completions tcsh-like",
        "--format xml log",
    ];
    let text = session(lines.map(|line| {
        let ran = place.ok(line);
        assert_eq!(ran.code, 64, "{line}");
        ran
    }));
    assert_eq!(place.ok("replay --actor ana").code, 1);
    assert!(!place.path().join(".ok").exists());
    assert_snapshot("usage_errors_end_with_64", text);
}

#[test]
fn help_and_version_end_with_0() {
    let place = Place::new();
    assert_snapshot(
        "help",
        session(["-V", "--version", "-h", "token issue -h", "serve -h"].map(|line| place.ok(line))),
    );
}

#[test]
fn every_shell_gets_a_completion() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = place.ok(&format!("completions {shell}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("add-human"), "{shell}");
    }
}

/// What is switched on by a slip of the pen would be the less careful of the two.
#[test]
fn a_switch_that_is_neither_on_nor_off_is_refused() {
    let place = Place::with_company();
    for (variable, command) in
        [("OK_DEV_AUTH", "log"), ("OK_DEV_ECHO_TOOLS", "log"), ("OK_LLM_CHECK", "serve --bind 127.0.0.1:0")]
    {
        let ran = place.ok_with(command, &[(variable, "maybe")]);
        let told = format!("{variable} must be 1 or 0 (or true, yes, on; false, no, off), not `maybe`");
        assert!(ran.code == 64 && ran.stderr.contains(&told), "{ran}");
    }
    assert_eq!(place.ok_with("log", &[("OK_DEV_AUTH", "off")]).code, 0);
}

#[test]
fn what_people_try_is_understood_or_told_where_it_is() {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    assert_eq!(place.ana("policy test").stdout, place.ana("policy check").stdout);
    let help = place.ok("break-glass --help");
    assert!(help.stdout.contains("`ok policy break-glass` opens one"), "{help}");
}
