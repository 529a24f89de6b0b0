//! What somebody is, what stops them, and the company's settings.

use serde_json::Value;

use super::{Place, assert_snapshot, session};

#[test]
fn roles_teams_names_and_leads_change_and_an_empty_team_is_removed() {
    let place = Place::with_company();
    for line in
        ["add-human bob --role member", "add-team team:ops --lead bob", "add-human eve --role member --team team:ops"]
    {
        place.ana(&format!("actor {line}"));
    }
    let lines = [
        "actor set bob --role lead --name 'Bob B'",
        "actor set team:ops --lead eve",
        "actor offboard team:ops",
        "actor set eve --no-team",
        "actor set eve --team team:ops --no-team",
        "actor set eve",
        "actor set ana --role member",
        "actor offboard team:ops",
        "actor show eve",
    ];
    assert_snapshot("actor_set", session(lines.map(|line| place.ana(line))));
}

#[test]
fn what_is_stopped_is_listed_and_shown_where_it_is_looked_for() {
    let place = Place::with_company();
    for line in [
        "actor add-human bob --role lead",
        "actor add-team team:ops --lead bob",
        "actor add-agent clerk --team team:ops --owner bob",
    ] {
        place.ana(line);
    }
    let lines = [
        "--as ana kill actor:clerk --reason 'pays twice'",
        "--as bob kill team:ops",
        "--as bob kill --list",
        "--as ana actor show clerk",
        "--as clerk actor list",
        "--as ana kill --list --off",
        "--as ana kill",
    ];
    assert_snapshot("kill_list", session(lines.map(|line| place.ok(line))));
}

#[test]
fn the_company_s_settings_are_shown_and_changed() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let lines = [
        "--as bob company show",
        "--as ana company set --name Acme --timezone Europe/Berlin --hours 08:00-16:00 --approval-hours 24 --budget 500",
        "--as ana company set --no-budget --record all",
        "--as ana company set --hours 8",
        "--as ana company set --timezone Mars/Olympus",
        "--as ana company set",
        "--as bob company set --name Bobs",
    ];
    assert_snapshot("company", session(lines.map(|line| place.ok(line))));
}

/// A company in which two calls of lou's wait for ana.
fn waiting() -> (Place, Vec<String>) {
    let place = Place::with_company();
    assert_eq!(place.ana("actor add-human lou --role lead").code, 0);
    assert_eq!(place.ana("actor add-team team:ops --lead lou").code, 0);
    let ask = |id: &str| {
        let ran = place.ok(&format!("--as lou actor add-human {id} --role member --team team:ops"));
        assert_eq!(ran.code, 4, "{ran}");
        ran.stderr.split([' ', ';', '\n', '`']).find(|word| word.starts_with("apr_")).unwrap().to_owned()
    };
    let ids = ["max", "mia"].map(ask).to_vec();
    (place, ids)
}

#[test]
fn a_table_fits_its_terminal_and_the_beginning_of_an_id_is_enough() {
    let (place, ids) = waiting();
    let narrow = place.ok_with("--as ana approval list", &[("COLUMNS", "72")]);
    assert!(narrow.stdout.lines().all(|line| line.chars().count() <= 72), "{narrow}");
    assert!(!narrow.stdout.contains(&ids[0]), "{narrow}");
    let words: Vec<&str> = narrow.stdout.split_whitespace().collect();
    let mut times = words.iter().filter(|word| word.starts_with("20")).peekable();
    assert!(times.peek().is_some() && times.all(|time| time.ends_with('Z')), "no time is broken: {narrow}");
    let short: Vec<&str> = words.into_iter().filter(|word| word.starts_with("apr_")).collect();
    assert!(short.len() == 2 && short[0] != short[1], "{narrow}");
    for (short, id) in short.iter().rev().zip(&ids) {
        let shown = place.ana(&format!("approval show {short}"));
        assert!(shown.code == 0 && shown.stdout.contains(id), "{shown}");
    }
    // Wherever nobody looks, nothing is cut.
    assert!(place.ana("approval list").stdout.contains(&ids[0]));
    let several = place.ana(&format!("approval show {}", &ids[0][..9]));
    assert!(several.code == 1 && several.stderr.contains(&ids[0]) && several.stderr.contains(&ids[1]), "{several}");
    assert_eq!(place.ana("approval show apr_0000").code, 1);
    let approved = place.ana(&format!("approve {}", short[0]));
    assert!(approved.code == 0 && !approved.stdout.contains('{'), "{approved}");
}

