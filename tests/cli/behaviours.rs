//! The behaviours that the specification numbers.

use super::{Place, assert_snapshot, session};

#[test]
fn a_folder_without_a_state_file_silently_gets_an_empty_company() {
    let place = Place::new();
    let first = place.ok("log");
    assert!(place.state().is_file());
    assert_snapshot("a_folder_without_a_state_file_gets_a_company", first);
}

#[test]
fn a_command_that_fails_leaves_no_company_behind_and_says_how_one_begins() {
    let place = Place::new();
    for line in ["--as ana actor list", "--as ana kill global --state .ok/state.db", "--as ana policy export --dir out"]
    {
        let ran = place.ok(line);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stderr.starts_with("Error: unknown actor ana\n"), "{ran}");
        assert!(ran.stderr.contains("`ok init --admin <id>` begins one"), "{ran}");
        assert!(!place.path().join(".ok").exists(), "{ran}");
    }
    let place = Place::with_company();
    let ran = place.ok("actor list");
    assert!(ran.stderr.contains("is the login name: --as or OK_AS says who acts"), "{ran}");
}

#[test]
fn an_unknown_actor_is_refused_where_permissions_are_checked() {
    let place = Place::with_company();
    let lines = [
        "--as nobody kill actor:ana",
        "--as nobody actor list",
        "--as nobody token issue",
        "--as nobody tick",
        "--as 'No Such' kill global",
        "kill global",
    ];
    assert_snapshot("an_unknown_actor_is_refused", session(lines.map(|line| place.ok(line))));
}

#[test]
fn the_log_is_printed_for_an_unknown_actor() {
    let place = Place::with_company();
    let lines =
        ["--as nobody log", "--as nobody log --limit 1", "--as nobody log --since 2", "--as nobody replay --actor ana"];
    place.ana("tick");
    assert_snapshot("the_log_is_printed_for_an_unknown_actor", session(lines.map(|line| place.ok(line))));
}

#[test]
fn the_doctor_finds_the_model_providers() {
    let place = Place::new();
    let runs = [
        place.ok("doctor"),
        place.ok_with("doctor", &[("ANTHROPIC_API_KEY", "")]),
        place.ok_with("doctor", &[("OLLAMA_HOST", "http://127.0.0.1:1")]),
        place.ok_with("doctor", &[("OPENAI_API_KEY", "sk"), ("OK_LLM_CONFIG", "absent.yaml")]),
        place.ok("--format json doctor"),
    ];
    assert!(!place.state().exists());
    assert_snapshot("the_doctor_finds_the_model_providers", session(runs));
}

#[test]
fn a_token_is_printed_once_alone_on_its_line() {
    let place = Place::with_company();
    let lines =
        ["token issue", "token issue --ttl 7d --label ci --scope read --scope policy", "token issue --ttl never"];
    let runs = lines.map(|line| place.ana(line));
    let plain = runs[0].stdout.trim();
    assert_eq!(plain.len(), 52);
    assert!(!place.ana("token list").stdout.contains(plain));
    let listed = place.ana("--format json token list").stdout;
    let days: Vec<i64> = serde_json::from_str::<Vec<serde_json::Value>>(&listed)
        .unwrap()
        .iter()
        .map(|token| {
            let time = |name: &str| token[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
            (time("expires_at").as_second() - time("created_at").as_second()) / 86_400
        })
        .collect();
    assert_eq!(days, [7, 30, 30]);
    assert_snapshot("a_token_is_printed_once", session(runs));
}

#[test]
fn no_plain_token_is_found_on_disk() {
    let place = Place::with_company();
    let server = place.serve();
    let by_server = place.ana("token issue").stdout;
    server.stop();
    let alone = place.ana("token issue --label x").stdout;
    let mut looked_at = 0;
    for folder in [place.path().to_owned(), place.path().join(".ok")] {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            let bytes = std::fs::read(&file).unwrap();
            looked_at += 1;
            for token in [by_server.trim(), alone.trim()] {
                assert_eq!(token.len(), 52);
                assert!(!bytes.windows(40).any(|part| part == &token.as_bytes()[3..43]), "{}", file.display());
            }
        }
    }
    assert!(looked_at >= 3);
}

#[test]
fn a_kill_switch_is_told_by_the_next_server() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let engaged = place.ana("kill actor:bob --reason 'lost laptop'");
    let again = place.ana("kill actor:bob --reason 'stolen laptop'").stderr;
    assert!(
        again.starts_with("ana had engaged it at ")
            && again.ends_with(" with the reason «lost laptop»; this takes its place.\n"),
        "{again}"
    );
    let server = place.serve();
    let told = server.lines.join("\n");
    let stopped = server.stop();
    let text = session([engaged, place.ok("--as bob actor list"), place.ana("kill actor:bob --off"), stopped]);
    assert_snapshot("a_kill_switch_is_told_by_the_next_server", format!("{text}The server told:\n{told}"));
}

#[test]
fn an_inbox_of_nobody_is_empty_and_no_error() {
    let place = Place::with_company();
    let nobody = place.ok("--as nobody inbox");
    assert_eq!((nobody.code, nobody.stdout.as_str(), nobody.stderr.as_str()), (0, "", ""));
    assert_eq!(place.ana("inbox --all").code, 0);
}
