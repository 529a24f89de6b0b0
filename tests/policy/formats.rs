//! The command: exit codes, `--fix`, and every format.

use std::fs;

use crate::cli::{Place, Ran};
use crate::policy::{assert_snapshot, forbid, permit};

const TESTS: &str = "actors:\n  - {id: ana, role: admin}\n  - {id: max}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n  - {actor: max, op: tick, expect: allow}\n";

fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (file, text) in files {
        let path = place.path().join("policies").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

/// A bundle with every kind of problem that does not keep the tests from running.
fn mixed() -> Place {
    let dull = format!("{}\n{}", permit("ticks", "tick"), permit("dull <&>", "tick"));
    place(&[
        ("a.cedar", &dull),
        (
            "b.cedar",
            "@id(\"b\") permit(principal in Ok::Role::\"auditor\",action in Ok::Action::\"query\",resource);\n",
        ),
        ("tests/a.yaml", TESTS),
    ])
}

fn shown(ran: &Ran) -> String {
    ran.to_string()
}

#[test]
fn every_format_tells_the_same() {
    let place = mixed();
    for format in ["human", "json", "junit", "sarif", "github"] {
        let ran = place.ok(&format!("policy check --min-coverage 100 --format {format}"));
        assert_eq!(ran.code, 2);
        assert_snapshot(&format!("check_{format}"), &shown(&ran));
        match format {
            "json" | "sarif" => drop(serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()),
            "junit" => assert_well_formed(&ran.stdout),
            _ => {}
        }
    }
}

#[test]
fn a_case_has_the_same_name_whatever_it_comes_to_and_wherever_it_stands() {
    let names = |place: &Place| -> Vec<String> {
        let shown = place.ok("policy check --min-coverage 1 --format junit").stdout;
        let cases = shown.lines().filter_map(|line| line.trim().strip_prefix("<testcase "));
        cases
            .map(|case| {
                case.split(['>', '/']).next().unwrap().to_owned()
                    + case.split("name=").last().unwrap().trim_end_matches(['/', '>'])
            })
            .collect()
    };
    let passing = TESTS.replace("{actor: max, op: tick, expect: allow}", "{actor: max, op: tick, expect: deny}");
    let ticks = permit("ticks", "tick");
    let before = names(&place(&[("a.cedar", &ticks), ("tests/a.yaml", &passing)]));
    let moved = format!("# What admins may.\n{TESTS}");
    let after = names(&place(&[("a.cedar", &ticks.replace('\n', " ")), ("tests/a.yaml", &moved)]));
    assert_eq!((before.len(), &before), (after.len(), &after));
}

#[test]
fn a_finding_that_moves_keeps_its_fingerprint() {
    let prints = |text: &str| -> Vec<String> {
        let shown = place(&[("a.cedar", text)]).ok("policy check --format sarif").stdout;
        let sarif: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|one| one["partialFingerprints"]["okFinding/v1"].as_str().unwrap().to_owned()).collect()
    };
    let text = format!("{}\n{}", permit("ticks", "tick"), permit("dull", "tick"));
    let (before, after) = (prints(&text), prints(&format!("// Why.\n\n{text}")));
    assert_eq!((before.len(), &before), (2, &after));
    assert_ne!(before[0], before[1]);
}