#[test]
fn the_beginning_of_an_id_is_enough_wherever_an_id_is_given() {
    let place = Place::with_company();
    let json = |line: &str| serde_json::from_str::<Value>(&place.ana(&format!("--format json {line}")).stdout).unwrap();
    let id = |line: &str| json(line)["id"].as_str().unwrap().to_owned();
    let begin = |id: &str| id[..id.len() - 4].to_owned();
    assert_eq!(place.ana("actor add-human ben --role admin").code, 0);
    let task = id("task create Whole --owner ana");
    let part = json(&format!("task create Part --owner ana --parent {}", begin(&task)));
    assert_eq!(part["parent"], *task);
    let runs = place.ana(&format!("runs --task {}", &task[..8]));
    assert!(runs.code == 1 && runs.stderr.contains(&task), "which of the two is meant: {runs}");
    let explained = place.ana(&format!("policy explain task.run --input '{{\"id\":\"{}\"}}'", begin(&task)));
    assert!(explained.code != 1 && explained.stderr.is_empty(), "{explained}");
    let nobody = place.ana("policy explain task.run --actor ben --input '{\"id\":\"tsk_none\"}'");
    let told = "one of these is not there, or not yours to see: actor `ben`, input.id `tsk_none`";
    assert!(nobody.code == 1 && nobody.stderr.contains(told), "{nobody}");
    let delegation = id("delegate --to ben --scope task.* --authority act");
    let under = place.ok(&format!("--as ben --delegation {} tasks", begin(&delegation)));
    assert!(under.code == 0 && under.stdout.contains("Whole"), "{under}");
}

#[test]
fn an_empty_list_says_so_and_what_was_read_is_no_longer_listed() {
    let (place, ids) = waiting();
    for (line, told) in [
        ("delegation list", "no delegations\n"),
        ("changes list", "no changes\n"),
        ("break-glass list", "no grants\n"),
        ("subscription list", "no subscriptions\n"),
        ("kill --list", "no kill switch is engaged\n"),
        ("actor list --kind agent", "nobody\n"),
    ] {
        assert_eq!(place.ana(line).stdout, told, "{line}");
    }
    assert_eq!(place.ana(&format!("approve {} --reject", ids[0])).code, 0);
    assert!(place.ok("--as lou inbox").stdout.contains("your request was rejected"));
    let read = place.ok("--as lou inbox --read");
    assert!(read.code == 0 && read.stdout.ends_with(" read\n"), "{read}");
    assert!(!place.ok("--as lou inbox").stdout.contains("rejected"));
}

#[test]
fn a_task_is_created_with_an_sla_and_what_a_switch_held_is_told_of_when_no_server_lets_it_go_on() {
    let place = Place::with_company();
    let json = |line: &str| -> serde_json::Value {
        let ran = place.ana(&format!("--format json {line}"));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"))
    };
    let task = json("task create 'call back' --respond-h 8");
    assert_eq!(task["sla"]["respond_h"], 8, "{task}");
    assert!(task["sla"]["resolve_h"].is_null() && task["sla"]["respond_by"].is_string(), "{task}");
    let none = json("task create 'call back'");
    assert!(none["sla"].is_null(), "{none}");

    assert_eq!(place.ana("actor add-agent bot --owner ana").code, 0);
    assert_eq!(place.ana("kill actor:bot").code, 0);
    std::fs::write(place.path().join("plan.yaml"), "steps: [{say: hello}]\n").unwrap();
    place.ana("ask --agent bot hello --plan plan.yaml");
    let freed = place.ana("kill actor:bot --off");
    assert_eq!(freed.stdout, "actor:bot released\n");
    assert_eq!(freed.stderr, "No server is running: runs continue when one starts, or run `ok tick` now.\n");
    let status = || json("runs")[0]["status"].clone();
    assert_eq!(status(), "queued");
    assert_eq!(place.ana("tick").code, 0);
    assert_eq!(status(), "completed");
    assert_eq!(place.ana("kill actor:bot").code, 0);
    assert_eq!(place.ana("kill actor:bot --off").stderr, "", "it held nothing");
}