#[test]
fn sarif_explains_each_code_itself_and_links_it_only_to_a_page_that_is_published() {
    let place = mixed();
    let rules = |url: &str| -> Vec<serde_json::Value> {
        let ran = place.ok_with("policy check --format sarif", &[("OK_FINDINGS_URL", url)]);
        let sarif: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().clone()
    };
    for rule in rules("") {
        assert!(rule.get("helpUri").is_none(), "{rule}");
        let (text, markdown) = (rule["help"]["text"].as_str().unwrap(), rule["help"]["markdown"].as_str().unwrap());
        assert_eq!(markdown.replace("**", ""), text);
        let meaning = rule["fullDescription"]["text"].as_str().unwrap();
        assert!(text.starts_with(meaning) && text.contains("What to do: "), "{text}");
    }
    let page = "https://docs.example.com/ok/findings";
    for rule in rules(page) {
        assert_eq!(rule["helpUri"], format!("{page}#{}", rule["id"].as_str().unwrap()));
    }
    for wrong in ["findings.md", "urn:ok:findings", "file:///findings.md", "https://a.example/#x"] {
        let ran = place.ok_with("policy check --format sarif", &[("OK_FINDINGS_URL", wrong)]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains("OK_FINDINGS_URL must be the address of a page"), "{ran}");
        let ran = place.ok_with("ci --sarif ci.sarif", &[("OK_FINDINGS_URL", wrong)]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(!place.path().join("ci.sarif").exists());
    }
}

#[test]
fn a_server_takes_nothing_from_what_the_command_shows() {
    let place = Place::with_company();
    for (path, text) in ok::policy::Bundle::built_in().files {
        let path = place.path().join("policies").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // Coverage that is too low, and a file that nobody reads.
    fs::remove_file(place.path().join("policies/tests/lead.yaml")).unwrap();
    fs::write(place.path().join("policies/approvals.yml"), "").unwrap();
    let token = place.ana("token issue --scope policy --format json").stdout;
    let token = serde_json::from_str::<serde_json::Value>(&token).unwrap()["token"].as_str().unwrap().to_owned();
    let server = place.serve();
    let address = format!("http://{}", server.address());
    for format in ["human", "junit", "sarif"] {
        let line = format!("policy check --min-coverage 100 --format {format}");
        let (here, there) = (place.ok(&line), place.ok_with(&line, &[("OK_SERVER", &address), ("OK_TOKEN", &token)]));
        assert_eq!((there.code, there.stdout.contains("approvals.yml")), (2, true), "{there}");
        assert_eq!(here.stdout, there.stdout);
    }
    // It alone knows that one admin is no two.
    let ones = fs::read_to_string(place.path().join("policies/approvals.yaml")).unwrap();
    fs::write(place.path().join("policies/approvals.yaml"), ones.replacen("remind_hours: 4", "threshold: 2", 1))
        .unwrap();
    let there = place.ok_with("policy check", &[("OK_SERVER", &address), ("OK_TOKEN", &token)]);
    assert!(there.stdout.contains("approvals_unreachable"), "{there}");
}

/// Tags match, and what stands between them is escaped.
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in xml.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(!text.contains('&') || text.contains(';'), "{text}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        match tag {
            _ if tag.starts_with('?') || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name)),
            _ => open.push(name),
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn errors_are_shown_with_their_lines() {
    let broken = forbid("b", "tick", "unless { context.approvals.contains(Ok::ApprovalKind::\"amdin\") }");
    let place = place(&[
        ("a.cedar", &permit("a", "tickk")),
        ("b.cedar", &broken),
        ("approvals.yaml", "kinds:\n  Admin: {eligible: [{role: admin}]}\n"),
    ]);
    assert_snapshot("check_errors", &shown(&place.ok("policy check")));
}

#[test]
fn the_exit_code_tells_findings_from_tests() {
    let ticks = permit("ticks", "tick");
    let fine = "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n";
    let code = |files: &[(&str, &str)], line: &str| place(files).ok(line).code;
    assert_eq!(code(&[("a.cedar", &ticks), ("tests/a.yaml", fine)], "policy check"), 0);
    assert_eq!(code(&[("a.cedar", &ticks), ("tests/a.yaml", fine)], "policy check --min-coverage 100"), 3);
    assert_eq!(code(&[("a.cedar", &ticks), ("tests/a.yaml", TESTS)], "policy check"), 3);
    assert_eq!(code(&[("a.cedar", &ticks), ("tests/a.yaml", "cases: []\n")], "policy check"), 3);
    assert_eq!(code(&[("a.cedar", &ticks)], "policy check"), 2);
    assert_eq!(code(&[("a.cedar", &ticks)], "ci"), 3);
    assert_eq!(code(&[("a.cedar", &ticks)], "policy check --min-coverage 1"), 3);
    assert_eq!(code(&[("a.cedar", &ticks.replace("tick\"", "tock\""))], "policy check"), 2);
    assert_eq!(code(&[("a.cedar", &ticks)], "policy check nowhere"), 1);
    assert_eq!(code(&[("a.cedar", "// None yet.\n")], "policy check"), 1);
    assert_eq!(code(&[("a.cedar", "// None yet.\n")], "ci"), 1);
    // What the tests leave open is worth knowing, and no failure.
    let ran = place(&[("a.cedar", &ticks), ("tests/a.yaml", fine)]).ok("policy check --mutate");
    assert!(ran.code == 0 && ran.stdout.contains("☞ no test of `ticks` has seen"), "{ran}");
    assert_eq!(code(&[("a.cedar", &ticks)], "policy check --min-coverage 101"), 64);
    assert_eq!(code(&[("a.cedar", &ticks)], "log --format sarif"), 64);
}

#[test]
fn nobody_and_no_state_file_is_needed() {
    let place = place(&[
        ("a.cedar", &permit("a", "tick")),
        ("tests/a.yaml", "cases: [{actor: server, op: tick, expect: deny}]"),
    ]);
    let mut command = place.command(&["policy", "check"]);
    assert!(command.env_remove("LOGNAME").status().unwrap().success());
    assert!(!place.path().join(".ok").exists());
}

#[test]
fn fixing_twice_is_fixing_once() {
    let text = "// What this file is for.\n\n// Why.\n@id(\"a\") permit(principal,action==Ok::Action::\"tick\",resource) // so\nwhen{principal in Ok::Role::\"admin\"};\n// The end.\n";
    let place = place(&[("a.cedar", text), ("tests/a.yaml", TESTS)]);
    let path = place.path().join("policies/a.cedar");
    assert_eq!(place.ok("policy check").code, 2);
    let first = place.ok("policy check --fix");
    let fixed = fs::read_to_string(&path).unwrap();
    assert_eq!((first.code, first.stderr.as_str()), (3, "formatted policies/a.cedar\n"));
    assert!(
        fixed.starts_with("// What this file is for.\n\n// Why.\n@id(\"a\")\n") && fixed.ends_with("// The end.\n"),
        "{fixed}"
    );
    assert!(fixed.contains("// so"));
    let second = place.ok("policy check --fix");
    assert_eq!(second.stderr, "");
    assert_eq!(fs::read_to_string(&path).unwrap(), fixed);
    assert_eq!(fs::read_dir(place.path().join("policies")).unwrap().count(), 2, "nothing is left beside it");
}

#[test]
fn what_steers_a_terminal_is_not_passed_on() {
    let place = place(&[(
        "a.cedar",
        "@id(\"a\")\npermit (principal, action, resource)\nwhen { \"\u{1b}[31m\u{202e}\" = 1 };\n",
    )]);
    for format in ["human", "junit", "github"] {
        let ran = place.ok(&format!("policy check --format {format}"));
        assert!(!ran.stdout.contains('\u{1b}'), "{format}: {}", ran.stdout);
    }
}

#[test]
fn a_file_that_nothing_reads_is_found_whatever_the_format_and_a_folder_without_policies_is_refused() {
    let tested = TESTS.replace("{actor: max, op: tick, expect: allow}", "{actor: max, op: tick, expect: deny}");
    let files = [("a.cedar", permit("ticks", "tick")), ("tests/a.yaml", tested), ("sub/approvals.yml", String::new())];
    let place = place(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    for format in ["human", "json", "junit", "sarif", "github"] {
        let ran = place.ok(&format!("policy check --format {format}"));
        assert_eq!((ran.code, ran.stdout.contains("sub/approvals.yml")), (2, true), "{ran}");
    }
    let empty = Place::new();
    fs::create_dir(empty.path().join("policies")).unwrap();
    for command in ["policy check", "policy diff", "policy apply", "policy propose", "ci"] {
        let ran = empty.ok(command);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stderr.contains("`policies` contains no policies"), "{ran}");
    }
}