#[test]
fn an_error_is_json_where_json_is_asked_for_and_says_what_comes_next() {
    let (place, ids) = waiting();
    let error = |line: &str| -> (i32, serde_json::Value) {
        let ran = place.ok(line);
        assert_eq!(ran.stdout, "", "{ran}");
        (ran.code, serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{ran}")))
    };
    let (code, waits) = error("--as lou --format json actor add-human max --role member --team team:ops");
    assert_eq!((code, &waits["error"], &waits["approval"]), (4, &"needs_approval".into(), &ids[0].as_str().into()));
    let (code, denied) = error("--as lou --format json kill global");
    assert_eq!((code, &denied["error"]), (1, &"denied".into()));
    assert_eq!(error("--as lou --format json approval show apr_x").1["error"], "not_found");
    assert_eq!(error("--format json approval").0, 64);
    assert_eq!(error("--format=json actor set ana").1["error"], "usage");
    let lacking = error("--format json actor set").1["message"].to_string();
    assert!(lacking.contains("required arguments were not provided: ") && lacking.contains("<ID>"), "{lacking}");
    let told = place.ok("--as lou actor add-human max --role member --team team:ops");
    assert!(told.stderr.contains(&format!("Next: `ok approval explain {}`", ids[0])), "{told}");
    // Formats are offered where they work.
    assert_eq!(place.ok("--format sarif log").code, 64);
    assert!(!place.ok("log --help").stdout.contains("sarif"));
    assert!(place.ok("policy check --help").stdout.contains("sarif"));
}

#[test]
fn help_explains_a_command_and_a_short_help_is_short() {
    let place = Place::new();
    let long = place.ok("help actor set");
    assert!(long.code == 0 && long.stdout.contains("--no-lead") && long.stdout.contains("--tenants-dir"), "{long}");
    assert!(place.ok("help").stdout.contains("break-glass"));
    assert_eq!(place.ok("help nonsense").code, 64);
    let short = place.ok("actor set -h").stdout;
    assert!(short.contains("--no-lead") && !short.contains("--tenants-dir") && short.lines().count() < 20, "{short}");
}

/// Whoever a run asks sees it as long as it asks them.
#[test]
fn an_answer_that_is_recorded_is_told_as_one() {
    let place = Place::with_company();
    for line in ["add-human bob --role member", "add-human eve --role member", "add-agent clerk --owner bob"] {
        place.ana(&format!("actor {line}"));
    }
    std::fs::write(place.path().join("plan.yaml"), "steps: [{ask: {text: Shall we pay?, to: eve}}, {say: done}]\n")
        .unwrap();
    let asked = place.ok("--as bob --format json ask --agent clerk pay --plan plan.yaml");
    let asked: serde_json::Value = serde_json::from_str(&asked.stdout).unwrap_or_else(|_| panic!("{asked}"));
    let run = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let answered = place.ok(&format!("--as eve answer {run} yes"));
    assert!(answered.code == 0 && answered.stdout.contains("answered"), "{answered}");
    let shown = place.ok(&format!("--as bob run show {run}"));
    assert!(shown.stderr.contains("completed"), "{answered}\n{shown}");
}

/// What an actor's kind has no use for is not told to people, and to programs as ever.
#[test]
fn an_actor_is_shown_with_what_applies_to_its_kind() {
    let place = Place::with_company();
    place.ana("actor add-team team:lab");
    place.ana("actor add-agent bot");
    let has = |id: &str, field: &str| {
        let shown = place.ana(&format!("actor show {id}"));
        assert_eq!(shown.code, 0, "{shown}");
        shown.stdout.lines().any(|line| line.starts_with(&format!("{field} ")))
    };
    assert_eq!(["ana", "bot", "team:lab"].map(|id| has(id, "role")), [true, true, false]);
    assert_eq!(["ana", "bot", "team:lab"].map(|id| has(id, "trust")), [false, true, false]);
    let json = place.ana("--format json actor show team:lab");
    assert!(json.stdout.contains("\"trust\"") && json.stdout.contains("\"role\""), "{json}");
}
